//! Removes tool calls with their results, or replaces their output by a note.

use std::borrow::Cow;
use std::sync::Arc;

use globset::{Glob, GlobSet, GlobSetBuilder};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::json::{Edit, decode, fields_around, lookup_around, remove_field};
use crate::session::{At, Call, Session, Standing, TurnRange};
use crate::surgery::{
    Action, ChangeKind, Detail, Excerpt, Plan, Refusal, RefusalKind, Remedy, Transform, Words,
};
use crate::transcript::{Block, BlockKind, Entry, EntryColumn, EntryIx, Id, Kind};

use super::agents::agents_gone;
use super::drop_images::{is_media, media_in};
use super::known::Known;
use super::queued_prompts::keep_in_place;
use super::removals::{
    BlockRemovals, Copies, holds_copies, may_hold_copies, remove_copies, thinking_id,
};
use super::selector::Selector;
use super::selector_calls::find_call;
use super::stub::plan_stubs;
use super::token_count::TokenCount;
use super::trim::newest_from;
use super::turn_filter::TurnFilter;

/// Removes calls together with their results, wherever each half is.
///
/// All criteria that are given must match; with none, every call matches.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DropTools {
    /// Names of tools, as globs.
    pub tool: Vec<String>,
    /// Ids of calls.
    pub id: Vec<String>,
    /// Only in these turns.
    pub turns: Option<TurnRange>,
    /// Only in these messages, by the uuid of a line or the beginning of one.
    pub message: Vec<String>,
    /// Only calls whose input or output matches this regular expression.
    pub matching: Option<String>,
    /// Only calls on these files, as globs.
    pub path: Vec<String>,
    /// Only calls larger than this, input and output together; for stubs, the output alone.
    pub larger_than: Option<SizeSpec>,
    /// Only calls that failed.
    pub errors: bool,
    /// Only calls whose results have no images or documents.
    pub without_images: bool,
    /// Leaves this many last turns alone, and earlier calls that have results or related entries in them.
    pub keep_last: Option<u32>,
    /// Leaves the newest content that has this many tokens alone, and earlier calls that have results in it.
    pub keep_tokens: Option<TokenCount>,
    /// Keeps the pair, and replaces the output by a note.
    pub stub: bool,
    /// Lines of an output that stay before the note.
    pub head: usize,
    /// Lines of an output that stay after the note.
    pub tail: usize,
    /// Keeps lines that matter after the note: failures, the last line, definitions in a file that was read.
    pub key_lines: bool,
}

/// How much of an output stays around the note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stub {
    /// Lines kept from the head.
    pub(crate) head: usize,
    /// Lines kept from the tail.
    pub(crate) tail: usize,
    /// Whether lines that matter stay.
    pub(crate) key_lines: bool,
}

impl Stub {
    /// Whether the whole output is replaced.
    pub(crate) fn keeps_nothing(self) -> bool {
        self.head == 0 && self.tail == 0 && !self.key_lines
    }
}

/// A size as people write it: `10k`, `1.5MB`, `800`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizeSpec(pub u64);

impl std::str::FromStr for SizeSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_lowercase();
        let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
        let factor = match lower[digits.len()..].trim() {
            "" | "b" => 1.0,
            "k" | "kb" => 1e3,
            "kib" => 1024.0,
            "m" | "mb" => 1e6,
            "mib" => 1024.0 * 1024.0,
            "g" | "gb" => 1e9,
            _ => return Err(format!("`{text}` is not a size; write 800, 10k or 1.5MB")),
        };
        let number: f64 = digits
            .parse()
            .map_err(|_| format!("`{text}` is not a size; write 800, 10k or 1.5MB"))?;
        if number < 0.0 {
            return Err(format!("`{text}` is negative"));
        }
        Ok(Self((number * factor) as u64))
    }
}

impl Transform for DropTools {
    fn name(&self) -> &'static str {
        "drop-tools"
    }

    fn plan(&self, session: &Session, say: Detail) -> Result<Plan, Refusal> {
        self.plan_with(session, say, None)
    }
}

impl DropTools {
    /// Makes the plan, without finding out again what is known.
    pub(crate) fn plan_with(
        &self,
        session: &Session,
        say: Detail,
        known: Option<&Known<'_>>,
    ) -> Result<Plan, Refusal> {
        let mut plan = Plan::with_detail(say);
        let chosen = self.choose(session, &mut plan)?;
        if self.stub {
            let stub = Stub {
                head: self.head,
                tail: self.tail,
                key_lines: self.key_lines,
            };
            plan_stubs(session, &chosen, (stub, known), &mut plan);
        } else {
            plan_drops(session, &chosen, known, &mut plan);
        }
        plan.dropped_agents = agents_gone(session, &plan);
        Ok(plan)
    }

    /// Returns the calls that match all criteria.
    fn choose<'a>(&self, session: &'a Session, plan: &mut Plan) -> Result<Vec<&'a Call>, Refusal> {
        let newest = self
            .keep_tokens
            .map(|TokenCount(tokens)| newest_from(session, tokens));
        let scope = TurnFilter::new(session, self.turns.as_ref(), self.keep_last)?
            .up_to(newest.unwrap_or(u32::MAX));
        let globs = self.globs()?;
        let ids = self.id.iter().map(|id| find_call(session, id));
        let ids = ids.collect::<Result<FxHashSet<Id>, Refusal>>()?;
        let among = self.selected(session)?;
        let unfinished = session.unfinished_turn();
        let mut kept = self
            .keep_last
            .map(|n| told_of(session, n))
            .unwrap_or_default();
        kept.extend(newest.iter().flat_map(|&from| calls_from(session, from)));
        let pictured = if self.without_images {
            pictured(session)
        } else {
            FxHashSet::default()
        };
        let mut fitting: FxHashMap<&[u8], bool> = FxHashMap::default();
        let mut fits = |globs: &GlobSet, made: &At| {
            let entry = session.entry(made.entry);
            let block = session.block(made.block);
            let fits = fitting.entry(session.tool_json(entry, block));
            *fits.or_insert_with(|| globs.is_match(&*session.tool_name(entry, block)))
        };
        let mut spared = 0;
        let chosen = session.calls().iter().filter(|call| {
            let Some(made) = call.uses.first() else {
                return false;
            };
            let matches = scope.holds(session, made.entry)
                && (ids.is_empty() || ids.contains(&call.id))
                && among.as_ref().is_none_or(|calls| calls.contains(&call.id))
                && !kept.contains(&call.id)
                && !pictured.contains(&call.id)
                && globs.as_ref().is_none_or(|g| fits(g, made))
                && self
                    .larger_than
                    .is_none_or(|limit| self.size(session, call) > limit.0)
                && (!self.errors || call.failed(session));
            let awaited = unfinished.is_some()
                && session.turns().of(session.graph(), made.entry) == unfinished;
            if matches && awaited && !ids.contains(&call.id) {
                spared += 1;
                return false;
            }
            matches
        });
        let chosen: Vec<&Call> = chosen.collect();
        if let Some(turn) = unfinished.filter(|_| !self.stub) {
            refuse_cut_off(session, &chosen, turn)?;
        }
        if spared > 0 {
            plan.warnings.push(format!("the last turn is unfinished: {spared} of its calls kept (to remove one, name it with --id)"));
        }
        Ok(chosen)
    }

    /// Returns the calls in the chosen messages, on the chosen files and with the chosen text; `None` for all calls.
    fn selected(&self, session: &Session) -> Result<Option<FxHashSet<Id>>, Refusal> {
        let selector = Selector {
            message: self.message.clone(),
            matching: self.matching.clone(),
            path: self.path.clone(),
            ..Selector::default()
        };
        if selector.is_empty() {
            return Ok(None);
        }
        Ok(Some(selector.select(session)?.calls.into_iter().collect()))
    }

    fn globs(&self) -> Result<Option<GlobSet>, Refusal> {
        if self.tool.is_empty() {
            return Ok(None);
        }
        let mut builder = GlobSetBuilder::new();
        for pattern in &self.tool {
            let bad = |e: globset::Error| {
                Refusal::usage(
                    RefusalKind::BadGlob,
                    format!("`{pattern}`: {}", e.kind()),
                    "write a tool's name, or a pattern such as 'mcp__*'",
                )
            };
            builder.add(Glob::new(pattern).map_err(bad)?);
        }
        builder
            .build()
            .map(Some)
            .map_err(|e| Refusal::usage(RefusalKind::BadGlob, e.to_string(), ""))
    }

    fn size(&self, session: &Session, call: &Call) -> u64 {
        let results: u64 = call
            .results
            .iter()
            .map(|r| session.block(r.block).span.len() as u64)
            .max()
            .unwrap_or(0);
        let input = call
            .uses
            .first()
            .map_or(0, |u| session.block(u.block).span.len() as u64);
        if self.stub { results } else { results + input }
    }
}

/// Refuses to remove a result if the text beside it would then be a prompt of its own after calls that still run: it would
/// cut these off from their results.
fn refuse_cut_off(session: &Session, chosen: &[&Call], turn: u32) -> Result<(), Refusal> {
    let entries = session.entries();
    let message = |call: &Call| {
        let made = call.uses.first()?;
        entries[made.entry].message_id.some()
    };
    let in_turn = |call: &Call| {
        let made = call.uses.first().map(|u| u.entry);
        made.and_then(|i| session.turns().of(session.graph(), i)) == Some(turn)
    };
    for call in chosen.iter().filter(|c| in_turn(c)) {
        let has_words = |e: EntryIx| {
            let mut blocks = session.blocks(&entries[e]).iter();
            blocks.any(|b| !b.kind.is_result())
        };
        let running = session.calls().iter().any(|other| {
            other.results.is_empty()
                && session.block(other.uses[0].block).kind == BlockKind::ToolUse
                && message(other) == message(call)
                && !chosen.iter().any(|c| c.id == other.id)
        });
        if running && call.results.iter().any(|r| has_words(r.entry)) {
            return Err(Refusal::with(
                RefusalKind::UnfinishedTurn,
                "the last turn is unfinished: text beside a removed result would cut off the calls that still run",
                [Remedy::NameOpenCalls],
            ));
        }
    }
    Ok(())
}

/// Returns the name of a call's tool.
pub(crate) fn tool_name<'a>(session: &'a Session, call: &Call) -> Cow<'a, str> {
    call.uses.first().map_or(Cow::Borrowed(""), |made| {
        let entry = session.entry(made.entry);
        session.tool_name(entry, session.block(made.block))
    })
}

/// Returns what a call asks for, in a few words.
pub(crate) fn call_gist(session: &Session, call: &Call) -> Excerpt {
    call.uses.first().map_or(Excerpt::None, |made| {
        let entry = session.entry(made.entry);
        Excerpt::of(session, entry, session.block(made.block), Words::Call)
    })
}

fn plan_drops(session: &Session, chosen: &[&Call], known: Option<&Known<'_>>, plan: &mut Plan) {
    if chosen.is_empty() {
        return;
    }
    let mut doomed = BlockRemovals::default();
    let mut messages: FxHashSet<Id> = FxHashSet::default();
    messages.reserve(chosen.len());
    for call in chosen {
        let both = call.uses.iter().chain(&call.results);
        // Second copies are removed further down, together with those of the thinking.
        let own = both.filter(|at| !holds_copies(session.entry(at.entry)));
        own.for_each(|&at| doomed.add(at));
        messages.extend(
            call.uses
                .iter()
                .filter_map(|u| session.entry(u.entry).message_id.some()),
        );
    }
    let thinking = doom_thinking(session, &messages, &mut doomed);
    let mut halves = Halves::default();
    let losers = doomed.plan(session, plan, |entry, block| match block.kind {
        kind if kind.is_call() => (
            halves.of(session, entry, block).0,
            Excerpt::of(session, entry, block, Words::Call),
        ),
        kind if kind.is_result() => {
            let made = session.calls().of(block).and_then(|c| c.uses.first());
            let what = made.map_or(ChangeKind::Result { tool: None }, |made| {
                let entry = session.entry(made.entry);
                halves.of(session, entry, session.block(made.block)).1
            });
            let gist = Excerpt::of(session, entry, block, Words::Content);
            (what, gist)
        }
        _ => {
            let gist = Excerpt::of(session, entry, block, Words::Thinking);
            (ChangeKind::Thinking, gist)
        }
    });
    // The client's own copy of a removed result is removed too, also from an entry that stays for its text.
    for i in losers {
        let e = session.entry(i);
        if e.flags.tool_use_result() && !plan.drops(e.line) {
            drop_field(session, plan, i, "toolUseResult");
        }
    }
    if session.flags_of_any().companion() || may_hold_copies(session) {
        let calls: FxHashSet<Id> = chosen.iter().map(|c| c.id).collect();
        drop_companions(session, &calls, known, plan);
        remove_copies(session, plan, &Copies { thinking, calls });
    }
    keep_in_place(session, plan);
}

/// The kinds of change for calls and results, by tool: thousands of calls share a few tools.
#[derive(Default)]
struct Halves(FxHashMap<Vec<u8>, (ChangeKind, ChangeKind)>);

impl Halves {
    /// Returns the kinds for a call, which this block of an entry makes, and for its result.
    fn of(&mut self, session: &Session, entry: &Entry, made: &Block) -> (ChangeKind, ChangeKind) {
        let raw = session.tool_json(entry, made);
        if let Some(halves) = self.0.get(raw) {
            return halves.clone();
        }
        let tool: Arc<str> = session.tool_name(entry, made).into();
        let call = ChangeKind::Call { tool: tool.clone() };
        let result = ChangeKind::Result { tool: Some(tool) };
        let halves = self.0.entry(raw.to_vec()).or_insert((call, result));
        halves.clone()
    }
}

/// Removes the thinking of messages that lose a call, because its signature covers the call. Returns what identifies it.
pub(crate) fn doom_thinking(
    session: &Session,
    messages: &FxHashSet<Id>,
    doomed: &mut impl Extend<At>,
) -> FxHashSet<Id> {
    let mut ids = FxHashSet::default();
    let copied = may_hold_copies(session);
    for (i, tag) in session.numbers().zip(session.heads()) {
        if tag.kind != Kind::Assistant || !tag.flags.thinking() {
            continue;
        }
        let e = session.entry(i);
        if !messages.contains(&e.message_id) {
            continue;
        }
        for at in session.thinking(i) {
            doomed.extend([at]);
            if copied {
                ids.extend(thinking_id(session.block(at.block), session.text(e)));
            }
        }
    }
    ids
}

/// Removes a field with a second copy from an entry.
pub(crate) fn drop_field(session: &Session, plan: &mut Plan, index: EntryIx, name: &str) {
    if let Some(edit) = without_field(session, index, name) {
        let e = session.entry(index);
        plan.edit_entry(session, e, ChangeKind::DuplicateOutput, [edit]);
    }
}

/// Returns what removes a field from an entry, if the entry has it.
pub(crate) fn without_field(session: &Session, index: EntryIx, name: &str) -> Option<Edit> {
    let e = session.entry(index);
    let text = session.text(e);
    let all = fields_around(text, e.words()).ok()?;
    let at = all.iter().position(|f| f.key.of(text) == name.as_bytes())?;
    Some(remove_field(&all, at))
}

/// Returns the calls that an entry belongs to without making or answering them.
pub(super) fn companion_of(session: &Session, e: &Entry) -> impl Iterator<Item = Id> {
    let paths: &[&[&str]] = match e.kind {
        _ if !e.flags.companion() => &[],
        Kind::Progress => &[&["parentToolUseID"], &["toolUseID"]],
        Kind::Attachment => &[&["attachment", "toolUseID"], &["toolUseID"]],
        Kind::User
            if session
                .blocks(e)
                .iter()
                .all(|b| b.kind != BlockKind::ToolResult) =>
        {
            &[&["sourceToolUseID"]]
        }
        Kind::System => &[&["toolUseID"]],
        _ => &[],
    };
    let text = session.text(e);
    let words = e.words();
    paths.iter().filter_map(move |path| {
        let raw = lookup_around(text, words, path)?.of(text);
        raw.starts_with(b"\"")
            .then(|| Id::of(decode(raw).as_bytes()))
    })
}

/// Returns the calls that have a result or a related entry in the last turns.
fn told_of(session: &Session, keep_last: u32) -> FxHashSet<Id> {
    let limit = (session.turns().len() as u32).saturating_sub(keep_last);
    calls_from(session, session.turns().begin(limit + 1))
}

/// Returns the calls that have a result or a related entry at this position of the live path or after it.
pub(crate) fn calls_from(session: &Session, from: u32) -> FxHashSet<Id> {
    let mut out = FxHashSet::default();
    for (i, e) in session.numbered() {
        let place = session.graph().place(i);
        if matches!(place, Standing::Path(p) | Standing::Beside(p) if p >= from) {
            let results = session.blocks(e).iter().filter(|b| b.kind.is_result());
            out.extend(results.map(|b| b.tool));
            out.extend(companion_of(session, e));
        }
    }
    out
}

/// Returns the calls whose results have images or documents.
fn pictured(session: &Session) -> FxHashSet<Id> {
    let mut out = FxHashSet::default();
    for e in session.entries().iter().filter(|e| e.kind == Kind::User) {
        let text = session.text(e);
        for block in session.blocks(e) {
            if is_media(block) {
                out.extend(companion_of(session, e));
            } else if block.kind.is_result() && !media_in(block.span.of(text)).is_empty() {
                out.insert(block.tool);
            }
        }
    }
    out
}

/// Removes entries that belong to a call: its progress, its hooks, and messages that it injected.
pub(crate) fn drop_companions(
    session: &Session,
    ids: &FxHashSet<Id>,
    known: Option<&Known<'_>>,
    plan: &mut Plan,
) {
    let named = session.entries().par_iter().map(|e| match known {
        _ if !e.flags.companion() => false,
        Some(known) => known.is_companion(session, e, |id| ids.contains(id)),
        None => companion_of(session, e).any(|id| ids.contains(&id)),
    });
    let named = EntryColumn::new(named.collect());
    for (i, e) in session.numbered() {
        if named[i] && !plan.drops(e.line) {
            let shown = if session.graph().is_shown(i) && e.kind != Kind::Progress {
                -(e.content.len() as i64)
            } else {
                0
            };
            plan.note(
                session,
                e,
                Action::Drop,
                ChangeKind::Related,
                -(session.text(e).len() as i64 + 1),
                shown,
                "",
            );
            plan.drop_line(e.line);
        }
    }
}
