//! The command line: errors, names of sessions, plan files, help.

use std::os::unix::ffi::OsStrExt as _;

use serde_json::Value;

use super::common::{Home, Run, SESSION, Transcript};

fn small(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt("fix the roof")
        .answer("It is fixed.")
}

/// The error document of a run with `--json`.
fn error(run: &Run) -> Value {
    let document: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
    assert_eq!(document["schema"], 1, "{document}");
    document["error"].clone()
}

#[test]
fn error_document_has_schema_causes_and_candidates() {
    let home = Home::with(&small(&Home::new()));
    let error = error(&home.run(&["show", "nothing-like-it", "--json"]));
    assert_eq!(error["kind"], "not-found");
    assert!(error["causes"].is_array() && error["candidates"].is_array(), "{error}");
}

#[test]
fn error_document_keeps_whole_usage_message() {
    let run = Home::new().run(&["truncate", "--json"]);
    let message = error(&run)["message"].to_string();
    assert_eq!(run.code, 2);
    assert!(message.contains("--at") && message.contains("not provided"), "{message}");
}

#[test]
fn arguments_that_are_not_utf8_do_not_panic() {
    let home = Home::new();
    home.add(&small(&home));
    let odd = std::ffi::OsStr::from_bytes(b"x\xff.jsonl");
    for before in [&["clone", SESSION, "-o"][..], &["clone", SESSION, "--no-such", "-o"]] {
        let output = home.command(before).process().arg(odd).output().expect("it runs");
        assert_ne!(output.status.code(), Some(101), "{output:?}");
    }
    assert!(home.project().join(odd).exists());
}
