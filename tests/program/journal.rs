//! Records of the journal that are torn, unknown or tampered with.

use crate::harness;

use std::path::PathBuf;

use harness::{Home, SESSION};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A home with an operation of each kind, of which the last is undone, and files that nobody may touch.
fn home() -> Home {
    let home = Home::in_memory();
    let session = home
        .start(SESSION)
        .prompt("first words")
        .thinking("a thought")
        .answer("first answer")
        .prompt("second words")
        .answer("second answer");
    home.add(&session);
    home.write("elsewhere/victim.jsonl", session.text());
    home.write("elsewhere/notes.txt", "notes");
    home.write(".claude/settings.json", "{}");
    for words in [
        &["clone", SESSION][..],
        &["strip-thinking", SESSION, "--in-place", "--yes"],
        &["clone", SESSION, "--at", "1"],
        &["undo", "--yes"],
    ] {
        let run = home.run(words);
        assert_eq!(run.code, 0, "{run:?}");
    }
    home
}

fn operations(home: &Home) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(home.state().join("ops")).expect("the journal");
    let mut all: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    all.sort();
    all
}

/// A change to a record.
#[derive(Debug, Clone)]
enum Tampering {
    /// The text ends after this share of its bytes.
    Torn(f64),
    /// A byte is changed.
    Flipped(f64, u8),
    /// The value of a field, by its number, becomes another one, by its number.
    Replaced(usize, usize),
    /// A field is removed.
    Removed(usize),
    /// Two fields at once: what a person with a plan would do.
    Both(usize, usize, usize, usize),
}

fn tamperings() -> impl Strategy<Value = Tampering> {
    prop_oneof![
        1 => (0.0..1.0).prop_map(Tampering::Torn),
        1 => (0.0..1.0, 1..=255_u8).prop_map(|(at, flip)| Tampering::Flipped(at, flip)),
        3 => (0..60_usize, 0..20_usize).prop_map(|(f, v)| Tampering::Replaced(f, v)),
        1 => (0..60_usize).prop_map(Tampering::Removed),
        3 => (0..60_usize, 0..20_usize, 0..60_usize, 0..20_usize)
            .prop_map(|(a, b, c, d)| Tampering::Both(a, b, c, d)),
    ]
}

/// Returns the JSON pointers of all values in a record.
fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Array(all) => {
            for (n, value) in all.iter().enumerate() {
                pointers(value, &format!("{at}/{n}"), out);
            }
        }
        Value::Object(fields) => {
            for (key, value) in fields {
                pointers(value, &format!("{at}/{key}"), out);
            }
        }
        _ => {}
    }
}

/// Values that a record should not have, or not there.
fn values(home: &Home) -> Vec<Value> {
    let path = |rest: &str| home.path(rest).to_string_lossy().into_owned();
    let victim = path("elsewhere/victim.jsonl");
    let missing = path("elsewhere/missing.jsonl");
    vec![
        json!(null),
        json!(-1),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("prepared"),
        json!("undoing"),
        json!("redoing"),
        json!("committed"),
        json!("undone"),
        json!("../../../elsewhere/victim.jsonl"),
        json!(path("work/../elsewhere/victim.jsonl")),
        json!(victim),
        json!(missing),
        json!([victim, missing]),
        json!(path("elsewhere")),
        json!([path("elsewhere"), path("elsewhere/notes.txt")]),
        json!(path(".claude/settings.json")),
        json!([]),
        json!({"deep": [[[[]]]]}),
    ]
}

fn replace(record: &mut Value, field: usize, with: &Value) {
    let mut all = Vec::new();
    pointers(record, "", &mut all);
    if let Some(value) = record.pointer_mut(&all[field % all.len()]) {
        *value = with.clone();
    }
}

fn tamper(home: &Home, text: &str, tampering: &Tampering) -> Vec<u8> {
    let place = |share: f64| (text.len() as f64 * share) as usize;
    let values = values(home);
    let mut record: Value = serde_json::from_str(text).expect("a record");
    match *tampering {
        Tampering::Torn(share) => return text.as_bytes()[..place(share)].to_vec(),
        Tampering::Flipped(share, flip) => {
            let mut bytes = text.as_bytes().to_vec();
            bytes[place(share)] ^= flip;
            return bytes;
        }
        Tampering::Replaced(field, value) => replace(&mut record, field, &values[value]),
        Tampering::Removed(field) => {
            if let Some(fields) = record.as_object_mut() {
                let key = fields.keys().nth(field % fields.len()).cloned();
                fields.remove(&key.unwrap_or_default());
            }
        }
        Tampering::Both(a, b, c, d) => {
            replace(&mut record, a, &values[b]);
            replace(&mut record, c, &values[d]);
        }
    }
    record.to_string().into_bytes()
}

/// Everything that no record may reach: all but the sessions and the journal.
fn untouchable(home: &Home) -> Vec<(String, Vec<u8>)> {
    let all = home.everything().into_iter();
    let is_ours = |name: &str| name.starts_with(".claude/projects/") || name.starts_with("state/");
    all.filter(|(name, _)| !is_ours(name)).collect()
}

fn cases() -> u32 {
    let given = std::env::var("PROPTEST_CASES").ok();
    given.and_then(|n| n.parse().ok()).unwrap_or(24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn journal_records_that_were_tampered_with_reach_no_other_files(which in 0..3_usize, tampering in tamperings()) {
        let home = home();
        let record = operations(&home)[which].join("op.json");
        let text = fs_err::read_to_string(&record).expect("a record");
        fs_err::write(&record, tamper(&home, &text, &tampering)).expect("a record");
        let before = untouchable(&home);
        let name = record.parent().and_then(|p| p.file_name()).expect("its name").to_string_lossy().into_owned();
        for words in [
            &["history"][..],
            &["undo", &name, "--yes"],
            &["redo", &name, "--yes"],
            &["undo", "--yes"],
            &["redo", "--yes"],
            &["clone", SESSION],
            &["history", "gc", "--older-than", "0d", "--yes"],
        ] {
            let run = home.run(words);
            prop_assert!((0..=3).contains(&run.code), "{tampering:?}: {words:?}: {run:?}");
            prop_assert!(untouchable(&home) == before, "{tampering:?}: {words:?}: {run:?}");
        }
    }
}

#[test]
fn journal_record_cannot_make_undo_write_elsewhere() {
    let missing = "elsewhere/missing.jsonl";
    for change in ["replaced", "source too", "target"] {
        let home = home();
        let record = operations(&home)[1].join("op.json");
        let text = fs_err::read_to_string(&record).expect("a record");
        let mut value: Value = serde_json::from_str(&text).expect("a record");
        assert_eq!(value["operation"], "strip-thinking");
        let path = json!(home.path(missing));
        match change {
            "replaced" => value["replaced"][0]["path"] = path,
            "source too" => {
                value["replaced"][0]["path"] = path;
                value["source"] = json!(home.path("work/session.jsonl"));
                value["target"] = value["source"].clone();
            }
            _ => value["target"] = path,
        }
        fs_err::write(&record, value.to_string()).expect("a record");
        let run = home.run(&["undo", "--yes"]);
        assert_eq!(run.code, 3, "{change}: {run:?}");
        assert!(
            run.stderr.contains("Refused: the journal's record names"),
            "{run:?}"
        );
        assert!(run.stderr.contains("Hint:"), "{run:?}");
        assert!(!home.path(missing).exists(), "{change}");
    }
}
