//! Shared by the tests of doctor and repair: sessions, corruption, and repair as the program does it.
#![allow(dead_code)]

pub(crate) mod corrupt;
pub(crate) mod made;

use std::path::{Path, PathBuf};

use ccsurgery::doctor::{Finding, Judgement, diagnose};
use ccsurgery::document::Document;
use ccsurgery::json::{decode, lookup};
use ccsurgery::ops::{RepairOptions, passes};
use ccsurgery::session::Session;
use ccsurgery::surgery::{Detail, Faults};
use ccsurgery::transcript::{BlockKind, Kind, LineState, PromptKind};
use ccsurgery::view::prompt_text;

/// A file of the repository.
pub(crate) fn fixture(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(path)
}

/// A session of bytes.
pub(crate) fn session(bytes: impl Into<Vec<u8>>) -> Session {
    Session::new(Document::from_bytes(bytes))
}

/// All that the doctor says of a session.
pub(crate) fn findings(session: &Session) -> Vec<Finding> {
    diagnose(session, &[Judgement::of(session).next])
}

/// The checks that found something, sorted, each once.
pub(crate) fn checks(session: &Session) -> Vec<&'static str> {
    let mut names: Vec<_> = findings(session).iter().map(|f| f.check).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Repairs a session as the command does, guesses included if asked.
pub(crate) fn repair(bytes: &[u8], accept_guess: bool) -> Repaired {
    let original = session(bytes);
    let next = Judgement::of(&original).next;
    let linearize = ccsurgery::doctor::find_check("parallel-results")
        .unwrap()
        .suffers
        .contains(next);
    let drop_errors = ccsurgery::doctor::find_check("replayed-error")
        .unwrap()
        .suffers
        .contains(next);
    let drop_references = ccsurgery::doctor::find_check("tool-reference")
        .unwrap()
        .suffers
        .contains(next);
    let options = RepairOptions {
        only: Vec::new(),
        accept_guess,
        linearize,
        drop_errors,
        drop_references,
    };
    let mut out = Repaired {
        bytes: bytes.to_vec(),
        changed: false,
        warnings: Vec::new(),
        quarantine: Vec::new(),
    };
    let mut revealed = None;
    for pass in passes(&options) {
        let current = session(out.bytes.clone());
        let mut plan = pass.plan(&current, Detail::Full).unwrap();
        out.warnings.append(&mut plan.warnings);
        if plan.is_empty() {
            continue;
        }
        out.changed = true;
        let (document, _) = plan.apply(&current).unwrap();
        out.quarantine.append(&mut plan.quarantine);
        out.bytes = document.to_vec();
        if pass.reveals() {
            revealed = Some(session(out.bytes.clone()));
        }
    }
    let mut faults = Faults::of(&original);
    if let Some(revealed) = &revealed {
        faults = faults.revealed(revealed);
    }
    faults.judge(&session(out.bytes.clone())).unwrap();
    out
}

/// What repair made of a session.
#[derive(Debug)]
pub(crate) struct Repaired {
    pub(crate) bytes: Vec<u8>,
    pub(crate) changed: bool,
    pub(crate) warnings: Vec<String>,
    pub(crate) quarantine: Vec<(u32, Vec<u8>)>,
}

/// Everything that a person or the model said in records that can be read, sorted.
pub(crate) fn said(session: &Session) -> Vec<String> {
    let mut out = Vec::new();
    for e in session.entries().iter().filter(|e| e.is_message()) {
        let text = session.text(e);
        if e.kind == Kind::User && matches!(e.prompt, PromptKind::Words | PromptKind::Command) {
            out.extend(prompt_text(session, e));
        }
        if e.kind == Kind::Assistant && !e.flags.api_error() {
            for block in session
                .blocks(e)
                .iter()
                .filter(|b| b.kind == BlockKind::Text)
            {
                let inner = block.span.of(text);
                out.extend(lookup(inner, &["text"]).map(|s| decode(s.of(inner)).into_owned()));
            }
        }
    }
    // What no text may hold is mended, and blanks are not said.
    let mut out: Vec<String> = out
        .into_iter()
        .map(|t| t.replace('\0', ""))
        .filter(|t| !t.trim().is_empty())
        .collect();
    out.sort();
    out.dedup();
    out
}

/// Lines that cannot be read.
pub(crate) fn opaque(session: &Session) -> usize {
    session
        .lines()
        .iter()
        .filter(|l| **l == LineState::Opaque)
        .count()
}

/// The recorded transcripts, without those of subagents.
pub(crate) fn recorded() -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut stack = vec![fixture("recorded")];
    while let Some(dir) = stack.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && name != "subagents" && name != "file-history" {
                stack.push(path);
            } else if name.ends_with(".jsonl") && !name.starts_with("agent-") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}
