//! Regressions in `ops`.

use serde_json::{Value, json};

use crate::harness::{Home, SESSION, Transcript, records};

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
    let blocks = messages.iter().filter_map(|m| m["content"].as_array());
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

#[test]
fn drop_tools_removes_thinking_and_calls_from_one_request_log() {
    let home = home_with("blob");
    run(&home, &["drop-tools"]);
    let text = fs_err::read_to_string(home.project().join("out.jsonl")).expect("a result");
    assert!(
        !text.contains("toolu_1") && !text.contains("c2ln"),
        "{text}"
    );
}

#[test]
fn drop_hidden_keeps_messages_that_a_compaction_preserved() {
    let home = home_with("preserved");
    let before = shown(&home, SESSION);
    assert!(before.contains(&"KEPT PROMPT".to_owned()), "{before:?}");
    assert_eq!(shown_after(&home, &["drop-hidden"]), before);
}

#[test]
fn compact_follows_a_last_prompt_that_names_an_ancestor() {
    let home = home_with("compact101");
    run(&home, &["compact", "--keep-last", "1"]);

    let home = Home::new();
    let mut session = home.start(SESSION).prompt("one").answer("first");
    let ancestor = session.leaf();
    session = session.prompt("two").thinking("hm").answer("second");
    session = session.prompt("three").answer("third");
    let named = json!({"type": "last-prompt", "lastPrompt": "x", "leafUuid": ancestor, "sessionId": SESSION});
    home.add(&session.line(named));
    run(&home, &["strip-thinking"]);
    run(&home, &["compact", "--keep-last", "1"]);
    let kept = shown(&home, "./out.jsonl");
    assert_eq!(kept[1..], ["three", "third"]);
}

/// A session whose live leaf is thinking alone, and an abandoned branch that is longer and later in the file.
fn thinking_leaf_beside_a_branch(home: &Home) -> Transcript {
    let session = home.start(SESSION).prompt("zero").answer("zero");
    let session = session.prompt("one").thinking("hmm");
    let leaf = session.leaf();
    let session = session
        .back_to(3)
        .answer("LEFT")
        .prompt("left 2")
        .answer("left 3");
    session.line(
        json!({"type": "last-prompt", "lastPrompt": "one", "leafUuid": leaf, "sessionId": SESSION}),
    )
}

#[test]
fn strip_thinking_of_the_leaf_does_not_revive_an_abandoned_branch() {
    let home = Home::new();
    home.add(&thinking_leaf_beside_a_branch(&home));
    assert_eq!(shown(&home, SESSION), ["zero", "zero", "one"]);
    assert_eq!(
        shown_after(&home, &["strip-thinking"]),
        ["zero", "zero", "one"]
    );
}

#[test]
fn drop_tools_of_the_leaf_does_not_revive_an_abandoned_branch() {
    let home = Home::new();
    let session = home.start(SESSION).prompt("one").answer("answer");
    let session = session
        .back_to(1)
        .answer("LEFT")
        .prompt("left 2")
        .answer("left 3");
    let session = session
        .back_to(1)
        .call("toolu_1", "Bash", &json!({"command": "ls"}));
    home.add(&session.result("toolu_1", "out"));
    assert_eq!(shown(&home, SESSION), ["one"]);
    let drop = ["drop-tools", "--id", "toolu_1"];
    assert_eq!(shown_after(&home, &drop), ["one"]);
}

#[test]
fn drop_hidden_leaves_the_transcript_of_a_subagent() {
    let home = Home::new();
    let agent = Transcript::of_agent(SESSION, "a1", &home.project());
    let agent = agent.prompt("task").answer("done");
    home.write(home.transcript(SESSION), agent.text());
    let run = home.run(&["drop-hidden", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(records(&home.transcript(SESSION)).len(), 2);
}

#[test]
fn drop_hidden_after_a_rewind_to_before_a_compaction() {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .prompt("one")
        .compaction("summary", json!({}));
    let session = session.back_to(1);
    let leaf = session.leaf();
    let session = session.prompt("rewound");
    home.add(&session.line(json!({
        "type": "last-prompt", "lastPrompt": "x", "leafUuid": leaf, "sessionId": SESSION, "explicit": true,
    })));
    let before = shown(&home, SESSION);
    assert_eq!(shown_after(&home, &["drop-hidden"]), before);
}

#[test]
fn compact_again_has_nothing_to_do() {
    let home = Home::new();
    let session = home.start(SESSION).prompt("one").answer("first");
    home.add(
        &session
            .prompt("two")
            .answer("second")
            .prompt("three")
            .answer("third"),
    );
    let compact = [
        "compact",
        SESSION,
        "--keep-last",
        "1",
        "--in-place",
        "--yes",
    ];
    assert_eq!(home.run(&compact).code, 0);
    let once = fs_err::read(home.transcript(SESSION)).expect("a transcript");
    let again = home.run(&compact);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(
        fs_err::read(home.transcript(SESSION)).expect("a transcript"),
        once
    );
}

#[test]
fn compact_to_no_tokens_is_a_usage_error() {
    let home = Home::new();
    let session = home.start(SESSION).prompt("one").answer("first");
    home.add(&session.prompt("two").answer("second"));
    let run = home.run(&[
        "compact",
        SESSION,
        "--keep-last",
        "1",
        "--max-tokens",
        "0",
        "-n",
    ]);
    assert_eq!(run.code, 2, "{run:?}");
}

#[test]
fn stub_with_the_largest_head_has_nothing_to_do() {
    let home = Home::new();
    let session = home.start(SESSION).prompt("one");
    let session = session.call("toolu_1", "Bash", &json!({"command": "ls"}));
    home.add(&session.result("toolu_1", &"line\n".repeat(30)).answer("ok"));
    let head = usize::MAX.to_string();
    run(
        &home,
        &["drop-tools", "--stub", "--head", &head, "--tail", "1"],
    );
    let all = fs_err::read_to_string(home.transcript(SESSION)).expect("a transcript");
    let out = fs_err::read_to_string(home.project().join("out.jsonl"));
    assert!(
        out.is_err() || out.is_ok_and(|o| o.contains(&"line\\n".repeat(30))),
        "{all}"
    );
}

#[test]
fn stub_tail_keeps_the_lines_of_the_output_and_reminders_whole() {
    let home = home_with("tail");
    run(
        &home,
        &["drop-tools", "--stub", "--head", "1", "--tail", "2"],
    );
    let kept = records(&home.project().join("out.jsonl"));
    let output = kept[2]["message"]["content"][0]["content"]
        .as_str()
        .expect("an output");
    assert!(
        output.starts_with("line 0\n[ccsurgery removed "),
        "{output}"
    );
    let (own, reminder) = output
        .split_once("<system-reminder>")
        .unwrap_or((output, ""));
    assert!(own.trim_end().ends_with("line 198\nline 199"), "{output}");
    assert!(
        reminder.is_empty() || reminder.contains("</system-reminder>"),
        "{output}"
    );
}

#[test]
fn drop_tools_does_not_show_attachments_of_an_abandoned_branch() {
    let home = Home::new();
    let session = home.start(SESSION).prompt("one").answer("answer");
    let leaf = session.leaf();
    let session = session.prompt("left");
    let session = session
        .back_to(2)
        .call("toolu_1", "Bash", &json!({"command": "ls"}));
    let session = session.result("toolu_1", "out");
    let session = session.attachment(
        json!({"type": "queued_command", "prompt": "OF THE LEFT PATH", "commandMode": "prompt"}),
    );
    let session = session.answer("left too");
    home.add(&session.line(json!({
        "type": "last-prompt", "lastPrompt": "x", "leafUuid": leaf, "sessionId": SESSION, "explicit": true,
    })));
    let before = shown(&home, SESSION);
    assert_eq!(shown_after(&home, &["drop-tools"]), before);
}

#[test]
fn delete_and_extract_separate_a_prompt_from_the_message_that_it_arrived_in() {
    let home = home_with("midstream");
    let all = shown(&home, SESSION);
    let extracted = shown_after(&home, &["extract", "--turns", "2.."]);
    let deleted = shown_after(&home, &["delete", "--turns", "1"]);
    assert_eq!(extracted, deleted);
    assert_eq!(all[all.len() - deleted.len()..], deleted[..]);
}

#[test]
fn delete_puts_a_note_before_an_answer_to_a_queued_prompt() {
    let home = home_with("queued");
    let left = shown_after(&home, &["delete", "--turns", "1"]);
    assert_eq!(left[0], "(this prompt was deleted)");
    assert!(left.iter().any(|t| t.contains("AND PLEASE ALSO THIS")));
}

#[test]
fn operation_on_a_damaged_session_is_refused_with_the_way_out() {
    let home = Home::new();
    let path = format!(
        "{}/fixtures/pathologies/two_candidates.jsonl",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = fs_err::read_to_string(path).expect("a fixture");
    home.write(home.transcript(SESSION), text);
    let run = home.run(&["delete", "--turns", "1", SESSION, "-o", "-"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains("ccsurgery repair"), "{run:?}");
}

#[test]
fn compact_keeps_turns_that_an_earlier_compaction_preserved() {
    let home = home_with("up_to");
    let kept = shown_after(
        &home,
        &["compact", "--keep-last", "3", "--summary", "In short."],
    );
    let turns = [
        "SECOND, KEPT",
        "two, kept",
        "third",
        "three",
        "fourth",
        "four",
    ];
    assert!(kept[0].contains("In short."), "{kept:?}");
    assert_eq!(kept[1..], turns);
    let again = shown_after(
        &home,
        &[
            "compact",
            "--keep-last",
            "3",
            "--summary",
            "In short.",
            "--drop-history",
        ],
    );
    assert_eq!(again, kept);
}

#[test]
fn drop_tools_works_if_an_interrupted_call_of_the_same_answer_has_no_result() {
    let call = |id: &str, tool: &str, parent: &str| {
        let content = json!([{"type": "tool_use", "id": id, "name": tool, "input": {}}]);
        let message = json!({"id": "msg_1", "role": "assistant", "content": content});
        json!({"type": "assistant", "message": message, "parentUuid": parent})
    };
    let home = Home::new();
    let session = home.start(SESSION).prompt("first");
    let text = json!([{"type": "text", "text": "a moment"}]);
    let message = json!({"id": "msg_1", "role": "assistant", "content": text});
    let session = session.chain(json!({"type": "assistant", "message": message}));
    let session = session.prompt("meanwhile");
    let meanwhile = session.leaf();
    let session = session.chain(call("toolu_1", "Grep", &meanwhile));
    let made = session.leaf();
    let session = session.chain(call("toolu_2", "Bash", &made));
    let result = json!([{"type": "tool_result", "tool_use_id": "toolu_1", "content": "out"}]);
    let message = json!({"role": "user", "content": result});
    let session = session.chain(json!({"type": "user", "message": message, "parentUuid": made}));
    let session = session.prompt("go on").answer("done");
    let home = Home::with(&session);
    let texts = shown_after(&home, &["drop-tools", "--tool", "Grep"]);
    assert_eq!(texts, ["first", "a moment", "meanwhile", "go on", "done"]);
}
