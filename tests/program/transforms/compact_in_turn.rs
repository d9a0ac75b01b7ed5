//! Compactions inside a turn: between two steps of the model.

use serde_json::{Value, json};

use super::weather;
use crate::harness::{Home, Run, SESSION, Transcript};

const OUTPUT: &str =
    "a line of output that is long enough to take some room in the context window\n";

/// One prompt that is answered in six steps, each with thinking and two calls at once.
fn long_turn(home: &Home) -> Transcript {
    let mut transcript = home.start(SESSION).prompt("build all six parts");
    for n in 1..=6 {
        let (first, second) = (format!("toolu_{n}a"), format!("toolu_{n}b"));
        transcript = transcript
            .thinking(&format!("thought {n}"))
            .answer(&format!("Part {n} comes next because it is not built yet."))
            .call(&first, "Bash", &json!({"command": format!("make part{n}")}))
            .call(
                &second,
                "Bash",
                &json!({"command": format!("make test{n}")}),
            )
            .result(&first, &format!("built {n}\n{}", OUTPUT.repeat(40)))
            .result(&second, &format!("tested {n}\n{}", OUTPUT.repeat(40)));
    }
    transcript
}

fn finished(home: &Home) -> Transcript {
    long_turn(home).answer("All six parts are built.")
}

fn compact(home: &Home, arguments: &[&str]) -> Run {
    let _ = fs_err::remove_file(home.project().join("after.jsonl"));
    home.run(&[&["compact", SESSION, "-o", "./after.jsonl"], arguments].concat())
}

/// The texts, calls and results that the model is shown afterwards, in short.
fn shown(home: &Home) -> Vec<String> {
    let messages = weather::payload(home, "./after.jsonl");
    let blocks = messages
        .iter()
        .flat_map(|m| m["content"].as_array().into_iter().flatten());
    let first_words = |text: &Value| {
        let text = text.as_str().unwrap_or_default();
        text.split_whitespace()
            .take(3)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let short = |b: &Value| match b["type"].as_str() {
        Some("tool_use") => format!("call {}", b["id"].as_str().unwrap_or_default()),
        Some("tool_result") => format!("result {}", b["tool_use_id"].as_str().unwrap_or_default()),
        Some("thinking") => first_words(&b["thinking"]),
        _ => first_words(&b["text"]),
    };
    blocks.map(short).collect()
}

fn summary(home: &Home) -> String {
    let messages = weather::payload(home, "./after.jsonl");
    let text = messages[0]["content"][0]["text"].as_str();
    text.expect("a summary").to_owned()
}

#[test]
fn compact_before_a_step_keeps_whole_messages_with_their_results() {
    let home = Home::new();
    let transcript = finished(&home);
    home.add(&transcript);
    // The sixth step: a prompt and five steps of six lines come before it.
    let run = compact(
        &home,
        &["--before", &transcript.id(32), "--summary", "In short."],
    );
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        shown(&home),
        [
            "In short.",
            "thought 6",
            "Part 6 comes",
            "call toolu_6a",
            "call toolu_6b",
            "result toolu_6a",
            "result toolu_6b",
            "All six parts",
        ]
    );
    let again = home.run(&[
        "compact",
        "./after.jsonl",
        "--before",
        &transcript.id(32),
        "-n",
    ]);
    assert!(
        again.stdout.contains("othing to do") || again.stderr.contains("othing to do"),
        "{again:?}"
    );
}

#[test]
fn compact_names_the_next_step_if_a_message_does_not_begin_one() {
    let home = Home::new();
    let transcript = finished(&home);
    home.add(&transcript);
    // A result, and the first answer, which follows the prompt.
    for n in [30, 2] {
        let run = compact(&home, &["--before", &transcript.id(n)]);
        assert_eq!(run.code, 3, "{run:?}");
        assert!(
            run.stderr.contains("before an answer that follows results"),
            "{run:?}"
        );
        let (_, hint) = run.stderr.split_once("--before ").expect("a hint");
        let next = hint.split_whitespace().next().expect("an id");
        assert_eq!(compact(&home, &["--before", next]).code, 0);
    }
    // Any line of a message names it.
    let run = compact(&home, &["--before", &transcript.id(33), "--summary", "x"]);
    assert_eq!((run.code, shown(&home).len()), (0, 8), "{run:?}");
}

#[test]
fn compact_of_a_turn_with_running_calls_keeps_the_message_that_makes_them() {
    let home = Home::new();
    let running = long_turn(&home).thinking("thought 7").call(
        "toolu_run",
        "Bash",
        &json!({"command": "make deploy"}),
    );
    home.add(&running);
    let run = compact(&home, &["--keep-last", "0"]);
    assert_eq!(run.code, 0, "{run:?}");
    let text = fs_err::read_to_string(home.project().join("after.jsonl")).unwrap();
    let after = text.split("compact_boundary").nth(1).expect("a boundary");
    assert!(after.contains("toolu_run") && after.contains("thought 7"));
    assert!(!after.contains("toolu_6a"));
    let summary = summary(&home);
    for words in [
        "the first part of turn 1",
        "Turn 1 is not over: the messages after this account are its latest steps",
        "Turn 1: build all six parts",
        "make part6",
    ] {
        assert!(summary.contains(words), "{words}: {summary}");
    }
    // What is kept is the same when it is done again.
    let again = home.run(&["compact", "./after.jsonl", "--keep-last", "0", "-n"]);
    assert_eq!(again.code, 0, "{again:?}");
}

#[test]
fn compact_keep_tokens_keeps_the_newest_steps_that_fit() {
    let home = Home::new();
    home.add(&finished(&home));
    let kept = |tokens: &str| {
        let run = compact(&home, &["--keep-tokens", tokens, "--summary", "In short."]);
        assert_eq!(run.code, 0, "{run:?}");
        let steps = shown(&home);
        steps.iter().filter(|s| s.starts_with("thought")).count()
    };
    let steps: Vec<usize> = ["1", "3k", "6k", "12k"].map(kept).to_vec();
    assert!(
        steps.is_sorted() && steps[0] <= 1 && steps[3] > steps[1],
        "{steps:?}"
    );
    // Nothing is kept.
    let run = compact(&home, &["--keep-tokens", "0", "--summary", "In short."]);
    assert_eq!(
        (run.code, shown(&home)),
        (0, vec!["In short.".to_owned()]),
        "{run:?}"
    );
}

#[test]
fn compact_inside_a_turn_can_be_taken_back() {
    let home = Home::new();
    let transcript = finished(&home);
    home.add(&transcript);
    let before = weather::payload(&home, SESSION);
    let run = home.run(&[
        "compact",
        SESSION,
        "--before",
        &transcript.id(32),
        "--in-place",
        "--yes",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_ne!(weather::payload(&home, SESSION), before);
    let run = home.run(&["uncompact", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(weather::payload(&home, SESSION), before);
}

#[test]
fn compact_inside_a_turn_gives_a_summarizer_only_what_is_summarised() {
    let home = Home::new();
    let transcript = finished(&home);
    home.add(&transcript);
    let summarizer = ["--summarizer", "cat"];
    let run = compact(
        &home,
        &[&["--before", &transcript.id(32)], &summarizer[..]].concat(),
    );
    assert_eq!(run.code, 0, "{run:?}");
    let summary = summary(&home);
    assert!(
        summary.contains("tested 5") && !summary.contains("built 6"),
        "{summary}"
    );
}
