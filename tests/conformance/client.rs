//! Installs clients by package name, and runs them behind a fence: empty home, clean environment, loopback alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock};

use anyhow::{Context as _, Result, bail, ensure};

use crate::folders;
use crate::job::{Job, Outcome};
use crate::process;

/// Versions of the matrix, oldest first. A new one is one line.
pub(crate) const VERSIONS: &[&str] = &[
    "2.0.36", "2.0.42", "2.0.76", "2.1.1", "2.1.9", "2.1.45", "2.1.71", "2.1.97", "2.1.156",
    "2.1.260", "2.1.325",
];

/// Orders versions by number.
pub(crate) fn number(version: &str) -> Vec<u32> {
    version
        .split('.')
        .filter_map(|part| part.parse().ok())
        .collect()
}

/// The runnable client of this version, installed on first use.
///
/// What could not be installed once is not tried again, for without a network each attempt takes long.
pub(crate) fn program(version: &str) -> Result<PathBuf> {
    static ASKED: Mutex<BTreeMap<String, Result<PathBuf, String>>> = Mutex::new(BTreeMap::new());
    let mut asked = ASKED.lock().unwrap();
    let known = asked
        .entry(version.to_owned())
        .or_insert_with(|| install(version).map_err(|e| format!("{e:#}")));
    known.clone().map_err(anyhow::Error::msg)
}

fn install(version: &str) -> Result<PathBuf> {
    let folder = folders::clients()?.join(version);
    let run = folder.join("run");
    if !run.exists() {
        eprintln!("installing client {version}");
        npm(&folder, &format!("@anthropic-ai/claude-code@{version}"))?;
        let packages = folder.join("node_modules/@anthropic-ai");
        let native = fs_err::read_dir(&packages)?
            .flatten()
            .map(|e| e.path().join("claude"))
            .find(|p| p.is_file());
        let script = packages.join("claude-code/cli.js");
        if let Some(native) = native {
            process::link(&native, &run)?;
        } else if script.exists() {
            fs_err::write(
                &run,
                format!("#!/bin/sh\nexec node '{}' \"$@\"\n", script.display()),
            )?;
            process::make_executable(&run)?;
        } else {
            bail!("client {version} has neither a script nor a program for this platform");
        }
    }
    // Older clients are scripts.
    let is_script = !fs_err::symlink_metadata(&run)?.is_symlink();
    ensure!(
        !is_script || runs("node"),
        "client {version} needs Node, which is not to be had"
    );
    Ok(run)
}

/// Installs a package into a folder of its own.
pub(crate) fn npm(folder: &Path, package: &str) -> Result<()> {
    fs_err::create_dir_all(folder)?;
    fs_err::write(folder.join("package.json"), "{\"private\": true}\n")?;
    let status = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts"])
        .args(["--fetch-retries=1", "--fetch-retry-mintimeout=1000"])
        .arg(package)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .context("npm is not to be had")?;
    ensure!(status.success(), "npm could not install {package}");
    Ok(())
}

/// Whether a program can be run at all.
pub(crate) fn runs(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether the system lets us give the client a network of its own.
fn fenced() -> bool {
    static FENCED: OnceLock<bool> = OnceLock::new();
    *FENCED.get_or_init(|| {
        let probe = Command::new("unshare")
            .args(["-rn", "ip", "link", "set", "lo", "up"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let can = probe.is_ok_and(|status| status.success());
        if !can {
            eprintln!("note: no network namespace here; clients run in the machine's own network");
        }
        can
    })
}

/// Runs a job in a process of its own, this same program as its worker.
pub(crate) fn run(job: &Job) -> Result<Outcome> {
    folders::clear(&job.log)?;
    fs_err::create_dir_all(&job.log)?;
    fs_err::create_dir_all(&job.home)?;
    let path: &Path = &job.log.join("job.json");
    fs_err::write(path, serde_json::to_vec(job)?)?;
    let this = std::env::current_exe()?;
    let mut command = if fenced() {
        let mut command = Command::new("unshare");
        command.arg("-rn").arg(this).arg("--worker-fenced");
        command
    } else {
        let mut command = Command::new(this);
        command.arg("--worker");
        command
    };
    let status = command
        .arg(path)
        .stdin(Stdio::null())
        .status()
        .context("starting the worker")?;
    ensure!(status.success(), "the worker failed");
    Outcome::read(&job.log)
}
