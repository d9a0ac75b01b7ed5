//! Sessions that real clients wrote.

use std::path::{Path, PathBuf};

use ccsurgery::session::{Calibration, Session, Tools, file_parts, payload, window_parts};

/// The main transcripts of a recorded home.
fn transcripts() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded");
    let mut folders = vec![root];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".jsonl")
                && name.len() == 36 + 6
                && !name.starts_with("agent-")
            {
                out.push(path);
            }
        }
    }
    out.sort();
    assert!(out.len() >= 30);
    out
}

#[test]
fn parts_add_up_and_the_estimate_is_near_the_record() {
    for path in transcripts() {
        let session = Session::open(&path).unwrap();
        let calibration = Calibration::of(&session);
        let tools = Tools::of(&session);
        let window: u64 = window_parts(&session, &calibration, &tools)
            .iter()
            .map(|p| p.1)
            .sum();
        let file: u64 = file_parts(&session, &tools).iter().map(|p| p.1).sum();
        assert_eq!(
            (window, file),
            (calibration.window(), session.document().len()),
            "{}",
            path.display()
        );
        if let Some(error) = calibration.error().filter(|_| calibration.measured) {
            assert!(error.abs() <= 0.05, "{}: {calibration:?}", path.display());
        }
    }
}

/// What is said of the window of sessions that clients wrote: the whole, the last record, and what the estimate
/// makes of that.
#[test]
fn windows_of_recorded_sessions() {
    let mut lines = Vec::new();
    for path in transcripts() {
        let session = Session::open(&path).unwrap();
        let c = Calibration::of(&session);
        let folders: Vec<_> = path.iter().map(|f| f.to_string_lossy()).collect();
        let at = folders.iter().position(|f| f == "recorded").unwrap();
        let number = |n: Option<u64>| n.map_or("–".to_owned(), |n| n.to_string());
        let (whole, last, estimate) = (c.window(), number(c.recorded), number(c.estimated));
        let name = folders[at + 1..at + 3].join(" ");
        lines.push(format!("{name}: {whole}, recorded {last}, estimated {estimate}"));
    }
    insta::assert_snapshot!(lines.join("\n"), @"");
}

#[test]
fn every_result_follows_its_call() {
    use ccsurgery::session::{BlockKind, Role};
    for path in transcripts() {
        let session = Session::open(&path).unwrap();
        let messages = payload(&session, None);
        for (i, message) in messages.iter().enumerate() {
            let calls = |m: &ccsurgery::session::Message<'_>, kind: BlockKind| {
                m.blocks
                    .iter()
                    .filter(|b| b.kind == kind)
                    .map(|b| b.tool)
                    .collect::<std::collections::BTreeSet<_>>()
            };
            let made = calls(message, BlockKind::ToolUse);
            let answered = messages
                .get(i + 1)
                .map(|m| calls(m, BlockKind::ToolResult))
                .unwrap_or_default();
            assert_eq!(made, answered, "{}: message {i}", path.display());
            assert!(
                !message.blocks.is_empty()
                    && (message.role != Role::Assistant
                        || calls(message, BlockKind::ToolResult).is_empty())
            );
        }
    }
}
