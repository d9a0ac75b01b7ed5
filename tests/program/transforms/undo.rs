//! Undo, redo and history.

use std::path::Path;
use std::time::SystemTime;

use insta::assert_snapshot;
use serde_json::json;

use super::weather;
use crate::harness::{Home, SESSION, set_mode};

/// Returns a file's bytes, time and mode.
fn state(path: &Path) -> (Vec<u8>, SystemTime, u32) {
    let time = fs_err::metadata(path).expect("a file").modified();
    #[cfg(unix)]
    let mode = crate::harness::mode(path);
    #[cfg(not(unix))]
    let mode = 0;
    (
        fs_err::read(path).expect("a file"),
        time.expect("a time"),
        mode,
    )
}

/// The ways in which a session is changed.
const WAYS: [&[&str]; 6] = [
    &["strip-thinking", SESSION],
    &["drop-tools", SESSION],
    &["drop-tools", SESSION, "--stub"],
    &["truncate", SESSION, "--at", "1"],
    &["compact", SESSION, "--keep-last", "1"],
    &["compact", SESSION, "--keep-last", "1", "--drop-history"],
];

fn ok(home: &Home, arguments: &[&str]) -> String {
    let run = home.run(arguments);
    assert_eq!(run.code, 0, "{run:?}");
    run.seen()
}

/// Replaces the letters of an operation's name, which differ from run to run.
fn without_letters(home: &Home, text: &str) -> String {
    let document = home.json(&["history"]);
    let names = document["operations"].as_array().expect("a list");
    names.iter().fold(text.to_owned(), |text, operation| {
        text.replace(operation["name"].as_str().expect("a name"), "[op]")
    })
}

#[test]
fn undo_and_redo_restore_every_byte() {
    for way in WAYS {
        let home = weather::home();
        let path = weather::path(&home);
        set_mode(&path, 0o640);
        let before = state(&path);
        ok(&home, &[way, &["--in-place", "--yes"]].concat());
        let after = state(&path);
        assert_ne!(after.0, before.0, "{way:?}");
        assert_eq!(after.2, before.2, "{way:?}");
        ok(&home, &["undo", "--yes"]);
        assert_eq!(state(&path), before, "{way:?}");
        ok(&home, &["redo", "--yes"]);
        assert_eq!(state(&path), after, "{way:?}");
        ok(&home, &["undo", "--yes"]);
        assert_eq!(state(&path), before, "{way:?}");
    }
}

#[test]
fn undo_removes_a_new_session_with_all_its_files() {
    for way in WAYS {
        let home = weather::home();
        let beside = home.folder().join(SESSION).join("tool-results");
        home.write(beside.join("toolu_ls.txt"), "rain\n");
        home.write(
            home.config()
                .join("file-history")
                .join(SESSION)
                .join("0a@v1"),
            "old\n",
        );
        let before = home.names();
        ok(&home, way);
        assert!(home.names().len() > before.len(), "{way:?}");
        ok(&home, &["undo", "--yes"]);
        assert_eq!(home.names(), before, "{way:?}");
        ok(&home, &["redo", "--yes"]);
        assert!(home.names().len() > before.len(), "{way:?}");
    }
}

#[test]
fn undo_shows_what_it_will_do() {
    let home = weather::home();
    ok(
        &home,
        &["truncate", SESSION, "--at", "1", "--in-place", "--yes"],
    );
    let before = home.everything();
    assert_snapshot!(without_letters(&home, &home.run(&["undo", "-n"]).seen()), @"
    undo truncate  [op]  just now  “Weather station”
      restores  ~/.claude/projects/[slug]/5e551000-aaaa-4bbb-8ccc-0123456789ab.jsonl  4.4 KB → 14.8 KB
    Dry run: nothing was changed.
    --- exit code 0
    ");
    assert!(before == home.everything(), "nothing is changed");
    let document = home.json(&["undo", "-n"]);
    assert_eq!(document["of"], "truncate");
    let file = &document["files"][0];
    assert_eq!(file["path"], json!(weather::path(&home)));
    assert_eq!(file["action"], "write");
    assert!(file["bytes_after"].as_u64() > file["bytes_before"].as_u64());
}

#[test]
fn undo_keeps_what_was_added() {
    let home = weather::home();
    let path = weather::path(&home);
    let original = fs_err::read_to_string(&path).expect("the session");
    ok(&home, &["strip-thinking", SESSION, "--in-place", "--yes"]);
    let more = weather::transcript(&home)
        .prompt("one more")
        .answer("Yes?")
        .lines;
    let more: String = more[more.len() - 2..]
        .iter()
        .flat_map(|l| [l.to_string(), "\n".to_owned()])
        .collect();
    let used = fs_err::read_to_string(&path).expect("the session") + &more;
    fs_err::write(&path, &used).expect("appended as a client would");
    assert_snapshot!(without_letters(&home, &home.run(&["undo", "--yes"]).stderr_seen()), @"
    Refused: `[home]/.claude/projects/[slug]/5e551000-aaaa-4bbb-8ccc-0123456789ab.jsonl` has changed since: 2 entries were added
    Hint: to keep what was added: ccsurgery undo [op] --onto-current
    ");
    assert_eq!(fs_err::read_to_string(&path).expect("the session"), used);
    ok(&home, &["undo", "--yes", "--onto-current"]);
    assert_eq!(
        fs_err::read_to_string(&path).expect("the session"),
        original + &more
    );
}

#[test]
fn undo_onto_current_refuses_messages_after_a_compaction() {
    let home = weather::home();
    let path = weather::path(&home);
    ok(
        &home,
        &[
            "compact",
            SESSION,
            "--keep-last",
            "0",
            "--in-place",
            "--yes",
        ],
    );
    let text = fs_err::read_to_string(&path).expect("the session");
    let summary = text
        .lines()
        .find(|l| l.contains("isCompactSummary"))
        .expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(summary).expect("a record");
    let more = json!({"parentUuid": summary["uuid"], "type": "user", "message": {"role": "user", "content": "go on"}, "uuid": "5e551000-0fff-4bbb-8ccc-0123456789ab", "timestamp": "2026-03-04T06:00:00.000Z"});
    fs_err::write(&path, format!("{text}{more}\n")).expect("appended as a client would");
    let run = home.run(&["undo", "--yes", "--onto-current"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert_snapshot!(run.stderr_seen(), @"
    Refused: messages that were added since depend on what the operation changed: the parent [fresh] is not in the old transcript
    Hint: the added messages cannot follow the old transcript; keep the session as it is
    ");
}

#[test]
fn undo_refuses_a_new_session_that_was_used() {
    let home = weather::home();
    let document = home.json(&["strip-thinking", SESSION]);
    let path = document["target"]["path"].as_str().expect("a path");
    let text =
        fs_err::read_to_string(path).expect("the session") + "{\"type\":\"x\"}\n{\"type\":\"y\"}\n";
    fs_err::write(path, &text).expect("appended as a client would");
    let run = home.run(&["undo", "--yes"]);
    assert_eq!(run.code, 3, "{run:?}");
    assert_snapshot!(run.stderr_seen(), @"
    Refused: `[home]/.claude/projects/[slug]/[fresh].jsonl` has changed since: 2 entries were added
    Hint: the session was used after it was created; keep it, or remove it yourself when you no longer need what was added
    ");
    assert_eq!(
        fs_err::read_to_string(path).expect("it is still there"),
        text
    );
}

#[test]
fn history_lists_and_forgets() {
    let home = weather::home();
    assert_eq!(home.run(&["history"]).stdout, "The history is empty.\n");
    ok(&home, &["strip-thinking", SESSION, "--in-place", "--yes"]);
    ok(&home, &["drop-tools", SESSION, "--in-place", "--yes"]);
    ok(&home, &["undo", "--yes"]);
    let document = home.json(&["history", SESSION]);
    let rows: Vec<(String, String)> = document["operations"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|o| (o["operation"].to_string(), o["state"].to_string()))
        .collect();
    let wanted = [
        ("\"drop-tools\"", "\"undone\""),
        ("\"strip-thinking\"", "\"committed\""),
    ];
    assert_eq!(rows, wanted.map(|(a, b)| (a.to_owned(), b.to_owned())));
    let nothing = home.json(&["history", "gc"]);
    assert_eq!(nothing["forgotten"], 0, "nothing is a month old");
    let would = home.json(&["history", "gc", "--older-than", "0d", "-n"]);
    assert_eq!(would["forgotten"], 2);
    let freed = home.json(&["history", "gc", "--older-than", "0d", "--yes"]);
    assert_eq!(freed["forgotten"], 2);
    assert!(freed["bytes"].as_u64().is_some_and(|b| b > 0), "{freed}");
    assert_eq!(home.run(&["history"]).stdout, "The history is empty.\n");
    assert_snapshot!(home.run(&["undo"]).seen(), @"
    --- stderr
    Error: there is nothing to undo
    Hint: see what was done with: ccsurgery history
    --- exit code 1
    ");
}

#[test]
fn undo_and_redo_accept_names() {
    let home = weather::home();
    ok(&home, &["strip-thinking", SESSION, "--in-place", "--yes"]);
    let document = home.json(&["history"]);
    let name = document["operations"][0]["id"].as_str().expect("a name");
    ok(&home, &["undo", name, "--yes"]);
    let again = home.run(&["undo", name, "--yes"]);
    assert_eq!(again.code, 3, "{again:?}");
    assert_eq!(home.run(&["undo", "nonsense"]).code, 1);
    ok(&home, &["redo", name, "--yes"]);
}
