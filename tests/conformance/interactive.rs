//! Beyond resume: whether the interactive client shows a clone in its list of sessions, and rewinds files in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::cells::{self, Verdict};
use crate::job::{End, Job};
use crate::operations::TITLE;
use crate::record::{LIMIT, made_up_id, slug};
use crate::script::{Script, call, text, turn};
use crate::{client, folders};

const SCRIPT: &str = include_str!("interactive.sh");

/// The key that the suite runs clients with; they ask about a key that they do not know.
pub(crate) const KEY: &str = "sk-ant-not-a-key";

/// A home in which a client was typed into.
struct Desk {
    version: String,
    folder: PathBuf,
    /// The name of the project's folder.
    project: &'static str,
}

/// Types a session with a client, clones it, takes the original away, and rewinds the clone: in the same project, and in
/// another.
pub(crate) fn judge(version: &str) -> Verdict {
    if !Command::new("tmux")
        .arg("-V")
        .output()
        .is_ok_and(|o| o.status.success())
    {
        return Verdict::Skipped("tmux is not to be had".to_owned());
    }
    if let Err(error) = client::program(version) {
        return Verdict::Skipped(format!("{error:#}"));
    }
    for project in ["work", "other"] {
        if let Err(error) = attempt(version, project) {
            return Verdict::Failed(format!("in the project `{project}`: {error:#}"));
        }
    }
    Verdict::Passed
}

/// Rewinds a clone in a project; the session itself is held in `work`.
fn attempt(version: &str, project: &'static str) -> Result<()> {
    let desk = Desk {
        version: version.to_owned(),
        folder: folders::recordings()?
            .join(version)
            .join(format!("typed-{project}")),
        project: "work",
    };
    desk.lay_out()?;
    let other = Desk {
        project,
        folder: desk.folder.clone(),
        version: desk.version.clone(),
    };
    other.settle()?;
    let session = made_up_id(&format!("{version}/typed"));
    let notes = desk.work().join("notes.txt");
    desk.drive("record", &session)?;
    ensure!(
        fs_err::read_to_string(&notes)? == "delta\n",
        "the client did not write"
    );
    let output = Command::new(cells::program())
        .env_clear()
        .env("HOME", desk.home())
        .current_dir(desk.work())
        .arg("--config-dir")
        .arg(desk.config())
        .args(["clone", "--title", TITLE, &session, "--to-project"])
        .arg(other.work())
        .output()?;
    ensure!(
        output.status.success(),
        "clone: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let project = desk.config().join("projects").join(slug(&desk.work()));
    fs_err::remove_file(project.join(format!("{session}.jsonl")))?;
    folders::clear(&desk.config().join("file-history").join(&session))?;
    let notes = other.work().join("notes.txt");
    fs_err::write(&notes, "delta\n")?;
    let screen = other.drive("rewind", TITLE)?;
    let now = fs_err::read_to_string(&notes)?;
    ensure!(
        now == "alpha\n",
        "not rewound, the file holds {now:?}:\n{screen}"
    );
    Ok(())
}

impl Desk {
    fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    fn config(&self) -> PathBuf {
        self.home().join(".claude")
    }

    fn work(&self) -> PathBuf {
        self.folder.join(self.project)
    }

    /// An empty home.
    fn lay_out(&self) -> Result<()> {
        folders::clear(&self.folder)?;
        fs_err::create_dir_all(self.config())?;
        self.settle()
    }

    /// Makes the project, and leaves the client nothing to ask.
    fn settle(&self) -> Result<()> {
        fs_err::create_dir_all(self.work())?;
        let trusted =
            json!({"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true});
        let first = self.folder.join("work").to_string_lossy().into_owned();
        let work = self.work().to_string_lossy().into_owned();
        let settled = json!({
            "hasCompletedOnboarding": true,
            "lastOnboardingVersion": self.version,
            "theme": "dark",
            "bypassPermissionsModeAccepted": true,
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "projects": {first: trusted, work: trusted},
        });
        Ok(fs_err::write(
            self.config().join(".claude.json"),
            settled.to_string(),
        )?)
    }

    /// Lets the script type, and returns what it saw.
    fn drive(&self, mode: &str, name: &str) -> Result<String> {
        let program = self.folder.join("drive.sh");
        fs_err::write(&program, SCRIPT)?;
        crate::process::make_executable(&program)?;
        let client = client::program(&self.version)?;
        let client = client
            .to_str()
            .context("a client in a folder without a name")?;
        let outcome = client::run(&Job {
            program,
            args: [mode, client, name].map(str::to_owned).to_vec(),
            home: self.home(),
            work: self.work(),
            script: Script {
                turns: vec![
                    turn(
                        "write the notes",
                        answers(&self.work(), "1", "alpha\n", "Written."),
                    ),
                    turn(
                        "write them anew",
                        answers(&self.work(), "2", "delta\n", "Rewritten."),
                    ),
                ],
                summary: String::new(),
            },
            ledger: self.folder.join("ledger.json"),
            log: self.folder.join("log"),
            run: mode.to_owned(),
            limit: LIMIT,
            strict: false,
            seconds: 240,
            kill_at: None,
            interrupts: false,
            typed: Vec::new(),
        })?;
        let fine = matches!(outcome.end, End::Code(0)) && outcome.faults().is_empty();
        ensure!(
            fine,
            "{mode}: {:?} {:?}\n{}",
            outcome.end,
            outcome.faults(),
            outcome.output
        );
        Ok(outcome.output)
    }
}

fn answers(work: &Path, id: &str, content: &str, last: &str) -> Vec<Vec<Value>> {
    let input = json!({"file_path": work.join("notes.txt"), "content": content});
    vec![vec![call(id, "Write", &input)], vec![text(last)]]
}
