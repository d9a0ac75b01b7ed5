//! Selects content by turn, message, text, tool, file or call.

use std::borrow::Cow;

use globset::{Glob, GlobSet, GlobSetBuilder};
use regex::bytes::{Regex, RegexBuilder};
use rustc_hash::FxHashSet;
use serde_json::Value;

use crate::json::{decode, lookup};
use crate::session::{At, Call, Session, TurnRange};
use crate::surgery::{Refusal, RefusalKind, Remedy};
use crate::transcript::{Block, BlockKind, Entry, Id, Kind};

use super::removals::holds_copies;
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
}

/// What a selector matches.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Content blocks; of a call, both halves.
    pub(crate) blocks: Vec<At>,
    /// Entries that are selected as a whole, because their content has no blocks.
    pub(crate) entries: Vec<usize>,
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
            ..self.clone()
        };
        self.turns.is_some() && others.is_empty()
    }

    /// Returns the content that matches.
    pub(crate) fn select(&self, session: &Session) -> Result<Selection, Refusal> {
        let criteria = Criteria::new(self, session)?;
        let mut out = Selection::default();
        let mut calls: FxHashSet<Id> = FxHashSet::default();
        for (i, e) in session.entries().iter().enumerate() {
            if !criteria.holds_entry(session, i, e) {
                continue;
            }
            if e.blocks.0 == e.blocks.1 {
                if criteria.matches_whole(session, i, e) {
                    out.entries.push(i);
                }
                continue;
            }
            for number in e.blocks.0..e.blocks.1 {
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
                            let is_own =
                                |at: &&At| !holds_copies(&session.entries()[at.entry as usize]);
                            out.blocks.extend(both.filter(is_own));
                        }
                    }
                    None => out.blocks.push(At {
                        entry: i as u32,
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
    message: Option<FxHashSet<usize>>,
    matching: Option<Regex>,
    /// The calls that match; `None` if calls are not a criterion.
    calls: Option<FxHashSet<Id>>,
}

impl Criteria {
    fn new(selector: &Selector, session: &Session) -> Result<Self, Refusal> {
        let message = match &selector.message[..] {
            [] => None,
            names => Some(messages(session, names)?),
        };
        Ok(Self {
            turns: TurnFilter::new(session, selector.turns.as_ref(), None)?,
            message,
            matching: selector.matching.as_deref().map(regex).transpose()?,
            calls: calls(selector, session)?,
        })
    }

    fn holds_entry(&self, session: &Session, index: usize, entry: &Entry) -> bool {
        let named = match &self.message {
            Some(entries) => entries.contains(&index),
            None => entry.is_message(),
        };
        named && self.turns.holds(session, index)
    }

    /// Whether an entry matches that has no blocks: a prompt that is one string, or an entry that is not a message.
    fn matches_whole(&self, session: &Session, index: usize, entry: &Entry) -> bool {
        if self.calls.is_some() {
            return false;
        }
        match &self.matching {
            None => self.message.as_ref().is_some_and(|m| m.contains(&index)),
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
pub(crate) fn find_entry(session: &Session, name: &str) -> Result<usize, Refusal> {
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
    let mut found = session.entries().iter().enumerate().filter(|(i, e)| {
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
fn messages(session: &Session, names: &[String]) -> Result<FxHashSet<usize>, Refusal> {
    let mut out = FxHashSet::default();
    let mut ids: FxHashSet<Id> = FxHashSet::default();
    for name in names {
        let found = find_entry(session, name)?;
        let e = &session.entries()[found];
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

/// Returns the calls that match; `None` if no criterion is about calls.
fn calls(selector: &Selector, session: &Session) -> Result<Option<FxHashSet<Id>>, Refusal> {
    if selector.tool.is_empty() && selector.path.is_empty() && selector.id.is_empty() {
        return Ok(None);
    }
    let tools = globs(
        &selector.tool,
        false,
        "write a tool's name, or a pattern such as 'mcp__*'",
    )?;
    let paths = globs(
        &selector.path,
        true,
        "write a path, or a pattern such as 'src/*.rs'",
    )?;
    let ids = selector.id.iter().map(|id| find_call(session, id));
    let ids = ids.collect::<Result<FxHashSet<Id>, Refusal>>()?;
    let matches = |call: &&Call| {
        let Some(made) = call.uses.first() else {
            return false;
        };
        let (entry, block) = (
            &session.entries()[made.entry as usize],
            session.block(made.block),
        );
        (ids.is_empty() || ids.contains(&call.id))
            && tools
                .as_ref()
                .is_none_or(|g| g.is_match(&*session.tool_name(entry, block)))
            && paths.as_ref().is_none_or(|g| {
                file_of(session, entry, block).is_some_and(|path| g.is_match(&*path))
            })
    };
    let found = session.calls().iter().filter(matches).map(|call| call.id);
    Ok(Some(found.collect()))
}

/// Returns the file that a call reads or writes.
pub(crate) fn file_of<'s>(
    session: &'s Session,
    entry: &Entry,
    block: &Block,
) -> Option<Cow<'s, str>> {
    let inner = block.span.of(session.text(entry));
    let keys = ["file_path", "notebook_path", "path"];
    let raw = keys.iter().find_map(|key| lookup(inner, &["input", key]));
    let raw = raw?.of(inner);
    raw.starts_with(b"\"")
        .then(|| Cow::Owned(decode(raw).into_owned()))
}

/// Finds a call by its id, or by a unique end of it.
fn find_call(session: &Session, name: &str) -> Result<Id, Refusal> {
    let exact = Id::of(name.as_bytes());
    if session.calls().find(exact).is_some() {
        return Ok(exact);
    }
    let is_long_enough = name.chars().count() >= 4;
    let mut found = session.calls().iter().filter(|call| {
        is_long_enough
            && call.uses.first().is_some_and(|made| {
                let inner = session
                    .block(made.block)
                    .span
                    .of(session.text(&session.entries()[made.entry as usize]));
                lookup(inner, &["id"]).is_some_and(|id| decode(id.of(inner)).ends_with(name))
            })
    });
    match (found.next(), found.next()) {
        (Some(call), None) => Ok(call.id),
        (None, _) => Err(Refusal::with(
            RefusalKind::NoSuchCall,
            format!("the session has no call `{name}`"),
            [Remedy::ListCalls],
        )
        .as_usage()),
        (Some(_), Some(_)) => Err(Refusal::usage(
            RefusalKind::NoSuchCall,
            format!("several calls have ids that end with `{name}`"),
            "give more of the id",
        )),
    }
}

/// Builds globs. Those for files also match below any folder.
fn globs(patterns: &[String], is_path: bool, advice: &str) -> Result<Option<GlobSet>, Refusal> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        let bad = |e: globset::Error| {
            let message = format!("`{pattern}`: {}", e.kind());
            Refusal::usage(RefusalKind::BadGlob, message, advice)
        };
        builder.add(Glob::new(pattern).map_err(bad)?);
        if is_path && !pattern.starts_with('/') {
            builder.add(Glob::new(&format!("**/{pattern}")).map_err(bad)?);
        }
    }
    let built = builder.build();
    built
        .map(Some)
        .map_err(|e| Refusal::usage(RefusalKind::BadGlob, e.to_string(), advice))
}
