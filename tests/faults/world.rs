//! A home that can be set back to what it was, and told apart from what it becomes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
#[cfg(not(windows))]
use std::process::Command;
use std::process::Stdio;

use ccsurgery::store::FileState;
use serde_json::Value;
use tempfile::TempDir;

use super::cases::{Case, fill, more};
use crate::harness::{Home, Run, SESSION};

/// Everything that a client or a person could see, and what the journal says was done.
#[derive(Clone, PartialEq)]
pub(crate) struct Seen {
    files: BTreeMap<String, Vec<u8>>,
    /// What was done and how it stands, oldest first.
    journal: Vec<(String, String)>,
}

/// The two states between which a run moves.
pub(crate) struct World {
    pub(crate) home: Home,
    case: &'static Case,
    saved: TempDir,
    before: Seen,
    after: Seen,
    /// The steps that the run takes.
    pub(crate) steps: Vec<String>,
}

impl World {
    /// Makes the home, and sees what the run makes of it.
    pub(crate) fn new(case: &'static Case) -> Self {
        let home = Home::in_memory();
        let saved = tempfile::Builder::new()
            .prefix("ccs-saved")
            .tempdir_in(home.path("").parent().expect("a folder"))
            .expect("a temp folder");
        fill(&home);
        for command in case.before {
            let run = home.run(command);
            assert_eq!(run.code, 0, "{}: {run:?}", case.name);
        }
        if case.used {
            let path = home.transcript(SESSION);
            let text = fs_err::read_to_string(&path).expect("the session");
            fs_err::write(&path, text + &more(&home)).expect("as a client appends");
        }
        copy_all(&home.path(""), saved.path());
        let before = Seen::of(&home);
        let mut world = Self {
            home,
            case,
            saved,
            before: before.clone(),
            after: before,
            steps: Vec::new(),
        };
        let trace = world.saved.path().with_extension("trace");
        let run = world
            .home
            .command(case.command)
            .env("CCSURGERY_FAULT_TRACE", &trace)
            .run();
        assert_eq!(run.code, 0, "{}: {run:?}", case.name);
        let steps = fs_err::read_to_string(&trace).unwrap_or_default();
        let _ = fs_err::remove_file(&trace);
        world.steps = steps.lines().map(str::to_owned).collect();
        world.after = Seen::of(&world.home);
        assert!(world.before != world.after, "{} does nothing", case.name);
        world
    }

    /// Sets everything back.
    pub(crate) fn reset(&self) {
        let root = self.home.path("");
        for entry in fs_err::read_dir(&root).expect("the home") {
            let path = entry.expect("an entry").path();
            fs_err::remove_dir_all(path).expect("removed");
        }
        copy_all(self.saved.path(), &root);
    }

    /// The run, with a fault.
    pub(crate) fn run(&self, fault: &str) -> Run {
        let command = self.home.command(self.case.command);
        command.env("CCSURGERY_FAULT", fault).run()
    }

    /// The run, to be ended from outside.
    pub(crate) fn start(&self) -> std::process::Child {
        let mut process = self.home.command(self.case.command).process();
        process.stdout(Stdio::null()).stderr(Stdio::null());
        process.spawn().expect("the program starts")
    }

    /// What must hold at once: every file is the old or the new one, and what is new is whole or of no
    /// interest to a client.
    pub(crate) fn assert_whole(&self, what: &str) {
        let now = files(&self.home);
        let what = format!("{}, {what}", self.case.name);
        for (name, bytes) in &now {
            let known = [&self.before, &self.after]
                .iter()
                .any(|s| s.files.get(name) == Some(bytes));
            let session = name.ends_with(".jsonl") && !name.contains("/subagents/");
            let whole = self.after.files.values().any(|b| b.len() == bytes.len());
            let fresh = !self.before.files.contains_key(name);
            assert!(
                known || is_temp(name) || (fresh && (whole || !session)),
                "{what}: {name} is neither old nor new"
            );
        }
        for name in self.before.files.keys() {
            let stays = self.after.files.contains_key(name);
            assert!(!stays || now.contains_key(name), "{what}: {name} is gone");
        }
    }

    /// What must hold after the next run: all is as it was, or all is done, nothing is left over, and the
    /// journal says which. True if it is done.
    pub(crate) fn assert_settled(&self, what: &str) -> bool {
        let what = format!("{}, {what}", self.case.name);
        let now = Seen::of(&self.home);
        assert_tidy(&self.home, &what);
        if now == self.before {
            return false;
        }
        assert!(
            now.is_like(&self.after),
            "{what}: neither old nor new: {}",
            now.differs_from(&self.before, &self.after)
        );
        true
    }

    /// Runs what is run next, which cleans up.
    pub(crate) fn clean_up(&self, what: &str) {
        let run = self.home.run(self.case.next);
        assert!([0, 1, 3].contains(&run.code), "{what}: {run:?}");
    }

    /// What must hold from then on: the run can be done, and taken back.
    pub(crate) fn assert_goes_on(&self, done: bool, what: &str) {
        let what = format!("{}, {what}", self.case.name);
        if !done {
            let run = self.home.run(self.case.command);
            assert_eq!(run.code, 0, "{what}: {run:?}");
            assert!(self.assert_settled(&what), "{what}: it is not done");
        }
        let Some(back) = self.case.back else {
            return;
        };
        let run = self.home.run(back);
        assert_eq!(run.code, 0, "{what}: {run:?}");
        let now = files(&self.home);
        assert!(
            now == self.before.files,
            "{what}: not back to what it was: {}",
            differences(&now, &self.before.files)
        );
        assert_tidy(&self.home, &what);
    }
}

impl Seen {
    pub(crate) fn of(home: &Home) -> Self {
        Self {
            files: files(home),
            journal: journal(home),
        }
    }

    /// The same but for ids that are made up anew by each run.
    fn is_like(&self, other: &Self) -> bool {
        let shape = |s: &Self| {
            let mut all: Vec<_> = s
                .files
                .iter()
                .map(|(name, bytes)| (name.matches('/').count(), name.len(), bytes.len()))
                .collect();
            all.sort_unstable();
            all
        };
        self.journal == other.journal && (self.files == other.files || shape(self) == shape(other))
    }

    fn differs_from(&self, before: &Self, after: &Self) -> String {
        format!(
            "files: from old {}; from new {}; journal: {:?}, old {:?}, new {:?}",
            differences(&self.files, &before.files),
            differences(&self.files, &after.files),
            self.journal,
            before.journal,
            after.journal
        )
    }
}

fn differences(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) -> String {
    let names = a.keys().chain(b.keys().filter(|n| !a.contains_key(*n)));
    let differing: Vec<_> = names
        .filter(|n| a.get(*n) != b.get(*n))
        .map(|n| (n, a.get(n).map(Vec::len), b.get(n).map(Vec::len)))
        .collect();
    format!("{differing:?}")
}

/// Everything but the state folder, and the list that a client brings up to date by itself.
fn files(home: &Home) -> BTreeMap<String, Vec<u8>> {
    let mut all = home.everything();
    all.retain(|name, bytes| {
        let list = name.ends_with("sessions-index.json");
        let is_json = serde_json::from_slice::<Value>(bytes).is_ok();
        assert!(!list || is_json, "{name} cannot be read");
        !list && !name.starts_with("state")
    });
    all
}

fn journal(home: &Home) -> Vec<(String, String)> {
    let mut all: Vec<(String, Value)> = Vec::new();
    for folder in operations(home) {
        if let Ok(text) = fs_err::read(folder.join("op.json")) {
            let record: Value = serde_json::from_slice(&text).expect("a record");
            all.push((record["id"].to_string(), record));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    all.iter()
        .map(|(_, r)| (text(&r["operation"]), text(&r["state"])))
        .collect()
}

fn operations(home: &Home) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(home.state().join("ops")) else {
        return Vec::new();
    };
    entries.map(|e| e.expect("an entry").path()).collect()
}

/// Nothing is left over, no record says that anything is under way, and what a record names is there.
pub(crate) fn assert_tidy(home: &Home, what: &str) {
    for name in home.everything().keys() {
        assert!(!is_temp(name), "{what}: {name} is left");
    }
    for folder in operations(home) {
        let text = fs_err::read(folder.join("op.json"));
        let text = text.unwrap_or_else(|e| panic!("{what}: a folder without a record: {e}"));
        let record: Value = serde_json::from_slice(&text).expect("a record");
        let state = record["state"].as_str().unwrap_or_default();
        assert!(
            ["committed", "undone"].contains(&state),
            "{what}: the journal says {state}"
        );
        for replaced in record["replaced"].as_array().into_iter().flatten() {
            let backup = replaced["backup"].as_str().expect("a name");
            let bytes = fs_err::read(folder.join(backup)).expect("the old bytes");
            let before: FileState =
                serde_json::from_value(replaced["before"].clone()).expect("a state");
            let whole = before.sum.is_of(&bytes[..before.len as usize]);
            assert!(whole, "{what}: {backup}");
        }
    }
}

fn is_temp(name: &str) -> bool {
    name.contains(".ccsurgery-")
}

/// Copies what is in a folder, with times.
#[cfg(windows)]
fn copy_all(from: &Path, to: &Path) {
    for entry in fs_err::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs_err::create_dir_all(&target).expect("a folder");
            copy_all(&entry.path(), &target);
        } else {
            fs_err::copy(entry.path(), &target).expect("copied");
            let time = entry.metadata().and_then(|m| m.modified()).expect("a time");
            let file = std::fs::File::options().write(true).open(&target);
            file.and_then(|f| f.set_modified(time)).expect("its time");
        }
    }
}

/// Copies what is in a folder with links, times and modes.
#[cfg(not(windows))]
fn copy_all(from: &Path, to: &Path) {
    let done = Command::new("cp")
        .arg("-a")
        .arg(from.join("."))
        .arg(to)
        .status();
    assert!(done.expect("cp").success());
}
