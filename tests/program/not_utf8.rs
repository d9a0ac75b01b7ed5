//! Arguments, names of files and variables that are not UTF-8, for every command.
#![cfg(target_os = "linux")]

use crate::every_command::{commands, home};
use crate::harness;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use harness::{Home, Run, SESSION};

/// A word that is not UTF-8.
fn odd(word: &str) -> OsString {
    OsStr::from_bytes(&[word.as_bytes(), b"\xff"].concat()).to_owned()
}

fn assert_no_panic(home: &Home, process: &mut Command, what: &str) {
    let run = Run::new(home, &process.output().expect("it starts"));
    assert!((0..=3).contains(&run.code), "{what}: {run:?}");
    assert!(!run.stderr.contains("panicked"), "{what}: {run:?}");
}

#[test]
fn not_utf8_arguments_do_not_stop_any_command_with_a_panic() {
    let home = home();
    for words in commands() {
        for at in 1..=words.len() {
            for more in [None, Some("--json")] {
                let mut process = home.command(&[]).process();
                process.args(&words[..at.min(words.len())]);
                // In place of the next word, or after the last.
                process.arg(odd(words.get(at).map_or("x", String::as_str)));
                process.args(words.get(at + 1..).unwrap_or_default());
                process.args(more);
                let what = format!("{} at {at}, {more:?}", words.join(" "));
                assert_no_panic(&home, &mut process, &what);
            }
        }
    }
    for option in ["--project", "--config-dir", "-o", "--to-project", "--title"] {
        for more in [None, Some("--json")] {
            let mut process = home.command(&["clone", SESSION, option]).process();
            process.arg(odd("x")).args(more);
            assert_no_panic(&home, &mut process, option);
        }
    }
}

#[test]
fn not_utf8_file_names_do_not_stop_any_command_with_a_panic() {
    let home = home();
    let transcript = fs_err::read(home.transcript(SESSION)).expect("a session");
    let folders = [
        home.folder(),
        home.config().join("projects").join(odd("-odd")),
        home.folder().join(SESSION),
        home.folder().join(SESSION).join("subagents"),
        home.config().join("file-history").join(SESSION),
        home.config().join("tasks").join(SESSION),
        home.config().join("todos"),
        home.config().join("plans"),
        home.config().join("sessions"),
        home.state().join("ops"),
    ];
    for folder in folders {
        fs_err::create_dir_all(&folder).expect("a folder");
        for name in [odd("odd"), odd("agent-a"), odd(SESSION)] {
            let mut file = name.clone();
            file.push(".jsonl");
            fs_err::write(folder.join(file), &transcript).expect("a file");
        }
    }
    for words in commands() {
        for more in [None, Some("--json")] {
            let mut process = home.command(&[]).process();
            process.args(&words).args(more);
            assert_no_panic(&home, &mut process, &words.join(" "));
        }
    }
}

#[test]
fn not_utf8_project_folder_does_not_stop_any_command_with_a_panic() {
    let home = home();
    let project = home.path(odd("project"));
    fs_err::create_dir_all(&project).expect("a folder");
    for words in commands() {
        for more in [None, Some("--json")] {
            let mut process = home.command(&[]).within(&project).process();
            process.args(&words).args(more);
            assert_no_panic(&home, &mut process, &words.join(" "));
        }
    }
    let mut process = home.command(&["clone", SESSION, "--json"]).process();
    process.arg("--to-project").arg(&project);
    assert_no_panic(&home, &mut process, "clone --to-project");
}

#[test]
fn not_utf8_environment_does_not_stop_any_command_with_a_panic() {
    let variables = [
        "HOME",
        "CLAUDE_CONFIG_DIR",
        "CCSURGERY_STATE_DIR",
        "XDG_STATE_HOME",
        "PATH",
        "COLUMNS",
        "TERM",
        "PAGER",
        "EDITOR",
        "TMPDIR",
        "NO_COLOR",
        "LANG",
    ];
    for variable in variables {
        let home = home();
        let value = home.path(odd("value"));
        fs_err::create_dir_all(&value).expect("a folder");
        let transcripts = value.join("projects/-p");
        fs_err::create_dir_all(&transcripts).expect("a folder");
        let from = home.transcript(SESSION);
        fs_err::copy(from, transcripts.join(format!("{SESSION}.jsonl"))).expect("a session");
        for words in commands() {
            let mut process = home.command(&[]).process();
            process.args(&words).env(variable, &value);
            assert_no_panic(
                &home,
                &mut process,
                &format!("{variable}: {}", words.join(" ")),
            );
        }
    }
}
