//! Readers that go away and devices that are full, at the streams of every command.

use crate::every_command::{commands, home, home_without_history};
use crate::harness;

use std::collections::BTreeMap;
use std::process::Stdio;

use harness::Home;

/// A stream that cannot be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broken {
    /// The reader closed its end of the pipe.
    Closed,
    /// There is no room left on the device.
    Full,
}

impl Broken {
    fn stream(self) -> Stdio {
        match self {
            Broken::Closed => {
                let (reader, writer) = std::io::pipe().expect("a pipe");
                drop(reader);
                writer.into()
            }
            Broken::Full => {
                let device = std::fs::File::options().write(true).open("/dev/full");
                device.expect("the device").into()
            }
        }
    }
}

/// What is in the home, apart from the journal's own lock.
fn contents(home: &Home) -> BTreeMap<String, Vec<u8>> {
    let mut all = home.everything();
    all.retain(|name, _| !name.ends_with("/lock"));
    all
}

/// What came of a run.
struct Came {
    code: i32,
    changes: bool,
    stdout: Vec<u8>,
    stderr: String,
}

/// Runs a command in a fresh home.
fn run(words: &[String], out: Stdio, err: Stdio) -> Came {
    let home = match words[0].as_str() {
        "undo" | "redo" | "history" => home(),
        _ => home_without_history(),
    };
    let before = contents(&home);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut process = home.command(&words).process();
    let output = process.stdout(out).stderr(err).output().expect("it starts");
    Came {
        code: output.status.code().unwrap_or(-1),
        changes: contents(&home) != before,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        stdout: output.stdout,
    }
}

/// Runs every command with a broken stream, and compares it with what it does otherwise.
fn assert_honest(broken: Broken, is_out: bool, more: &[&str]) {
    for words in commands() {
        let more = more.iter().map(|&word| word.to_owned());
        let words: Vec<String> = words.into_iter().chain(more).collect();
        let what = format!("{} with {broken:?}", words.join(" "));
        let usual = run(&words, Stdio::piped(), Stdio::piped());
        let came = if is_out {
            run(&words, broken.stream(), Stdio::piped())
        } else {
            run(&words, Stdio::piped(), broken.stream())
        };
        let (code, stderr) = (came.code, &came.stderr);
        assert!((0..=3).contains(&code), "{what} ends with {code}: {stderr}");
        if came.changes {
            assert_eq!(code, 0, "{what}: the work is done: {stderr}");
        }
        if broken == Broken::Closed || !is_out {
            let expected = (usual.code, usual.changes);
            assert_eq!((code, came.changes), expected, "{what}: {stderr}");
        } else if !came.changes && !usual.stdout.is_empty() {
            assert_ne!(code, 0, "{what}: nothing was done and nothing was printed");
        }
    }
}

#[test]
fn streams_closed_by_the_reader_do_not_stop_a_command() {
    assert_honest(Broken::Closed, true, &[]);
}

#[test]
fn streams_closed_by_the_reader_do_not_stop_a_command_with_json() {
    assert_honest(Broken::Closed, true, &["--json"]);
}

#[test]
fn streams_for_messages_may_be_closed_or_full() {
    assert_honest(Broken::Closed, false, &[]);
    assert_honest(Broken::Full, false, &[]);
}

#[test]
fn streams_on_a_full_device_never_hide_what_was_done() {
    assert_honest(Broken::Full, true, &[]);
    assert_honest(Broken::Full, true, &["--json"]);
}
