//! Regressions in `render`, `secrets` and `view`.

use serde_json::{Value, json};

use crate::harness::{Home, SESSION, Transcript};

const KEY: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";

fn prompt(home: &Home, words: &str) -> Transcript {
    Transcript::new(SESSION, &home.project()).prompt(words)
}

/// A transcript of lines that are not as a client writes them.
fn write_lines(home: &Home, lines: &[Value]) {
    let folder = home.config().join("projects").join("-odd");
    fs_err::create_dir_all(&folder).expect("a folder");
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs_err::write(
        folder.join(format!("{SESSION}.jsonl")),
        text.join("\n") + "\n",
    )
    .expect("a transcript");
}

fn entry(n: usize, kind: &str, content: &Value) -> Value {
    let id = |n: usize| format!("00000000-0000-4000-8000-{n:012}");
    json!({
        "parentUuid": (n > 1).then(|| id(n - 1)), "type": kind, "uuid": id(n), "sessionId": SESSION,
        "timestamp": format!("2026-01-03T10:00:{n:02}.000Z"),
        "message": {"role": kind, "id": format!("m{n}"), "content": content},
    })
}

#[test]
fn titles_are_masked_where_nothing_is_to_do_and_by_the_doctor() {
    let home = Home::new();
    home.add(&prompt(&home, &format!("my key is {KEY} ok")).answer("x"));
    for args in [
        &["strip-thinking", SESSION][..],
        &["doctor", SESSION],
        &["show", "my key is", "--json"],
    ] {
        let run = home.run(args);
        assert!(!run.seen().contains(&KEY[4..]), "{args:?}: {}", run.seen());
    }
}

#[test]
fn payload_and_show_stay_valid_json_with_a_quoted_pem_heading() {
    let home = Home::new();
    let heading = "if \"-----BEGIN PRIVATE KEY-----\" in text";
    let call =
        json!([{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": heading}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]);
    write_lines(
        &home,
        &[
            entry(1, "user", &json!(heading)),
            entry(2, "assistant", &call),
            entry(3, "user", &result),
            entry(4, "assistant", &json!([{"type": "text", "text": "done"}])),
        ],
    );
    let payload = home.run(&["payload", SESSION]);
    assert!(
        serde_json::from_str::<Value>(&payload.stdout).is_ok(),
        "{}",
        payload.seen()
    );
    let shown = home.run(&["show", SESSION, "--turns", "1", "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(
        shown["turn_contents"][0]["items"][1]["input"]["command"],
        heading
    );
    assert_eq!(shown["turn_contents"][0]["items"][2]["call_id"], "t1");
}

#[test]
fn tool_names_of_hidden_calls_cannot_drive_the_terminal() {
    let home = Home::new();
    let name = "X\u{1b}]0;PWNED\u{7}\u{9b}31m\u{202e}\u{61c}\u{200b}\u{ad}\u{2060}\u{180e}";
    let call = json!([{"type": "tool_use", "id": "t1", "name": name, "input": {}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": "t1", "content": ""}]);
    let boundary = json!({
        "parentUuid": null, "logicalParentUuid": "00000000-0000-4000-8000-000000000004", "type": "system",
        "subtype": "compact_boundary", "uuid": "00000000-0000-4000-8000-000000000005", "sessionId": SESSION,
        "timestamp": "2026-01-03T10:00:05.000Z",
    });
    let mut summary = entry(6, "user", &json!("summary"));
    summary["isCompactSummary"] = json!(true);
    write_lines(
        &home,
        &[
            entry(1, "user", &json!("one")),
            entry(2, "assistant", &call),
            entry(3, "user", &result),
            entry(4, "assistant", &json!([{"type": "text", "text": "a"}])),
            boundary,
            summary,
            entry(7, "user", &json!("two")),
            entry(8, "assistant", &json!([{"type": "text", "text": "b"}])),
        ],
    );
    for args in [
        &["drop-tools", SESSION, "-n", "--color", "always"][..],
        &["show", SESSION, "--turns", "1", "--color", "always"],
    ] {
        let run = home.run(args);
        let text = run.seen();
        assert!(
            !text.contains("\u{1b}]") && !text.contains('\u{7}'),
            "{args:?}"
        );
        let hidden = text
            .chars()
            .find(|c| "\u{9b}\u{202e}\u{61c}\u{200b}\u{ad}\u{2060}\u{180e}".contains(*c));
        assert_eq!(hidden, None, "{args:?}");
    }
}

#[test]
fn diff_masks_a_private_key_that_spans_lines() {
    let home = Home::new();
    let body = "MIIEowIBAAKCAQEAabcdefghijklmnopqrstuvwxyz0123456789";
    let key =
        format!("-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}\n-----END RSA PRIVATE KEY-----");
    home.add(&prompt(&home, "one").answer("x").prompt(&key).answer("y"));
    for form in ["--diff", "--diff=raw"] {
        let run = home.run(&["truncate", SESSION, "--at", "1", "-n", form]);
        assert!(run.seen().contains("BEGIN RSA"), "{}", run.seen());
        assert!(!run.seen().contains(body), "{}", run.seen());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ls_as_json_accepts_file_names_that_are_not_utf8() {
    use std::os::unix::ffi::OsStringExt as _;
    let home = Home::new();
    let path = home.add(&prompt(&home, "hello").answer("x"));
    let odd = std::ffi::OsString::from_vec(b"odd\xff.jsonl".to_vec());
    fs_err::copy(&path, path.with_file_name(odd)).unwrap();
    let run = home.run(&["ls", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        document["sessions"].as_array().map(Vec::len),
        Some(2),
        "{}",
        run.seen()
    );
}

#[test]
fn ls_in_a_pipe_is_not_cut() {
    let home = Home::new();
    let long = "words ".repeat(60) + "at the end";
    home.add(&prompt(&home, &long).answer("x"));
    let mut process = home.command(&["ls"]).process();
    let output = process.env_remove("COLUMNS").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("at the end"), "{text}");
}
