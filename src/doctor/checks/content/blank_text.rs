//! Finds text blocks of nothing but white space.

use rustc_hash::FxHashSet;

use crate::json::{begins_with_text, decode, lookup};
use crate::session::{At, Session};
use crate::transcript::{BlockIx, BlockKind, Entry, Id};

use super::super::super::check::is_live;
use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "blank-text",
    family: "content",
    finds: "text blocks of nothing but white space",
    severity: Severity::RefusedByTheApi,
    symptom: "text content blocks must contain non-whitespace text",
    suffers: Versions::Before(Version(2, 1, 81)),
    healed_by: "2.1.81 and newer do not send it; from 2.1.37 on the API accepts it inside a longer answer",
    repair: Some("the blank text is removed"),
    gate: Gate::Judged,
    run,
};

/// Returns blank text blocks.
pub(crate) fn blocks(session: &Session) -> Vec<At> {
    let mut out = Vec::new();
    if !session.flags_of_any().wordless() {
        return out;
    }
    for (i, e) in session.numbered() {
        if !e.flags.wordless() || !e.is_message() || !is_live(session, i) {
            continue;
        }
        for b in e
            .blocks
            .numbers()
            .filter(|&b| session.block(b).kind == BlockKind::Text)
        {
            if session.block(b).has_words() {
                continue;
            }
            let inner = session.block(b).span.of(session.text(e));
            if lookup(inner, &["text"]).is_some_and(|s| is_blank(s.of(inner))) {
                out.push(At { entry: i, block: b });
            }
        }
    }
    out
}

/// Returns whether a JSON string is blank. Long strings are not decoded.
pub(crate) fn is_blank(raw: &[u8]) -> bool {
    raw.len() <= 4096 && !begins_with_text(raw) && decode(raw).trim().is_empty()
}

/// Returns the messages that consist of more than these blocks. Models write a blank text before their
/// thinking, and the session goes on.
fn messages_with_more(session: &Session, blank: &[At]) -> FxHashSet<Id> {
    let message = |at: &At| session.entry(at.entry).message_id.some();
    let ids: FxHashSet<Id> = blank.iter().filter_map(message).collect();
    if ids.is_empty() {
        return ids;
    }
    let blocks: FxHashSet<BlockIx> = blank.iter().map(|at| at.block).collect();
    let more = |e: &&Entry| e.blocks.numbers().any(|b| !blocks.contains(&b));
    let all = session.entries().iter().filter(more);
    all.map(|e| e.message_id)
        .filter(|id| ids.contains(id))
        .collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    let blank = blocks(survey.session);
    let more = messages_with_more(survey.session, &blank);
    for at in blank {
        let entry = at.entry;
        let message = "has a blank text, which the API refuses from old versions of Claude Code";
        let mut finding = survey.at(&CHECK, entry, message);
        if more.contains(&survey.session.entry(entry).message_id) {
            finding.suffers = Versions::Before(Version(2, 1, 37));
        }
        findings.push(finding);
    }
}
