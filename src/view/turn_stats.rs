//! Statistics of turns.

use rayon::prelude::*;
use serde::Serialize;

use super::overview::{prompt_as_typed, prompt_text};
use super::session_text::SessionText;
use crate::session::{Session, Standing, Turn};
use crate::transcript::{BlockKind, Kind, PromptKind, Subtype};
use crate::window::{EntryWeights, Weight};

/// Statistics of one turn.
#[derive(Debug, Clone, PartialEq, Default)]
#[allow(clippy::struct_excessive_bools)]
pub struct TurnStats {
    /// Its number; 0 is what comes before the first prompt.
    pub number: u32,
    /// When it began, in milliseconds of the epoch.
    pub time: Option<i64>,
    /// Its prompt.
    pub prompt: SessionText,
    /// Calls by tool, in the order of their first use.
    pub calls: Vec<(SessionText, u32)>,
    /// Entries on and beside the path.
    pub entries: u32,
    /// Bytes of its lines.
    pub bytes: u64,
    /// What its messages weigh in the context window, whether the model is still shown them or not.
    pub weight: Weight,
    /// Tokens in the context window at its last request, as recorded.
    pub window: Option<u64>,
    /// Whether the model is still shown it.
    pub shown: bool,
    /// A compaction happened in it.
    pub compacted: bool,
    /// A person interrupted it.
    pub interrupted: bool,
    /// The API refused a request, or a call failed.
    pub errors: u32,
    /// A call has no result, or the model did not answer.
    pub unfinished: bool,
}

/// How large the context window was at a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Growth {
    /// The turn's number.
    pub turn: u32,
    /// [`TurnStats::window`].
    pub window_tokens: Option<u64>,
    /// [`TurnStats::compacted`].
    pub compacted: bool,
}

impl Growth {
    /// Returns the growth of every turn, without reading the text of the turns.
    pub fn all(session: &Session, ledger: &EntryWeights) -> Vec<Self> {
        let (heads, turns) = (session.heads(), session.turns());
        let grown = |turn| Self {
            turn,
            ..Self::default()
        };
        let mut out: Vec<Self> = (0..=turns.len() as u32).map(grown).collect();
        for (i, tag) in session.numbers().zip(heads) {
            if let Some(turn) = turns.of(session.graph(), i) {
                let growth = &mut out[turn as usize];
                growth.window_tokens = ledger.window(i).or(growth.window_tokens);
                growth.compacted |= tag.is_boundary();
            }
        }
        // Entries before the first prompt are not a turn.
        out.split_off(1)
    }
}

impl TurnStats {
    /// Returns the statistics of every turn, and of what precedes the first one if there is something.
    pub fn all(session: &Session, ledger: &EntryWeights) -> Vec<Self> {
        let (entries, graph, turns) = (session.entries(), session.graph(), session.turns());
        let mut out: Vec<Self> = (0..=turns.len() as u32)
            .map(|number| Self {
                number,
                ..Self::default()
            })
            .collect();
        let words = |turn: &Turn| {
            let prompt = &entries[turn.prompt];
            prompt_text(session, prompt)
                .or_else(|| session.string(prompt, &["attachment", "prompt"]))
                .map(|w| prompt_as_typed(&w))
                .unwrap_or_default()
        };
        let words: Vec<String> = turns.all().par_iter().map(words).collect();
        for (turn, words) in turns.iter().zip(words) {
            let time = entries[turn.prompt].time;
            let facts = &mut out[turn.number as usize];
            facts.time = Some(time).filter(|&t| t != i64::MIN);
            facts.prompt = words.into();
        }
        for (i, e) in session.numbered() {
            let (Standing::Path(position) | Standing::Beside(position)) = graph.place(i) else {
                continue;
            };
            let facts = &mut out[turns.at_position(position) as usize];
            facts.entries += 1;
            facts.bytes += session.document().lines()[e.line].len() as u64 + 1;
            facts.weight += ledger.weight(i);
            facts.shown |= position >= graph.window_start();
            facts.compacted |= e.is_boundary();
            facts.errors += u32::from(e.flags.api_error());
            facts.window = ledger.window(i).or(facts.window);
            facts.count_blocks(session, e);
            let marker = e.kind == Kind::User && e.prompt == PromptKind::Machine;
            facts.interrupted |= marker
                && prompt_text(session, e)
                    .is_some_and(|w| w.trim_start().starts_with("[Request interrupted by user"));
        }
        for turn in turns.iter() {
            let path = &graph.path()[turn.path.0 as usize..turn.path.1 as usize];
            let answered = path.iter().any(|&i| entries[i].kind == Kind::Assistant);
            let last = turn.number as usize == turns.len();
            let ended = path
                .iter()
                .rev()
                .map(|&i| &entries[i])
                .find(|e| e.is_message());
            let awaits = last
                && ended.is_some_and(|e| e.kind == Kind::User && e.prompt != PromptKind::Machine);
            let queued = entries[turn.prompt].subtype == Subtype::QueuedCommand;
            let facts = &mut out[turn.number as usize];
            facts.unfinished |= awaits || !answered && !facts.interrupted && !queued;
        }
        if out[0].entries == 0 {
            out.remove(0);
        }
        out
    }

    fn count_blocks(&mut self, session: &Session, e: &crate::transcript::Entry) {
        for block in session.blocks(e) {
            match block.kind {
                kind if kind.is_call() => {
                    let tool = session.tool_name(e, block);
                    match self.calls.iter_mut().find(|(t, _)| t.raw() == &*tool) {
                        Some((_, n)) => *n += 1,
                        None => self.calls.push((tool.into_owned().into(), 1)),
                    }
                    let results = session.calls().of(block).map_or(0, |c| c.results.len());
                    self.unfinished |= kind == BlockKind::ToolUse && results == 0;
                }
                BlockKind::ToolResult => self.errors += u32::from(block.is_failed()),
                _ => {}
            }
        }
    }
}

/// Returns whether a result reports that its call failed.
pub(crate) fn is_error(result: &[u8]) -> bool {
    crate::json::lookup(result, &["is_error"]).is_some_and(|s| s.of(result) == b"true")
}
