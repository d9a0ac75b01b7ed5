//! Regressions in what the model is shown, each confirmed with real clients.

use serde_json::{Value, json};

use crate::harness::{Home, SESSION};

/// A home with a session of these lines.
fn home_with(lines: &[Value]) -> Home {
    let home = Home::new();
    let text = lines.iter().map(ToString::to_string);
    let text = text.collect::<Vec<_>>().join("\n") + "\n";
    home.write(home.transcript(SESSION), text);
    home
}

/// An id that ends in a number.
fn id(n: usize) -> String {
    format!("bbbbbbbb-0000-4000-8000-{n:012}")
}

/// The line of entry `n`, which hangs on entry `parent` (0 for none).
fn entry(n: usize, parent: usize, more: &Value) -> Value {
    let parent = (parent > 0).then(|| id(parent));
    let mut line = json!({"parentUuid": parent, "isSidechain": false, "uuid": id(n), "sessionId": SESSION,
        "version": "2.1.325", "cwd": "/nowhere", "timestamp": format!("2026-11-17T08:00:{n:02}.000Z")});
    for (key, value) in more.as_object().expect("an object") {
        line[key] = value.clone();
    }
    line
}

fn prompt(n: usize, parent: usize, text: &str) -> Value {
    let message = json!({"role": "user", "content": text});
    entry(n, parent, &json!({"type": "user", "message": message}))
}

fn answer(n: usize, parent: usize, message: &str, block: &Value) -> Value {
    let message = json!({"id": message, "type": "message", "role": "assistant", "model": "claude-opus-4-5",
        "content": [block], "usage": {"input_tokens": 100, "output_tokens": 5}});
    entry(n, parent, &json!({"type": "assistant", "message": message}))
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
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

/// Runs an operation on the session itself and returns the lines of the result.
fn result_of(home: &Home, operation: &[&str]) -> Vec<Value> {
    let run = home.run(&[operation, &[SESSION, "--in-place", "--yes", "-q"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    let text = fs_err::read_to_string(home.transcript(SESSION)).expect("a result");
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("lines of JSON")
}

/// Two turns, a compaction that preserves the last answer, and a third turn.
fn with_preserved_answer() -> Home {
    let thought = json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"});
    let preserved = json!({"trigger": "manual", "preTokens": 9,
        "preservedSegment": {"headUuid": id(4), "anchorUuid": id(7), "tailUuid": id(5)},
        "preservedMessages": {"anchorUuid": id(7), "uuids": [id(4), id(5)], "allUuids": [id(4), id(5)]}});
    let boundary = json!({"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
        "logicalParentUuid": id(5), "compactMetadata": preserved});
    let summary = json!({"type": "user", "isCompactSummary": true,
        "message": {"role": "user", "content": "Summary: all"}});
    home_with(&[
        prompt(1, 0, "first"),
        answer(2, 1, "msg_1", &text("one")),
        prompt(3, 2, "second"),
        answer(4, 3, "msg_2", &thought),
        answer(5, 4, "msg_2", &text("two")),
        entry(6, 0, &boundary),
        entry(7, 6, &summary),
        prompt(8, 7, "third"),
        answer(9, 8, "msg_3", &text("three")),
    ])
}

#[test]
fn strip_thinking_leaves_preserved_messages_in_the_history() {
    let home = with_preserved_answer();
    let lines = result_of(&home, &["strip-thinking"]);
    let words = ["Summary: all", "two", "third", "three"];
    assert_eq!(shown(&home, SESSION), words);
    let two = lines.iter().find(|l| l["uuid"] == id(5).as_str());
    assert_eq!(
        two.expect("the preserved answer")["parentUuid"],
        id(3).as_str()
    );
    // The history can still be reached.
    result_of(&home, &["truncate", "--at", "1"]);
    assert_eq!(shown(&home, SESSION), ["first", "one"]);
}

#[test]
fn truncate_after_a_preserved_turn_keeps_summary_and_turn() {
    let home = Home::new();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/regressions/up_to.jsonl"
    );
    let fixture = fs_err::read_to_string(path).expect("a fixture");
    home.write(home.transcript(SESSION), fixture);
    result_of(&home, &["truncate", "--at", "2"]);
    let words = ["Summary: the first", "SECOND, KEPT", "two, kept"];
    assert_eq!(shown(&home, SESSION), words);
}

#[test]
fn drop_images_removes_pictures_of_attachments() {
    let picture = "iVBORw0KGgo".repeat(60);
    let file = json!({"type": "attachment", "attachment": {"type": "file", "filename": "/nowhere/dot.png",
        "content": {"type": "image", "file": {"base64": picture, "type": "image/png"}}}});
    let block = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}});
    let queued = json!({"type": "attachment", "attachment": {"type": "queued_command", "commandMode": "prompt",
        "prompt": [text("and this"), block]}});
    let home = home_with(&[
        prompt(1, 0, "look at @dot.png"),
        entry(2, 1, &file),
        answer(3, 2, "msg_1", &text("seen")),
        prompt(4, 3, "go on"),
        entry(5, 4, &queued),
        answer(6, 5, "msg_2", &text("both seen")),
    ]);
    let lines = result_of(&home, &["drop-images"]);
    let all = json!(lines).to_string();
    assert!(!all.contains("iVBORw0KGgo"), "{all}");
    let words = shown(&home, SESSION);
    let notes = words.iter().filter(|w| w.contains("removed by ccsurgery"));
    assert_eq!(notes.count(), 2, "{words:?}");
    for kept in ["look at @dot.png", "seen", "go on", "and this", "both seen"] {
        assert!(words.iter().any(|w| w.contains(kept)), "{kept}: {words:?}");
    }
}
