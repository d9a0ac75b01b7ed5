//! The same promises on sessions that real clients wrote.

use std::path::{Path, PathBuf};

use ccsurgery::ops::{Compact, DropTools, StripThinking};
use ccsurgery::session::Session;

use super::judge::{self, Verdict};

/// The main transcripts of all recorded homes, by the names of their versions and scenarios.
fn transcripts() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded");
    let below = |dir: &Path| {
        let mut all: Vec<PathBuf> = fs_err::read_dir(dir)
            .expect("a folder")
            .map(|e| e.expect("an entry").path())
            .collect();
        all.sort();
        all
    };
    let mut out = Vec::new();
    for version in below(&root).iter().filter(|p| p.is_dir()) {
        for scenario in below(version) {
            let name = scenario.strip_prefix(&root).expect("below it").display();
            for project in below(&scenario.join("projects")) {
                for file in below(&project) {
                    let stem = file.file_stem().unwrap_or_default();
                    if file.extension().is_some_and(|x| x == "jsonl") && stem.len() == 36 {
                        out.push((name.to_string(), file));
                    }
                }
            }
        }
    }
    assert!(out.len() >= 40, "the recordings are there: {}", out.len());
    out
}

/// Holds each recording to a promise, and tells all that break it.
fn on_each(judge: impl Fn(&Session) -> Verdict) {
    let mut broken = Vec::new();
    for (name, path) in transcripts() {
        let session = Session::open(&path).expect("a recording");
        if let Err(words) = judge(&session) {
            broken.push(format!("{name}: {words}"));
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n\n"));
}

#[test]
fn strip_thinking() {
    on_each(|s| judge::strip_thinking(s, &StripThinking::default()));
}

#[test]
fn drop_tools() {
    on_each(|s| judge::drop_tools(s, &DropTools::default()));
    for tool in ["Bash", "Read", "Task"] {
        let options = DropTools {
            tool: vec![tool.to_owned()],
            ..DropTools::default()
        };
        on_each(|s| judge::drop_tools(s, &options));
    }
}

#[test]
fn stubs() {
    let options = DropTools {
        stub: true,
        head: 1,
        ..DropTools::default()
    };
    on_each(|s| judge::stub(s, &options));
}

#[test]
fn truncate() {
    on_each(|s| (1..=s.turns().len() as u32).try_for_each(|at| judge::truncate(s, at)));
}

#[test]
fn compact() {
    for drop_history in [false, true] {
        on_each(|s| {
            (0..s.turns().len() as u32).try_for_each(|keep| {
                let options = Compact {
                    keep_last: Some(keep),
                    drop_history,
                    ..Compact::default()
                };
                judge::compact(s, &options)
            })
        });
    }
}
