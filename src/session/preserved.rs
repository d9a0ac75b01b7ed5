//! Messages that a compaction preserves: they stay in the conversation, after the summary.

use rustc_hash::FxHashMap;

use super::graph::Graph;
use crate::json::{decode, elements, lookup};
use crate::transcript::{Entry, EntryColumn, EntryIx, Id};

/// The messages that one boundary preserves, by the ids that its `compactMetadata` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Preserved {
    /// The entry of the boundary.
    pub(crate) boundary: EntryIx,
    /// The entry that the preserved messages follow: the summary.
    anchor: Id,
    messages: Messages,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Messages {
    /// `preservedMessages`: all of them, in order.
    Listed(Vec<Id>),
    /// `preservedSegment`: the chain of parents from the tail up to the head.
    Segment { head: Id, tail: Id },
}

impl Preserved {
    /// Reads what a boundary preserves from its line; `None` if that is nothing or not readable.
    pub(crate) fn read(boundary: EntryIx, line: &[u8]) -> Option<Self> {
        let metadata = lookup(line, &["compactMetadata"])?.of(line);
        let (anchor, messages) = match lookup(metadata, &["preservedMessages"]) {
            Some(list) => listed(list.of(metadata))?,
            None => segment(lookup(metadata, &["preservedSegment"])?.of(metadata))?,
        };
        Some(Self {
            boundary,
            anchor,
            messages,
        })
    }
}

fn id(raw: &[u8]) -> Option<Id> {
    raw.starts_with(b"\"")
        .then(|| Id::of(decode(raw).as_bytes()))
}

fn field(object: &[u8], key: &str) -> Option<Id> {
    id(lookup(object, &[key])?.of(object))
}

fn listed(object: &[u8]) -> Option<(Id, Messages)> {
    let list = lookup(object, &["uuids"])?.of(object);
    let uuids = elements(list).ok()?.into_iter().map(|s| id(s.of(list)));
    let uuids: Option<Vec<Id>> = uuids.collect();
    Some((field(object, "anchorUuid")?, Messages::Listed(uuids?)))
}

fn segment(object: &[u8]) -> Option<(Id, Messages)> {
    let messages = Messages::Segment {
        head: field(object, "headUuid")?,
        tail: field(object, "tailUuid")?,
    };
    Some((field(object, "anchorUuid")?, messages))
}

/// The preserved messages of all boundaries of a path, resolved to entries.
///
/// A message that several boundaries preserve belongs to the last of them, as each compaction
/// replaces the one before.
#[derive(Debug, Default)]
pub(crate) struct PreservedEntries {
    /// The messages that follow each anchor, and the boundary that preserves them.
    after: FxHashMap<EntryIx, (EntryIx, Vec<EntryIx>)>,
    /// The boundary that each preserved message belongs to.
    owner: FxHashMap<EntryIx, EntryIx>,
}

impl PreservedEntries {
    /// Resolves what the boundaries of a path preserve; `path` is from its root to its leaf.
    ///
    /// If one message of a boundary is missing, clients show none of them.
    pub(crate) fn of(
        graph: &Graph,
        entries: &[Entry],
        all: &[Preserved],
        path: &[EntryIx],
    ) -> Self {
        let mut out = Self::default();
        if all.is_empty() {
            return out;
        }
        let by_boundary: FxHashMap<EntryIx, &Preserved> =
            all.iter().map(|p| (p.boundary, p)).collect();
        let mut on_path = EntryColumn::filled(false, entries.len());
        for &i in path {
            on_path[i] = true;
        }
        // Chains of a damaged file may overlap without end.
        let mut steps = entries.len() * 4;
        for preserved in path.iter().filter_map(|i| by_boundary.get(i)) {
            let Some(messages) = resolve(graph, entries, &preserved.messages, &mut steps) else {
                continue;
            };
            let anchor = graph.find(entries, preserved.anchor);
            let anchor = anchor.filter(|&a| on_path[a]);
            let anchor = anchor.unwrap_or(preserved.boundary);
            let is_moved = |&m: &EntryIx| m != anchor && !entries[m].is_boundary();
            let messages: Vec<EntryIx> = messages.into_iter().filter(is_moved).collect();
            for &message in &messages {
                out.owner.insert(message, preserved.boundary);
            }
            out.after.insert(anchor, (preserved.boundary, messages));
        }
        out
    }

    /// Moves the preserved messages of a path to where clients show them. Returns the path, and the
    /// position after the preserved messages of its last boundary that preserves any.
    pub(crate) fn arrange(mut self, path: Vec<EntryIx>) -> (Vec<EntryIx>, Option<u32>) {
        if self.after.is_empty() {
            return (path, None);
        }
        let mut out = Vec::with_capacity(path.len() + self.owner.len());
        let mut end = None;
        for i in path {
            if !self.owner.contains_key(&i) {
                out.push(i);
            }
            if let Some((boundary, messages)) = self.after.remove(&i) {
                for message in messages {
                    // Each is shown once, however often it is listed.
                    if self.owner.get(&message) == Some(&boundary) {
                        self.owner.insert(message, EntryIx::MAX);
                        out.push(message);
                    }
                }
                end = Some(out.len() as u32);
            }
        }
        (out, end)
    }

    /// The anchor that a preserved message follows.
    pub(crate) fn anchor_of(&self, message: EntryIx) -> Option<EntryIx> {
        let boundary = self.owner.get(&message)?;
        let mut anchors = self.after.iter();
        let found = anchors.find(|(_, (b, _))| b == boundary);
        found.map(|(&anchor, _)| anchor)
    }
}

/// The summaries that preserved messages follow.
#[derive(Debug, Default)]
pub(crate) struct Anchors {
    /// By message, the boundaries that preserve it and their summaries, in the order of the file.
    of_message: FxHashMap<EntryIx, Vec<(EntryIx, EntryIx)>>,
}

impl Anchors {
    /// Resolves what the boundaries of a file preserve.
    pub(crate) fn of(graph: &Graph, entries: &[Entry], all: &[Preserved]) -> Self {
        let mut out = Self::default();
        let mut steps = entries.len() * 4;
        for preserved in all {
            let anchor = graph.find(entries, preserved.anchor);
            let anchor = anchor.unwrap_or(preserved.boundary);
            let messages = resolve(graph, entries, &preserved.messages, &mut steps);
            for message in messages.into_iter().flatten() {
                let boundaries = out.of_message.entry(message).or_default();
                boundaries.push((preserved.boundary, anchor));
            }
        }
        out
    }

    /// The summary that comes before a preserved message, for a child that was written after the boundary.
    pub(crate) fn above(&self, child: EntryIx, parent: EntryIx) -> Option<EntryIx> {
        let boundaries = self.of_message.get(&parent)?;
        let is_between = |(boundary, anchor): &&(EntryIx, EntryIx)| {
            parent < *boundary && *boundary < child && child != *anchor
        };
        let (_, anchor) = boundaries.iter().rev().find(is_between)?;
        Some(*anchor)
    }
}

fn resolve(
    graph: &Graph,
    entries: &[Entry],
    messages: &Messages,
    steps: &mut usize,
) -> Option<Vec<EntryIx>> {
    let find = |&id: &Id| graph.find(entries, id);
    let (head, tail) = match messages {
        Messages::Listed(ids) => return ids.iter().map(find).collect(),
        Messages::Segment { head, tail } => (find(head)?, find(tail)?),
    };
    let mut chain = vec![tail];
    while *chain.last()? != head {
        *steps = steps.checked_sub(1)?;
        chain.push(graph.parent(*chain.last()?)?);
    }
    chain.reverse();
    Some(chain)
}
