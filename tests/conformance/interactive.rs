//! Beyond resume: whether the interactive client shows a clone in its list of sessions, and rewinds files in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::cells::{self, Verdict};
use crate::job::{End, Job, Sent};
use crate::operations::TITLE;
use crate::record::{LIMIT, made_up_id, slug};
use crate::script::{Script, call, text, turn};
use crate::{client, folders};

const SCRIPT: &str = include_str!("interactive.sh");

/// The key that the suite runs clients with; they ask about a key that they do not know.
pub(crate) const KEY: &str = "sk-ant-not-a-key";

/// A home in which a client was typed into.
#[derive(Clone)]
struct Desk {
    version: String,
    folder: PathBuf,
    /// The name of the project's folder.
    project: &'static str,
}

/// How the session that is rewound comes about.
#[derive(Clone, Copy)]
enum Way {
    /// The session is cloned into this project, and the original is taken away.
    Cloned(&'static str),
    /// The project's folder is renamed, and `move` is told so.
    Moved,
}

/// A note in the project's memory; the client tells the model.
const MEMORY: &str = "The mascot of this project is a walrus.";

/// Types a session with a client, and rewinds what became of it: a clone in the same project, a clone in another one, the
/// session itself in a project that has moved.
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
    for way in [Way::Cloned("work"), Way::Cloned("other"), Way::Moved] {
        let (name, outcome) = match way {
            Way::Cloned(project) => (project, rewind_clone(version, project)),
            Way::Moved => ("moved", rewind_moved(version)),
        };
        if let Err(error) = outcome {
            return Verdict::Failed(format!("in the project `{name}`: {error:#}"));
        }
    }
    Verdict::Passed
}

/// Rewinds a session whose project was renamed, and continues it there.
fn rewind_moved(version: &str) -> Result<()> {
    let desk = Desk::new(version, "moved")?;
    desk.lay_out()?;
    let session = made_up_id(&format!("{version}/typed"));
    let memory = desk.project_folder().join("memory");
    fs_err::create_dir_all(&memory)?;
    fs_err::write(memory.join("MEMORY.md"), format!("- {MEMORY}\n"))?;
    desk.drive("record", &session)?;
    let other = Desk {
        project: "other",
        ..desk.clone()
    };
    fs_err::rename(desk.work(), other.work())?;
    other.ccsurgery(&[
        "move",
        &text_of(&desk.work()),
        &text_of(&other.work()),
        "--yes",
    ])?;
    let screen = other.drive("rewind", "write the")?;
    ensure_rewound(&other, &screen)?;
    let continued = other.drive("continue", MEMORY)?;
    ensure!(
        continued.contains("MEMORY.md is told") || !knows_memory(version),
        "the memory of the project is lost:\n{continued}"
    );
    Ok(())
}

/// Whether a client tells the model what is in the project's memory.
fn knows_memory(version: &str) -> bool {
    client::number(version) >= client::number("2.1.59")
}

fn ensure_rewound(desk: &Desk, screen: &str) -> Result<()> {
    let now = fs_err::read_to_string(desk.work().join("notes.txt"))?;
    ensure!(
        now == "alpha\n",
        "not rewound, the file holds {now:?}:\n{screen}"
    );
    Ok(())
}

/// Rewinds a clone in a project; the session itself is held in `work`.
fn rewind_clone(version: &str, project: &'static str) -> Result<()> {
    let desk = Desk::new(version, project)?;
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
    let project = text_of(&other.work());
    desk.ccsurgery(&[
        "clone",
        "--title",
        TITLE,
        &session,
        "--to-project",
        &project,
    ])?;
    fs_err::remove_file(desk.project_folder().join(format!("{session}.jsonl")))?;
    folders::clear(&desk.config().join("file-history").join(&session))?;
    let notes = other.work().join("notes.txt");
    fs_err::write(&notes, "delta\n")?;
    let screen = other.drive("rewind", TITLE)?;
    ensure_rewound(&other, &screen)
}

fn text_of(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Desk {
    /// A home of its own, by its name, with a project in `work`.
    fn new(version: &str, name: &str) -> Result<Self> {
        Ok(Self {
            version: version.to_owned(),
            folder: folders::recordings()?
                .join(version)
                .join(format!("typed-{name}")),
            project: "work",
        })
    }

    /// Runs the program under test in this home.
    fn ccsurgery(&self, args: &[&str]) -> Result<()> {
        let output = Command::new(cells::program())
            .env_clear()
            .env("HOME", self.home())
            .current_dir(self.work())
            .arg("--config-dir")
            .arg(self.config())
            .args(args)
            .output()?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{}: {errors}", args.join(" "));
        Ok(())
    }

    /// Where the project's sessions are.
    fn project_folder(&self) -> PathBuf {
        self.config().join("projects").join(slug(&self.work()))
    }

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
                    turn("what now?", vec![vec![text("Noted.")]]),
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
            type_at: None,
        })?;
        let fine = matches!(outcome.end, End::Code(0)) && outcome.faults().is_empty();
        ensure!(
            fine,
            "{mode}: {:?} {:?}\n{}",
            outcome.end,
            outcome.faults(),
            outcome.output
        );
        let mut output = outcome.output;
        let tells = |sent: &Sent| sent.body.to_string().contains(MEMORY);
        if outcome.requests.iter().any(tells) {
            output.push_str("MEMORY.md is told\n");
        }
        Ok(output)
    }
}

fn answers(work: &Path, id: &str, content: &str, last: &str) -> Vec<Vec<Value>> {
    let input = json!({"file_path": work.join("notes.txt"), "content": content});
    vec![vec![call(id, "Write", &input)], vec![text(last)]]
}
