//! What `doctor` finds and prints.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use crate::support;

use std::process::Command;

use support::{checks, fixture, recorded, session};

/// Each fixture with the checks that report it: its own fault, then what follows from it.
const PATHOLOGIES: &[(&str, &[&str])] = &[
    ("adjacent_thinking", &["adjacent-thinking"]),
    ("bad_escape", &["bad-escape", "dangling-parent"]),
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
    (
        "torn_result",
        &["torn-line", "dangling-parent", "unanswered-call"],
    ),
    ("torn_tail", &["torn-line"]),
    ("two_candidates", &["dangling-parent"]),
    ("unanswered_call", &["unanswered-call"]),
    ("unfinished_call", &["unfinished-call"]),
    ("unsigned_thinking", &["unsigned-thinking"]),
];

#[test]
fn doctor_finds_each_pathology_and_nothing_else() {
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
fn doctor_finds_recorded_sessions_healthy() {
    for path in recorded() {
        let name = path.to_string_lossy().replace('\\', "/");
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
        .env("USERPROFILE", home.path())
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
fn doctor_judges_for_the_installed_client() {
    let home = tempfile::tempdir().unwrap();
    let versions = home.path().join(".local/share/claude/versions");
    fs_err::create_dir_all(&versions).unwrap();
    fs_err::write(versions.join("2.1.400"), "").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurgery"))
        .args(["doctor", "./healthy_linear.jsonl"])
        .env_clear()
        .env("HOME", home.path())
        .env("USERPROFILE", home.path())
        .current_dir(fixture("pathologies"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("(judged for Claude Code 2.1.400, which is installed)"),
        "{said}"
    );
}

#[test]
fn doctor_reports_a_stale_index() {
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
            .env("USERPROFILE", home.path())
            .current_dir(home.path())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).contains("stale-index")
    };
    assert!(told("/elsewhere/gone.jsonl"));
    assert!(!told(&session.to_string_lossy()));
}

/// Returns the output of `doctor`, with the fixture folder's path replaced.
fn told(args: &[&str]) -> String {
    let folder = fixture("pathologies");
    let folder = ccsurgery::store::real_path(&folder).unwrap();
    let shown = doctor(args).replace(&*folder.to_string_lossy(), "[folder]");
    shown.replace("[folder]\\", "[folder]/")
}

#[test]
fn doctor_output_for_a_problem() {
    insta::assert_snapshot!(told(&["./torn_middle.jsonl"]), @"
    torn_middle  “Question 1: what is in the folder?”
      loses history: torn-line, line 10
        Line 10 is not valid JSON (281 B): Claude Code skips it.
      no problem for Claude Code 2.1.156: dangling-parent, line 11 (turn 3)
        2.1.156 and newer continue from an entry that is at most five seconds older.

    torn_middle (judged for Claude Code 2.1.156, which wrote it): 1 problem that loses history
    Repair with:
      ccsurgery repair [folder]/torn_middle.jsonl
    exit 1
    ");
}

#[test]
fn doctor_output_for_what_the_client_copes_with() {
    insta::assert_snapshot!(told(&["./lone_surrogate.jsonl"]), @"
    lone_surrogate  “Question 1: what is in the folder?”
      no problem for Claude Code 2.1.156: lone-surrogate, line 6 (turn 2)
        2.1.156 and newer send U+FFFD instead.

    Nothing wrong: lone_surrogate (judged for Claude Code 2.1.156, which wrote it)
    Nothing needs to be done. To tidy up anyway, or for other versions of Claude Code, run:
      ccsurgery repair [folder]/lone_surrogate.jsonl
    exit 0
    ");
    insta::assert_snapshot!(told(&["./lone_surrogate.jsonl", "--client", "2.1.45"]), @"
    lone_surrogate  “Question 1: what is in the folder?”
      refused by the API: lone-surrogate, line 6 (turn 2)
        Line 6 has lone surrogates (1), for example half an emoji: the API does not accept them.

    lone_surrogate (judged for Claude Code 2.1.45): 1 problem that makes the API refuse the session
    Repair with:
      ccsurgery repair [folder]/lone_surrogate.jsonl
    exit 1
    ");
}

#[test]
fn doctor_output_for_a_healthy_session() {
    insta::assert_snapshot!(told(&["./healthy_linear.jsonl"]), @r"
    Nothing wrong: healthy_linear (judged for Claude Code 2.1.156, which wrote it)
    exit 0
    ");
}

#[test]
fn doctor_json_is_one_document() {
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
        (exit, &document["totals"]["loses_history"]),
        ("1", &1.into())
    );
}
