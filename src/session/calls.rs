//! Calls of tools, and where their results are.

use hashbrown::HashTable;
use smallvec::SmallVec;

use super::session::Session;
use crate::transcript::{Block, BlockIx, Entry, EntryIx, Id, NO_CALL, hash};

/// A block, by the entry that holds it and its number in [`Session::blocks`](super::Session::blocks).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct At {
    /// The entry.
    pub entry: EntryIx,
    /// The block.
    pub block: BlockIx,
}

/// Where the halves of a call are: nearly always one place each, so none is held on the heap.
pub type Places = SmallVec<[At; 1]>;

/// One id of a call, with every block that makes or answers it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Call {
    /// The id.
    pub id: Id,
    /// Blocks that make the call; more than one is a fault.
    pub uses: Places,
    /// Blocks that answer it, on any branch.
    pub results: Places,
}

impl Call {
    /// Whether a result says that the call failed.
    pub fn failed(&self, session: &Session) -> bool {
        let mut results = self.results.iter();
        results.any(|r| session.block(r.block).is_failed())
    }
}

/// Among how many of the last calls one is looked for before the table is asked.
const NEAR: usize = 4;

/// All calls of a session, in the order in which their ids first occur.
#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
    /// Where in `calls` each is.
    by_id: HashTable<u32>,
}

impl Calls {
    /// Gathers calls and results over the whole file, wherever each half is.
    ///
    /// Each block is told the number of its call: who looks for a call has mostly a block of it, and where there are many,
    /// looking for one by its id takes long.
    pub(crate) fn build(entries: &[Entry], blocks: &mut [Block]) -> Self {
        let made = blocks.iter().filter(|b| b.kind.is_call()).count();
        let mut all = Self {
            calls: Vec::with_capacity(made),
            by_id: HashTable::with_capacity(made),
        };
        for (i, e) in entries.iter().enumerate() {
            for b in e.blocks.numbers() {
                let block = &mut blocks[b.index()];
                block.call = NO_CALL;
                if !block.tool.is_some() || !(block.kind.is_call() || block.kind.is_result()) {
                    continue;
                }
                block.call = all.number(block.tool);
                let call = &mut all.calls[block.call as usize];
                let at = At {
                    entry: EntryIx::new(i),
                    block: b,
                };
                if block.kind.is_call() {
                    call.uses.push(at);
                } else {
                    call.results.push(at);
                }
            }
        }
        all
    }

    /// The number of the call with this id, new if there was none.
    fn number(&mut self, id: Id) -> u32 {
        let Self { calls, by_id } = self;
        // Most are answered before many others are made.
        let recent = calls.len().saturating_sub(NEAR);
        if let Some(at) = calls[recent..].iter().rposition(|c| c.id == id) {
            return (recent + at) as u32;
        }
        let number = *by_id
            .entry(
                hash(id),
                |&i| calls[i as usize].id == id,
                |&i| hash(calls[i as usize].id),
            )
            .or_insert(calls.len() as u32)
            .get();
        if number as usize == calls.len() {
            calls.push(Call {
                id,
                ..Call::default()
            });
        }
        number
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter()
    }

    /// The one with this id.
    pub fn find(&self, id: Id) -> Option<&Call> {
        let is_it = |&i: &u32| self.calls[i as usize].id == id;
        let found = self.by_id.find(hash(id), is_it);
        found.map(|&i| &self.calls[i as usize])
    }

    /// The one that a block makes or answers.
    pub fn of(&self, block: &Block) -> Option<&Call> {
        self.calls.get(block.call as usize)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }
}
