//! Regressions in `surgery`.

use serde_json::{Value, json};

use crate::harness::{Home, SESSION};

/// The texts that the model is shown after an operation whose result is written to a file.
fn shown_after(home: &Home, operation: &[&str]) -> Vec<String> {
    let run = home.run(&[operation, &[SESSION, "-o", "out.jsonl", "-q"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    let run = home.run(&["payload", "./out.jsonl"]);
    let messages: Vec<Value> = serde_json::from_str(&run.stdout).expect("messages");
    let blocks = messages.iter().filter_map(|m| m["content"].as_array());
    let texts = blocks.flatten().filter_map(|b| b["text"].as_str());
    texts.map(|t| t.trim_end().to_owned()).collect()
}

#[test]
fn drop_tools_keeps_a_boundary_that_preserves_the_call() {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .prompt("first")
        .answer("a preserved answer")
        .call("toolu_1", "Bash", &json!({"command": "ls"}))
        .result("toolu_1", "out");
    let uuids: Vec<String> = (2..=4).map(|n| session.id(n)).collect();
    // The boundary and the summary come next.
    let preserved = json!({"anchorUuid": session.id(6), "uuids": uuids, "allUuids": uuids});
    let session = session
        .compaction("the summary", json!({"preservedMessages": preserved}))
        .prompt("second")
        .answer("two");
    let home = Home::with(&session);
    let texts = shown_after(&home, &["drop-tools"]);
    assert_eq!(
        texts,
        ["the summary", "a preserved answer", "second", "two"]
    );
}

#[test]
fn strip_thinking_keeps_going_back_to_a_queued_prompt() {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .prompt("first")
        .thinking("hm")
        .answer("one")
        .attachment(json!({"type": "queued_command", "prompt": "queued", "commandMode": "prompt"}));
    let back = session.leaf();
    let session = session.prompt("abandoned").answer("abandoned too").line(
        json!({"type": "last-prompt", "leafUuid": back, "explicit": true, "sessionId": SESSION}),
    );
    let home = Home::with(&session);
    let texts = shown_after(&home, &["strip-thinking"]).join(" ");
    assert!(texts.contains("queued"), "{texts}");
    assert!(!texts.contains("abandoned"), "{texts}");
}

#[test]
fn drop_tools_edits_a_request_log_once() {
    let home = Home::new();
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "sig"});
    let call =
        |id: &str, tool: &str| json!({"type": "tool_use", "id": id, "name": tool, "input": {}});
    let session = home
        .start(SESSION)
        .prompt("first")
        .call("toolu_1", "Bash", &json!({}))
        .result("toolu_1", "out")
        .call("toolu_2", "Read", &json!({}))
        .result("toolu_2", "out")
        .answer("done")
        .line(json!({"type": "api-request-blob", "sessionId": SESSION, "message": {
            "role": "assistant", "content": [thinking, call("toolu_1", "Bash"), call("toolu_2", "Read")],
        }}));
    let home = Home::with(&session);
    let texts = shown_after(&home, &["drop-tools", "--tool", "Bash"]);
    assert_eq!(texts, ["first", "done"]);
    let written = fs_err::read_to_string(home.project().join("out.jsonl")).expect("a transcript");
    assert!(!written.contains("toolu_1") && written.contains("toolu_2"));
}
