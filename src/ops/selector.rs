//! Selects content by turn, message, text, tool, file or call.

use regex::bytes::{Regex, RegexBuilder};
use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::json::{decode, lookup};
use crate::session::{At, Session, TurnRange};
use crate::surgery::Refusal;
use crate::transcript::{Block, BlockKind, Entry, EntryIx, Id, Kind};

use super::drop_tools::SizeSpec;
use super::removals::holds_copies;
use super::selector_calls::{selected_calls, size_of};
use super::token_count::TokenCount;
use super::trim::newest_from;
use super::turn_filter::TurnFilter;

/// Criteria for content. All that are given must match.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selector {
    /// Only in these turns.
    pub turns: Option<TurnRange>,
    /// Only in these messages, by the uuid of a line or the beginning of one.
    pub message: Vec<String>,
    /// Only blocks whose text matches this regular expression.
    pub matching: Option<String>,
    /// Only calls of these tools, as globs, and their results.
    pub tool: Vec<String>,
    /// Only calls on these files, as globs, and their results.
    pub path: Vec<String>,
    /// Only these calls, by their ids or the ends of them, and their results.
    pub id: Vec<String>,
    /// Only calls that failed, and their results.
    pub errors: bool,
    /// Only calls larger than this, input and output together, and other blocks larger than this.
    pub larger_than: Option<SizeSpec>,
    /// Nothing of this many last turns.
    pub keep_last: Option<u32>,
    /// Nothing of the newest content that has this many tokens.
    pub keep_tokens: Option<TokenCount>,
}

/// What a selector matches.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Content blocks; of a call, both halves.
    pub(crate) blocks: Vec<At>,
    /// Entries that are selected as a whole, because their content has no blocks.
    pub(crate) entries: Vec<EntryIx>,
    /// The calls whose halves are among the blocks.
    pub(crate) calls: Vec<Id>,
}

impl Selector {
    /// Whether no criterion is given.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether turns are selected as a whole.
    pub fn selects_whole_turns(&self) -> bool {
        let others = Self {
            turns: None,
            keep_last: None,
            keep_tokens: None,
            ..self.clone()
        };
        !self.is_empty() && others.is_empty()
    }

    /// Returns the first and the last turn that are selected as a whole; `None` if there are none.
    pub(crate) fn whole_turns(&self, session: &Session) -> Result<Option<(u32, u32)>, Refusal> {
        let turns = session.turns();
        let count = turns.len() as u32;
        let range = self.turns.as_ref().map(|range| range.resolve(session));
        let (first, last) = range.transpose()?.unwrap_or((1, count));
        let last = last.min(count.saturating_sub(self.keep_last.unwrap_or(0)));
        let end = self.kept_from(session);
        let is_old = |number: &u32| turns.get(*number).is_some_and(|turn| turn.path.1 <= end);
        let last = (first..=last).rev().find(is_old);
        Ok(last.map(|last| (first, last)))
    }

    /// Returns the turns that are selected.
    pub(crate) fn turn_filter(&self, session: &Session) -> Result<TurnFilter, Refusal> {
        let filter = TurnFilter::new(session, self.turns.as_ref(), self.keep_last)?;
        Ok(filter.up_to(self.kept_from(session)))
    }

    /// Returns the position of the live path from which on everything stays because of the tokens that are kept.
    fn kept_from(&self, session: &Session) -> u32 {
        match self.keep_tokens {
            Some(TokenCount(tokens)) => newest_from(session, tokens),
            None => u32::MAX,
        }
    }

    /// Returns the content that matches.
    pub(crate) fn select(&self, session: &Session) -> Result<Selection, Refusal> {
        let criteria = Criteria::new(self, session)?;
        let mut out = Selection::default();
        let mut calls: FxHashSet<Id> = FxHashSet::default();
        for (i, e) in session.numbered() {
            if !criteria.holds_entry(session, i, e) {
                continue;
            }
            if e.blocks.is_empty() {
                if criteria.matches_whole(session, e) {
                    out.entries.push(i);
                }
                continue;
            }
            for number in e.blocks.numbers() {
                let block = session.block(number);
                if !criteria.matches_block(session, e, block) {
                    continue;
                }
                match session.calls().of(block) {
                    Some(call) => {
                        if calls.insert(call.id) {
                            out.calls.push(call.id);
                            let both = call.uses.iter().chain(&call.results);
                            // Copies that the client keeps for itself are removed apart.
                            let is_own = |at: &&At| !holds_copies(session.entry(at.entry));
                            out.blocks.extend(both.filter(is_own));
                        }
                    }
                    None => out.blocks.push(At {
                        entry: i,
                        block: number,
                    }),
                }
            }
        }
        Ok(out)
    }
}

/// A selector whose names were looked up in a session.
struct Criteria {
    turns: TurnFilter,
    /// The entries of the messages that are named; `None` for all.
    message: Option<FxHashSet<EntryIx>>,
    matching: Option<Regex>,
    /// The calls that match; `None` if calls are not a criterion.
    calls: Option<FxHashSet<Id>>,
    larger_than: Option<u64>,
}

impl Criteria {
    fn new(selector: &Selector, session: &Session) -> Result<Self, Refusal> {
        let message = match &selector.message[..] {
            [] => None,
            names => Some(messages(session, names)?),
        };
        Ok(Self {
            turns: selector.turn_filter(session)?,
            message,
            matching: selector.matching.as_deref().map(regex).transpose()?,
            calls: selected_calls(selector, session)?,
            larger_than: selector.larger_than.map(|size| size.0),
        })
    }

    fn holds_entry(&self, session: &Session, index: EntryIx, entry: &Entry) -> bool {
        let named = match &self.message {
            Some(entries) => entries.contains(&index),
            None => entry.is_message(),
        };
        named && self.turns.holds(session, index)
    }

    /// Whether an entry matches that has no blocks: a prompt that is one string, or an entry that is not a message.
    fn matches_whole(&self, session: &Session, entry: &Entry) -> bool {
        if self.calls.is_some() {
            return false;
        }
        let is_large = |size| entry.content.len() as u64 > size;
        if !self.larger_than.is_none_or(is_large) {
            return false;
        }
        match &self.matching {
            None if self.larger_than.is_some() => entry.flags.string_content(),
            None => true,
            Some(regex) => {
                entry.flags.string_content()
                    && regex.is_match(decode(entry.content.of(session.text(entry))).as_bytes())
            }
        }
    }

    fn matches_block(&self, session: &Session, entry: &Entry, block: &Block) -> bool {
        if let Some(calls) = &self.calls
            && !session
                .calls()
                .of(block)
                .is_some_and(|call| calls.contains(&call.id))
        {
            return false;
        }
        let size = || match session.calls().of(block) {
            Some(call) => size_of(session, call),
            None => block.span.len() as u64,
        };
        if self.larger_than.is_some_and(|least| size() <= least) {
            return false;
        }
        self.matching
            .as_ref()
            .is_none_or(|regex| regex.is_match(block_text(session, entry, block).as_bytes()))
    }
}

/// Returns the text of a block as a person reads it: words, the texts of a call's input, or the output of a result.
pub(crate) fn block_text(session: &Session, entry: &Entry, block: &Block) -> String {
    let line = session.text(entry);
    let inner = block.span.of(line);
    let words = |key: &str| {
        lookup(inner, &[key]).map_or_else(String::new, |s| decode(s.of(inner)).into_owned())
    };
    let value = |key: &str| {
        let raw = lookup(inner, &[key]).map(|s| s.of(inner));
        raw.and_then(|raw| serde_json::from_slice::<Value>(raw).ok())
    };
    let mut out = Vec::new();
    match block.kind {
        BlockKind::Text => return words("text"),
        BlockKind::Thinking => return words("thinking"),
        kind if kind.is_call() => collect(value("input"), &mut out),
        kind if kind.is_result() => match value("content") {
            Some(Value::Array(parts)) => {
                for part in parts {
                    collect(part.get("text").cloned(), &mut out);
                }
            }
            content => collect(content, &mut out),
        },
        _ => {}
    }
    out.join("\n")
}

/// Gathers the strings and numbers of a value.
fn collect(value: Option<Value>, out: &mut Vec<String>) {
    match value {
        Some(Value::String(text)) => out.push(text),
        Some(Value::Number(number)) => out.push(number.to_string()),
        Some(Value::Array(all)) => all.into_iter().for_each(|v| collect(Some(v), out)),
        Some(Value::Object(all)) => all.into_iter().for_each(|(_, v)| collect(Some(v), out)),
        _ => {}
    }
}

fn regex(pattern: &str) -> Result<Regex, Refusal> {
    let built = RegexBuilder::new(pattern).unicode(false).build();
    built.map_err(|e| {
        let reason = e.to_string();
        let reason = reason.lines().last().unwrap_or_default();
        let reason = reason.trim_start_matches("error: ");
        Refusal::usage(
            "bad-regex",
            format!("`{pattern}` is not a regular expression: {reason}"),
            "write a \\ before characters such as ( [ * + ? to mean the character itself",
        )
    })
}

/// Returns the entry of the graph that a person names by its uuid or the beginning of it.
pub(crate) fn find_entry(session: &Session, name: &str) -> Result<EntryIx, Refusal> {
    let hint = "see the ids of messages with: ccsurgery show --turns N";
    if name.chars().count() < 4 {
        return Err(Refusal::usage(
            "no-such-message",
            format!("`{name}` is too short for the id of a message"),
            "give at least 4 characters of it",
        ));
    }
    if let Some(exact) = session.find(Id::of(name.as_bytes())) {
        return Ok(exact);
    }
    let mut found = session.numbered().filter(|(i, e)| {
        e.is_chained()
            && session.graph().known_as(session.entries(), *i) == *i
            && session.uuid(e).is_some_and(|u| u.starts_with(name))
    });
    match (found.next(), found.next()) {
        (Some((i, _)), None) => Ok(i),
        (None, _) => Err(Refusal::usage(
            "no-such-message",
            format!("the session has no message `{name}`"),
            hint,
        )),
        (Some(_), Some(_)) => Err(Refusal::usage(
            "ambiguous-message",
            format!("several messages have ids that begin with `{name}`"),
            "give more of the id",
        )),
    }
}

/// Returns all entries of the messages that are named: an answer has a line for each block.
pub(crate) fn messages(session: &Session, names: &[String]) -> Result<FxHashSet<EntryIx>, Refusal> {
    let mut out = FxHashSet::default();
    let mut ids: FxHashSet<Id> = FxHashSet::default();
    for name in names {
        let found = find_entry(session, name)?;
        let e = session.entry(found);
        out.insert(found);
        if e.kind == Kind::Assistant {
            ids.extend(e.message_id.some());
        }
    }
    if !ids.is_empty() {
        let answers = session.entries_of(Kind::Assistant);
        let lines = answers.filter(|(_, e)| ids.contains(&e.message_id));
        out.extend(lines.map(|(i, _)| i));
    }
    Ok(out)
}
