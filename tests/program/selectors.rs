//! The options with which operations choose content: the same ones choose the same content everywhere.

use serde_json::{Value, json};

use crate::harness::{Home, SESSION, records};

/// Two turns with thinking and calls on files, and one of words alone.
fn home() -> Home {
    let home = Home::new();
    let file = |name: &str| json!({"file_path": format!("/w/{name}"), "content": "x"});
    let transcript = home
        .start(SESSION)
        .prompt("first prompt")
        .thinking("about the parser")
        .call("toolu_a1", "Write", &file("src/parser.rs"))
        .result("toolu_a1", "written: parser")
        .answer("first answer")
        .prompt("second prompt")
        .thinking("about the tests")
        .call("toolu_b2", "Bash", &json!({"command": "cargo test"}))
        .result("toolu_b2", "all green")
        .call("toolu_c3", "Write", &file("notes.md"))
        .result("toolu_c3", "written: notes")
        .answer("second answer")
        .prompt("third prompt")
        .answer("third answer")
        .last_prompt("third prompt");
    home.add(&transcript);
    home
}

/// Returns the calls, or the thinking, that the model is shown after an operation.
fn left(home: &Home, operation: &[&str], field: &str) -> Vec<String> {
    let document = home.json(&[operation, &[SESSION]].concat());
    let copy = document["target"]["session_id"].as_str().expect("an id");
    let messages = home.run(&["payload", copy]).stdout;
    let messages: Vec<Value> = serde_json::from_str(&messages).expect("messages");
    let blocks = messages.iter().filter_map(|m| m["content"].as_array());
    let kind = if field == "id" {
        "tool_use"
    } else {
        "thinking"
    };
    let found = blocks.flatten().filter(|b| b["type"] == kind);
    found
        .map(|b| b[field].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn drop_tools_chooses_calls_by_file_text_message_and_end_of_id() {
    let home = home();
    let after = |selector: &[&str]| left(&home, &[&["drop-tools"], selector].concat(), "id");
    assert_eq!(after(&["--path", "src/*.rs"]), ["toolu_b2", "toolu_c3"]);
    assert_eq!(after(&["--match", "green|parser"]), ["toolu_c3"]);
    assert_eq!(after(&["--id", "u_c3", "--id", "u_a1"]), ["toolu_b2"]);
    assert_eq!(
        after(&["--tool", "Write", "--turns", "2"]),
        ["toolu_a1", "toolu_b2"]
    );
    let lines = records(&home.transcript(SESSION));
    let call = lines.iter().find(|e| e.to_string().contains("toolu_a1"));
    let message = call.and_then(|e| e["uuid"].as_str()).expect("an id");
    assert_eq!(
        after(&["--message", &message[..13]]),
        ["toolu_b2", "toolu_c3"]
    );
}

#[test]
fn drop_tools_leaves_the_newest_tokens_alone() {
    let home = home();
    let after = |tokens: &str| left(&home, &["drop-tools", "--keep-tokens", tokens], "id");
    let all = ["toolu_a1", "toolu_b2", "toolu_c3"];
    assert_eq!(after("1"), [""; 0]);
    let run = home.run(&["drop-tools", "--keep-tokens", "1M", SESSION]);
    assert!(run.stdout.contains("Nothing to do"), "{run:?}");
    // The more is kept, the more calls stay, and they are the newest.
    let mut before = 0;
    for tokens in ["60", "120", "200", "300"] {
        let arguments = ["drop-tools", "--keep-tokens", tokens, SESSION, "-n"];
        if home.run(&arguments).stdout.contains("Nothing to do") {
            break;
        }
        let calls = after(tokens);
        assert!(calls.len() >= before, "{calls:?}");
        assert_eq!(calls, all[all.len() - calls.len()..]);
        before = calls.len();
    }
}

#[test]
fn strip_thinking_chooses_thinking_by_text_and_size() {
    let home = home();
    let after =
        |selector: &[&str]| left(&home, &[&["strip-thinking"], selector].concat(), "thinking");
    assert_eq!(after(&["--match", "parser"]), ["about the tests"]);
    assert_eq!(after(&["--larger-than", "10"]), [""; 0]);
    assert_eq!(after(&["--keep-tokens", "1"]), [""; 0]);
    let run = home.run(&["strip-thinking", "--larger-than", "10k", SESSION]);
    assert!(run.stdout.contains("Nothing to do"), "{run:?}");
    let run = home.run(&["strip-thinking", "--message", "feedbeef", SESSION]);
    assert_eq!(run.code, 2, "{run:?}");
}

#[cfg(unix)]
#[test]
fn edit_opens_the_texts_that_a_selector_matches() {
    let home = home();
    let edit = |selector: &[&str]| {
        let arguments = [&["edit", SESSION], selector, &["--json"]].concat();
        let editor = "sed -i s/written:/saved:/";
        home.command(&arguments).env("EDITOR", editor).run()
    };
    let run = edit(&["--tool", "Write", "--path", "*.md"]);
    let document: Value = serde_json::from_str(&run.stdout).expect("a document");
    let edits = document["changes"].as_array().expect("changes");
    let results = edits.iter().filter(|c| c["what"] == "result");
    assert_eq!(results.count(), 1, "{run:?}");
    let run = edit(&["--match", "no such text"]);
    assert_eq!(run.code, 3, "{run:?}");
    let run = home.run(&["edit", "--turns", "1", "--text", "x"]);
    assert_eq!(run.code, 2, "{run:?}");
}
