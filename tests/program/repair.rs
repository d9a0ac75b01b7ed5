//! What `repair` changes, and what it leaves alone.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use crate::harness::set_mode;
use crate::support;

use std::path::PathBuf;
use std::process::{Command, Output};

use proptest::prelude::*;
use serde_json::Value;

use support::corrupt::{ALL, Fault, MEDIA, corrupt};
use support::made::{self, Shape};
use support::{Repaired, findings, fixture, opaque, recorded, repair, said, session};

/// Asserts what must hold of every repair: nothing repairable is left, a second repair changes nothing,
/// and no words are lost.
fn assert_repaired(before: &[u8], what: &str) -> Repaired {
    let repaired = repair(before, true);
    let after = session(repaired.bytes.clone());
    let left: Vec<_> = findings(&after)
        .into_iter()
        .filter(|f| f.repairable)
        .collect();
    assert!(left.is_empty(), "{what}: left {left:?}");
    let again = repair(&repaired.bytes, true);
    assert!(
        !again.changed,
        "{what}: a second repair changes the session again"
    );
    let (old, new) = (said(&session(before)), said(&after));
    let lost: Vec<_> = old.iter().filter(|t| !new.contains(t)).collect();
    assert!(lost.is_empty(), "{what}: lost {lost:?}");
    repaired
}

#[test]
fn repair_removes_every_pathology() {
    for entry in std::fs::read_dir(fixture("pathologies")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let before = fs_err::read(&path).unwrap();
        let repaired = assert_repaired(&before, &name);
        if name.starts_with("healthy") {
            assert!(!repaired.changed, "{name}");
        }
        assert_eq!(opaque(&session(repaired.bytes)), 0, "{name}");
    }
}

#[test]
fn repair_leaves_healthy_sessions_alone() {
    for path in recorded() {
        let name = path.to_string_lossy().replace('\\', "/");
        let before = fs_err::read(&path).unwrap();
        if !name.contains("/2.1.45/") && !name.contains("/killed/") {
            assert!(!repair(&before, true).changed, "{name}");
        }
        assert_repaired(&before, &name);
    }
}

#[test]
fn repair_takes_neither_of_two_candidates_unasked() {
    let before = fs_err::read(fixture("pathologies/two_candidates.jsonl")).unwrap();
    let careful = repair(&before, false);
    assert!(!careful.changed);
    assert!(
        careful
            .warnings
            .iter()
            .any(|w| w.contains("--accept-guess")),
        "{:?}",
        careful.warnings
    );
    assert!(repair(&before, true).changed);
}

fn shapes() -> impl Strategy<Value = Shape> {
    let versions = prop::sample::select(vec![
        ("2.0.36", false),
        ("2.1.45", true),
        ("2.1.156", true),
        ("2.1.325", true),
    ]);
    (
        prop::collection::vec(0usize..4, 2..7),
        versions,
        prop::option::of(1usize..6),
    )
        .prop_map(|(turns, (version, branches), compacted)| Shape {
            turns,
            version,
            branches,
            compacted,
        })
}

/// Few, unless `PROPTEST_CASES` asks for more.
fn cases() -> u32 {
    let wish = std::env::var("PROPTEST_CASES").ok();
    wish.and_then(|n| n.parse().ok()).unwrap_or(32)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn doctor_finds_made_sessions_healthy(shape in shapes()) {
        let bytes = made::bytes(&made::lines(&shape));
        let found: Vec<_> = findings(&session(bytes.clone())).into_iter().filter(|f| f.check != "parallel-results").collect();
        prop_assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn repair_removes_one_fault(shape in shapes(), fault in prop::sample::select(ALL.to_vec()), seed in any::<u64>()) {
        assert_repaired(&corrupt(&made::lines(&shape), &[fault], seed), &format!("{fault:?}"));
    }

    #[test]
    fn repair_removes_several_faults(shape in shapes(), faults in prop::collection::vec(prop::sample::select(ALL.to_vec()), 2..5), seed in any::<u64>()) {
        assert_repaired(&corrupt(&made::lines(&shape), &faults, seed), &format!("{faults:?}"));
    }

    #[test]
    fn repair_recovers_every_complete_record(shape in shapes(), seed in any::<u64>(), fault in prop::sample::select(vec![Fault::NulRun, Fault::Glued, Fault::Spliced])) {
        let lines = made::lines(&shape);
        let healthy = session(made::bytes(&lines));
        let repaired = repair(&corrupt(&lines, &[fault], seed), true);
        prop_assert_eq!(said(&session(repaired.bytes)), said(&healthy));
    }
}

/// A home of its own with one session in it.
struct Home {
    dir: tempfile::TempDir,
    session: PathBuf,
}

const ID: &str = "11111111-2222-4333-8444-555555555555";

impl Home {
    fn with(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join(".claude/projects/-home-user-project");
        std::fs::create_dir_all(&folder).unwrap();
        let session = folder.join(format!("{ID}.jsonl"));
        std::fs::copy(fixture(&format!("pathologies/{name}.jsonl")), &session).unwrap();
        set_mode(&session, 0o600);
        Self { dir, session }
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_ccsurgery"))
            .args(args)
            .env_clear()
            .env("HOME", self.dir.path())
            .env("USERPROFILE", self.dir.path())
            .env("CCSURGERY_STATE_DIR", self.dir.path().join("state"))
            .env("COLUMNS", "100")
            .current_dir(self.dir.path())
            .output()
            .unwrap()
    }

    fn find(&self, name: &str) -> Option<PathBuf> {
        let mut stack = vec![self.dir.path().join("state")];
        while let Some(dir) = stack.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                if path.file_name().is_some_and(|n| n == name) {
                    return Some(path);
                }
                if path.is_dir() {
                    stack.push(path);
                }
            }
        }
        None
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn repair_moves_unreadable_parts_to_quarantine() {
    let home = Home::with("torn_middle");
    let torn = fs_err::read(&home.session).unwrap();
    let output = home.run(&["repair", ID]);
    assert!(output.status.success(), "{output:?}");
    let kept = home.find("quarantine").expect("a quarantine file");
    let text = fs_err::read_to_string(&kept).unwrap();
    let line = String::from_utf8_lossy(torn.split(|b| *b == b'\n').nth(9).unwrap()).into_owned();
    assert!(
        text.starts_with("--- line 10,") && text.contains(&line),
        "{text}"
    );
    #[cfg(unix)]
    assert_eq!(crate::harness::mode(&kept), 0o600);
    assert_eq!(
        fs_err::read(&home.session).unwrap(),
        torn,
        "the original is untouched"
    );
}

#[test]
fn repair_in_place_can_be_undone() {
    let home = Home::with("glued_records");
    let before = fs_err::read(&home.session).unwrap();
    assert!(
        home.run(&["repair", ID, "--in-place", "--yes"])
            .status
            .success()
    );
    assert_ne!(fs_err::read(&home.session).unwrap(), before);
    let output = home.run(&["doctor", ID]);
    assert!(
        stdout(&output).contains("Nothing wrong"),
        "{}",
        stdout(&output)
    );
    assert!(home.run(&["undo", "--yes"]).status.success());
    assert_eq!(fs_err::read(&home.session).unwrap(), before);
}

#[test]
fn repair_only_changes_what_was_asked_for() {
    let home = Home::with("stray_result");
    let output = home.run(&["repair", ID, "--only", "lone-thinking", "-n", "--json"]);
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let whats: Vec<&str> = document["changes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|c| c["what"].as_str())
        .collect();
    assert!(
        whats.contains(&"thinking") && !whats.contains(&"result without a call"),
        "{whats:?}"
    );
    let output = home.run(&["repair", ID, "--only", "nonsense"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn repair_accepts_a_last_prompt_before_a_bare_boundary() {
    let shape = Shape {
        turns: vec![0, 0],
        version: "2.0.36",
        branches: false,
        compacted: None,
    };
    let faults = [Fault::BareBoundary, Fault::StaleLastPrompt];
    assert_repaired(&corrupt(&made::lines(&shape), &faults, 0), "both");
}

#[test]
fn repair_removes_all_bare_boundaries_at_once() {
    let shape = Shape {
        turns: vec![0, 0],
        version: "2.0.36",
        branches: false,
        compacted: None,
    };
    let faults = [Fault::BareBoundary; 4];
    assert_repaired(&corrupt(&made::lines(&shape), &faults, 0), "four");
}

#[test]
fn repair_replaces_bad_images_and_documents() {
    let shape = Shape {
        turns: vec![1, 0],
        version: "2.1.325",
        branches: true,
        compacted: None,
    };
    // One with millions of pixels is a fixture, and slow to make.
    for fault in MEDIA.into_iter().filter(|f| *f != Fault::LargeImage) {
        let before = corrupt(&made::lines(&shape), &[fault], 3);
        assert!(
            assert_repaired(&before, &format!("{fault:?}")).changed,
            "{fault:?}"
        );
    }
}

#[test]
fn repair_removes_a_byte_order_mark() {
    let shape = Shape {
        turns: vec![1, 0],
        version: "2.1.325",
        branches: true,
        compacted: None,
    };
    let healthy = made::bytes(&made::lines(&shape));
    let marked = [b"\xef\xbb\xbf", &healthy[..]].concat();
    assert_eq!(
        said(&session(marked.clone())),
        said(&session(healthy.clone()))
    );
    assert_eq!(repair(&marked, false).bytes, healthy);
    // Before another line it hides the line from every client.
    let second = healthy.iter().position(|b| *b == b'\n').unwrap() + 1;
    let inside = [&healthy[..second], b"\xef\xbb\xbf", &healthy[second..]].concat();
    assert_eq!(opaque(&session(inside.clone())), 1);
    assert_eq!(repair(&inside, false).bytes, healthy);
}

#[test]
fn repair_removes_thinking_with_a_lost_call() {
    let shape = Shape {
        turns: vec![2, 1],
        version: "2.1.325",
        branches: false,
        compacted: None,
    };
    let mut lines = made::lines(&shape);
    let call = |l: &Value| l["message"]["content"][0]["id"] == "toolu_0_1";
    let lost = lines.remove(lines.iter().position(call).unwrap());
    for line in lines.iter_mut().filter(|l| l["parentUuid"] == lost["uuid"]) {
        line["parentUuid"] = lost["parentUuid"].clone();
    }
    let mended = String::from_utf8(repair(&made::bytes(&lines), false).bytes).unwrap();
    assert!(
        !mended.contains("Result 0 1."),
        "the result answers nothing"
    );
    assert!(
        !mended.contains("Thought 0."),
        "the API takes thinking only with the calls that it led to"
    );
    assert!(mended.contains("Thought 1.") && mended.contains("Result 0 0."));
}

#[test]
fn repair_keeps_both_records_glued_at_the_end() {
    let shape = Shape {
        turns: vec![0, 1],
        version: "2.1.45",
        branches: true,
        compacted: None,
    };
    let lines = made::lines(&shape);
    let healthy = made::bytes(&lines);
    let newline = healthy[..healthy.len() - 1]
        .iter()
        .rposition(|b| *b == b'\n')
        .unwrap();
    let glued = [&healthy[..newline], &healthy[newline + 1..]].concat();
    assert_eq!(repair(&glued, false).bytes, healthy);
}
