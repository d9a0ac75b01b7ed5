//! Breaks down the context window and the file by category: prompts, answers, results of each tool, and so on.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::calibration::Calibration;
use super::dropped_thinking::DroppedThinking;
use super::entry_weights::EntryWeights;
use super::image::heavy;
use super::payload::each_message;
use super::weight::Weight;
use crate::session::Session;
use crate::transcript::Role;
use crate::transcript::{BlockKind, Entry, EntryIx, Kind, LineState, NO_CALL, PromptKind, Subtype};

/// A category of content, as `inspect` lists it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "tool")]
#[non_exhaustive]
pub enum Category {
    /// The system prompt, the tools and everything else that the client sends without keeping it in the transcript.
    Constant,
    /// A person's words.
    Prompts,
    /// The model's words.
    Answers,
    /// Thinking, readable or not.
    Thinking,
    /// Calls with their inputs.
    Calls,
    /// Results of calls of one tool.
    Results(String),
    /// Pictures and documents.
    Images,
    /// Summaries of what was compacted.
    Summaries,
    /// Attachments, reminders and the client's notes.
    Reminders,
    /// Second copies that the client keeps for itself.
    Duplicates,
    /// Ids, times, usage records, snapshots and the rest.
    Metadata,
    /// Lines that are not JSON.
    Unreadable,
}

impl Category {
    /// The category's name, as people are shown it.
    pub fn name(&self) -> String {
        match self {
            Category::Constant => "system prompt and tools".to_owned(),
            Category::Prompts => "prompts".to_owned(),
            Category::Answers => "answers".to_owned(),
            Category::Thinking => "thinking".to_owned(),
            Category::Calls => "calls".to_owned(),
            Category::Results(tool) => format!("{tool} results"),
            Category::Images => "images, documents".to_owned(),
            Category::Summaries => "summaries".to_owned(),
            Category::Reminders => "attachments, reminders".to_owned(),
            Category::Duplicates => "duplicates for client".to_owned(),
            Category::Metadata => "metadata".to_owned(),
            Category::Unreadable => "unreadable lines".to_owned(),
        }
    }
}

/// The tool of each call in a session, by number.
#[derive(Debug, Clone)]
pub struct Tools {
    names: Vec<String>,
    /// The tool of each call; `None` if only the result is in the file.
    of_calls: Vec<Option<NonZeroU32>>,
}

impl Tools {
    /// Collects the tools of all calls.
    pub fn of(session: &Session) -> Self {
        let mut out = Self {
            names: Vec::new(),
            of_calls: Vec::with_capacity(session.calls().len()),
        };
        let mut numbers: FxHashMap<&[u8], u32> = FxHashMap::default();
        for call in session.calls().iter() {
            let Some(at) = call.uses.first() else {
                out.of_calls.push(None);
                continue;
            };
            let entry = session.entry(at.entry);
            let block = session.block(at.block);
            let number = numbers.entry(session.tool_json(entry, block));
            let number = *number.or_insert_with(|| {
                out.names.push(session.tool_name(entry, block).into_owned());
                out.names.len() as u32
            });
            out.of_calls.push(NonZeroU32::new(number));
        }
        out
    }

    /// The tool of the call with this number, counted from 1.
    fn number(&self, call: u32) -> Option<NonZeroU32> {
        self.of_calls.get(call as usize).copied().flatten()
    }

    fn name(&self, number: Option<NonZeroU32>) -> &str {
        number.map_or("unknown", |n| &self.names[n.get() as usize - 1])
    }
}

/// Sums by category. Results are summed by the number of their tool first, because there are many of them.
#[derive(Debug, Default)]
struct Sums<T> {
    parts: BTreeMap<Category, T>,
    results: FxHashMap<Option<NonZeroU32>, T>,
}

impl<T: Default + std::ops::AddAssign + Copy> Sums<T> {
    fn add(&mut self, part: Named, of: T) {
        match part {
            Named::Category(part) => *self.parts.entry(part).or_default() += of,
            Named::Results(tool) => *self.results.entry(tool).or_default() += of,
        }
    }

    fn join(mut self, other: Self) -> Self {
        for (part, of) in other.parts {
            self.add(Named::Category(part), of);
        }
        for (tool, of) in other.results {
            self.add(Named::Results(tool), of);
        }
        self
    }

    fn named(self, tools: &Tools) -> BTreeMap<Category, T> {
        let mut parts = self.parts;
        for (tool, of) in self.results {
            let part = Named::Results(tool).part(tools);
            *parts.entry(part).or_default() += of;
        }
        parts
    }
}

/// A category, with the number of its tool instead of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Named {
    Category(Category),
    Results(Option<NonZeroU32>),
}

impl Named {
    fn part(self, tools: &Tools) -> Category {
        match self {
            Named::Category(part) => part,
            Named::Results(tool) => Category::Results(tools.name(tool).to_owned()),
        }
    }
}

/// The weight of each category in the context window.
#[derive(Debug, Clone)]
pub struct WindowBreakdown(BTreeMap<Category, Weight>);

impl WindowBreakdown {
    /// Weighs everything that the model is shown.
    pub fn of(session: &Session, tools: &Tools) -> Self {
        let mut sums = Sums::<Weight>::default();
        let dropped = if DroppedThinking::is_possible(session) {
            EntryWeights::of(session).dropped_thinking()
        } else {
            DroppedThinking::default()
        };
        each_message(session, None, |message| {
            for block in &message.blocks {
                let e = session.entry(block.entry);
                if block.kind.is_thinking() && dropped.is_dropped(session, block.entry) {
                    continue;
                }
                let part = if message.role == Role::System {
                    Named::Category(Category::Reminders)
                } else {
                    part_of(block.kind, block.call, e, tools)
                };
                let mut weight = block.weight();
                if weight.images > 0.0 {
                    let image = Weight {
                        images: weight.images,
                        ..Weight::default()
                    };
                    sums.add(Named::Category(Category::Images), image);
                    weight.images = 0.0;
                }
                sums.add(part, weight);
            }
        });
        Self(sums.named(tools))
    }

    /// Returns the tokens of each category, largest first. They add up to [`Calibration::window`].
    pub fn parts(self, calibration: &Calibration) -> Vec<(Category, u64)> {
        let whole = calibration.window();
        let weights = self.0.into_iter();
        let mut parts: Vec<(Category, f64)> =
            weights.map(|(p, w)| (p, calibration.tokens(w))).collect();
        let sum: f64 = parts.iter().map(|p| p.1).sum();
        // The total was recorded. If the estimates add up to more, the estimates are wrong.
        let scale = if sum > whole as f64 {
            whole as f64 / sum
        } else {
            1.0
        };
        for part in &mut parts {
            part.1 *= scale;
        }
        let mut out: Vec<(Category, u64)> = parts.into_iter().map(|(p, t)| (p, t as u64)).collect();
        let rest = whole - out.iter().map(|p| p.1).sum::<u64>();
        match out.iter_mut().max_by_key(|p| p.1) {
            // The remainder of rounding.
            Some(largest) if scale < 1.0 => largest.1 += rest,
            _ => out.push((Category::Constant, rest)),
        }
        sorted(out)
    }
}

/// Returns the bytes of each category, largest first. They add up to the file's length.
pub fn file_parts(session: &Session, tools: &Tools) -> Vec<(Category, u64)> {
    let lines = session.document().lines();
    let sums = (0..lines.len())
        .into_par_iter()
        .with_min_len(64)
        .fold(Sums::<u64>::default, |mut sums, i| {
            let mut rest = lines[i].raw_len();
            if let LineState::Entry(number) = session.lines()[i] {
                let e = session.entry(number);
                entry_parts(session, e, tools, &mut |part, bytes| {
                    rest -= bytes;
                    sums.add(part, bytes);
                });
                sums.add(Named::Category(Category::Metadata), rest);
            } else {
                sums.add(Named::Category(Category::Unreadable), rest);
            }
            sums
        })
        .reduce(Sums::default, Sums::join);
    sorted(sums.named(tools).into_iter().collect())
}

/// Reports the bytes of a line that are not metadata.
fn entry_parts(session: &Session, e: &Entry, tools: &Tools, report: &mut dyn FnMut(Named, u64)) {
    let text = session.text(e);
    match e.kind {
        Kind::Attachment => report(Named::Category(Category::Reminders), text.len() as u64),
        Kind::ApiRequest | Kind::ApiRequestBlob | Kind::ApiRequestShape => {
            report(Named::Category(Category::Duplicates), text.len() as u64);
        }
        Kind::User | Kind::Assistant => {
            if e.flags.string_content() {
                let part = part_of(BlockKind::Text, NO_CALL, e, tools);
                report(part, e.content.len() as u64);
            }
            for block in session.blocks(e) {
                let raw = block.span.of(text);
                let pictures = if block.may_hold_media() {
                    heavy(raw).iter().map(|i| i.len() as u64).sum()
                } else {
                    0
                };
                if pictures > 0 {
                    report(Named::Category(Category::Images), pictures);
                }
                let part = part_of(block.kind, block.call, e, tools);
                report(part, raw.len() as u64 - pictures);
            }
            if e.flags.tool_use_result() {
                report(Named::Category(Category::Duplicates), e.result.len() as u64);
            }
        }
        _ => {}
    }
}

fn part_of(kind: BlockKind, call: u32, e: &Entry, tools: &Tools) -> Named {
    Named::Category(match kind {
        BlockKind::Thinking | BlockKind::RedactedThinking => Category::Thinking,
        BlockKind::ToolUse | BlockKind::ServerToolUse => Category::Calls,
        BlockKind::ToolResult | BlockKind::ServerToolResult => {
            return Named::Results(tools.number(call));
        }
        BlockKind::Image | BlockKind::Document => Category::Images,
        BlockKind::Text | BlockKind::Other => match (e.kind, e.prompt) {
            (Kind::Assistant, _) => Category::Answers,
            (Kind::User, _) if e.flags.compact_summary() => Category::Summaries,
            (Kind::User, PromptKind::Words | PromptKind::Command) => Category::Prompts,
            (Kind::Attachment, _)
                if e.subtype == Subtype::QueuedCommand && !e.flags.not_by_person() =>
            {
                Category::Prompts
            }
            _ => Category::Reminders,
        },
    })
}

fn sorted(mut parts: Vec<(Category, u64)>) -> Vec<(Category, u64)> {
    parts.retain(|p| p.1 > 0);
    parts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    parts
}

/// The number of entries that one task searches for the largest.
const STRETCH: usize = 1 << 12;

/// One of the largest entries of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Large {
    /// The entry.
    pub entry: EntryIx,
    /// Its turn, if it is on the live path; 0 before the first prompt.
    pub turn: Option<u32>,
    /// The category of most of its bytes.
    pub part: Category,
    /// The line's bytes.
    pub bytes: u64,
    /// Its tokens in the context window, if it is shown.
    pub tokens: u64,
}

/// The largest entries: those that take most of the context window first, then those that take most of the file.
pub fn largest(
    session: &Session,
    calibration: &Calibration,
    ledger: &EntryWeights,
    tools: &Tools,
    count: usize,
) -> Vec<Large> {
    let entries = session.entries();
    let len = |i: EntryIx| session.document().lines()[entries[i].line].len() as u64;
    let shown = |i: EntryIx| calibration.tokens(ledger.shown(session, i)) as u64;
    let rank = |i: &EntryIx| (Reverse(shown(*i)), Reverse(len(*i)), *i);
    let best = |mut order: Vec<EntryIx>| {
        if count < order.len() {
            order.select_nth_unstable_by_key(count, rank);
            order.truncate(count);
        }
        order
    };
    // The largest entries of the session are among the largest of each part.
    let stretches: Vec<Vec<EntryIx>> = (0..entries.len())
        .into_par_iter()
        .map(EntryIx::new)
        .chunks(STRETCH)
        .map(best)
        .collect();
    let mut order = best(stretches.concat());
    order.sort_by_key(rank);
    let tell = |i: EntryIx| {
        let e = &entries[i];
        let mut parts: Vec<(Category, u64)> = Vec::new();
        entry_parts(session, e, tools, &mut |part, bytes| {
            parts.push((part.part(tools), bytes));
        });
        let known: u64 = parts.iter().map(|p| p.1).sum();
        let main = parts
            .into_iter()
            .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        let part = main
            .filter(|m| m.1 * 2 >= len(i) - known)
            .map_or(Category::Metadata, |m| m.0);
        Large {
            entry: i,
            turn: session.turns().of(session.graph(), i),
            part,
            bytes: len(i),
            tokens: shown(i),
        }
    };
    order.into_iter().map(tell).collect()
}
