//! Sessions that move to another folder, to another machine and back, or into an archive and back.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::case::Case;
use crate::cells::{ccsurgery, program};

/// Whether an operation is one of these.
pub(crate) fn is_travel(name: &str) -> bool {
    ["move", "import", "restore"].contains(&name)
}

/// Makes the journey. Returns the folder in which the session is resumed then; it keeps its id.
pub(crate) fn make(case: &Case, name: &str) -> Result<PathBuf> {
    let recording = &case.recording;
    let session = recording.session.as_str();
    let work = recording.work();
    match name {
        "move" => {
            let other = recording.file("other");
            ccsurgery(case, &["move", &text(&work), &text(&other), "--yes"])?;
            Ok(other)
        }
        "restore" => {
            ccsurgery(case, &["archive", session, "--yes"])?;
            ccsurgery(case, &["restore", session])?;
            Ok(work)
        }
        _ => {
            let (there, back) = (
                recording.file("there.ccbundle"),
                recording.file("back.ccbundle"),
            );
            ccsurgery(case, &["bundle", session, "-f", "-o", &text(&there)])?;
            let machine = Machine::new(&recording.file("machine"))?;
            let project = text(&machine.project);
            machine.run(&["import", &text(&there), "--to-project", &project])?;
            machine.run(&["bundle", session, "-f", "-o", &text(&back)])?;
            ccsurgery(case, &["rm", session, "--yes"])?;
            let report = ccsurgery(
                case,
                &["import", &text(&back), "--to-project", &text(&work)],
            )?;
            let id = report["sessions"][0]["session_id"].as_str();
            ensure!(id == Some(session), "the id is not kept: {report}");
            Ok(work)
        }
    }
}

/// A machine with another user and another root.
struct Machine {
    home: PathBuf,
    project: PathBuf,
}

impl Machine {
    fn new(root: &Path) -> Result<Self> {
        if root.exists() {
            fs_err::remove_dir_all(root)?;
        }
        let home = root.join("Users/Ada Lovelace");
        let project = home.join("Documents/my code/app");
        fs_err::create_dir_all(&project)?;
        fs_err::create_dir_all(home.join(".claude"))?;
        Ok(Self { home, project })
    }

    fn run(&self, args: &[&str]) -> Result<Value> {
        let output = Command::new(program())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .current_dir(&self.project)
            .arg("--json")
            .args(args)
            .output()?;
        ensure!(
            output.status.success(),
            "ccsurgery {}: {}",
            args.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        serde_json::from_slice(&output.stdout).context("no JSON")
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
