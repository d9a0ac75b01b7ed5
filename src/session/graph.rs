//! The entries of a session as a graph: parents, children, and how each entry relates to the live path.

use std::cell::LazyCell;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use rustc_hash::{FxHashMap, FxHashSet};

use super::live_path::{LivePath, PathFinder, PathHints};
use crate::transcript::{Entry, EntryColumn, EntryHead, EntryIx, Id, Kind, PromptKind, hash};

/// Marks the absence of an entry in the index arrays.
const NOBODY: EntryIx = EntryIx::MAX;

/// The number of entries before another that are searched one by one for its parent.
const NEAR: usize = 8;

/// How an entry relates to the live path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// On the path, at this position.
    Path(u32),
    /// Beside the path and shown with it, below this position: results of parallel calls, further
    /// lines of one message, and the entries that hang on them.
    Beside(u32),
    /// On a path that was abandoned; it leaves the live path at this position.
    Branch(u32),
    /// Not connected to the live path.
    Apart,
    /// Not part of the graph.
    Metadata,
}

/// The entries as a graph over `uuid` and `parentUuid`.
///
/// It can be built from any input: children before parents, several roots, missing parents, cycles,
/// duplicate uuids and sidechains.
#[derive(Debug)]
pub struct Graph {
    /// The entry of each uuid.
    by_uuid: HashTable<EntryIx>,
    /// Whether no two entries have the same uuid.
    distinct: bool,
    parent: EntryColumn<EntryIx>,
    first_child: EntryColumn<EntryIx>,
    next_sibling: EntryColumn<EntryIx>,
    live: LivePath,
    standing: EntryColumn<Standing>,
    /// The position of the path's last boundary, where the context window begins.
    window: u32,
}

impl Graph {
    /// Links entries, chooses the leaf as the newest client does, and walks the live path.
    pub(crate) fn build(entries: &[Entry], heads: &[EntryHead], hints: &PathHints) -> Self {
        // Most parents stand near their children and are found without the table.
        let ((by_uuid, distinct), near) =
            rayon::join(|| table(entries, heads), || near_parents(entries));
        let mut graph = Self {
            by_uuid,
            distinct,
            parent: EntryColumn::filled(NOBODY, entries.len()),
            first_child: EntryColumn::filled(NOBODY, entries.len()),
            next_sibling: EntryColumn::filled(NOBODY, entries.len()),
            live: LivePath::default(),
            standing: EntryColumn::filled(Standing::Metadata, entries.len()),
            window: 0,
        };
        let chained = EntryIx::first(heads.len()).filter(|&i| heads[i].is_chained());
        for i in chained.rev() {
            graph.standing[i] = Standing::Apart;
            let named = || entries[i].parent.some();
            let parent = match somebody(near[i]) {
                Some(parent) if distinct => Some(parent),
                _ => named().and_then(|p| graph.find(entries, p)),
            };
            if let Some(p) = parent {
                graph.parent[i] = p;
                // Linking from the back leaves children in file order.
                graph.next_sibling[i] = graph.first_child[p];
                graph.first_child[p] = i;
            }
        }
        drop(near);
        graph.walk(entries, heads, hints);
        graph.settle(entries, heads);
        if !distinct {
            graph.settle_copies(entries);
        }
        graph
    }

    /// Finds the entry with this uuid, the last one if there are several. See
    /// [`Session::find`](super::Session::find).
    pub(crate) fn find(&self, entries: &[Entry], uuid: Id) -> Option<EntryIx> {
        let is_it = |&i: &EntryIx| entries[i].uuid == uuid;
        let found = self.by_uuid.find(hash(uuid), is_it);
        found.copied()
    }

    /// Finds the entry with this uuid, which `child` names: it mostly stands shortly before `child`.
    pub(crate) fn find_above(
        &self,
        entries: &[Entry],
        child: EntryIx,
        uuid: Id,
    ) -> Option<EntryIx> {
        let near = self.distinct.then(|| near(entries, child, uuid)).flatten();
        near.or_else(|| self.find(entries, uuid))
    }

    /// The number of different uuids.
    pub fn count(&self) -> usize {
        self.by_uuid.len()
    }

    /// Whether no two entries have the same uuid.
    pub fn is_distinct(&self) -> bool {
        self.distinct
    }

    /// The entry that clients find by the uuid of this one: itself, or the last of its duplicates.
    pub fn known_as(&self, entries: &[Entry], entry: EntryIx) -> EntryIx {
        if self.distinct {
            return entry;
        }
        self.find(entries, entries[entry].uuid).unwrap_or(entry)
    }

    /// The parent, if it is in the file.
    pub fn parent(&self, entry: EntryIx) -> Option<EntryIx> {
        somebody(link(&self.parent, entry))
    }

    /// The children, in file order.
    pub fn children(&self, entry: EntryIx) -> impl Iterator<Item = EntryIx> + '_ {
        std::iter::successors(somebody(link(&self.first_child, entry)), |&c| {
            somebody(self.next_sibling[c])
        })
    }

    /// The live path in the order of the conversation, from its root through all compactions.
    /// Messages that a compaction preserves follow its summary, and prompts that arrived before results follow
    /// these.
    pub fn path(&self) -> &[EntryIx] {
        &self.live.path
    }

    /// The last message of the chain of parents. The live path ends with it, unless a compaction at
    /// the very end preserves messages, or a prompt arrived before the last results: they follow it.
    pub fn leaf(&self) -> Option<EntryIx> {
        self.live.leaf
    }

    /// The position after the messages that the last compaction preserves, if it preserves any.
    ///
    /// Their lines stand before the boundary in the file.
    pub fn preserved_end(&self) -> Option<u32> {
        let end = self.live.preserved_end;
        end.filter(|&end| end > self.window)
    }

    /// The stretches of the path, as positions, with prompts that arrived before results. They follow the results there,
    /// while the results hang on them. The entry at the end of a stretch is not part of it.
    pub(crate) fn midstream(&self) -> &[(u32, u32)] {
        &self.live.midstream
    }

    /// How an entry relates to the live path.
    pub fn place(&self, entry: EntryIx) -> Standing {
        self.standing
            .get(entry)
            .copied()
            .unwrap_or(Standing::Metadata)
    }

    /// The position of the path where the context window begins: its last boundary, or 0.
    pub fn window_start(&self) -> u32 {
        self.window
    }

    /// Whether an entry is on the part of the path that the model is shown, or beside it.
    pub fn is_shown(&self, entry: EntryIx) -> bool {
        matches!(self.place(entry), Standing::Path(p) | Standing::Beside(p) if p >= self.window)
    }

    /// Whether `ancestor` is `entry` or above it.
    pub fn descends(&self, entry: EntryIx, ancestor: EntryIx) -> bool {
        let mut seen = FxHashSet::default();
        let mut at = Some(entry);
        while let Some(i) = at {
            if i == ancestor {
                return true;
            }
            if !seen.insert(i) {
                return false;
            }
            at = self.parent(i);
        }
        false
    }

    /// Whether the live path is the same now that metadata follows the entries it was built from.
    pub(crate) fn holds_for(
        &self,
        entries: &[Entry],
        heads: &[EntryHead],
        hints: &PathHints,
    ) -> bool {
        PathFinder::new(self, entries, heads, hints).find() == self.live
    }

    fn walk(&mut self, entries: &[Entry], heads: &[EntryHead], hints: &PathHints) {
        self.live = PathFinder::new(self, entries, heads, hints).find();
        for (position, &i) in self.live.path.iter().enumerate() {
            self.standing[i] = Standing::Path(position as u32);
            if heads[i].is_boundary() {
                self.window = position as u32;
            }
        }
    }

    /// Finds the standing of every entry that hangs on the path without being on it. The others stay
    /// apart: those of other roots, and those in a cycle.
    fn settle(&mut self, entries: &[Entry], heads: &[EntryHead]) {
        // Few sessions have lines of a message beside the path.
        let path = std::mem::take(&mut self.live.path);
        let messages: LazyCell<FxHashMap<Id, u32>, _> = LazyCell::new(|| {
            let ids = path.iter().map(|&i| entries[i].message_id);
            let named = ids.enumerate().filter(|(_, id)| id.is_some());
            named.map(|(position, id)| (id, position as u32)).collect()
        });
        // What follows the leaf is shown after the whole path, even where messages follow the leaf on it.
        let end = Standing::Path(path.len().saturating_sub(1) as u32);
        let mut below_path = Vec::new();
        for &on_path in &path {
            // Each entry off the path has one parent, so none is visited twice.
            let mut next = Some(on_path);
            while let Some(p) = next {
                let mut child = self.first_child[p];
                while let Some(c) = somebody(child) {
                    if !matches!(self.standing[c], Standing::Path(_)) {
                        let same_message = || messages.get(&entries[c].message_id.some()?).copied();
                        let is_tail = Some(p) == self.live.leaf && !heads[c].is_message();
                        let parent = if is_tail { end } else { self.standing[p] };
                        self.standing[c] = standing_below(parent, heads[c], same_message);
                        below_path.push(c);
                    }
                    child = self.next_sibling[c];
                }
                next = below_path.pop();
            }
        }
        drop(messages);
        self.live.path = path;
    }
}

impl Graph {
    /// Gives other copies of a line the position of the one that clients know: what follows the parent of a copy can be part
    /// of a later turn.
    fn settle_copies(&mut self, entries: &[Entry]) {
        for i in EntryIx::first(entries.len()) {
            let known = match self.standing[i] {
                Standing::Beside(_) | Standing::Branch(_) => self.known_as(entries, i),
                _ => i,
            };
            if known == i {
                continue;
            }
            self.standing[i] = match (self.standing[i], self.standing[known]) {
                (Standing::Beside(_), Standing::Path(p)) => Standing::Beside(p),
                (Standing::Branch(_), Standing::Path(p) | Standing::Beside(p)) => {
                    Standing::Branch(p)
                }
                (_, known) => known,
            };
        }
    }
}

/// The entry of each uuid, and whether no two entries have the same.
fn table(entries: &[Entry], heads: &[EntryHead]) -> (HashTable<EntryIx>, bool) {
    let chained = heads.iter().filter(|t| t.is_chained()).count();
    let mut by_uuid = HashTable::with_capacity(chained);
    let mut distinct = true;
    for (i, e) in EntryIx::first(entries.len()).zip(entries) {
        if e.is_chained() {
            // A uuid that occurs twice names its last entry, as in the client.
            let is_it = |&i: &EntryIx| entries[i].uuid == e.uuid;
            let rehash = |&i: &EntryIx| hash(entries[i].uuid);
            match by_uuid.entry(hash(e.uuid), is_it, rehash) {
                Slot::Occupied(mut known) => {
                    *known.get_mut() = i;
                    distinct = false;
                }
                Slot::Vacant(free) => drop(free.insert(i)),
            }
        }
    }
    (by_uuid, distinct)
}

/// The parent of each entry, if it stands shortly before the entry.
fn near_parents(entries: &[Entry]) -> EntryColumn<EntryIx> {
    let parent = |(i, e): (EntryIx, &Entry)| {
        let found = e.parent.some().and_then(|p| near(entries, i, p));
        found.unwrap_or(NOBODY)
    };
    let all = EntryIx::first(entries.len()).zip(entries);
    EntryColumn::new(all.map(parent).collect())
}

/// Finds the entry with this uuid among the last ones before `child`.
fn near(entries: &[Entry], child: EntryIx, uuid: Id) -> Option<EntryIx> {
    let mut last = child.before().rev().take(NEAR);
    last.find(|&i| entries[i].uuid == uuid && entries[i].is_chained())
}

/// The standing of an entry off the path, from its parent's.
///
/// Entries that the client gathers with the path (by message id, or as the result of a call) are
/// beside it, and so are entries that are not messages; a prompt or another message begins a branch.
pub(crate) fn standing_below(
    parent: Standing,
    e: EntryHead,
    same_message: impl FnOnce() -> Option<u32>,
) -> Standing {
    let (Standing::Path(position) | Standing::Beside(position)) = parent else {
        return parent;
    };
    match (e.kind, e.prompt) {
        (Kind::Assistant, _) => same_message().map_or(Standing::Branch(position), Standing::Beside),
        (Kind::User, PromptKind::Words | PromptKind::Command) => Standing::Branch(position),
        _ => Standing::Beside(position),
    }
}

/// Follows a link; metadata that was added later than the graph has none.
fn link(links: &EntryColumn<EntryIx>, entry: EntryIx) -> EntryIx {
    links.get(entry).copied().unwrap_or(NOBODY)
}

fn somebody(i: EntryIx) -> Option<EntryIx> {
    (i != NOBODY).then_some(i)
}
