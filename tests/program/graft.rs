//! Turns of one session inserted into another: what the model is shown, and which files come along.

use crate::harness;

use std::path::Path;

use serde_json::{Value, json};

use harness::{Home, SESSION, Transcript, in_json, records};

/// The session that turns come from.
const DONOR: &str = "d0000000-aaaa-4bbb-8ccc-0123456789ab";

fn payload(home: &Home, session: &str) -> Vec<Value> {
    let run = home.run(&["payload", session]);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).expect("messages")
}

fn texts(home: &Home, session: &str) -> Vec<String> {
    let messages = payload(home, session);
    let blocks = messages.iter().filter_map(|m| m["content"].as_array());
    let texts = blocks.flatten().filter_map(|b| b["text"].as_str());
    texts.map(|t| t.trim_end().to_owned()).collect()
}

fn done(home: &Home, arguments: &[&str]) -> String {
    let run = home.run(arguments);
    assert_eq!(run.code, 0, "{run:?}");
    format!("{}{}", run.stdout, run.stderr)
}

fn in_place(home: &Home, arguments: &[&str]) -> String {
    let flags = [SESSION, "--in-place", "--yes"];
    let said = done(home, &[&["graft"], arguments, &flags].concat());
    let findings = home.run(&["doctor", SESSION]);
    assert_eq!(findings.code, 0, "{findings:?}");
    said
}

/// Turns with words alone.
fn turns(home: &Home, session: &str, names: &[&str]) -> Transcript {
    let start = home.start(session);
    names.iter().fold(start, |transcript, name| {
        transcript
            .prompt(&format!("{name} prompt"))
            .answer(&format!("{name} answer"))
    })
}

/// A home with a session of two turns, and another of two.
fn home_of_two() -> Home {
    let home = Home::new();
    let target = turns(&home, SESSION, &["one", "two"]).last_prompt("two prompt");
    home.add(&target);
    let donor = turns(&home, DONOR, &["red"])
        .prompt("blue prompt")
        .thinking("blue thought")
        .call("toolu_1", "Bash", &json!({"command": "ls"}))
        .result("toolu_1", "blue.txt")
        .answer("blue answer");
    home.add(&donor);
    home
}

#[test]
fn graft_puts_turns_at_the_end_or_after_a_turn() {
    let home = home_of_two();
    in_place(&home, &["--from", DONOR, "--turns", "2"]);
    let end = ["one prompt", "one answer", "two prompt", "two answer"];
    assert_eq!(
        texts(&home, SESSION),
        [&end[..], &["blue prompt", "blue answer"]].concat()
    );
    done(&home, &["undo", "--yes"]);
    in_place(&home, &["--from", DONOR, "--turns", "1", "--at", "1"]);
    let middle = ["one prompt", "one answer", "red prompt", "red answer"];
    assert_eq!(texts(&home, SESSION)[..4], middle);
    assert_eq!(texts(&home, SESSION)[4..], end[2..]);
}

#[test]
fn graft_leaves_the_newest_entry_at_the_end() {
    for at in [&[][..], &["--at", "1"]] {
        let home = home_of_two();
        in_place(&home, &[&["--from", DONOR], at].concat());
        let entries = records(&home.transcript(SESSION));
        let chained = entries.iter().filter(|e| e["uuid"].is_string());
        let mut times: Vec<&str> = chained.filter_map(|e| e["timestamp"].as_str()).collect();
        let last = times.pop().expect("a time");
        assert!(times.iter().all(|time| *time < last), "{times:?} {last}");
    }
}

#[test]
fn graft_makes_a_new_session_and_leaves_both_alone() {
    let home = home_of_two();
    let (one, other) = (
        fs_err::read(home.transcript(SESSION)).unwrap(),
        fs_err::read(home.transcript(DONOR)).unwrap(),
    );
    let document = home.json(&["graft", SESSION, "--from", DONOR]);
    let copy = document["target"]["session_id"].as_str().expect("an id");
    assert_eq!(texts(&home, copy).len(), 8);
    assert_eq!(home.run(&["doctor", copy]).code, 0);
    assert_eq!(document["changes"][0]["what"], "turn");
    let own = records(&home.transcript(copy));
    assert!(own.iter().all(|e| e["sessionId"] == copy));
    assert_eq!(fs_err::read(home.transcript(SESSION)).unwrap(), one);
    assert_eq!(fs_err::read(home.transcript(DONOR)).unwrap(), other);
}

#[test]
fn graft_gives_entries_and_clashing_calls_ids_of_their_own() {
    let home = home_of_two();
    in_place(&home, &["--from", DONOR, "--turns", "2"]);
    in_place(&home, &["--from", DONOR, "--turns", "2"]);
    let entries = records(&home.transcript(SESSION));
    let mut uuids: Vec<&str> = entries.iter().filter_map(|e| e["uuid"].as_str()).collect();
    let all = uuids.len();
    uuids.sort_unstable();
    uuids.dedup();
    assert_eq!(uuids.len(), all);
    let blocks = |kind: &str, field: &str| -> Vec<String> {
        let contents = entries
            .iter()
            .filter_map(|e| e["message"]["content"].as_array());
        let blocks = contents.flatten().filter(|b| b["type"] == kind);
        blocks
            .map(|b| b[field].as_str().expect("an id").to_owned())
            .collect()
    };
    let calls = blocks("tool_use", "id");
    assert_eq!(calls, blocks("tool_result", "tool_use_id"));
    assert!(calls[0] == "toolu_1" && calls[1] != "toolu_1" && calls[1].starts_with("toolu_"));
    assert_eq!(texts(&home, SESSION).len(), 8);
}

#[test]
fn graft_of_extracted_halves_gives_the_payload_back() {
    let home = home_of_two();
    let before = payload(&home, DONOR);
    let half = |turns: &str| {
        let document = home.json(&["extract", DONOR, "--turns", turns]);
        let id = document["target"]["session_id"].as_str();
        id.expect("an id").to_owned()
    };
    let (first, second) = (half("1"), half("2"));
    let document = home.json(&["graft", &first, "--from", &second]);
    let joined = document["target"]["session_id"].as_str().expect("an id");
    assert_eq!(payload(&home, joined), before);
}

/// A donor whose only turn wrote a file, launched a subagent and has a large output.
fn home_with_files() -> Home {
    let home = Home::new();
    let target = turns(&home, SESSION, &["one", "two"]);
    let snapshot = |prompt: &str, version: u32| {
        json!({"type": "file-history-snapshot", "messageId": prompt,
            "snapshot": {"messageId": prompt, "trackedFileBackups": {"a.txt": {
                "backupFileName": format!("aaaa@v{version}"), "version": version}}},
            "isSnapshotUpdate": false})
    };
    let first = target.id(1);
    home.add(&target.line(snapshot(&first, 1)));
    home.write(
        home.config()
            .join("file-history")
            .join(SESSION)
            .join("aaaa@v1"),
        "target's",
    );
    let own = home.folder().join(DONOR);
    let output = own.join("tool-results").join("big.txt");
    let donor =
        home.start(DONOR)
            .prompt("red prompt")
            .call("toolu_1", "Task", &json!({"prompt": "look"}));
    let mut donor = donor
        .result("toolu_1", &format!("saved to {}", output.display()))
        .answer("red answer");
    donor.lines[2]["toolUseResult"] = json!({"agentId": "a123456", "content": []});
    let prompt = donor.id(1);
    home.add(&donor.line(snapshot(&prompt, 1)));
    let agent = Transcript::of_agent(DONOR, "a123456", &home.project());
    let agent = agent.prompt("look").answer("seen");
    home.write(own.join("subagents/agent-a123456.jsonl"), agent.text());
    home.write(own.join("subagents/agent-a123456.meta.json"), "{}");
    home.write(own.join("subagents/agent-b999999.jsonl"), agent.text());
    home.write(&output, "a large output");
    home.write(
        home.config()
            .join("file-history")
            .join(DONOR)
            .join("aaaa@v1"),
        "donor's",
    );
    home
}

#[test]
fn graft_brings_subagents_outputs_and_file_versions_along() {
    let home = home_with_files();
    let before = home.everything();
    in_place(&home, &["--from", DONOR]);
    let own = home.folder().join(SESSION);
    let read = |path: &str| fs_err::read_to_string(own.join(path)).expect("a file");
    assert_eq!(read("tool-results/big.txt"), "a large output");
    assert_eq!(read("subagents/agent-a123456.meta.json"), "{}");
    let agent = records(&own.join("subagents/agent-a123456.jsonl"));
    assert!(agent.iter().all(|e| e["sessionId"] == SESSION), "{agent:?}");
    assert!(!own.join("subagents/agent-b999999.jsonl").exists());
    let history = home.config().join("file-history").join(SESSION);
    assert_eq!(
        fs_err::read_to_string(history.join("aaaa@v1")).unwrap(),
        "target's"
    );
    assert_eq!(
        fs_err::read_to_string(history.join("aaaa@v2")).unwrap(),
        "donor's"
    );
    let text = fs_err::read_to_string(home.transcript(SESSION)).unwrap();
    assert!(
        text.contains(r#""backupFileName":"aaaa@v2","version":2"#),
        "{text}"
    );
    let output = own.join("tool-results").join("big.txt");
    assert!(text.contains(&in_json(&output.to_string_lossy())));
    done(&home, &["undo", "--yes"]);
    let after = home.everything();
    let is_own = |name: &&String| name.starts_with(".claude/");
    let files = |all: &std::collections::BTreeMap<String, Vec<u8>>| -> Vec<(String, Vec<u8>)> {
        let own = all.keys().filter(is_own);
        own.map(|name| (name.clone(), all[name].clone())).collect()
    };
    assert_eq!(files(&after), files(&before));
    done(&home, &["redo", "--yes"]);
    assert_eq!(read("tool-results/big.txt"), "a large output");
    assert_eq!(texts(&home, SESSION).len(), 6);
}

#[test]
fn graft_into_a_new_session_brings_the_files_along_too() {
    let home = home_with_files();
    let document = home.json(&["graft", SESSION, "--from", DONOR, "--at", "1"]);
    let copy = document["target"]["session_id"].as_str().expect("an id");
    let own = home.folder().join(copy);
    assert!(own.join("tool-results/big.txt").exists());
    let agent = records(&own.join("subagents/agent-a123456.jsonl"));
    assert!(agent.iter().all(|e| e["sessionId"] == copy), "{agent:?}");
    let text = fs_err::read_to_string(home.transcript(copy)).unwrap();
    assert!(
        text.contains(&in_json(
            &Path::new(copy)
                .join("tool-results")
                .join("big.txt")
                .to_string_lossy()
        )),
        "{text}"
    );
    assert!(!text.contains(&format!("{DONOR}/tool-results")), "{text}");
    let history = home.config().join("file-history").join(copy);
    assert_eq!(
        fs_err::read_to_string(history.join("aaaa@v1")).unwrap(),
        "target's"
    );
    assert_eq!(
        fs_err::read_to_string(history.join("aaaa@v1002")).unwrap(),
        "donor's"
    );
}

#[test]
fn graft_gives_a_subagent_that_both_have_a_name_of_its_own() {
    let home = home_with_files();
    in_place(&home, &["--from", DONOR]);
    in_place(&home, &["--from", DONOR]);
    let names = home.names();
    let agents = names
        .iter()
        .filter(|n| n.contains(SESSION) && n.contains("agent-"));
    let transcripts = agents.clone().filter(|n| n.ends_with(".jsonl")).count();
    assert_eq!((transcripts, agents.count()), (2, 4), "{names:?}");
}

/// A session whose second turn was rewound: `left` was abandoned for `right`.
fn rewound(home: &Home) -> Transcript {
    turns(home, SESSION, &["trunk", "left"])
        .back_to(2)
        .prompt("right prompt")
        .answer("right answer")
        .last_prompt("right prompt")
}

#[test]
fn graft_inserts_the_turns_of_an_abandoned_branch() {
    let home = Home::new();
    let session = rewound(&home);
    home.add(&session);
    in_place(&home, &["--branch", &session.id(3)]);
    let all = ["trunk", "right", "left"].map(|n| [format!("{n} prompt"), format!("{n} answer")]);
    assert_eq!(texts(&home, SESSION), all.as_flattened());
    let run = home.run(&["graft", SESSION, "--branch", &session.id(1)]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains("show --branches"), "{run:?}");
}

#[test]
fn graft_moves_turns_of_another_project() {
    let home = home_of_two();
    let elsewhere = home.path("elsewhere");
    let donor = Transcript::new(DONOR, &elsewhere)
        .prompt("far prompt")
        .answer("far answer");
    fs_err::remove_file(home.transcript(DONOR)).unwrap();
    let path = home.folder_of(&elsewhere).join(format!("{DONOR}.jsonl"));
    home.write(&path, donor.text());
    in_place(&home, &["--from", &path.to_string_lossy()]);
    let entries = records(&home.transcript(SESSION));
    let folders = entries.iter().filter_map(|e| e["cwd"].as_str());
    assert!(
        folders
            .clone()
            .all(|cwd| cwd == home.project().to_string_lossy())
    );
    assert_eq!(folders.count(), 6);
}

#[test]
fn graft_refuses_places_that_the_model_is_not_shown() {
    let home = Home::new();
    let metadata = json!({"trigger": "manual", "preTokens": 9});
    let target = turns(&home, SESSION, &["one", "two"])
        .compaction("the summary", metadata)
        .prompt("three prompt")
        .answer("three answer");
    home.add(&target);
    home.add(&turns(&home, DONOR, &["red"]));
    for at in ["1", "2"] {
        let run = home.run(&["graft", SESSION, "--from", DONOR, "--at", at]);
        assert_eq!(run.code, 3, "{run:?}");
        assert!(run.stderr.contains("uncompact"), "{run:?}");
    }
    let run = home.run(&["graft", DONOR, "--from", SESSION, "--turns", "2..3"]);
    assert_eq!(run.code, 3, "{run:?}");
    in_place(&home, &["--from", DONOR, "--at", "3"]);
    assert_eq!(texts(&home, SESSION)[3..], ["red prompt", "red answer"]);
    let open = turns(&home, SESSION, &["one"]).prompt("go").call(
        "toolu_9",
        "Bash",
        &json!({"command": "make"}),
    );
    home.add(&open);
    let run = home.run(&["graft", SESSION, "--from", DONOR]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains("unfinished"), "{run:?}");
    for wrong in [
        &["--from", DONOR, "--turns", "9"][..],
        &["--from", "-"],
        &[],
    ] {
        let run = home.run(&[&["graft", SESSION], wrong].concat());
        assert_eq!(run.code, 2, "{run:?}");
    }
}
