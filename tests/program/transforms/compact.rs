//! Where summaries come from, and what becomes of them.

use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;
use serde_json::Value;

use super::weather;
use crate::harness::{Home, Run, SESSION, Transcript};

/// Compacts into a file, and returns what the model is shown of it.
fn compacted(home: &Home, arguments: &[&str]) -> Vec<Value> {
    let file = format!("./{}.jsonl", arguments.len());
    let _ = fs_err::remove_file(home.project().join(&file));
    let run = home.run(&[&["compact", SESSION, "-o", &file], arguments].concat());
    assert_eq!(run.code, 0, "{run:?}");
    weather::payload(home, &file)
}

fn summary(messages: &[Value]) -> &str {
    let text = messages[0]["content"][0]["text"].as_str();
    text.expect("a summary").trim_end()
}

#[test]
fn the_summary_and_the_kept_turns_are_shown() {
    let home = weather::home();
    let messages = compacted(&home, &["--at", "2", "--summary", "In short: wind."]);
    let texts: Vec<&str> = messages
        .iter()
        .flat_map(|m| m["content"].as_array().into_iter().flatten())
        .filter_map(|b| b["text"].as_str().map(str::trim_end))
        .collect();
    assert_eq!(texts, ["In short: wind.", "thanks", "You are welcome."]);
}

#[test]
fn a_summary_from_a_file() {
    let home = weather::home();
    home.write("work/notes.md", "# Notes\nwind\n");
    let messages = compacted(&home, &["--keep-last", "1", "--summary-file", "notes.md"]);
    assert_eq!(summary(&messages), "# Notes\nwind");
    home.write("work/empty.md", " \n");
    let run = home.run(&[
        "compact",
        SESSION,
        "--keep-last",
        "1",
        "--summary-file",
        "empty.md",
    ]);
    assert_eq!(
        (run.code, run.stderr.as_str()),
        (
            1,
            "Error: the summary is empty\nHint: nothing was written\n"
        )
    );
    let run = home.run(&[
        "compact",
        SESSION,
        "--keep-last",
        "1",
        "--summary-file",
        "none.md",
    ]);
    assert_eq!(run.code, 1, "{run:?}");
}

#[test]
fn a_summary_from_a_pipe() {
    let home = weather::home();
    let command = home.command(&[
        "compact",
        SESSION,
        "--keep-last",
        "1",
        "--summary-file",
        "-",
        "-o",
        "piped.jsonl",
    ]);
    let mut child = command
        .process()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(b"piped in\n")
        .expect("it reads");
    let run = Run::new(&home, &child.wait_with_output().expect("it ends"));
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        summary(&weather::payload(&home, "./piped.jsonl")),
        "piped in"
    );
}

#[cfg(unix)]
#[test]
fn a_summary_from_a_command() {
    let home = weather::home();
    let messages = compacted(
        &home,
        &[
            "--keep-last",
            "2",
            "--summarizer",
            "grep -c '' | sed 's/.*/lines were read/'; true",
        ],
    );
    assert_eq!(summary(&messages), "lines were read");
    let messages = compacted(&home, &["--keep-last", "2", "--summarizer", "cat"]);
    assert_snapshot!(summary(&messages), @r#"
    User: which sensors are there?

    Assistant: I will look.

    Assistant calls Bash: {"command":"ls sensors"}

    Result: rain
    sun
    wind

    Assistant calls Read: {"file_path":"sensors/wind.toml"}

    Result: pin = 7

    Assistant: Rain, sun and wind.
    "#);
    assert_eq!(
        summary(&compacted(
            &home,
            &["--keep-last", "1", "--summarizer", "echo unread"]
        )),
        "unread"
    );
}

#[cfg(unix)]
#[test]
fn a_command_that_fails() {
    let home = weather::home();
    let before = home.everything();
    let run = home.run(&[
        "compact",
        SESSION,
        "--keep-last",
        "1",
        "--summarizer",
        "echo no model today >&2; exit 4",
    ]);
    assert_snapshot!(run.seen(), @"
    --- stderr
    Error: the summarizer failed (exit status: 4)
    no model today
    Hint: nothing was written
    --- exit code 1
    ");
    let run = home.run(&[
        "compact",
        SESSION,
        "--keep-last",
        "1",
        "--summarizer",
        "echo thinking >&2",
    ]);
    assert_snapshot!(run.seen(), @"
    --- stderr
    Error: the summarizer printed nothing
    thinking
    Hint: nothing was written
    --- exit code 1
    ");
    assert!(before == home.everything(), "nothing is written");
}

#[test]
fn the_digest() {
    let home = weather::home();
    let once = compacted(&home, &["--keep-last", "1"]);
    assert_snapshot!(summary(&once), @r#"
    This session is being continued from earlier turns that are no longer in the context window. This is an account of turns 1 to 2, taken from the transcript itself: the user's words are quoted, "[…]" marks what was left out. The work continues after it. For exact code, output or wording, read the transcript 5e551000-aaaa-4bbb-8ccc-0123456789ab.jsonl, in this project's folder below ~/.claude/projects.

    ## What the user asked for
    - Turn 1: which sensors are there?
    - Turn 2: run the tests

    ## What was found, decided and answered (turn: statement)
    - 1: I should look at the folder.
    - 1: Rain, sun and wind.
    - 2: They fail: the wind has no direction.

    ## Errors, and what was done about them
    - Turn 2, `npm test`: not ok: the wind is from nowhere → They fail: the wind has no direction.

    ## Files
    - only read: sensors/wind.toml

    ## Commands
    - `npm test`, failed last

    ## Where it stands, and what is next
    - The last thing the user said (turn 2): run the tests
    - You wrote: I will look.
    - You wrote: Rain, sun and wind.
    - You wrote: They fail: the wind has no direction.
    - You called Bash ls sensors → rain / sun / wind
    - You called Read sensors/wind.toml
    - You called Bash npm test → failed: not ok: the wind is from nowhere
    - The last error that was not seen to be fixed: npm test: not ok: the wind is from nowhere
    "#);
    assert_eq!(
        once,
        compacted(&home, &["--keep-last", "1"]),
        "the same every time"
    );
}

#[test]
fn the_digest_stays_under_its_size() {
    let home = Home::new();
    let mut long: Transcript = home.start(SESSION);
    for n in 0..60 {
        long = long
            .prompt(&format!("question {n}: {}", "why is it so? ".repeat(40)))
            .answer(&format!("answer {n}: {}", "because it is. ".repeat(40)));
    }
    home.add(&long);
    for most in [4000, 1000, 300, 100] {
        let messages = compacted(
            &home,
            &["--keep-last", "1", "--max-tokens", &most.to_string()],
        );
        let digest = summary(&messages);
        assert!(
            digest.len() <= most * 4,
            "{} bytes for {most} tokens",
            digest.len()
        );
        assert!(
            digest.contains("question 58"),
            "the last is told even then: {digest}"
        );
    }
}

#[test]
fn a_session_without_times_is_compacted_without_any() {
    let home = weather::home();
    let path = home.transcript(SESSION);
    let text = fs_err::read_to_string(&path).expect("a transcript");
    let lines = text.lines().map(|line| {
        let mut entry: Value = serde_json::from_str(line).expect("an entry");
        entry.as_object_mut().expect("fields").remove("timestamp");
        entry.to_string() + "\n"
    });
    home.write(path, lines.collect::<String>());
    let messages = compacted(&home, &["--keep-last", "1", "--summary", "In short: wind."]);
    assert!(summary(&messages).contains("In short: wind."));
    assert!(messages.len() > 1, "{messages:?}");
}

#[test]
fn a_compacted_session_is_compacted_again() {
    let home = weather::home();
    let first = home.json(&[
        "compact",
        SESSION,
        "--at",
        "1",
        "--summary",
        "Sensors were listed.",
    ]);
    let id = first["target"]["session_id"].as_str().expect("an id");
    let second = home.json(&["compact", id, "--keep-last", "1"]);
    let path = second["target"]["path"].as_str().expect("a path");
    let messages = weather::payload(&home, path);
    let digest = summary(&messages);
    assert!(digest.contains("Sensors were listed."), "{digest}");
    assert!(digest.contains("run the tests"), "{digest}");
    assert_eq!(messages.len(), 2, "{messages:?}");
    let id = second["target"]["session_id"].as_str().expect("an id");
    let run = home.run(&["compact", id, "--at", "1"]);
    assert_snapshot!(run.seen(), @"
    --- stderr
    Refused: the session was compacted after that: only its last turn is shown to the model
    Hint: there is nothing left to compact
    --- exit code 3
    ");
}

#[test]
fn history_stays_or_goes() {
    let home = weather::home();
    let text = |arguments: &[&str]| {
        let run = home.run(
            &[
                &[
                    "compact",
                    SESSION,
                    "--keep-last",
                    "1",
                    "--summary",
                    "s",
                    "-o",
                    "-",
                ],
                arguments,
            ]
            .concat(),
        );
        assert_eq!(run.code, 0, "{run:?}");
        run.stdout
    };
    let original = fs_err::read_to_string(weather::path(&home)).expect("the session");
    let kept = text(&[]);
    assert!(
        original
            .lines()
            .take(13)
            .all(|l| kept.lines().any(|k| k == l)),
        "history is untouched"
    );
    let dropped = text(&["--drop-history"]);
    assert!(!dropped.contains("which sensors"), "{dropped}");
    assert!(dropped.contains("Weather station"), "the title stays");
}
