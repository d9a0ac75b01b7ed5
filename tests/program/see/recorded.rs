//! Sessions that real clients wrote.

use std::path::{Path, PathBuf};

use ccsurgery::session::Session;
use ccsurgery::window::{Calibration, Tools, WindowBreakdown, file_parts, payload};

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
fn breakdown_of_recorded_sessions_adds_up() {
    for path in transcripts() {
        let session = Session::open(&path).unwrap();
        let calibration = Calibration::of(&session);
        let tools = Tools::of(&session);
        let window: u64 = WindowBreakdown::of(&session, &tools)
            .parts(&calibration)
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
fn window_estimates_of_recorded_sessions() {
    let mut lines = Vec::new();
    for path in transcripts() {
        let session = Session::open(&path).unwrap();
        let c = Calibration::of(&session);
        let folders: Vec<_> = path.iter().map(|f| f.to_string_lossy()).collect();
        let at = folders.iter().position(|f| f == "recorded").unwrap();
        let number = |n: Option<u64>| n.map_or("–".to_owned(), |n| n.to_string());
        let (whole, last, estimate) = (c.window(), number(c.recorded), number(c.estimated));
        let name = folders[at + 1..at + 3].join(" ");
        lines.push(format!(
            "{name}: {whole}, recorded {last}, estimated {estimate}"
        ));
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    2.0.36 basic: 15619, recorded 15595, estimated 15428
    2.0.36 big: 26100, recorded 26096, estimated 26924
    2.0.36 compacted: 15475, recorded 15452, estimated 15368
    2.0.36 edits: 15626, recorded 15602, estimated 15394
    2.0.36 failing: 15177, recorded 15171, estimated 15256
    2.0.36 killed: 15132, recorded 14967, estimated 14927
    2.0.36 rewound: 15617, recorded 15594, estimated 15392
    2.0.36 subagent: 15068, recorded 15047, estimated 15064
    2.0.76 basic: 18491, recorded 18467, estimated 18300
    2.0.76 big: 28972, recorded 28968, estimated 29796
    2.0.76 compacted: 18347, recorded 18324, estimated 18240
    2.0.76 edits: 18498, recorded 18474, estimated 18266
    2.0.76 failing: 18049, recorded 18043, estimated 18128
    2.0.76 killed: 18004, recorded 17839, estimated 17799
    2.0.76 rewound: 18499, recorded 18475, estimated 18303
    2.0.76 subagent: 17971, recorded 17950, estimated 17966
    2.1.156 basic: 22047, recorded 22017, estimated 22152
    2.1.156 big: 24299, recorded 24293, estimated 25395
    2.1.156 compacted: 22144, recorded 22114, estimated 22199
    2.1.156 edits: 21895, recorded 21865, estimated 22090
    2.1.156 failing: 21785, recorded 21777, estimated 22022
    2.1.156 killed: 21749, recorded 21538, estimated 21614
    2.1.156 rewound: 22056, recorded 22026, estimated 22156
    2.1.156 subagent: 21699, recorded 21672, estimated 21840
    2.1.325 basic: 12140, recorded 12123, estimated 12079
    2.1.325 big: 14523, recorded 14519, estimated 14465
    2.1.325 compacted: 12409, recorded 12392, estimated 12370
    2.1.325 edits: 12112, recorded 12093, estimated 12065
    2.1.325 failing: 12008, recorded 12003, estimated 11992
    2.1.325 killed: 11883, recorded 11761, estimated 11731
    2.1.325 rewound: 12146, recorded 12129, estimated 12084
    2.1.325 subagent: 12064, recorded 12034, estimated 12153
    2.1.45 basic: 18978, recorded 18955, estimated 18976
    2.1.45 big: 21320, recorded 21315, estimated 21732
    2.1.45 compacted: 18982, recorded 18959, estimated 19008
    2.1.45 edits: 18999, recorded 18976, estimated 18951
    2.1.45 failing: 18726, recorded 18720, estimated 18880
    2.1.45 killed: 18678, recorded 18514, estimated 18554
    2.1.45 rewound: 18864, recorded 18841, estimated 18974
    2.1.45 subagent: 18707, recorded 18686, estimated 18713
    ");
}

#[test]
fn payload_of_recorded_sessions_has_results_after_calls() {
    use ccsurgery::transcript::{BlockKind, Role};
    for path in transcripts() {
        let session = Session::open(&path).unwrap();
        let messages = payload(&session, None);
        for (i, message) in messages.iter().enumerate() {
            let calls = |m: &ccsurgery::window::Message<'_>, kind: BlockKind| {
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
