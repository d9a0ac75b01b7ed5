//! Parents, children, the leaf and the live path.

use std::cell::{LazyCell, OnceCell};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::transcript::{Entry, EntryHead, Id, Kind, PromptKind, hash};

/// Marks the absence of an entry in the index arrays.
const NOBODY: u32 = u32::MAX;

/// How many entries before another are looked at one by one for its parent.
const NEAR: usize = 8;

/// How an entry relates to the live path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// On the path, at this position.
    Path(u32),
    /// Beside the path and shown with it, below this position: results of parallel calls, further
    /// lines of one message, and what hangs on them.
    Beside(u32),
    /// On a path that was abandoned; it leaves the live path at this position.
    Branch(u32),
    /// Not connected to the live path.
    Apart,
    /// Not part of the graph at all.
    Metadata,
}

/// The entries as a graph over `uuid` and `parentUuid`.
///
/// Built on any input: children before parents, several roots, dangling parents, cycles, duplicate
/// uuids and sidechains all survive.
#[derive(Debug)]
pub struct Graph {
    /// The entry of each uuid, by its number alone.
    by_uuid: HashTable<u32>,
    /// No two entries have one uuid.
    distinct: bool,
    parent: Vec<u32>,
    first_child: Vec<u32>,
    next_sibling: Vec<u32>,
    path: Vec<u32>,
    place: Vec<Standing>,
    /// The position of the path's last boundary: from there on the model is shown it.
    window: u32,
}

impl Graph {
    /// Links entries, chooses the leaf as the newest client does, and walks the live path.
    pub(crate) fn build(entries: &[Entry], heads: &[EntryHead], explicit_leaf: Option<Id>) -> Self {
        // Parents mostly stand near their children, and are found without the table.
        let ((by_uuid, distinct), near) =
            rayon::join(|| table(entries, heads), || near_parents(entries));
        let mut graph = Self {
            by_uuid,
            distinct,
            parent: vec![NOBODY; entries.len()],
            first_child: vec![NOBODY; entries.len()],
            next_sibling: vec![NOBODY; entries.len()],
            path: Vec::new(),
            place: vec![Standing::Metadata; entries.len()],
            window: 0,
        };
        for (i, _) in heads
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, t)| t.is_chained())
        {
            graph.place[i] = Standing::Apart;
            let named = || entries[i].parent.some();
            let parent = match somebody(near[i]) {
                Some(parent) if distinct => Some(parent),
                _ => named().and_then(|p| graph.find(entries, p)),
            };
            if let Some(p) = parent {
                graph.parent[i] = p as u32;
                // Linking from the back leaves children in file order.
                graph.next_sibling[i] = graph.first_child[p];
                graph.first_child[p] = i as u32;
            }
        }
        drop(near);
        graph.walk(entries, heads, explicit_leaf);
        graph.settle(entries, heads);
        graph
    }

    /// The entry with this uuid; of duplicates the last. See [`Session::find`](super::Session::find).
    pub(crate) fn find(&self, entries: &[Entry], uuid: Id) -> Option<usize> {
        let is_it = |&i: &u32| entries[i as usize].uuid == uuid;
        let found = self.by_uuid.find(hash(uuid), is_it);
        found.map(|&i| i as usize)
    }

    /// The same, where an entry is looked for that another names: mostly it stands shortly before it.
    pub(crate) fn find_above(&self, entries: &[Entry], child: usize, uuid: Id) -> Option<usize> {
        let near = self.distinct.then(|| near(entries, child, uuid)).flatten();
        near.or_else(|| self.find(entries, uuid))
    }

    /// How many different uuids its entries have.
    pub fn count(&self) -> usize {
        self.by_uuid.len()
    }

    /// Whether no two entries have one uuid.
    pub fn is_distinct(&self) -> bool {
        self.distinct
    }

    /// The entry that clients know by the uuid of this one: mostly itself, of duplicates the last.
    pub fn known_as(&self, entries: &[Entry], entry: usize) -> usize {
        if self.distinct {
            return entry;
        }
        self.find(entries, entries[entry].uuid).unwrap_or(entry)
    }

    /// The parent, if it is in the file.
    pub fn parent(&self, entry: usize) -> Option<usize> {
        somebody(link(&self.parent, entry))
    }

    /// The children, in file order.
    pub fn children(&self, entry: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(somebody(link(&self.first_child, entry)), |&c| {
            somebody(self.next_sibling[c])
        })
    }

    /// The live path from its root to its leaf, through compactions: entries in the order of the conversation.
    pub fn path(&self) -> &[u32] {
        &self.path
    }

    /// The last message of the live path.
    pub fn leaf(&self) -> Option<usize> {
        self.path.last().map(|&i| i as usize)
    }

    /// Where an entry stands relative to the live path.
    pub fn place(&self, entry: usize) -> Standing {
        self.place.get(entry).copied().unwrap_or(Standing::Metadata)
    }

    /// The position of the path from which on the model is shown it: its last boundary, or 0.
    pub fn window_start(&self) -> u32 {
        self.window
    }

    /// Whether an entry is on the part of the path that the model is shown, or beside it.
    pub fn is_shown(&self, entry: usize) -> bool {
        matches!(self.place(entry), Standing::Path(p) | Standing::Beside(p) if p >= self.window)
    }

    /// Whether `ancestor` is `entry` or above it.
    pub fn descends(&self, entry: usize, ancestor: usize) -> bool {
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

    /// The entry that the newest client goes up from.
    ///
    /// It is the last in the file, unless the last `last-prompt` since the last boundary names an
    /// entry of another branch (seen in 2.1.156 and 2.1.325).
    fn start(
        &self,
        entries: &[Entry],
        heads: &[EntryHead],
        explicit_leaf: Option<Id>,
    ) -> Option<usize> {
        let last = heads.iter().rposition(|&t| can_be_leaf(t))?;
        let tells = |t: &EntryHead| t.is_boundary() || t.kind == Kind::LastPrompt;
        let told = heads.iter().rposition(tells);
        let named = told.filter(|&i| !heads[i].is_boundary());
        let named = named.and_then(|i| entries[i].refers_to.some());
        if let Some(leaf) = explicit_leaf.and_then(|id| self.find(entries, id)) {
            return Some(leaf);
        }
        match named.and_then(|id| self.find(entries, id)) {
            Some(leaf) if !self.descends(last, leaf) => Some(leaf),
            _ => Some(last),
        }
    }

    /// The path from its root to its leaf.
    fn live_path(
        &self,
        entries: &[Entry],
        heads: &[EntryHead],
        explicit_leaf: Option<Id>,
    ) -> Vec<u32> {
        let mut path = Vec::new();
        let mut seen = vec![false; entries.len()];
        let by_time = OnceCell::new();
        let mut at = self.start(entries, heads, explicit_leaf);
        while let Some(i) = at {
            if std::mem::replace(&mut seen[i], true) {
                break;
            }
            path.push(i as u32);
            let parent = self.parent(i);
            at = parent.or_else(|| self.beyond(entries, heads, i, &by_time));
        }
        path.reverse();
        // The leaf is the first message at or above the start; a tail of attachments follows it.
        let ends = |t: EntryHead| t.is_message() || t.is_boundary();
        while path.last().is_some_and(|&i| !ends(heads[i as usize])) {
            path.pop();
        }
        path
    }

    /// Whether nothing is different where metadata came behind the entries of which it was built.
    pub(crate) fn holds_for(
        &self,
        entries: &[Entry],
        heads: &[EntryHead],
        explicit_leaf: Option<Id>,
    ) -> bool {
        self.live_path(entries, heads, explicit_leaf) == self.path
    }

    fn walk(&mut self, entries: &[Entry], heads: &[EntryHead], explicit_leaf: Option<Id>) {
        self.path = self.live_path(entries, heads, explicit_leaf);
        for (position, &i) in self.path.iter().enumerate() {
            self.place[i as usize] = Standing::Path(position as u32);
            if heads[i as usize].is_boundary() {
                self.window = position as u32;
            }
        }
    }

    /// Where the path goes on above an entry that has no parent in the file.
    ///
    /// Above a boundary, at the entry that it remembers, else at the one before it in the file. Where
    /// a parent is named but gone, the newest clients go on at the entry that is next older by its
    /// time, if by no more than five seconds (seen in 2.1.156 and 2.1.325); older ones stop.
    fn beyond(
        &self,
        entries: &[Entry],
        heads: &[EntryHead],
        at: usize,
        by_time: &OnceCell<Vec<u32>>,
    ) -> Option<usize> {
        let e = &entries[at];
        if e.is_boundary() {
            let remembered = e.refers_to.some().and_then(|id| self.find(entries, id));
            return remembered.or_else(|| heads[..at].iter().rposition(|&t| can_be_leaf(t)));
        }
        e.parent.some()?;
        let by_time = by_time.get_or_init(|| {
            let mut chained: Vec<u32> = (0..entries.len() as u32)
                .filter(|&i| heads[i as usize].is_chained())
                .collect();
            chained.sort_by_key(|&i| entries[i as usize].time);
            chained
        });
        let older = by_time.partition_point(|&i| entries[i as usize].time < e.time);
        by_time[..older]
            .iter()
            .rev()
            .map(|&i| i as usize)
            .take_while(|&i| entries[i].time >= e.time.saturating_sub(5000))
            .find(|&i| entries[i].flags.sidechain() == e.flags.sidechain())
    }

    /// Finds the place of every entry that hangs on the path without being on it. All others stay apart: those of other roots,
    /// and those in a cycle.
    fn settle(&mut self, entries: &[Entry], heads: &[EntryHead]) {
        // Few have lines of an answer beside the path.
        let path = std::mem::take(&mut self.path);
        let messages: LazyCell<FxHashMap<Id, u32>, _> = LazyCell::new(|| {
            let ids = path.iter().map(|&i| entries[i as usize].message_id);
            let named = ids.enumerate().filter(|(_, id)| id.is_some());
            named.map(|(position, id)| (id, position as u32)).collect()
        });
        let mut below_path = Vec::new();
        for &on_path in &path {
            // What the path does not go through has one parent each, and so no way back to where it hangs.
            let mut next = Some(on_path);
            while let Some(p) = next {
                let mut child = self.first_child[p as usize];
                while let Some(c) = somebody(child) {
                    if !matches!(self.place[c], Standing::Path(_)) {
                        let same_message = || messages.get(&entries[c].message_id.some()?).copied();
                        self.place[c] = below(self.place[p as usize], heads[c], same_message);
                        below_path.push(c as u32);
                    }
                    child = self.next_sibling[c];
                }
                next = below_path.pop();
            }
        }
        drop(messages);
        self.path = path;
    }
}

/// The entry of each uuid, and whether no two have one.
fn table(entries: &[Entry], heads: &[EntryHead]) -> (HashTable<u32>, bool) {
    let chained = heads.iter().filter(|t| t.is_chained()).count();
    let mut by_uuid = HashTable::with_capacity(chained);
    let mut distinct = true;
    for (i, e) in entries.iter().enumerate() {
        if e.is_chained() {
            // A uuid that occurs twice names its last entry, as a map in the client would have it.
            let is_it = |&i: &u32| entries[i as usize].uuid == e.uuid;
            let rehash = |&i: &u32| hash(entries[i as usize].uuid);
            match by_uuid.entry(hash(e.uuid), is_it, rehash) {
                Slot::Occupied(mut known) => {
                    *known.get_mut() = i as u32;
                    distinct = false;
                }
                Slot::Vacant(free) => drop(free.insert(i as u32)),
            }
        }
    }
    (by_uuid, distinct)
}

/// The parent of each entry, where it stands shortly before it.
fn near_parents(entries: &[Entry]) -> Vec<u32> {
    let parent = |(i, e): (usize, &Entry)| {
        let found = e.parent.some().and_then(|p| near(entries, i, p));
        found.map_or(NOBODY, |p| p as u32)
    };
    entries.iter().enumerate().map(parent).collect()
}

/// The entry with this uuid, if it is one of the last before another.
fn near(entries: &[Entry], child: usize, uuid: Id) -> Option<usize> {
    let mut last = entries[..child].iter().rev().take(NEAR);
    let back = last.position(|e| e.uuid == uuid && e.is_chained())?;
    Some(child - 1 - back)
}

/// The place of an entry off the path, from its parent's.
///
/// What the client gathers with the path (by message id, or as the result of a call) is beside it,
/// and so is all that is no message; a prompt or another message begins a branch.
fn below(parent: Standing, e: EntryHead, same_message: impl FnOnce() -> Option<u32>) -> Standing {
    let (Standing::Path(position) | Standing::Beside(position)) = parent else {
        return parent;
    };
    match (e.kind, e.prompt) {
        (Kind::Assistant, _) => same_message().map_or(Standing::Branch(position), Standing::Beside),
        (Kind::User, PromptKind::Words | PromptKind::Command) => Standing::Branch(position),
        _ => Standing::Beside(position),
    }
}

/// Whether the client may take this entry as the end of the conversation.
fn can_be_leaf(tag: EntryHead) -> bool {
    tag.is_chained()
        && !tag.flags.sidechain()
        && matches!(
            tag.kind,
            Kind::User | Kind::Assistant | Kind::System | Kind::Attachment | Kind::Progress
        )
}

/// Where a link leads; metadata that came later than the graph has none.
fn link(links: &[u32], entry: usize) -> u32 {
    links.get(entry).copied().unwrap_or(NOBODY)
}

fn somebody(i: u32) -> Option<usize> {
    (i != NOBODY).then_some(i as usize)
}
