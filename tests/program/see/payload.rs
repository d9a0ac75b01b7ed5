use serde_json::{Value, json};

use crate::harness::Home;
use crate::harness::script::{Script, call, eventful, thinking, words};

const ID: &str = "5e551011-aaaa-4bbb-8ccc-dddddddddddd";

/// The payload as lines: who speaks, and what each block is.
fn payload(text: &str, args: &[&str]) -> Vec<String> {
    let home = Home::new();
    home.put(ID, text, 120);
    let all: Vec<&str> = ["payload"].iter().chain(args).copied().collect();
    let run = home.run_on(100, &all);
    let block = |b: &Value| match b["type"].as_str().unwrap() {
        "text" => b["text"].as_str().unwrap().to_owned(),
        "tool_use" => format!("call {}", b["id"].as_str().unwrap()),
        "tool_result" => format!("result {}", b["tool_use_id"].as_str().unwrap()),
        other => other.to_owned(),
    };
    let messages = run.json();
    let message = |m: &Value| {
        format!(
            "{}: {}",
            m["role"].as_str().unwrap(),
            m["content"]
                .as_array()
                .unwrap()
                .iter()
                .map(block)
                .collect::<Vec<_>>()
                .join(" | ")
        )
    };
    messages.as_array().unwrap().iter().map(message).collect()
}

#[test]
fn payload_begins_at_the_last_compaction() {
    let shown = payload(eventful().text(), &["--at", "2"]);
    assert_eq!(
        shown,
        [
            "user: This is the summary of what came before.\n | Fix the flaky test in parser.rs\nand tell me why it fails",
            "assistant: thinking | Let me look. | call toolu_a | call toolu_b",
            "user: result toolu_a | result toolu_b",
            "assistant: The map's order is random; **sort the keys**.",
        ]
    );
    // What was compacted behind the turn is no part of it.
    assert_eq!(
        payload(eventful().text(), &["--at", "1"]),
        ["user: Set up the project", "assistant: Done."]
    );
}

#[test]
fn payload_answers_a_call_at_the_end_and_leaves_out_one_in_the_middle() {
    let shown = payload(eventful().text(), &[]);
    assert_eq!(
        shown[shown.len() - 2..],
        ["assistant: call toolu_d", "user: result toolu_d"]
    );
    let mut s = eventful();
    s.prompt("Never mind");
    s.answer(10, &[words("Fine.")]);
    let shown = payload(s.text(), &[]);
    assert_eq!(
        shown[shown.len() - 2..],
        [
            "user: [Request interrupted by user]\n | Push it\n | Never mind",
            "assistant: Fine."
        ]
    );
}

#[test]
fn payload_leaves_out_what_the_api_would_refuse() {
    let mut s = Script::new(ID, 1);
    s.prompt("one");
    s.answer(10, &[thinking("only thoughts")]);
    s.prompt("  \n");
    s.entry("assistant", &json!({"isApiErrorMessage": true, "message": {"id": "e", "model": "<synthetic>", "content": [words("overloaded")]}}));
    s.prompt("two");
    s.result("toolu_nobody", &json!("lost"), false);
    s.answer(10, &[words(" "), words("yes")]);
    assert_eq!(
        payload(s.text(), &[]),
        ["user: one\n | two", "assistant: yes"]
    );
}

#[test]
fn payload_gathers_parallel_results_and_lines_of_one_message() {
    let mut s = Script::new(ID, 1);
    s.prompt("both");
    s.answer(
        10,
        &[call("x", "Bash", &json!({})), call("y", "Bash", &json!({}))],
    );
    // Each result hangs on its own call, as the client writes them.
    for (id, parent) in [("y", 3), ("x", 2)] {
        let uuid = format!("{parent:08x}-0000-4000-8000-{parent:012x}");
        s.entry("user", &json!({"parentUuid": uuid, "message": {"content": [{"type": "tool_result", "tool_use_id": id, "content": id}]}}));
    }
    s.answer(10, &[words("done")]);
    assert_eq!(
        payload(s.text(), &[]),
        [
            "user: both",
            "assistant: call x | call y",
            "user: result y | result x",
            "assistant: done"
        ]
    );
}

#[test]
fn payload_has_preserved_messages_after_the_summary() {
    let mut s = Script::new(ID, 1);
    s.prompt("old");
    s.answer(10, &[words("kept answer")]);
    let kept = json!(["00000002-0000-4000-8000-000000000002"]);
    let anchor = "00000004-0000-4000-8000-000000000004";
    s.entry("system", &json!({"parentUuid": null, "subtype": "compact_boundary", "compactMetadata": {"trigger": "manual", "preservedMessages": {"anchorUuid": anchor, "uuids": kept}}}));
    s.entry(
        "user",
        &json!({"isCompactSummary": true, "message": {"content": "summary"}}),
    );
    s.prompt("new");
    let attachment = |kind: &str, role: &str, text: &str| json!({"attachment": {"type": kind}, "renderedRole": role, "rendered": [{"content": format!("<system-reminder>\n{text}\n</system-reminder>")}]});
    s.entry("attachment", &attachment("x", "user", "U"));
    s.entry("attachment", &attachment("y", "system", "S1"));
    s.entry("attachment", &attachment("z", "system", "S2"));
    s.answer(10, &[words("yes")]);
    assert_eq!(
        payload(s.text(), &[]),
        [
            "user: summary",
            "assistant: kept answer",
            "user: <system-reminder>\nU\n</system-reminder>\n | new",
            "system: S1\n\nS2",
            "assistant: yes"
        ]
    );
}
