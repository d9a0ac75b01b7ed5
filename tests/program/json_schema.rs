//! Every document that `--json` prints is described by a JSON Schema in `docs/schema`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{Home, SESSION};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema")
}

fn schema(name: &str) -> Value {
    let path = folder().join(format!("{name}.schema.json"));
    serde_json::from_slice(&fs_err::read(path).unwrap()).unwrap()
}

/// A session with everything that documents describe, and a second one.
fn home() -> Home {
    let home = Home::new();
    let long = "line\n".repeat(400);
    let session = home
        .start(SESSION)
        .prompt("Find the needle")
        .thinking("Where could it be?")
        .call("toolu_1", "Bash", &json!({"command": "grep -r needle ."}))
        .result("toolu_1", &long)
        .answer("The needle is in the haystack.")
        .prompt("Now another")
        .answer("An answer that was taken back.")
        .back_to(5)
        .prompt("Something else")
        .answer("Done.")
        .title("Haystack");
    home.add(&session);
    let other = home
        .start("5e552000-aaaa-4bbb-8ccc-0123456789ab")
        .prompt("Another needle")
        .answer("Yes.");
    home.add(&other);
    home
}

/// A command line, and the schema of what it prints.
const RUNS: [(&str, &[&str]); 43] = [
    ("ls", &["ls"]),
    ("ls", &["ls", "--all"]),
    ("show", &["show", SESSION]),
    ("show-turns", &["show", SESSION, "--turns", "1.."]),
    ("show-turns", &["show", SESSION, "--only", "calls"]),
    ("show-branches", &["show", SESSION, "--branches"]),
    ("grep", &["grep", "needle"]),
    ("grep", &["grep", "needle", "--all", "-c"]),
    ("grep", &["grep", "no such text"]),
    ("inspect", &["inspect", SESSION]),
    ("payload", &["payload", SESSION]),
    ("diff", &["diff", SESSION, "5e552000"]),
    ("operation", &["clone", SESSION, "-n"]),
    ("operation", &["clone", SESSION]),
    ("operation", &["strip-thinking", SESSION, "-n"]),
    ("operation", &["drop-tools", SESSION, "--stub", "-n"]),
    ("operation", &["drop-images", SESSION, "-n"]),
    ("operation", &["drop-hidden", SESSION, "-n"]),
    ("operation", &["truncate", SESSION, "--at", "1", "-n"]),
    ("operation", &["compact", SESSION, "--keep-last", "1", "-n"]),
    ("operation", &["delete", SESSION, "--turns", "1", "-n"]),
    ("operation", &["extract", SESSION, "--turns", "1", "-n"]),
    ("operation", &["title", "New", SESSION]),
    ("operation", &["repair", SESSION, "-n"]),
    ("operation", &["clone", SESSION, "-o", "copy.jsonl"]),
    ("redact", &["redact", SESSION, "--check"]),
    (
        "redact",
        &["redact", "--all", "-n", "--literal", "haystack"],
    ),
    ("export", &["export", SESSION]),
    (
        "export-conversation",
        &["export", SESSION, "--to", "json", "-o", "-"],
    ),
    ("doctor", &["doctor", SESSION]),
    ("doctor", &["doctor", "--all"]),
    ("doctor-explain", &["doctor", "--explain", "torn-line"]),
    ("history", &["history"]),
    ("undo", &["undo", "-n"]),
    ("undo", &["undo", "--yes"]),
    ("undo", &["redo", "--yes"]),
    (
        "redact",
        &[
            "redact",
            SESSION,
            "--literal",
            "haystack",
            "--in-place",
            "--yes",
        ],
    ),
    ("history-gc", &["history", "gc", "-n"]),
    ("completions", &["completions", "zsh"]),
    ("man", &["man", "clone"]),
    ("error", &["show", "nosuch"]),
    ("error", &["show", "5e55"]),
    ("error", &["trim"]),
];

#[test]
fn json_documents_are_valid_by_their_schemas() {
    let home = home();
    for (name, arguments) in RUNS {
        let run = home.run(&[arguments, &["--json"]].concat());
        let document: Value = serde_json::from_str(&run.stdout)
            .unwrap_or_else(|e| panic!("{arguments:?}: {e}: {run:?}"));
        let validator = jsonschema::validator_for(&schema(name)).unwrap();
        let errors: Vec<String> = validator
            .iter_errors(&document)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(
            errors.is_empty(),
            "{arguments:?}: {errors:#?}\n{document:#}"
        );
    }
}

#[test]
fn json_schemas_are_all_used_and_of_this_version() {
    // Only a session that is too full has steps to explain.
    let not_run = BTreeSet::from(["trim-explain".to_owned()]);
    let run: BTreeSet<String> = RUNS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let mut files = BTreeSet::new();
    for file in fs_err::read_dir(folder()).unwrap() {
        let name = file.unwrap().file_name().to_string_lossy().into_owned();
        let name = name.strip_suffix(".schema.json").unwrap().to_owned();
        assert_eq!(schema(&name)["properties"]["schema"]["const"], 1, "{name}");
        files.insert(name);
    }
    assert_eq!(files, run.union(&not_run).cloned().collect());
}
