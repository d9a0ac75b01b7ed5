//! Every string of a session through every command on a terminal.

use crate::every_command::{OTHER, commands, home};
use crate::harness;

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use harness::{Home, SESSION, records, skipped};
use serde_json::{Value, json};

/// What a terminal would obey: a title, a bell, a cleared screen, a colour in one byte, a step back, a new direction.
const DRIVE: &str = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{7f}\u{85}\u{202e}gnorw\x08\x1b\\";

/// What stands before the output of each command.
const MARK: &str = "@@@@ next command";

/// The parts of it of which none may reach a terminal.
const OBEYED: [&str; 8] = [
    "\x1b]0", "\x07", "\x1b[2J", "\u{9b}", "\u{7f}", "\u{85}", "\u{202e}", "\x08",
];

/// What ties a session together, and so is left alone.
const TIES: [&str; 16] = [
    "type",
    "subtype",
    "role",
    "uuid",
    "parentUuid",
    "sessionId",
    "timestamp",
    "id",
    "tool_use_id",
    "name",
    "leafUuid",
    "version",
    "cwd",
    "signature",
    "model",
    "stop_reason",
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
    for line in &mut lines {
        infect("", line);
    }
    lines.push(json!({"type": "custom-title", "customTitle": format!("title{DRIVE}"), "sessionId": SESSION}));
    lines.push(json!({"type": format!("new{DRIVE}"), "x": DRIVE}));
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    home.write(&path, text.join("\n") + "\n");
    home
}

/// Runs commands one after the other on a terminal, and types answers to their questions. Returns what the terminal was
/// sent by each; `None` if there is no terminal to be had.
pub(crate) fn on_a_terminal(
    home: &Home,
    commands: &[Vec<String>],
    answers: &str,
) -> Option<Vec<String>> {
    let mut child = start(home, commands)?;
    let mut input = child.stdin.take()?;
    let _ = input.write_all(answers.as_bytes());
    let output = child.wait_with_output().ok()?;
    drop(input);
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    let parts = seen.split(MARK).skip(1).map(str::to_owned);
    Some(parts.collect()).filter(|parts: &Vec<String>| parts.len() == commands.len())
}

/// Runs a command on a terminal, and types each answer when its question is there. Returns what the terminal was sent;
/// `None` if there is no terminal to be had.
pub(crate) fn in_conversation(
    home: &Home,
    words: &[&str],
    answers: &[(&str, &str)],
) -> Option<String> {
    let words = words.iter().map(|&w| w.to_owned()).collect();
    let mut child = start(home, &[words])?;
    let (mut input, mut output) = (child.stdin.take()?, child.stdout.take()?);
    let mut seen = String::new();
    let mut buffer = [0; 1024];
    let mut answers = answers.iter();
    let mut next = answers.next();
    let mut from = 0;
    while let Ok(n @ 1..) = output.read(&mut buffer) {
        seen += &String::from_utf8_lossy(&buffer[..n]);
        while let Some((question, answer)) = next
            && let Some(at) = seen[from..].find(question)
        {
            from += at + question.len();
            let _ = writeln!(input, "{answer}");
            next = answers.next();
        }
    }
    let _ = child.wait();
    assert!(next.is_none(), "not asked: {next:?}\n{seen}");
    Some(seen)
}

/// Starts commands that run one after the other on a terminal.
fn start(home: &Home, commands: &[Vec<String>]) -> Option<Child> {
    let quoted = |word: &str| format!("'{}'", word.replace('\'', r"'\''"));
    let mut script = String::new();
    let own = home.command(&[]).process();
    for words in commands {
        let program = own.get_program().to_string_lossy();
        let line = [&*program]
            .into_iter()
            .chain(words.iter().map(String::as_str));
        let line: Vec<String> = line.map(quoted).collect();
        let line = line.join(" ");
        script.extend(["printf '\\n", MARK, "\\n'; ", &line, "\n"]);
    }
    home.write("commands.sh", script);
    let mut process = Command::new("script");
    let line = format!("sh {}", quoted(&home.path("commands.sh").to_string_lossy()));
    process.args(["-qec", &line, "/dev/null"]);
    process.current_dir(home.project()).env_clear();
    for (key, value) in own.get_envs().filter(|(key, _)| *key != "NO_COLOR") {
        process.env(key, value.unwrap_or_default());
    }
    process.env("TERM", "xterm-256color").env("PAGER", "cat");
    process.stdin(Stdio::piped()).stdout(Stdio::piped());
    process.stderr(Stdio::null()).spawn().ok()
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
    let home = hostile_home();
    let mut all: Vec<Vec<String>> = Vec::new();
    for words in commands() {
        for more in [None, Some("-v"), Some("--json")] {
            let more = more.map(str::to_owned);
            all.push(words.iter().cloned().chain(more).collect());
        }
    }
    let Some(seen) = on_a_terminal(&home, &all, &"y\n".repeat(all.len())) else {
        return skipped("terminal_is_not_driven_by_any_command", &"no terminal");
    };
    for (words, seen) in all.iter().zip(&seen) {
        assert_harmless(words, seen);
    }
    let shown = seen.iter().any(|seen| seen.contains("gnorw"));
    assert!(shown, "the hostile words were shown, without their teeth");
}

#[test]
fn terminal_is_not_driven_by_questions_and_reports() {
    let home = hostile_home();
    let lines = [
        format!("strip-thinking {SESSION} --in-place"),
        "history".to_owned(),
        "undo".to_owned(),
        "redo".to_owned(),
        "undo -n".to_owned(),
        format!("diff {SESSION} {OTHER}"),
        "history gc --older-than 0d".to_owned(),
    ];
    let split = |line: &String| line.split(' ').map(str::to_owned).collect();
    let all: Vec<Vec<String>> = lines.iter().map(split).collect();
    let Some(seen) = on_a_terminal(&home, &all, &"y\n".repeat(all.len())) else {
        return skipped(
            "terminal_is_not_driven_by_questions_and_reports",
            &"no terminal",
        );
    };
    for (words, seen) in all.iter().zip(&seen) {
        assert_harmless(words, seen);
        let asks = words.len() != 1 || words[0] != "history";
        let asks = asks && words[0] != "diff" && !words.contains(&"-n".to_owned());
        assert_eq!(seen.contains("[y/N]"), asks, "{words:?}: {seen}");
    }
}
