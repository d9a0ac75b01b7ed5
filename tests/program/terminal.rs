//! Every string of a session through every command on a terminal.

use crate::every_command::{OTHER, commands, home};
use crate::harness;

use std::io::Write as _;
use std::process::{Command, Stdio};

use harness::{Home, SESSION, records, skipped};
use serde_json::{Value, json};

/// What a terminal would obey: a title, a bell, a cleared screen, a colour in one byte, a step back, a new direction.
const DRIVE: &str = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{7f}\u{85}\u{202e}gnorw\x08\x1b\\";

/// The parts of it of which none may reach a terminal.
const OBEYED: [&str; 8] = [
    "\x1b]0", "\x07", "\x1b[2J", "\u{9b}", "\u{7f}", "\u{85}", "\u{202e}", "\x08",
];

/// What ties a session together, and so is left alone.
const TIES: [&str; 16] = [
    "type", "subtype", "role", "uuid", "parentUuid", "sessionId", "timestamp", "id", "tool_use_id",
    "name", "leafUuid", "version", "cwd", "signature", "model", "stop_reason",
];

fn infect(key: &str, value: &mut Value) {
    match value {
        Value::String(text) if !TIES.contains(&key) => *text += DRIVE,
        Value::Array(all) => all.iter_mut().for_each(|v| infect(key, v)),
        Value::Object(fields) => fields.iter_mut().for_each(|(k, v)| infect(k, v)),
        _ => {}
    }
}

/// Makes the first session of a home hostile.
fn hostile_home() -> Home {
    let home = home();
    let path = home.transcript(SESSION);
    let mut lines = records(&path);
    lines.iter_mut().for_each(|line| infect("", line));
    lines.push(json!({"type": "custom-title", "customTitle": format!("title{DRIVE}"), "sessionId": SESSION}));
    lines.push(json!({"type": format!("new{DRIVE}"), "x": DRIVE}));
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    home.write(&path, text.join("\n") + "\n");
    home
}

/// Runs a command on a terminal and answers yes to its question. Returns all that the terminal was sent.
fn on_a_terminal(home: &Home, words: &[String]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let own = home.command(&words).process();
    let quoted = |word: &std::ffi::OsStr| {
        let word = word.to_string_lossy();
        format!("'{}'", word.replace('\'', r"'\''"))
    };
    let line: Vec<String> = [own.get_program()]
        .into_iter()
        .chain(own.get_args())
        .map(quoted)
        .collect();
    let mut process = Command::new("script");
    process
        .args(["-qec", &line.join(" "), "/dev/null"])
        .current_dir(home.project())
        .env_clear();
    for (key, value) in own.get_envs() {
        process.env(key, value.unwrap_or_default());
    }
    process
        .env_remove("NO_COLOR")
        .env("TERM", "xterm-256color")
        .env("PAGER", "cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = process.spawn().ok()?;
    let mut input = child.stdin.take()?;
    let _ = input.write_all(b"y\n");
    drop(input);
    let output = child.wait_with_output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn assert_harmless(words: &[String], seen: &str) {
    for part in OBEYED {
        let at = seen.find(part);
        let near = at.map(|at| seen[..at].chars().rev().take(60).collect::<String>());
        let near = near.map(|near| near.chars().rev().collect::<String>());
        assert_eq!(near, None, "{part:?} in `{}`", words.join(" "));
    }
    assert!(!seen.contains("panicked"), "{}: {seen}", words.join(" "));
}

#[test]
fn terminal_is_not_driven_by_any_command() {
    let name = "terminal_is_not_driven_by_any_command";
    let home = hostile_home();
    let help = vec!["--version".to_owned()];
    match on_a_terminal(&home, &help) {
        Some(seen) if seen.contains("ccsurgery") => {}
        seen => return skipped(name, &format!("`script` gives no terminal: {seen:?}")),
    }
    let mut seen_any = false;
    for words in commands() {
        for more in [&[][..], &["-v"], &["--json"]] {
            let more = more.iter().map(|&word: &&str| word.to_owned());
            let words: Vec<String> = words.iter().cloned().chain(more).collect();
            let seen = on_a_terminal(&home, &words).expect("a terminal");
            seen_any |= seen.contains("gnorw");
            assert_harmless(&words, &seen);
        }
    }
    assert!(seen_any, "the hostile words were shown, without their teeth");
}

#[test]
fn terminal_is_not_driven_by_questions_and_reports() {
    let name = "terminal_is_not_driven_by_questions_and_reports";
    let home = hostile_home();
    let split = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let strip = split(&format!("strip-thinking {SESSION} --in-place"));
    let seen = match on_a_terminal(&home, &strip) {
        Some(seen) if seen.contains("[y/N]") => seen,
        seen => return skipped(name, &format!("`script` gives no terminal: {seen:?}")),
    };
    assert_harmless(&strip, &seen);
    for line in ["history", "undo", "redo", "undo -n", "history gc --older-than 0d"] {
        let words = split(line);
        assert_harmless(&words, &on_a_terminal(&home, &words).expect("a terminal"));
    }
    let diff = split(&format!("diff {SESSION} {OTHER}"));
    assert_harmless(&diff, &on_a_terminal(&home, &diff).expect("a terminal"));
}
