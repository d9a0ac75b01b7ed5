//! Files beside a session that only a deleted part of it needed: they are removed, restored, and not copied.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::harness::{Home, SESSION, Transcript};

const OTHER: &str = "d0000000-aaaa-4bbb-8ccc-0123456789ab";

/// A session of two turns. The first has an output, a subagent with an output of its own, and a version of a file; the
/// second has an output and a version of the same file.
fn home_of_two() -> Home {
    let home = Home::new();
    let own = home.folder().join(SESSION);
    let output = |name: &str| format!("Saved to {}", own.join("tool-results").join(name).display());
    let backup = |name: &str| json!({"trackedFileBackups": {"a.rs": {"backupFileName": name}}});
    let session = home.start(SESSION).prompt("first");
    let first = session.leaf();
    let snapshot = |of: &str, name: &str| json!({"type": "file-history-snapshot", "messageId": of, "snapshot": backup(name)});
    let session = session
        .line(snapshot(&first, "abc@v1"))
        .call("toolu_1", "Bash", &json!({"command": "ls"}))
        .result("toolu_1", &output("one.txt"))
        .call("toolu_2", "Task", &json!({"prompt": "look"}));
    let made = session.leaf();
    let block = json!({"tool_use_id": "toolu_2", "type": "tool_result", "content": "looked"});
    let session = session
        .user(
            json!({"role": "user", "content": [block]}),
            json!({"toolUseResult": {"agentId": "a123456"}, "sourceToolAssistantUUID": made}),
        )
        .answer("one")
        .prompt("second");
    let second = session.leaf();
    let session = session
        .line(snapshot(&second, "abc@v10"))
        .call("toolu_3", "Bash", &json!({"command": "ls"}))
        .result("toolu_3", &output("two.txt"))
        .answer("two")
        .last_prompt("second");
    home.add(&session);
    let agent = Transcript::of_agent(SESSION, "a123456", &home.project())
        .prompt("look")
        .answer(&output("deep.txt"));
    for (path, text) in [
        ("subagents/agent-a123456.jsonl", agent.text()),
        ("subagents/agent-a123456.meta.json", "{}".to_owned()),
        ("tool-results/one.txt", "1".to_owned()),
        ("tool-results/two.txt", "2".to_owned()),
        ("tool-results/deep.txt", "3".to_owned()),
        ("tool-results/unknown.txt", "4".to_owned()),
    ] {
        home.write(own.join(path), text);
    }
    for name in ["abc@v1", "abc@v10"] {
        home.write(history(&home, SESSION).join(name), name);
    }
    home
}

fn history(home: &Home, session: &str) -> PathBuf {
    home.config().join("file-history").join(session)
}

/// The names of the files of a session.
fn files(home: &Home, session: &str) -> Vec<String> {
    let own = home.folder().join(session);
    let folders = ["subagents", "tool-results"].map(|name| own.join(name));
    let folders = folders.into_iter().chain([history(home, session)]);
    let entries = folders.filter_map(|folder| fs_err::read_dir(folder).ok());
    let names = entries.flatten().map(|entry| entry.expect("an entry"));
    let mut names: Vec<String> = names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

const SECOND: [&str; 3] = ["abc@v10", "two.txt", "unknown.txt"];

#[test]
fn delete_in_place_removes_files_of_the_deleted_turn_and_undo_restores_them() {
    let home = home_of_two();
    let before = home.everything();
    let arguments = ["delete", "--turns", "1", SESSION, "--in-place", "--yes"];
    let preview = home.run(&["delete", "--turns", "1", SESSION, "--in-place", "-n"]);
    assert!(preview.stdout.contains("remove subagent"), "{preview:?}");
    assert_eq!(home.everything(), before);
    let run = home.run(&arguments);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(files(&home, SESSION), SECOND);
    let done = home.everything();
    let run = home.run(&["undo", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let is_ours = |path: &&String| !path.contains("state");
    let after = home.everything();
    for path in before.keys().filter(is_ours) {
        assert_eq!(after.get(path), before.get(path), "{path}");
    }
    let run = home.run(&["redo", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let again = home.everything();
    for path in done.keys().filter(is_ours) {
        assert_eq!(again.get(path), done.get(path), "{path}");
    }
}

#[test]
fn delete_in_place_keeps_files_that_another_session_names() {
    let home = home_of_two();
    let own = home.folder().join(SESSION);
    let named = own.join("tool-results/one.txt").display().to_string();
    home.add(&home.start(OTHER).prompt("go on").answer(&named));
    let arguments = ["delete", "--turns", "1", SESSION, "--in-place", "--yes"];
    let run = home.run(&arguments);
    assert_eq!(run.code, 0, "{run:?}");
    let expected = ["abc@v10", "one.txt", "two.txt", "unknown.txt"];
    assert_eq!(files(&home, SESSION), expected);
}

#[test]
fn copies_have_only_the_files_of_their_turns() {
    let home = home_of_two();
    for operation in [
        &["delete", "--turns", "1"][..],
        &["extract", "--turns", "2"],
    ] {
        let arguments = [operation, &[SESSION]].concat();
        let copy: Value = home.json(&arguments);
        let id = copy["target"]["session_id"].as_str().expect("an id");
        assert_eq!(files(&home, id), SECOND, "{operation:?}");
    }
    // The summary names an output of the first turn.
    let copy = home.json(&["extract", "--turns", "2", "--with-summary", SESSION]);
    let id = copy["target"]["session_id"].as_str().expect("an id");
    let expected = ["abc@v10", "one.txt", "two.txt", "unknown.txt"];
    assert_eq!(files(&home, id), expected);
    let copy = home.json(&["truncate", "--at", "1", SESSION]);
    let id = copy["target"]["session_id"].as_str().expect("an id");
    let expected = [
        "abc@v1",
        "agent-a123456.jsonl",
        "agent-a123456.meta.json",
        "deep.txt",
        "one.txt",
        "unknown.txt",
    ];
    assert_eq!(files(&home, id), expected);
}

#[test]
fn extract_with_summary_shows_a_digest_before_the_turns() {
    let home = home_of_two();
    let arguments = ["extract", "--turns", "2", "--with-summary", SESSION];
    let run = home.run(&[&arguments[..], &["-o", "out.jsonl"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    let run = home.run(&["payload", "./out.jsonl"]);
    let messages: Vec<Value> = serde_json::from_str(&run.stdout).expect("messages");
    let first = messages[0].to_string();
    assert!(
        first.contains("first") && first.contains("second"),
        "{first}"
    );
    assert_eq!(home.run(&["doctor", "./out.jsonl"]).code, 0);
    let run = home.run(&["extract", "--turns", "1", "--with-summary", SESSION, "-n"]);
    assert!(run.stdout.contains("there is no summary"), "{run:?}");
}

#[test]
fn delete_leaves_the_last_turns_and_the_newest_tokens_alone() {
    let home = home_of_two();
    let shown = |arguments: &[&str]| {
        let arguments = [&["delete"], arguments, &[SESSION, "-o", "-"]].concat();
        let run = home.run(&arguments);
        assert_eq!(run.code, 0, "{run:?}");
        run.stdout
    };
    let kept = shown(&["--keep-last", "1"]);
    assert!(!kept.contains("\"first\"") && kept.contains("\"second\""));
    let kept = shown(&["--keep-tokens", "1000000", "--tool", "Bash"]);
    assert!(kept.contains("toolu_1") && kept.contains("toolu_3"));
    let kept = shown(&["--tool", "Bash", "--keep-last", "1"]);
    assert!(!kept.contains("toolu_1") && kept.contains("toolu_3"));
    let kept = shown(&["--larger-than", "10MB"]);
    assert!(kept.contains("toolu_1"));
    let kept = shown(&["--larger-than", "100", "--tool", "Bash", "--turns", "1"]);
    assert!(!kept.contains("toolu_1") && kept.contains("toolu_2"));
    assert!(shown(&["--errors"]).contains("toolu_1"));
}

#[test]
fn plan_file_grafts_turns_of_another_session() {
    let home = home_of_two();
    home.add(
        &home
            .start(OTHER)
            .prompt("other prompt")
            .answer("other answer"),
    );
    let plan = format!(
        "[[step]]\nop = \"delete\"\nturns = 1\n\n[[step]]\nop = \"graft\"\nfrom = \"{OTHER}\"\n"
    );
    home.write(home.project().join("plan.toml"), plan);
    let run = home.run(&["run", "plan.toml", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let run = home.run(&["payload", SESSION]);
    let (second, other) = (run.stdout.find("second"), run.stdout.find("other prompt"));
    assert!(second.is_some() && second < other, "{run:?}");
    assert!(!run.stdout.contains("\"first\""), "{run:?}");
    assert_eq!(files(&home, SESSION), SECOND);
}
