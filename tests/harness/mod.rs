//! A made-up home in which the real program runs: nothing of the machine's is read or touched.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test program uses a part of what is here"
)]

mod run;
pub(crate) mod script;
mod skip;
mod transcript;

use std::collections::BTreeMap;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) use run::{Command, Run};
pub(crate) use skip::skipped;
pub(crate) use transcript::{Transcript, uuid};

/// The session that most tests operate on.
pub(crate) const SESSION: &str = "5e551000-aaaa-4bbb-8ccc-0123456789ab";

/// The time at which sessions are looked at that name no other: times in them and in what people see are counted from it.
pub(crate) const NOW: &str = "2026-01-03T09:14:00Z";

/// A home folder with a project in it, a config folder and a state folder.
pub(crate) struct Home {
    root: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// A home in memory where there is such a folder: for tests that write very often.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            Self::below(memory)
        } else {
            Self::new()
        }
    }

    fn below(folder: &Path) -> Self {
        let home = Self {
            root: tempfile::Builder::new()
                .prefix("ccs")
                .tempdir_in(folder)
                .expect("a temp folder"),
        };
        for dir in [home.project(), home.config(), home.path("elsewhere")] {
            fs_err::create_dir_all(dir).expect("a folder");
        }
        home
    }

    /// A home that holds one small session of the project.
    pub(crate) fn with(transcript: &Transcript) -> Self {
        let home = Self::new();
        home.add(transcript);
        home
    }

    /// The real path of something in it.
    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        let root = ccsurgery::store::real_path(self.root.path()).expect("the temp folder");
        let path = root.join(relative);
        if cfg!(windows) {
            // With the system's separators only, as programs show it.
            return path.components().collect();
        }
        path
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("work")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path(".claude")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path("state")
    }

    /// The folder of the project's transcripts.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder_of(&self.project())
    }

    pub(crate) fn folder_of(&self, project: &Path) -> PathBuf {
        let slug = ccsurgery::store::slug(&project.to_string_lossy());
        self.config().join("projects").join(slug)
    }

    /// The transcript of a session of the project.
    pub(crate) fn transcript(&self, id: &str) -> PathBuf {
        self.folder().join(format!("{id}.jsonl"))
    }

    /// A transcript that was held in this home's project.
    pub(crate) fn start(&self, id: &str) -> Transcript {
        Transcript::new(id, &self.project())
    }

    /// Writes a session into the project, an hour old.
    pub(crate) fn add(&self, transcript: &Transcript) -> PathBuf {
        let path = self.folder().join(format!("{}.jsonl", transcript.session));
        self.write(&path, transcript.text());
        path
    }

    /// Writes a file, private and an hour old as the client would have left it.
    pub(crate) fn write(&self, path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs_err::write(&path, bytes).expect("a file");
        set_mode(&path, 0o600);
        let file = std::fs::File::options()
            .write(true)
            .open(&path)
            .expect("the file");
        file.set_modified(SystemTime::now() - Duration::from_secs(3700))
            .expect("its time");
    }

    /// Writes a session into the project, so many minutes before [`NOW`].
    pub(crate) fn put(&self, id: &str, text: &str, minutes_ago: u64) -> PathBuf {
        let path = self.transcript(id);
        self.write(&path, text);
        self.set_age(id, minutes_ago);
        path
    }

    /// Sets the time of a session's file to so many minutes before [`NOW`].
    pub(crate) fn set_age(&self, id: &str, minutes_ago: u64) {
        let now: jiff::Timestamp = NOW.parse().expect("a time");
        let then = now - Duration::from_secs(minutes_ago * 60 + 5);
        let path = self.transcript(id);
        let file = std::fs::File::options().append(true).open(path);
        let file = file.expect("the transcript");
        file.set_modified(then.into()).expect("its time");
    }

    /// Runs the program at [`NOW`], on a page of so many columns.
    pub(crate) fn run_on(&self, columns: usize, arguments: &[&str]) -> Run {
        self.command(arguments).columns(columns).at(NOW).run()
    }

    /// Runs the program at [`NOW`], with its output in a pipe whose width is not known.
    pub(crate) fn run_in_pipe(&self, arguments: &[&str]) -> Run {
        self.command(arguments).without_columns().at(NOW).run()
    }

    /// The program, run in the project's folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command<'_> {
        Command::new(self, arguments)
    }

    /// Runs the program in the project's folder.
    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.command(arguments).run()
    }

    /// Runs a command that must succeed with `--json`, and reads its document.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let run = self.run(&[arguments, &["--json"]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        serde_json::from_str(&run.stdout).expect("one JSON document")
    }

    /// Clones the session, and returns the copy's id and transcript.
    pub(crate) fn clone(&self, arguments: &[&str]) -> (String, PathBuf) {
        let document = self.json(&[&["clone"], arguments].concat());
        let target = &document["target"];
        let text = |key: &str| target[key].as_str().expect("a string").to_owned();
        (text("session_id"), text("path").into())
    }

    /// Every file and folder with its bytes, so that two moments can be compared.
    pub(crate) fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        let root = self.path("");
        let mut out = BTreeMap::new();
        let mut stack = vec![root.clone()];
        while let Some(dir) = stack.pop() {
            for entry in fs_err::read_dir(&dir).expect("a folder") {
                let path = entry.expect("an entry").path();
                let shown = path.strip_prefix(&root).expect("below the root");
                let shown = shown.to_string_lossy().replace(MAIN_SEPARATOR, "/");
                if path.is_dir() {
                    out.insert(format!("{shown}/"), Vec::new());
                    stack.push(path.clone());
                } else {
                    out.insert(shown, fs_err::read(&path).unwrap_or_default());
                }
            }
        }
        out
    }

    /// The names of everything below the config folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let all = self.everything().into_keys();
        all.filter_map(|n| n.strip_prefix(".claude/").map(str::to_owned))
            .collect()
    }
}

/// A text as it stands inside a JSON string.
pub(crate) fn in_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The records of a transcript.
pub(crate) fn records(path: &Path) -> Vec<Value> {
    let text = fs_err::read_to_string(path).expect("a transcript");
    text.lines()
        .map(|l| serde_json::from_str(l).expect("a record"))
        .collect()
}

#[cfg(unix)]
pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::metadata(path).expect("a file").permissions().mode() & 0o777
}

/// Checks that only the owner can read a file, where that is a matter of its mode.
pub(crate) fn assert_private(path: &Path) {
    #[cfg(unix)]
    assert_eq!(mode(path), 0o600, "{}", path.display());
    #[cfg(not(unix))]
    assert!(path.is_file(), "{}", path.display());
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    #[cfg(unix)]
    {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs_err::set_permissions(path, permissions).expect("a mode");
    }
    #[cfg(not(unix))]
    let _ = (path, mode);
}
