//! The session on which the transforms are shown.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{Home, SESSION, Transcript};

/// Three turns: two calls at once, a call that fails with a long output, and a word of thanks.
pub(crate) fn transcript(home: &Home) -> Transcript {
    let log = "not ok: the wind is from nowhere\n".repeat(100);
    let failed = json!({"type": "tool_result", "tool_use_id": "toolu_test", "content": log, "is_error": true});
    home.start(SESSION)
        .prompt("which sensors are there?")
        .thinking("I should look at the folder.")
        .answer("I will look.")
        .call("toolu_ls", "Bash", &json!({"command": "ls sensors"}))
        .call(
            "toolu_read",
            "Read",
            &json!({"file_path": "sensors/wind.toml"}),
        )
        .result("toolu_ls", "rain\nsun\nwind")
        .result("toolu_read", "pin = 7")
        .answer("Rain, sun and wind.")
        .prompt("run the tests")
        .thinking("Tests first, then the rest.")
        .call("toolu_test", "Bash", &json!({"command": "npm test"}))
        .user(
            json!({"role": "user", "content": [failed]}),
            json!({"toolUseResult": {"stderr": log}}),
        )
        .answer("They fail: the wind has no direction.")
        .prompt("thanks")
        .answer("You are welcome.")
        .title("Weather station")
}

/// The same, and a fourth turn whose call has no result yet.
pub(crate) fn running(home: &Home) -> Transcript {
    transcript(home)
        .prompt("deploy it")
        .thinking("Carefully.")
        .call("toolu_run", "Bash", &json!({"command": "make deploy"}))
}

pub(crate) fn home() -> Home {
    let home = Home::new();
    home.add(&transcript(&home));
    home
}

pub(crate) fn running_home() -> Home {
    let home = Home::new();
    home.add(&running(&home));
    home
}

/// The same home, with records of usage that fit the content: 1,000 tokens and a third of what each answer was shown.
pub(crate) fn home_with_fitting_records() -> Home {
    let home = home();
    let text = fs_err::read_to_string(path(&home)).expect("a transcript");
    let (mut shown, mut fitted) = (0, String::new());
    for line in text.lines() {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        if line["message"]["usage"].is_object() {
            line["message"]["usage"]["input_tokens"] = (1000 + shown / 3).into();
        }
        let blocks = line["message"]["content"].as_array().cloned();
        let words = |block: &Value| match block["type"].as_str() {
            // What the model thought weighs next to nothing later.
            Some("thinking") => 0,
            _ => block.to_string().len(),
        };
        shown += match blocks {
            Some(blocks) => blocks.iter().map(words).sum(),
            None => line["message"]["content"].to_string().len(),
        };
        fitted += &line.to_string();
        fitted.push('\n');
    }
    fs_err::write(path(&home), fitted).expect("a transcript");
    home
}

/// Where the session is.
pub(crate) fn path(home: &Home) -> PathBuf {
    home.transcript(SESSION)
}

/// The messages that the model would be shown of a transcript.
pub(crate) fn payload(home: &Home, path: &str) -> Vec<Value> {
    let document = home.json(&["payload", path]);
    let messages = &document["messages"];
    messages.as_array().cloned().expect("a list of messages")
}
