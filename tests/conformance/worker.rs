//! The inside of the fence: brings loopback up, serves the API, runs one client, writes down how it ended.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::api::Api;
use crate::job::{End, Job};
use crate::ledger::EntryWeights;
use crate::process::{in_own_group, interrupt, kill};

/// The time that a client gets to write what it knows before it is killed.
const SETTLE: Duration = Duration::from_millis(1500);

pub(crate) fn main(path: &Path, fenced: bool) -> Result<()> {
    let job: Job = serde_json::from_slice(&fs_err::read(path)?)?;
    if fenced {
        Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status()
            .context("bringing loopback up")?;
    }
    let api = Api {
        script: job.script.clone(),
        ledger: Mutex::new(EntryWeights::load(&job.ledger)?),
        ledger_path: job.ledger.clone(),
        log: job.log.clone(),
        limit: job.limit,
        strict: job.strict,
        run: job.run.clone(),
        count: AtomicUsize::new(0),
    };
    let address = api.start()?;
    let mut child = spawn(&job, &format!("http://{address}"))?;
    let ends = child
        .stdout
        .take()
        .map(|out| follow(out, job.log.join("output")));
    let end = wait(&job, &mut child, ends.as_ref())?;
    fs_err::write(job.log.join("end.json"), serde_json::to_vec(&end)?)?;
    Ok(())
}

/// Starts the client with nothing of ours in its environment but the way to the stand-in.
fn spawn(job: &Job, api: &str) -> Result<Child> {
    let errors = fs_err::File::create(job.log.join("errors"))?.into_parts().0;
    let mut command = Command::new(&job.program);
    command
        .args(&job.args)
        .current_dir(&job.work)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", &job.home)
        .env("CLAUDE_CONFIG_DIR", job.home.join(".claude"))
        .env("TERM", "dumb")
        .env("LANG", "C.UTF-8")
        .env("TZ", "UTC")
        .env("IS_SANDBOX", "1")
        .env("ANTHROPIC_BASE_URL", api)
        .env("ANTHROPIC_API_KEY", crate::interactive::KEY)
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_ERROR_REPORTING", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .stdin(if job.typed.is_empty() {
            Stdio::null()
        } else {
            Stdio::piped()
        })
        .stdout(Stdio::piped())
        .stderr(errors);
    in_own_group(&mut command)
        .spawn()
        .with_context(|| format!("starting {}", job.program.display()))
}

/// Keeps the output, and tells of each line that ends a turn.
fn follow(out: std::process::ChildStdout, path: std::path::PathBuf) -> Receiver<()> {
    let (tell, told) = channel();
    std::thread::spawn(move || -> Result<()> {
        let mut file = fs_err::File::create(path)?;
        for line in BufReader::new(out).lines() {
            let line = line?;
            writeln!(file, "{line}")?;
            if serde_json::from_str::<serde_json::Value>(&line)
                .is_ok_and(|said| said["type"] == "result")
            {
                tell.send(()).ok();
            }
        }
        Ok(())
    });
    told
}

fn wait(job: &Job, child: &mut Child, ends: Option<&Receiver<()>>) -> Result<End> {
    let deadline = Instant::now() + Duration::from_secs(job.seconds);
    let mut typed = job.typed.iter();
    let mut stdin = child.stdin.take();
    let mut ready = true;
    let mut interrupted = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(End::Code(status.code().unwrap_or(-1)));
        }
        if !interrupted && job.kill_at.as_ref().is_some_and(|file| file.exists()) {
            std::thread::sleep(SETTLE);
            if job.interrupts {
                interrupt(child)?;
                interrupted = true;
                continue;
            }
            kill(child)?;
            return Ok(End::Killed);
        }
        if Instant::now() > deadline {
            kill(child)?;
            return Ok(End::TimedOut);
        }
        let meanwhile = typed.len() == 1 && job.type_at.as_ref().is_some_and(|file| file.exists());
        if (ready || meanwhile)
            && let Some(input) = &mut stdin
        {
            if let Some(prompt) = typed.next() {
                let message = json!({"role": "user", "content": prompt});
                writeln!(
                    input,
                    "{}",
                    json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""})
                )?;
            } else {
                stdin = None;
            }
            ready = false;
        }
        match ends {
            Some(ends) if stdin.is_some() => {
                ready = ends.recv_timeout(Duration::from_millis(50)).is_ok() || ready;
            }
            _ => std::thread::sleep(Duration::from_millis(15)),
        }
    }
}
