//! Finds the live path: which entry ends the conversation, and which entries lead up to it.

use std::cell::OnceCell;

use rustc_hash::FxHashMap;

use super::graph::{Graph, Standing, standing_below};
use super::midstream::{Stretch, move_prompts};
use super::preserved::{Anchors, Preserved, PreservedEntries};
use crate::transcript::{Entry, EntryColumn, EntryHead, EntryIx, Id, Kind, PromptKind};

/// By how many milliseconds an entry whose parent is missing may be younger than the entry that
/// clients continue with instead.
const BRIDGED: i64 = 5000;

/// What lines say about the live path beyond the facts of their entries.
#[derive(Debug, Default)]
pub(crate) struct PathHints {
    /// The leaf that a last `last-prompt` pins with `explicit`.
    pub(crate) explicit_leaf: Option<Id>,
    /// The messages that boundaries preserve.
    pub(crate) preserved: Vec<Preserved>,
}

/// A live path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LivePath {
    /// From its root to its end, in the order of the conversation.
    pub(crate) path: Vec<EntryIx>,
    /// The last message of the chain of parents. The path ends with it, unless a compaction at the
    /// very end preserves messages, or a prompt arrived before the last results: they follow it.
    pub(crate) leaf: Option<EntryIx>,
    /// The position after the preserved messages of the last compaction that has any.
    pub(crate) preserved_end: Option<u32>,
    /// The stretches with prompts that arrived before results.
    pub(crate) midstream: Vec<Stretch>,
}

/// Finds the live path of a graph whose parents are linked.
pub(crate) struct PathFinder<'a> {
    graph: &'a Graph,
    entries: &'a [Entry],
    heads: &'a [EntryHead],
    hints: &'a PathHints,
    /// The entries that can bridge a missing parent, by their time.
    by_time: OnceCell<Vec<EntryIx>>,
    /// The summaries that preserved messages follow.
    anchors: OnceCell<Anchors>,
}

impl<'a> PathFinder<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        entries: &'a [Entry],
        heads: &'a [EntryHead],
        hints: &'a PathHints,
    ) -> Self {
        Self {
            graph,
            entries,
            heads,
            hints,
            by_time: OnceCell::new(),
            anchors: OnceCell::new(),
        }
    }

    /// Finds the path that the newest client continues.
    ///
    /// It ends at the last entry of the file, unless the last `last-prompt` since the last boundary
    /// names an entry of another branch (seen in 2.1.156 and 2.1.325).
    pub(crate) fn find(&self) -> LivePath {
        if let Some(leaf) = self.named(self.hints.explicit_leaf) {
            let path = self.up_from(leaf);
            // A preserved message leads up to what was compacted; the client shows it after the summary.
            return match self.anchor_of_preserved(leaf) {
                Some(anchor) => self.arranged(self.up_from(anchor)),
                None => self.arranged(path),
            };
        }
        let Some(last) = self.last() else {
            return LivePath::default();
        };
        let path = self.up_from(last);
        match self.named(self.last_prompt_leaf()) {
            Some(leaf) if self.is_elsewhere(leaf, last, &path) => self.arranged(self.up_from(leaf)),
            _ => self.arranged(path),
        }
    }

    fn arranged(&self, chain: Vec<EntryIx>) -> LivePath {
        let preserved =
            PreservedEntries::of(self.graph, self.entries, &self.hints.preserved, &chain);
        let leaf = chain.last().copied();
        let (mut path, preserved_end) = preserved.arrange(chain);
        let midstream = move_prompts(self.heads, &mut path);
        LivePath {
            path,
            leaf,
            preserved_end,
            midstream,
        }
    }

    fn named(&self, id: Option<Id>) -> Option<EntryIx> {
        id.and_then(|id| self.graph.find(self.entries, id))
    }

    /// The leaf that the last `last-prompt` names, if no boundary follows it.
    fn last_prompt_leaf(&self) -> Option<Id> {
        let decides = |t: &EntryHead| t.is_boundary() || t.kind == Kind::LastPrompt;
        let at = self.heads.iter().rposition(decides)?;
        (!self.heads[at].is_boundary()).then(|| self.entries[at].refers_to.some())?
    }

    /// The anchor of a message that the last boundary preserves, if this entry is one.
    fn anchor_of_preserved(&self, entry: EntryIx) -> Option<EntryIx> {
        let last = self.hints.preserved.last()?;
        let chain = self.up_from(last.boundary);
        let all = PreservedEntries::of(self.graph, self.entries, &self.hints.preserved, &chain);
        all.anchor_of(entry)
    }

    /// Whether an entry that a `last-prompt` names is on another branch than the last entry.
    ///
    /// Results of parallel calls, and what hangs on them, are not a branch of their own.
    fn is_elsewhere(&self, named: EntryIx, last: EntryIx, path: &[EntryIx]) -> bool {
        if self.graph.descends(last, named) {
            return false;
        }
        if let Some(anchor) = self.anchor_of_preserved(named)
            && (anchor == last || self.graph.descends(last, anchor))
        {
            return false;
        }
        !self.is_beside(named, path)
    }

    /// Whether an entry hangs on a path by the result of one of its calls or a line of one of its
    /// messages.
    fn is_beside(&self, entry: EntryIx, path: &[EntryIx]) -> bool {
        let mut on_path = EntryColumn::filled(false, self.entries.len());
        for &i in path {
            on_path[i] = true;
        }
        let ids = path.iter().map(|&i| self.entries[i].message_id);
        let messages: FxHashMap<Id, u32> =
            ids.filter(|id| id.is_some()).map(|id| (id, 0)).collect();
        let mut at = entry;
        for _ in 0..self.entries.len() {
            let same_message = || messages.get(&self.entries[at].message_id.some()?).copied();
            let head = self.heads[at];
            if !matches!(
                standing_below(Standing::Path(0), head, same_message),
                Standing::Beside(_)
            ) {
                return false;
            }
            let Some(parent) = self.graph.parent(at) else {
                return false;
            };
            if on_path[parent] {
                let is_result = head.kind == Kind::User
                    && head.prompt == PromptKind::None
                    && !head.flags.meta();
                return is_result || head.kind == Kind::Assistant;
            }
            at = parent;
        }
        false
    }

    /// The last entry of the file that belongs to a conversation: it is a message, or leads up to one.
    ///
    /// Clients ignore `progress` entries, and entries at the end whose parents are missing
    /// (seen in 2.1.325).
    fn last(&self) -> Option<EntryIx> {
        let mut is_dead = EntryColumn::filled(false, self.entries.len());
        let mut last = None;
        for i in EntryIx::first(self.heads.len()).rev() {
            if !can_be_leaf(self.heads[i]) {
                continue;
            }
            last = last.or(Some(i));
            if self.leads_to_message(i, &mut is_dead) {
                return Some(i);
            }
        }
        last
    }

    fn leads_to_message(&self, from: EntryIx, is_dead: &mut EntryColumn<bool>) -> bool {
        let mut at = Some((from, from));
        while let Some((i, below)) = at {
            if ends_path(self.heads[i]) {
                return true;
            }
            if is_dead.replace(i, true) {
                return false;
            }
            at = self.above(i, below);
        }
        false
    }

    /// The chain of parents from its root down to the last message at or above `start`.
    fn up_from(&self, start: EntryIx) -> Vec<EntryIx> {
        let mut path = Vec::new();
        let mut seen = EntryColumn::filled(false, self.entries.len());
        let mut at = Some((start, start));
        while let Some((i, below)) = at {
            if seen.replace(i, true) {
                break;
            }
            path.push(i);
            at = self.above(i, below);
        }
        path.reverse();
        while path.last().is_some_and(|&i| !ends_path(self.heads[i])) {
            path.pop();
        }
        path
    }

    /// The entry above another, with the lowest entry up to it that is not `progress`.
    ///
    /// `below` is that entry as seen from `at`: clients drop `progress` entries first, so a missing
    /// parent is bridged from there.
    fn above(&self, at: EntryIx, below: EntryIx) -> Option<(EntryIx, EntryIx)> {
        let below = if self.heads[at].kind == Kind::Progress {
            below
        } else {
            at
        };
        let parent = self.graph.parent(at).map(|p| self.anchored(at, p));
        let above = parent.or_else(|| self.beyond(at, below))?;
        Some((above, below))
    }

    /// The summary before a parent that a compaction preserves, or else the parent.
    ///
    /// A client that is started after the compaction continues from the last preserved message instead of the summary
    /// (seen in 2.1.97, 2.1.156 and 2.1.325), and shows the preserved messages between the two.
    fn anchored(&self, child: EntryIx, parent: EntryIx) -> EntryIx {
        if self.hints.preserved.is_empty() {
            return parent;
        }
        let anchors = self
            .anchors
            .get_or_init(|| Anchors::of(self.graph, self.entries, &self.hints.preserved));
        anchors.above(child, parent).unwrap_or(parent)
    }

    /// Continues the path above an entry that has no parent in the file.
    ///
    /// Above a boundary, at the entry that it remembers, else at the one before it in the file. If a
    /// parent is named but missing, the newest clients continue at the entry that is next older by its
    /// time, if by no more than five seconds (seen in 2.1.156 and 2.1.325); older ones stop.
    fn beyond(&self, at: EntryIx, below: EntryIx) -> Option<EntryIx> {
        let (entries, heads) = (self.entries, self.heads);
        if entries[at].is_boundary() {
            let remembered = self.named(entries[at].refers_to.some());
            let before = || at.before().rfind(|&i| can_be_leaf(heads[i]));
            return remembered.or_else(before);
        }
        entries[at].parent.some()?;
        let e = &entries[below];
        let by_time = self.by_time.get_or_init(|| {
            let bridges = |&i: &EntryIx| {
                let head = heads[i];
                head.is_chained() && head.kind != Kind::Progress
            };
            let mut all: Vec<EntryIx> = EntryIx::first(entries.len()).filter(bridges).collect();
            all.sort_by_key(|&i| entries[i].time);
            all
        });
        let older = by_time.partition_point(|&i| entries[i].time < e.time);
        by_time[..older]
            .iter()
            .rev()
            .copied()
            .take_while(|&i| entries[i].time >= e.time.saturating_sub(BRIDGED))
            .find(|&i| entries[i].flags.sidechain() == e.flags.sidechain())
    }
}

/// Whether a conversation may end with this entry; attachments at the end only follow it.
fn ends_path(head: EntryHead) -> bool {
    head.is_message() || head.is_boundary()
}

/// Whether the client may take this entry as the end of the conversation.
fn can_be_leaf(head: EntryHead) -> bool {
    head.is_chained()
        && !head.flags.sidechain()
        && matches!(
            head.kind,
            Kind::User | Kind::Assistant | Kind::System | Kind::Attachment
        )
}

#[cfg(test)]
mod tests;
