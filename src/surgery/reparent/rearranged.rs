//! Finds the parts of the path whose entries are linked in the order in which they were shown.

use crate::session::Session;
use crate::transcript::{Entry, EntryIx, Kind, PromptKind};

use super::super::fates::Fate;
use super::super::plan::Plan;
use super::gone::Gone;

/// The stretches of the path whose entries are linked in the order in which they were shown, because the plan changes them.
///
/// A prompt can arrive before results. The results hang on it then, and clients show the prompt after them only because they
/// are results. A compaction can list parallel results among the messages that it preserves, so that all of them are on
/// the path. Text that stays beside a removed result would be on a side branch once the compaction is removed.
pub(super) struct Rearranged {
    stretches: Vec<(u32, u32)>,
    /// Whether the path ends with prompts that arrived before results.
    at_end: bool,
}

impl Rearranged {
    pub(super) fn new(session: &Session, plan: &Plan, gone: &Gone<'_>) -> Self {
        let (entries, graph) = (session.entries(), session.graph());
        let path = graph.path();
        let changes = |&i: &EntryIx| {
            let e = &entries[i];
            !gone.stays(i) || e.kind == Kind::User && loses_results(session, plan, e)
        };
        let is_changed = |&&(from, to): &&(u32, u32)| {
            // The entry above the stretch is the answer, or one of its results.
            let from = from.saturating_sub(1) as usize;
            path[from..to as usize].iter().any(changes)
        };
        let midstream = graph.midstream().iter().filter(is_changed);
        let mut stretches: Vec<(u32, u32)> = midstream.copied().collect();
        let last = stretches.last();
        let at_end = last.is_some_and(|stretch| stretch.1 as usize == path.len());
        let loosens = |&i: &EntryIx| gone.stays(i) && loses_results(session, plan, &entries[i]);
        let mut preserved = preserved_results(session);
        preserved.retain(|&(from, to)| {
            let is_apart = |other: &(u32, u32)| to <= other.0 || other.1 <= from;
            let run = &path[from as usize..to as usize];
            run.iter().any(loosens) && stretches.iter().all(is_apart)
        });
        stretches.append(&mut preserved);
        stretches.sort_unstable();
        Self { stretches, at_end }
    }

    /// Whether the path ends with prompts that had arrived before results which are changed.
    pub(super) fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// Whether an entry at this position is linked to the one before it. The entry after a stretch is too.
    pub(super) fn contains(&self, position: u32) -> bool {
        let at = self
            .stretches
            .partition_point(|stretch| stretch.1 < position);
        let stretch = self.stretches.get(at);
        stretch.is_some_and(|stretch| stretch.0 <= position)
    }
}

/// Returns the stretches of the path with several results that a compaction preserved, one after the other.
fn preserved_results(session: &Session) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::new();
    if !session.flags_of_any().boundary() {
        return out;
    }
    let heads = session.heads();
    let mut boundary = EntryIx::default();
    for (position, &i) in session.graph().path().iter().enumerate() {
        let (head, position) = (heads[i], position as u32);
        if head.is_boundary() {
            boundary = i;
        }
        // Preserved messages stand before their boundary in the file.
        if i >= boundary || head.kind != Kind::User || head.prompt != PromptKind::None {
            continue;
        }
        match out.last_mut() {
            Some(run) if run.1 == position => run.1 += 1,
            _ => out.push((position, position + 1)),
        }
    }
    out.retain(|run| run.1 - run.0 > 1);
    out
}

/// Whether an entry that stays loses all results that it has.
pub(super) fn loses_results(session: &Session, plan: &Plan, e: &Entry) -> bool {
    let Some(Fate::Edit(edits)) = plan.fate(e.line) else {
        return false;
    };
    let mut results = session
        .blocks(e)
        .iter()
        .filter(|b| b.kind.is_result())
        .peekable();
    results.peek().is_some()
        && results.all(|b| {
            edits.iter().any(|edit| {
                edit.with.is_empty()
                    && edit.span.start <= b.span.start
                    && edit.span.end >= b.span.end
            })
        })
}
