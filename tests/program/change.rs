//! Commands that change a conversation: what they must keep, and how they are taken back.

use crate::harness;

use serde_json::{Value, json};

use harness::{Home, SESSION, Transcript, records};

/// The messages that the model is shown of a session.
fn payload(home: &Home, session: &str) -> Vec<Value> {
    let run = home.run(&["payload", session]);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).expect("messages")
}

/// The texts that the model is shown, in order.
fn texts(home: &Home) -> Vec<String> {
    texts_of(home, SESSION)
}

fn texts_of(home: &Home, session: &str) -> Vec<String> {
    let messages = payload(home, session);
    let blocks = messages.iter().filter_map(|m| m["content"].as_array());
    let texts = blocks.flatten().filter_map(|b| b["text"].as_str());
    texts.map(|t| t.trim_end().to_owned()).collect()
}

/// Runs a command that must succeed.
fn done(home: &Home, arguments: &[&str]) -> String {
    let run = home.run(arguments);
    assert_eq!(run.code, 0, "{run:?}");
    format!("{}{}", run.stdout, run.stderr)
}

/// Runs an operation in place.
fn in_place(home: &Home, operation: &[&str]) -> String {
    done(
        home,
        &[operation, &[SESSION, "--in-place", "--yes"]].concat(),
    )
}

/// The bytes of the session.
fn bytes(home: &Home) -> Vec<u8> {
    fs_err::read(home.transcript(SESSION)).expect("the transcript")
}

/// Three turns: words, a call with thinking, and a file that is written.
fn three_turns(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt("first prompt")
        .answer("first answer")
        .prompt("second prompt")
        .thinking("let me look")
        .call("toolu_1", "Bash", &json!({"command": "ls"}))
        .result("toolu_1", "a.txt")
        .answer("second answer")
        .prompt("third prompt")
        .call(
            "toolu_2",
            "Write",
            &json!({"file_path": "/w/new.rs", "content": "x"}),
        )
        .result("toolu_2", "written")
        .answer("third answer")
        .last_prompt("third prompt")
}

fn home_of_three() -> Home {
    let home = Home::new();
    home.add(&three_turns(&home));
    home
}

#[test]
fn title_renames_the_session_and_undo_restores_it() {
    let home = home_of_three();
    let before = bytes(&home);
    done(&home, &["title", "Parser rewrite", SESSION]);
    let last = records(&home.transcript(SESSION)).pop().expect("a record");
    assert_eq!(last["customTitle"], "Parser rewrite");
    assert!(bytes(&home).starts_with(&before));
    done(&home, &["undo", "--yes"]);
    assert_eq!(bytes(&home), before);
}

#[test]
fn title_given_twice_changes_nothing_the_second_time() {
    let home = home_of_three();
    done(&home, &["title", "Parser rewrite", SESSION]);
    let once = bytes(&home);
    let said = done(&home, &["title", "Parser rewrite", SESSION]);
    assert!(said.contains("Nothing to do"), "{said}");
    assert_eq!(bytes(&home), once);
}

#[test]
fn title_preview_writes_nothing() {
    let home = home_of_three();
    let before = home.everything();
    let document = home.json(&["title", "Parser rewrite", SESSION, "-n"]);
    assert_eq!(document["changes"][0]["what"], "title");
    assert_eq!(home.everything(), before);
}

#[test]
fn title_without_text_is_a_usage_error() {
    let home = home_of_three();
    assert_eq!(home.run(&["title", " ", SESSION]).code, 2);
}

/// Deletes in place, and returns the texts that the model is shown then.
fn after_delete(home: &Home, selectors: &[&str]) -> Vec<String> {
    in_place(home, &[&["delete"], selectors].concat());
    let findings = home.run(&["doctor", SESSION]);
    assert_eq!(findings.code, 0, "{findings:?}");
    texts(home)
}

#[test]
fn delete_then_undo_restores_the_bytes() {
    for selectors in [
        &["--turns", "2"][..],
        &["--turns", "-1"],
        &["--turns", "..2"],
        &["--match", "answer"],
        &["--tool", "Bash"],
        &["--path", "*.rs"],
        &["--id", "lu_1"],
    ] {
        let home = home_of_three();
        let before = bytes(&home);
        in_place(&home, &[&["delete"], selectors].concat());
        assert_ne!(bytes(&home), before, "{selectors:?}");
        done(&home, &["undo", "--yes"]);
        assert_eq!(bytes(&home), before, "{selectors:?}");
    }
}

#[test]
fn delete_removes_turns_at_the_beginning_in_the_middle_and_at_the_end() {
    let all = [
        "first prompt",
        "first answer",
        "second prompt",
        "second answer",
        "third prompt",
        "third answer",
    ];
    for (turns, kept) in [
        ("1", &all[2..]),
        ("2", &[&all[..2], &all[4..]].concat()[..]),
        ("3", &all[..4]),
        ("2..", &all[..2]),
    ] {
        assert_eq!(
            after_delete(&home_of_three(), &["--turns", turns]),
            kept,
            "{turns}"
        );
    }
}

#[test]
fn delete_removes_a_call_with_its_result_its_copy_and_the_thinking_of_its_message() {
    let home = home_of_three();
    after_delete(&home, &["--tool", "Bash"]);
    let text = String::from_utf8(bytes(&home)).expect("UTF-8");
    for gone in ["toolu_1", "a.txt", "let me look"] {
        assert!(!text.contains(gone), "{gone}");
    }
    assert!(text.contains("toolu_2"));
}

#[test]
fn delete_of_a_prompt_leaves_a_note_where_its_answer_stays() {
    let home = home_of_three();
    let id = three_turns(&home).id(1);
    let shown = after_delete(&home, &["--message", &id[..13]]);
    assert_eq!(shown[0], "(this prompt was deleted)");
    assert_eq!(shown[1..3], ["first answer", "second prompt"]);
    assert!(!String::from_utf8_lossy(&bytes(&home)).contains("first prompt"));
}

#[test]
fn delete_of_an_answer_keeps_its_prompt() {
    let home = home_of_three();
    let id = three_turns(&home).id(2);
    let shown = after_delete(&home, &["--message", &id]);
    assert_eq!(shown[..2], ["first prompt", "second prompt"]);
}

#[test]
fn delete_by_match_removes_the_remembered_prompt_too() {
    let home = home_of_three();
    after_delete(&home, &["--match", "^third"]);
    let text = String::from_utf8(bytes(&home)).expect("UTF-8");
    assert!(!text.contains("third prompt") && !text.contains("third answer"));
}

#[test]
fn delete_of_the_last_turn_does_not_bring_back_a_newer_branch() {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .prompt("trunk")
        .answer("trunk answer")
        .prompt("left")
        .answer("left answer")
        .back_to(2)
        .prompt("right")
        .answer("right answer");
    home.add(&session);
    assert_eq!(
        after_delete(&home, &["--turns", "-1"]),
        ["trunk", "trunk answer"]
    );
}

#[test]
fn delete_needs_all_selectors_to_match() {
    let home = home_of_three();
    let shown = after_delete(&home, &["--match", "answer", "--turns", "2"]);
    assert!(shown.contains(&"first answer".to_owned()) && shown.len() == 5);
    let said = in_place(&home, &["delete", "--tool", "Bash", "--path", "*.rs"]);
    assert!(said.contains("Nothing to do"), "{said}");
}

#[test]
fn delete_removes_snapshots_and_subagents_of_the_turn() {
    let home = Home::new();
    let prompt = three_turns(&home).id(3);
    let snapshot = json!({"type": "file-history-snapshot", "messageId": prompt,
        "snapshot": {"messageId": prompt, "trackedFileBackups": {}}, "isSnapshotUpdate": false});
    home.add(&three_turns(&home).line(snapshot));
    after_delete(&home, &["--turns", "2"]);
    assert!(!String::from_utf8_lossy(&bytes(&home)).contains("file-history-snapshot"));
}

#[test]
fn delete_warns_of_files_that_a_deleted_turn_wrote() {
    let home = home_of_three();
    let document = home.json(&["delete", "--turns", "3", SESSION, "-n"]);
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("wrote 1 file"), "{warnings}");
}

#[test]
fn delete_keeps_a_compaction_between_the_turns() {
    let home = Home::new();
    let early = home.start(SESSION).prompt("old").answer("old answer");
    let session = early
        .compaction("the summary", json!({"trigger": "manual", "preTokens": 9}))
        .prompt("new")
        .answer("new answer")
        .prompt("newest")
        .answer("newest answer");
    home.add(&session);
    let shown = after_delete(&home, &["--turns", "1..2"]);
    assert_eq!(shown, ["the summary", "newest", "newest answer"]);
    let refused = home.run(&["delete", "--message", &session.id(4), SESSION]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.stderr.contains("uncompact"), "{refused:?}");
}

#[test]
fn delete_keeps_the_preserved_messages_of_other_turns() {
    let home = Home::new();
    let early = home
        .start(SESSION)
        .prompt("one")
        .answer("answer one")
        .prompt("two")
        .answer("answer two");
    let (head, tail) = (early.id(1), early.id(4));
    let anchor = early.id(6);
    let metadata = json!({"trigger": "auto", "preTokens": 9,
        "preservedSegment": {"headUuid": head, "anchorUuid": anchor, "tailUuid": tail}});
    let session = early
        .compaction("the summary", metadata)
        .prompt("three")
        .answer("answer three");
    home.add(&session);
    let all = texts(&home);
    assert_eq!(all.len(), 7, "{all:?}");
    for (turn, gone) in [("1", "one"), ("2", "two")] {
        let home = Home::new();
        home.add(&session);
        let mut kept = all.clone();
        kept.retain(|t| !t.ends_with(gone));
        assert_eq!(after_delete(&home, &["--turns", turn]), kept);
    }
    for turns in ["1..2", "3"] {
        let run = home.run(&["delete", "--turns", turns, SESSION]);
        assert_eq!(run.code, 3, "{run:?}");
        assert!(run.stderr.contains("uncompact"), "{run:?}");
    }
}

#[test]
fn delete_refuses_what_would_leave_nothing_or_break_an_unfinished_turn() {
    let home = home_of_three();
    for selectors in [&["--turns", "1.."][..], &["--match", ""]] {
        let run = home.run(&[&["delete"], selectors, &[SESSION]].concat());
        assert_eq!(run.code, 3, "{run:?}");
    }
    let open = three_turns(&home).prompt("fourth").thinking("hm").call(
        "toolu_9",
        "Bash",
        &json!({"command": "make"}),
    );
    let home = Home::new();
    home.add(&open);
    let run = home.run(&["delete", "--id", "toolu_9", SESSION]);
    assert_eq!(run.code, 3, "{run:?}");
    assert_eq!(after_delete(&home, &["--turns", "-1"]).len(), 6);
}

#[test]
fn delete_reports_selectors_that_name_nothing() {
    let home = home_of_three();
    for (selectors, word) in [
        (&["--turns", "9"][..], "no turn 9"),
        (&["--message", "ffffffff"], "no message"),
        (&["--id", "toolu_x"], "no call"),
        (&["--match", "("], "regular expression"),
        (&["--tool", "["], "["),
    ] {
        let run = home.run(&[&["delete"], selectors, &[SESSION]].concat());
        assert_eq!(run.code, 2, "{run:?}");
        assert!(
            run.stderr.contains(word) && run.stderr.contains("int:"),
            "{run:?}"
        );
    }
    assert_eq!(home.run(&["delete", SESSION]).code, 2);
}

#[test]
fn delete_works_in_a_plan_file() {
    let home = home_of_three();
    let plan =
        "[[step]]\nop = \"delete\"\nturns = \"2\"\n\n[[step]]\nop = \"title\"\ntext = \"Short\"\n";
    home.write(home.project().join("plan.toml"), plan);
    in_place(&home, &["run", "plan.toml"]);
    assert_eq!(texts(&home).len(), 4);
    assert!(String::from_utf8_lossy(&bytes(&home)).contains("\"Short\""));
}

/// A session that Claude Code compacted, in which the last turn before the compaction was preserved.
fn compacted(home: &Home) -> Transcript {
    let early = home
        .start(SESSION)
        .prompt("one")
        .answer("answer one")
        .prompt("two")
        .answer("answer two");
    let (head, tail, anchor) = (early.id(3), early.id(4), early.id(6));
    let metadata = json!({"trigger": "auto", "preTokens": 9,
        "preservedSegment": {"headUuid": head, "anchorUuid": anchor, "tailUuid": tail}});
    early
        .compaction("the summary", metadata)
        .prompt("three")
        .answer("answer three")
}

const UNCOMPACTED: [&str; 6] = [
    "one",
    "answer one",
    "two",
    "answer two",
    "three",
    "answer three",
];

#[test]
fn uncompact_shows_the_history_and_the_preserved_messages_once() {
    let home = Home::new();
    home.add(&compacted(&home));
    let before = bytes(&home);
    in_place(&home, &["uncompact"]);
    assert_eq!(texts(&home), UNCOMPACTED);
    assert_eq!(home.run(&["doctor", SESSION]).code, 0);
    done(&home, &["undo", "--yes"]);
    assert_eq!(bytes(&home), before);
}

#[test]
fn uncompact_of_scattered_preserved_messages_keeps_their_order() {
    let home = Home::new();
    let mut session = compacted(&home);
    let listed = [session.id(1), session.id(3)];
    let anchor = session.id(6);
    session.lines[4]["compactMetadata"] = json!({"trigger": "auto", "preTokens": 9,
        "preservedMessages": {"anchorUuid": anchor, "uuids": listed, "allUuids": listed}});
    home.add(&session);
    in_place(&home, &["uncompact"]);
    assert_eq!(texts(&home), UNCOMPACTED);
}

#[test]
fn uncompact_of_our_own_compact_restores_the_payload() {
    for keep in ["0", "1", "2"] {
        let home = home_of_three();
        let before = payload(&home, SESSION);
        in_place(&home, &["compact", "--keep-last", keep]);
        assert_ne!(payload(&home, SESSION), before);
        in_place(&home, &["uncompact"]);
        assert_eq!(payload(&home, SESSION), before, "{keep}");
    }
}

#[test]
fn uncompact_takes_back_later_compactions_too() {
    let home = Home::new();
    let metadata = || json!({"trigger": "manual", "preTokens": 9});
    let session = home
        .start(SESSION)
        .prompt("one")
        .answer("answer one")
        .compaction("first summary", metadata())
        .prompt("two")
        .answer("answer two")
        .compaction("second summary", metadata())
        .prompt("three")
        .answer("answer three");
    home.add(&session);
    let run = home.run(&["uncompact", "--boundary", "3", SESSION]);
    assert_eq!(run.code, 2, "{run:?}");
    let before = bytes(&home);
    in_place(&home, &["uncompact"]);
    assert_eq!(texts(&home)[0], "first summary");
    assert_eq!(texts(&home).len(), 5);
    done(&home, &["undo", "--yes"]);
    assert_eq!(bytes(&home), before);
    in_place(&home, &["uncompact", "--boundary", "1"]);
    assert_eq!(texts(&home), UNCOMPACTED);
}

#[test]
fn uncompact_reports_that_there_is_nothing_to_show_again() {
    let home = home_of_three();
    let run = home.run(&["uncompact", SESSION]);
    assert_eq!(run.code, 3, "{run:?}");
    in_place(&home, &["compact", "--keep-last", "1", "--drop-history"]);
    let run = home.run(&["uncompact", SESSION]);
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains("nothing of the history"), "{run:?}");
}

#[test]
fn uncompact_warns_where_the_window_gets_too_large() {
    let home = Home::new();
    let long = "many words here ".repeat(60_000);
    let metadata = json!({"trigger": "manual", "preTokens": 250_000});
    let session = home
        .start(SESSION)
        .prompt(&long)
        .answer("answer one")
        .compaction("summary", metadata)
        .prompt("two")
        .answer("answer two");
    home.add(&session);
    let document = home.json(&["uncompact", SESSION, "-n"]);
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("ccsurgery trim"), "{warnings}");
}

/// A session whose second turn was rewound: `left` was abandoned for `right`.
fn rewound(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt("trunk")
        .answer("trunk answer")
        .prompt("left")
        .answer("left answer")
        .back_to(2)
        .prompt("right")
        .answer("right answer")
        .last_prompt("right")
}

#[test]
fn restore_branch_continues_from_the_branch_and_back() {
    let home = Home::new();
    let session = rewound(&home);
    home.add(&session);
    let before = payload(&home, SESSION);
    in_place(&home, &["restore-branch", &session.id(3)]);
    assert_eq!(
        texts(&home),
        ["trunk", "trunk answer", "left", "left answer"]
    );
    assert_eq!(home.run(&["doctor", SESSION]).code, 0);
    in_place(&home, &["restore-branch", &session.id(5)[..13]]);
    assert_eq!(payload(&home, SESSION), before);
    assert_eq!(home.run(&["doctor", SESSION]).code, 0);
}

#[test]
fn restore_branch_makes_a_new_session_or_is_undone() {
    let home = Home::new();
    let session = rewound(&home);
    home.add(&session);
    let before = bytes(&home);
    let document = home.json(&["restore-branch", &session.id(4), SESSION]);
    let copy = document["target"]["session_id"].as_str().expect("an id");
    assert!(payload(&home, copy)[2].to_string().contains("left"));
    in_place(&home, &["restore-branch", &session.id(4)]);
    done(&home, &["undo", "--yes"]);
    assert_eq!(bytes(&home), before);
}

#[test]
fn restore_branch_of_the_conversation_itself_changes_nothing() {
    let home = Home::new();
    let session = rewound(&home);
    home.add(&session);
    let said = in_place(&home, &["restore-branch", &session.id(1)]);
    assert!(said.contains("Nothing to do"), "{said}");
    let run = home.run(&["restore-branch", "ffffffff", SESSION]);
    assert_eq!(run.code, 2, "{run:?}");
}

/// Edits in place, and returns what was reported.
fn edit(home: &Home, message: &str, text: &str) -> String {
    let said = in_place(home, &["edit", message, "--text", text]);
    let findings = home.run(&["doctor", SESSION]);
    assert_eq!(findings.code, 0, "{findings:?}");
    said
}

#[test]
fn edit_changes_prompts_answers_calls_and_results() {
    let home = home_of_three();
    let id = |n| three_turns(&home).id(n);
    edit(&home, &id(1), "Prompt \"one\"\nwith two lines");
    edit(&home, &id(2), "Answer one");
    edit(&home, &id(5), r#"{"command": "ls -l"}"#);
    edit(&home, &id(6), "b.txt");
    let shown = texts(&home);
    assert_eq!(shown[..2], ["Prompt \"one\"\nwith two lines", "Answer one"]);
    let text = String::from_utf8(bytes(&home)).expect("UTF-8");
    assert!(text.contains(r#""input":{"command":"ls -l"}"#) && text.contains("b.txt"));
    assert!(!text.contains("a.txt"), "the copy of the result follows");
    assert!(!text.contains("let me look"), "the thinking is removed");
}

#[test]
fn edit_with_the_same_text_changes_nothing() {
    let home = home_of_three();
    let before = bytes(&home);
    for (n, text) in [
        (1, "first prompt"),
        (2, "first answer"),
        (5, r#"{"command":"ls"}"#),
        (6, "a.txt"),
    ] {
        let said = edit(&home, &three_turns(&home).id(n), text);
        assert!(said.contains("Nothing to do"), "{said}");
    }
    assert_eq!(bytes(&home), before);
}

#[test]
fn edit_is_undone_and_reports_removed_thinking() {
    let home = home_of_three();
    let before = bytes(&home);
    let session = three_turns(&home);
    let arguments = ["edit", &session.id(5), "--text", "{}", SESSION, "-n"];
    let document = home.json(&arguments);
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("thinking"), "{warnings}");
    edit(&home, &session.id(8), "another third prompt");
    let text = String::from_utf8(bytes(&home)).expect("UTF-8");
    assert!(text.contains(r#""lastPrompt":"another third prompt""#));
    done(&home, &["undo", "--yes"]);
    assert_eq!(bytes(&home), before);
}

#[test]
fn edit_takes_the_text_from_a_file() {
    let home = home_of_three();
    home.write(home.project().join("new.txt"), "from a file\n");
    let id = three_turns(&home).id(1);
    in_place(&home, &["edit", &id, "--text-file", "new.txt"]);
    assert_eq!(texts(&home)[0], "from a file");
}

#[test]
fn edit_refuses_what_cannot_be_edited() {
    let home = home_of_three();
    let session = three_turns(&home);
    for (message, text, code) in [
        (session.id(4), "x", 3),
        (session.id(1), " ", 2),
        (session.id(5), "not JSON", 2),
        ("ffffffff".to_owned(), "x", 2),
    ] {
        let run = home.run(&["edit", &message, "--text", text, SESSION]);
        assert_eq!(run.code, code, "{run:?}");
    }
    let run = home.run(&["edit", &session.id(1), SESSION]);
    assert_eq!(run.code, 2, "without an editor: {run:?}");
}

#[test]
fn extract_copies_just_these_turns() {
    let home = home_of_three();
    let before = bytes(&home);
    for (turns, kept) in [
        ("1", &["first prompt", "first answer"][..]),
        ("2", &["second prompt", "second answer"]),
        ("3", &["third prompt", "third answer"]),
        (
            "2..",
            &[
                "second prompt",
                "second answer",
                "third prompt",
                "third answer",
            ],
        ),
    ] {
        let document = home.json(&["extract", "--turns", turns, SESSION]);
        let copy = document["target"]["session_id"].as_str().expect("an id");
        assert_eq!(texts_of(&home, copy), kept, "{turns}");
        let findings = home.run(&["doctor", copy]);
        assert_eq!(findings.code, 0, "{findings:?}");
    }
    assert_eq!(bytes(&home), before);
}

#[test]
fn extract_shows_turns_from_before_a_compaction() {
    let home = Home::new();
    home.add(&compacted(&home));
    let document = home.json(&["extract", "--turns", "1", SESSION]);
    let copy = document["target"]["session_id"].as_str().expect("an id");
    assert_eq!(texts_of(&home, copy), ["one", "answer one"]);
    let run = home.run(&["extract", "--turns", "1..3", SESSION]);
    assert_eq!(run.code, 3, "{run:?}");
}

#[cfg(unix)]
#[test]
fn edit_of_turns_opens_all_their_texts_in_one_form() {
    let home = home_of_three();
    let before = bytes(&home);
    let edit = |editor: &str, turns: &str| {
        let arguments = ["edit", "--turns", turns, SESSION, "--in-place", "--yes"];
        home.command(&arguments).env("EDITOR", editor).run()
    };
    let run = edit("true", "1..3");
    assert!(run.stdout.contains("Nothing to do"), "{run:?}");
    assert_eq!(bytes(&home), before);
    let run = edit("sed -i 's/second /2nd /; s/a.txt/b.txt/'", "2..3");
    assert_eq!(run.code, 0, "{run:?}");
    let shown = texts(&home);
    assert_eq!(shown[2..4], ["2nd prompt", "2nd answer"]);
    let text = String::from_utf8(bytes(&home)).expect("UTF-8");
    assert!(text.contains("b.txt") && !text.contains("a.txt"), "{text}");
    assert_eq!(home.run(&["doctor", SESSION]).code, 0);
    done(&home, &["undo", "--yes"]);
    assert_eq!(bytes(&home), before);
    let run = edit("sed -i '/^----/d'", "1");
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains("delete --message"), "{run:?}");
    assert_eq!(edit("false", "1").code, 1);
    assert_eq!(edit("true", "9").code, 2);
    assert_eq!(bytes(&home), before);
}

#[test]
fn uncompact_keeps_the_summary_apart_from_the_conversation() {
    for keep in ["0", "1"] {
        let home = home_of_three();
        let before = payload(&home, SESSION);
        in_place(
            &home,
            &["compact", "--keep-last", keep, "--summary", "in short"],
        );
        in_place(&home, &["uncompact", "--keep-summary"]);
        assert_eq!(payload(&home, SESSION), before, "{keep}");
        let text = String::from_utf8(bytes(&home)).expect("UTF-8");
        assert!(text.contains("in short") && !text.contains("compact_boundary"));
        let findings = home.run(&["doctor", SESSION]);
        assert_eq!(findings.code, 0, "{findings:?}");
    }
}

#[test]
fn strip_thinking_by_message_or_by_block() {
    let home = Home::new();
    let text = include_str!("../../fixtures/two_thoughts.jsonl");
    home.write("work/two.jsonl", text);
    let left = |names: &[&str]| {
        let mut arguments = vec!["strip-thinking", "./two.jsonl", "-o", "-"];
        for name in names {
            arguments.extend(["--message", name]);
        }
        let run = home.run(&arguments);
        assert_eq!(run.code, 0, "{run:?}");
        let thoughts = ["Where could it be?", "There it is.", "How kind."];
        thoughts.map(|t| run.stdout.contains(t))
    };
    // The line of a thinking block, another line of its message, and two of them.
    assert_eq!(left(&["aaaaaaaa"]), [false, true, true]);
    assert_eq!(left(&["bbbbbbbb"]), [false, true, true]);
    assert_eq!(left(&["cccccccc", "ffffffff"]), [true, false, false]);
    let run = home.run(&["strip-thinking", "./two.jsonl", "--message", "12345678"]);
    assert_eq!(run.code, 2, "{run:?}");
}
