//! What the doctor finds, and what it says.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod support;

use std::process::Command;

use support::{checks, fixture, recorded, session};

/// Each fixture with what is wrong in it: its own fault, then what follows from that.
const PATHOLOGIES: &[(&str, &[&str])] = &[
    ("adjacent_thinking", &["adjacent-thinking"]),
    ("bare_boundary", &["boundary-last"]),
    ("blank_text", &["blank-text"]),
    ("boundary_of_same_time", &["boundary-last"]),
    ("byte_order_mark", &["byte-order-mark"]),
    ("cut_root", &["cut-root", "headless"]),
    ("cycle", &["cycle"]),
    ("dangling_parent", &["dangling-parent"]),
    ("duplicate_line", &["duplicate-uuid"]),
    ("duplicate_uuid", &["duplicate-uuid", "cycle", "headless"]),
    ("empty_content", &["empty-content"]),
    ("foreign_entries", &["foreign-entries"]),
    ("glued_records", &["glued-records", "dangling-parent"]),
    ("headless", &["headless"]),
    ("healthy_compacted", &[]),
    ("healthy_hidden_thinking", &[]),
    ("healthy_linear", &[]),
    ("healthy_parallel", &[]),
    ("image_of_another_kind", &["not-an-image"]),
    ("invalid_utf8", &["invalid-utf8"]),
    ("large_image", &["large-image"]),
    ("locked_document", &["bad-document"]),
    ("lone_surrogate", &["lone-surrogate"]),
    ("lone_thinking", &["lone-thinking"]),
    ("lost_boundary", &["lost-boundary"]),
    ("lost_logical_parent", &["lost-logical-parent"]),
    ("lost_preserved", &["lost-preserved"]),
    ("missing_thinking", &["missing-thinking"]),
    ("no_compact_metadata", &["no-compact-metadata"]),
    ("not_an_image", &["not-an-image"]),
    ("nul_in_text", &["nul-in-text"]),
    ("nul_run", &["nul-run", "dangling-parent"]),
    ("open_end", &["open-end"]),
    ("orphan_last", &["wrong-leaf"]),
    ("orphan_newest", &["wrong-leaf"]),
    ("parallel_results", &["parallel-results"]),
    ("repeated_call", &["repeated-call"]),
    ("repeated_result", &["repeated-result"]),
    ("replayed_error", &["replayed-error"]),
    ("result_before_call", &["result-before-call"]),
    ("self_parent", &["cycle"]),
    ("spliced_stub", &["torn-line", "dangling-parent"]),
    ("split_server_result", &["split-server-result"]),
    ("stale_last_prompt", &["stale-last-prompt"]),
    ("stray_result", &["stray-result", "lone-thinking"]),
    ("string_answer", &["string-answer"]),
    ("tool_reference", &["tool-reference"]),
    ("torn_middle", &["torn-line", "dangling-parent"]),
    ("torn_tail", &["torn-line"]),
    ("two_candidates", &["dangling-parent"]),
    ("unanswered_call", &["unanswered-call"]),
    ("unfinished_call", &["unfinished-call"]),
    ("unsigned_thinking", &["unsigned-thinking"]),
];

#[test]
fn each_check_finds_its_pathology_and_no_other() {
    let mut seen = 0;
    for (name, expected) in PATHOLOGIES {
        let bytes = fs_err::read(fixture(&format!("pathologies/{name}.jsonl"))).unwrap();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(checks(&session(bytes)), expected, "{name}");
        seen += 1;
    }
    let files = std::fs::read_dir(fixture("pathologies")).unwrap().count();
    assert_eq!(seen, files, "every fixture is in the table");
}

#[test]
fn recorded_sessions_are_healthy() {
    for path in recorded() {
        let name = path.to_string_lossy().into_owned();
        let found = checks(&session(fs_err::read(&path).unwrap()));
        let known: Vec<&str> = found
            .iter()
            .copied()
            .filter(|c| !(name.contains("/2.1.45/") && *c == "parallel-results"))
            .filter(|c| !(name.contains("/killed/") && *c == "unfinished-call"))
            .collect();
        assert_eq!(known, [""; 0], "{name}");
    }
}

fn doctor(args: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurgery"))
        .arg("doctor")
        .args(args)
        .env_clear()
        .env("HOME", home.path())
        .env("COLUMNS", "100")
        .current_dir(fixture("pathologies"))
        .output()
        .unwrap();
    format!(
        "{}{}exit {}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        output.status.code().unwrap()
    )
}

#[test]
fn the_installed_client_is_judged_for() {
    let home = tempfile::tempdir().unwrap();
    let versions = home.path().join(".local/share/claude/versions");
    fs_err::create_dir_all(&versions).unwrap();
    fs_err::write(versions.join("2.1.400"), "").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurgery"))
        .args(["doctor", "./healthy_linear.jsonl"])
        .env_clear()
        .env("HOME", home.path())
        .current_dir(fixture("pathologies"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("(judged for 2.1.156 and 2.1.400)"), "{said}");
}

#[test]
fn a_list_of_sessions_that_leads_nowhere_is_told() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-user-project");
    fs_err::create_dir_all(&folder).unwrap();
    let id = "11111111-2222-4333-8444-555555555555";
    let session = folder.join(format!("{id}.jsonl"));
    fs_err::copy(fixture("pathologies/healthy_linear.jsonl"), &session).unwrap();
    let told = |path: &str| {
        let list =
            serde_json::json!({"version": 1, "entries": [{"sessionId": id, "fullPath": path}]});
        fs_err::write(folder.join("sessions-index.json"), list.to_string()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_ccsurgery"))
            .args(["doctor", id, "--json"])
            .env_clear()
            .env("HOME", home.path())
            .current_dir(home.path())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).contains("stale-index")
    };
    assert!(told("/elsewhere/gone.jsonl"));
    assert!(!told(&session.to_string_lossy()));
}

/// What the doctor says, with the folder's own path left out.
fn told(args: &[&str]) -> String {
    let folder = fixture("pathologies");
    doctor(args).replace(&*folder.to_string_lossy(), "[folder]")
}

#[test]
fn a_person_reads_what_is_wrong() {
    insta::assert_snapshot!(told(&["./torn_middle.jsonl"]), @r"
    torn_mid  “Question 1: what is in the folder?”
      loses history  line 10  torn-line  281 bytes of a record that is not whole: clients pass over the
                                         line
      healed by the client itself: 1 × dangling-parent (it hurts clients before 2.1.156)

    torn_middle (judged for 2.1.156 and 2.1.325): 1 loses history
    Mend with:
      ccsurgery repair [folder]/torn_middle.jsonl
    exit 1
    ");
}

#[test]
fn what_the_client_heals_is_told_apart() {
    insta::assert_snapshot!(told(&["./lone_surrogate.jsonl"]), @r"
    lone_sur  “Question 1: what is in the folder?”
      healed by the client itself: 1 × lone-surrogate (it hurts clients before 2.1.156)

    Nothing wrong: lone_surrogate (judged for 2.1.156 and 2.1.325)
    For older clients, mend with:
      ccsurgery repair [folder]/lone_surrogate.jsonl
    exit 0
    ");
    insta::assert_snapshot!(told(&["./lone_surrogate.jsonl", "--client", "2.1.45"]), @r"
    lone_sur  “Question 1: what is in the folder?”
      refused by the API  turn 2  line 6  lone-surrogate  1 × half a surrogate pair: the request body is
                                                          not valid JSON: no low surrogate in string

    lone_surrogate (judged for 2.1.45): 1 refused by the API
    Mend with:
      ccsurgery repair [folder]/lone_surrogate.jsonl
    exit 1
    ");
}

#[test]
fn health_is_one_line() {
    insta::assert_snapshot!(told(&["./healthy_linear.jsonl"]), @r"
    Nothing wrong: healthy_linear (judged for 2.1.156 and 2.1.325)
    exit 0
    ");
}

#[test]
fn a_script_reads_one_document() {
    let text = doctor(&["./stale_last_prompt.jsonl", "--json"]);
    let (document, exit) = text.rsplit_once("exit ").unwrap();
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    let finding = &document["sessions"][0]["findings"][0];
    assert_eq!(
        (&finding["check"], &finding["severity"], &finding["line"]),
        (
            &"stale-last-prompt".into(),
            &"loses-history".into(),
            &19.into()
        )
    );
    assert_eq!(
        (exit, &document["totals"]["loses-history"]),
        ("1", &1.into())
    );
}
