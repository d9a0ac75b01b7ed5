//! Where the window goes, and where the file's bytes go.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::jsonl::fields;

use super::entry::{BlockKind, Entry, Kind, LineState};
use super::gist::CallGist;
use super::id::Id;
use super::image::heavy;
use super::index::Session;
use super::payload::{Role, payload};
use super::prompt::PromptKind;
use super::tokens::{Calibration, Weight};

/// What something is, for a person who wonders where it all goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "tool")]
pub enum Part {
    /// System prompt, tools, and what else the client sends that is in no file.
    Constant,
    /// A person's words.
    Prompts,
    /// The model's words.
    Answers,
    /// Thinking, readable or not.
    Thinking,
    /// Calls with their inputs.
    Calls,
    /// What calls of one tool brought.
    Results(String),
    /// Pictures and documents.
    Images,
    /// Summaries of what was compacted.
    Summaries,
    /// Attachments, reminders and the client's notes.
    Reminders,
    /// Second copies that the client keeps for itself.
    Duplicates,
    /// Ids, times, usage, snapshots and whatever else.
    Metadata,
    /// Lines that are not JSON.
    Unreadable,
}

impl Part {
    /// Its name on the screen.
    pub fn name(&self) -> String {
        match self {
            Part::Constant => "system prompt and tools".to_owned(),
            Part::Prompts => "prompts".to_owned(),
            Part::Answers => "answers".to_owned(),
            Part::Thinking => "thinking".to_owned(),
            Part::Calls => "calls".to_owned(),
            Part::Results(tool) => format!("{tool} results"),
            Part::Images => "images, documents".to_owned(),
            Part::Summaries => "summaries".to_owned(),
            Part::Reminders => "attachments, reminders".to_owned(),
            Part::Duplicates => "duplicates for client".to_owned(),
            Part::Metadata => "metadata".to_owned(),
            Part::Unreadable => "unreadable lines".to_owned(),
        }
    }
}

/// Where the window goes: parts that add up to [`Calibration::window`], largest first.
pub fn window_parts(session: &Session, calibration: &Calibration) -> Vec<(Part, u64)> {
    let tools = tool_names(session);
    let mut weights: BTreeMap<Part, Weight> = BTreeMap::new();
    for message in payload(session, None) {
        for block in &message.blocks {
            let e = &session.entries()[block.entry as usize];
            let part = if message.role == Role::System {
                Part::Reminders
            } else {
                part_of(block.kind, block.tool, e, &tools)
            };
            let mut weight = Weight::of(&block.json());
            if weight.images > 0.0 {
                let image = Weight {
                    bytes: 0.0,
                    images: weight.images,
                };
                *weights.entry(Part::Images).or_default() += image;
                weight.images = 0.0;
            }
            *weights.entry(part).or_default() += weight;
        }
    }
    let whole = calibration.window();
    let mut parts: Vec<(Part, f64)> = weights
        .into_iter()
        .map(|(p, w)| (p, calibration.tokens(w)))
        .collect();
    let sum: f64 = parts.iter().map(|p| p.1).sum();
    // The whole is a record; where the estimates say more, they are what is wrong.
    let scale = if sum > whole as f64 {
        whole as f64 / sum
    } else {
        1.0
    };
    for part in &mut parts {
        part.1 *= scale;
    }
    let mut out: Vec<(Part, u64)> = parts.into_iter().map(|(p, t)| (p, t as u64)).collect();
    let rest = whole - out.iter().map(|p| p.1).sum::<u64>();
    match out.iter_mut().max_by_key(|p| p.1) {
        // What rounding left over.
        Some(largest) if scale < 1.0 => largest.1 += rest,
        _ => out.push((Part::Constant, rest)),
    }
    sorted(out)
}

/// Where the file's bytes go: parts that add up to its length, largest first.
pub fn file_parts(session: &Session) -> Vec<(Part, u64)> {
    let tools = tool_names(session);
    let mut out: BTreeMap<Part, u64> = BTreeMap::new();
    for (i, line) in session.document().lines().iter().enumerate() {
        let len = line.raw_end() - line.start;
        let LineState::Entry(number) = session.lines()[i] else {
            *out.entry(Part::Unreadable).or_default() += len;
            continue;
        };
        let mut rest = len;
        for (part, bytes) in entry_parts(session, &session.entries()[number as usize], &tools) {
            rest -= bytes;
            *out.entry(part).or_default() += bytes;
        }
        *out.entry(Part::Metadata).or_default() += rest;
    }
    sorted(out.into_iter().collect())
}

/// The bytes of a line that are more than metadata.
fn entry_parts(session: &Session, e: &Entry, tools: &BTreeMap<Id, String>) -> Vec<(Part, u64)> {
    let text = session.text(e);
    let mut out = Vec::new();
    match e.kind {
        Kind::Attachment => out.push((Part::Reminders, text.len() as u64)),
        Kind::ApiRequest | Kind::ApiRequestBlob | Kind::ApiRequestShape => {
            out.push((Part::Duplicates, text.len() as u64));
        }
        Kind::User | Kind::Assistant => {
            if e.flags.string_content() {
                out.push((
                    part_of(BlockKind::Text, Id::NONE, e, tools),
                    e.content.len() as u64,
                ));
            }
            for block in session.blocks(e) {
                let raw = block.span.of(text);
                let pictures: u64 = heavy(raw).iter().map(|i| i.len() as u64).sum();
                out.push((Part::Images, pictures));
                out.push((
                    part_of(block.kind, block.tool, e, tools),
                    raw.len() as u64 - pictures,
                ));
            }
            if e.flags.tool_use_result() {
                let all = fields(text).unwrap_or_default();
                let copies = all.iter().filter(|f| f.key.of(text) == b"toolUseResult");
                out.push((Part::Duplicates, copies.map(|f| f.value.len() as u64).sum()));
            }
        }
        _ => {}
    }
    out
}

fn part_of(kind: BlockKind, tool: Id, e: &Entry, tools: &BTreeMap<Id, String>) -> Part {
    match kind {
        BlockKind::Thinking | BlockKind::RedactedThinking => Part::Thinking,
        BlockKind::ToolUse | BlockKind::ServerToolUse => Part::Calls,
        BlockKind::ToolResult | BlockKind::ServerToolResult => Part::Results(
            tools
                .get(&tool)
                .cloned()
                .unwrap_or_else(|| "unknown".to_owned()),
        ),
        BlockKind::Image | BlockKind::Document => Part::Images,
        BlockKind::Text | BlockKind::Other => match (e.kind, e.prompt) {
            (Kind::Assistant, _) => Part::Answers,
            (Kind::User, _) if e.flags.compact_summary() => Part::Summaries,
            (Kind::User, PromptKind::Words | PromptKind::Command) => Part::Prompts,
            _ => Part::Reminders,
        },
    }
}

/// The tool of each call.
fn tool_names(session: &Session) -> BTreeMap<Id, String> {
    let named = session.calls().iter().filter_map(|call| {
        let at = call.uses.first()?;
        let line = session.text(&session.entries()[at.entry as usize]);
        Some((
            call.id,
            CallGist::of(session.block(at.block).span.of(line)).tool,
        ))
    });
    named.collect()
}

fn sorted(mut parts: Vec<(Part, u64)>) -> Vec<(Part, u64)> {
    parts.retain(|p| p.1 > 0);
    parts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    parts
}

/// One of the largest entries of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Large {
    /// The entry.
    pub entry: u32,
    /// Its turn, if it is on the live path; 0 before the first prompt.
    pub turn: Option<u32>,
    /// What most of it is.
    pub part: Part,
    /// The line's bytes.
    pub bytes: u64,
    /// What it takes in the window, if it is shown.
    pub tokens: u64,
    /// Words to know it by.
    pub gist: String,
}

/// The largest entries, largest first.
pub fn largest(session: &Session, calibration: &Calibration, count: usize) -> Vec<Large> {
    let tools = tool_names(session);
    let entries = session.entries();
    let len = |i: u32| session.document().lines()[entries[i as usize].line as usize].len() as u64;
    let mut order: Vec<u32> = (0..entries.len() as u32).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(len(i)), i));
    order.truncate(count);
    let tell = |i: u32| {
        let e = &entries[i as usize];
        let parts = entry_parts(session, e, &tools);
        let known: u64 = parts.iter().map(|p| p.1).sum();
        let main = parts
            .into_iter()
            .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
        let part = main
            .filter(|m| m.1 * 2 >= len(i) - known)
            .map_or(Part::Metadata, |m| m.0);
        let shown = session.graph().is_shown(i as usize);
        let weight = if shown {
            super::ledger::entry_weight(session, e)
        } else {
            Weight::default()
        };
        Large {
            entry: i,
            turn: session.turns().of(session.graph(), i as usize),
            part,
            bytes: len(i),
            tokens: calibration.tokens(weight) as u64,
            gist: words(session, e),
        }
    };
    order.into_iter().map(tell).collect()
}

/// Words to know an entry by: what was asked of its call, or its own, or what it is.
fn words(session: &Session, e: &Entry) -> String {
    let (what, gist) = super::entry_words::entry_gist(session, e);
    if gist.is_empty() { what } else { gist }
}
