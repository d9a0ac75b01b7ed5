//! Links, pipes, folders, devices and sockets in every place that is read.
#![cfg(target_os = "linux")]

use crate::every_command::{OTHER, home};
use crate::harness;

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use harness::{Home, Run, SESSION};

/// What stands where a file or a folder is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Special {
    Link,
    LinkToFolder,
    DanglingLink,
    LinkToItself,
    Pipe,
    Folder,
    Device,
    Socket,
}

/// Words that are only in a file elsewhere. They must never get into the config folder.
const SECRET: &str = "words of a file elsewhere";

/// Puts something special at a path. Returns what must live as long as it.
fn put(home: &Home, special: Special, path: &Path) -> Option<UnixListener> {
    if let Ok(metadata) = fs_err::symlink_metadata(path) {
        if metadata.is_dir() {
            fs_err::remove_dir_all(path).expect("removed");
        } else {
            fs_err::remove_file(path).expect("removed");
        }
    }
    fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let outside = home.path("elsewhere");
    match special {
        Special::Link => symlink(outside.join("secret.jsonl"), path).expect("a link"),
        Special::LinkToFolder => symlink(outside.join("folder"), path).expect("a link"),
        Special::DanglingLink => symlink(outside.join("nothing"), path).expect("a link"),
        Special::LinkToItself => symlink(path, path).expect("a link"),
        Special::Device => symlink("/dev/zero", path).expect("a link"),
        Special::Folder => fs_err::create_dir(path).expect("a folder"),
        Special::Socket => return UnixListener::bind(path).ok(),
        Special::Pipe => {
            let made = std::process::Command::new("mkfifo").arg(path).status();
            assert!(made.expect("mkfifo").success());
        }
    }
    None
}

/// Every place that some command reads, in groups: a group is tried at once.
fn places(home: &Home) -> Vec<Vec<PathBuf>> {
    let (config, folder) = (home.config(), home.folder());
    let operations = fs_err::read_dir(home.state().join("ops")).expect("the journal");
    let mut operations: Vec<PathBuf> = operations.map(|o| o.expect("one").path()).collect();
    operations.sort();
    let operation = operations.pop().expect("an operation");
    let own = folder.join(SESSION);
    vec![
        vec![
            folder.join("x.jsonl"),
            folder.join("agent-abc1234.jsonl"),
            own.join("subagents/agent-a.jsonl"),
            own.join("tool-results/x.txt"),
            own.join("resume-head.jsonl"),
            folder.join("sessions-index.json"),
            config
                .join("todos")
                .join(format!("{SESSION}-agent-{SESSION}.json")),
            config.join("tasks").join(SESSION).join("1.json"),
            config.join("session-env").join(SESSION).join("x"),
            config.join("file-history").join(SESSION).join("a@v1"),
            config.join("plans/fuzzy-cat.md"),
            config.join("sessions/4242.json"),
            config.join("history.jsonl"),
            config.join("projects/-another"),
        ],
        vec![
            own.clone(),
            config.join("tasks").join(SESSION),
            config.join("file-history").join(SESSION),
            config.join("sessions"),
        ],
        vec![own.join("subagents"), operation.join("created-0")],
        vec![operation.join("op.json")],
        vec![operation],
        vec![home.state().join("lock")],
    ]
}

/// Runs a command that must end by itself: one that waits is ended, with exit code 124.
fn run(home: &Home, words: &[&str], what: &str) {
    let mut process = home.command(words).process_under(&["timeout", "30"]);
    let output = process.output().expect("it starts");
    let run = Run::new(home, &output);
    assert!(
        (0..=3).contains(&run.code),
        "{words:?} with {what}: {run:?}"
    );
}

fn assert_safe_everywhere(special: Special) {
    let number = places(&home()).len();
    for n in 0..number {
        let home = home();
        let secret = fs_err::read_to_string(home.transcript(SESSION)).expect("a session");
        let secret = secret.replace("first words", SECRET);
        home.write("elsewhere/secret.jsonl", &secret);
        home.write("elsewhere/folder/agent-b.jsonl", &secret);
        let before = outside(&home);
        let group = places(&home).swap_remove(n);
        let kept = group.iter().map(|place| put(&home, special, place));
        let _kept: Vec<Option<UnixListener>> = kept.collect();
        let what = format!("{special:?} at {group:?}");
        for words in [
            &["ls", "--all", "--grep", "first"][..],
            &["doctor", "--all"],
            &["clone", SESSION],
            &["repair", SESSION],
            &[
                "strip-thinking",
                SESSION,
                "--subagents",
                "--in-place",
                "--yes",
            ],
            &["history"],
            &["undo", "--yes"],
            &["redo", "--yes"],
            &["truncate", OTHER, "--at", "1"],
        ] {
            run(&home, words, &what);
        }
        assert_eq!(outside(&home), before, "{what}");
        assert_not_copied(&home, &what);
    }
}

/// Everything elsewhere, with its bytes.
fn outside(home: &Home) -> Vec<(PathBuf, Vec<u8>)> {
    regular_files(home.path("elsewhere"))
}

/// The regular files below a folder, with their bytes. Nothing else is opened.
fn regular_files(folder: PathBuf) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut folders, mut files) = (vec![folder], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let kind = entry.file_type().expect("a kind");
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                let bytes = fs_err::read(entry.path()).expect("a file");
                files.push((entry.path(), bytes));
            }
        }
    }
    files.sort();
    files
}

/// Asserts that no regular file of the config folder holds the secret.
fn assert_not_copied(home: &Home, what: &str) {
    for (path, bytes) in regular_files(home.config()) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(SECRET), "{what}: {}", path.display());
    }
}

#[test]
fn file_types_links_are_not_followed() {
    assert_safe_everywhere(Special::Link);
    assert_safe_everywhere(Special::LinkToFolder);
}

#[test]
fn file_types_links_to_nowhere_do_no_harm() {
    assert_safe_everywhere(Special::DanglingLink);
    assert_safe_everywhere(Special::LinkToItself);
}

#[test]
fn file_types_pipes_and_sockets_are_not_waited_for() {
    assert_safe_everywhere(Special::Pipe);
    assert_safe_everywhere(Special::Socket);
}

#[test]
fn file_types_folders_and_devices_are_not_read() {
    assert_safe_everywhere(Special::Folder);
    assert_safe_everywhere(Special::Device);
}
