//! Regressions in `ops`.

use serde_json::Value;

use super::common::{Home, SESSION};

/// A home with a made-up transcript of `fixtures/regressions`, as the session of most tests.
fn home_with(fixture: &str) -> Home {
    let home = Home::new();
    let path = format!(
        "{}/fixtures/regressions/{fixture}.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = fs_err::read_to_string(path).expect("a fixture");
    home.write(home.transcript(SESSION), text);
    home
}

/// The texts that the model is shown of a transcript, in order.
fn shown(home: &Home, session: &str) -> Vec<String> {
    let run = home.run(&["payload", session]);
    assert_eq!(run.code, 0, "{run:?}");
    let messages: Vec<Value> = serde_json::from_str(&run.stdout).expect("messages");
    let blocks = messages.iter().flat_map(|m| m["content"].as_array());
    let texts = blocks.flatten().filter_map(|b| b["text"].as_str());
    texts.map(|t| t.trim_end().to_owned()).collect()
}

/// The texts that the model is shown after an operation.
fn shown_after(home: &Home, operation: &[&str]) -> Vec<String> {
    run(home, operation);
    shown(home, "./out.jsonl")
}

/// Runs an operation on the session and writes the result to a file.
fn run(home: &Home, operation: &[&str]) {
    let _ = fs_err::remove_file(home.project().join("out.jsonl"));
    let arguments = [operation, &[SESSION, "-o", "out.jsonl", "-q"]].concat();
    let run = home.run(&arguments);
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn drop_tools_keeps_text_beside_the_result_of_a_parallel_call() {
    let home = home_with("beside");
    let kept = [
        "first prompt",
        "Let me do it.",
        "AND MAKE SURE THIS IS TESTED",
        "Done, with tests.",
    ];
    assert_eq!(shown_after(&home, &["drop-tools"]), kept);
}

#[test]
fn drop_tools_by_id_keeps_text_beside_the_result_of_a_parallel_call() {
    let home = home_with("beside");
    let kept = [
        "first prompt",
        "Let me do it.",
        "AND MAKE SURE THIS IS TESTED",
        "Done, with tests.",
    ];
    for id in ["toolu_1", "toolu_2"] {
        assert_eq!(
            shown_after(&home, &["drop-tools", "--id", id]),
            kept,
            "{id}"
        );
    }
}

#[test]
fn drop_tools_keeps_a_prompt_between_the_lines_of_one_message() {
    let home = home_with("midstream");
    let kept = [
        "first prompt",
        "I see, let me edit.",
        "A PROMPT TYPED WHILE THE MODEL WAS WRITING",
        "You're right!",
        "thanks",
        "welcome",
    ];
    assert_eq!(shown_after(&home, &["drop-tools"]), kept);
}
