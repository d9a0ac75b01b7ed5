//! Selects calls by tool, file, id, size or failure.

use std::borrow::Cow;

use globset::{Glob, GlobSet, GlobSetBuilder};
use rustc_hash::FxHashSet;

use crate::json::{decode, lookup};
use crate::session::{At, Call, Session};
use crate::surgery::{Refusal, RefusalKind, Remedy};
use crate::transcript::project_path::with_slashes;
use crate::transcript::{Block, Entry, Id};

use super::selector::Selector;

/// Returns the calls that match; `None` if no criterion is about calls.
pub(super) fn selected_calls(
    selector: &Selector,
    session: &Session,
) -> Result<Option<FxHashSet<Id>>, Refusal> {
    let by_name = [&selector.tool, &selector.path, &selector.id];
    if by_name.iter().all(|names| names.is_empty()) && !selector.errors {
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
        let (entry, block) = (session.entry(made.entry), session.block(made.block));
        (ids.is_empty() || ids.contains(&call.id))
            && (!selector.errors || call.failed(session))
            && tools
                .as_ref()
                .is_none_or(|g| g.is_match(&*session.tool_name(entry, block)))
            && paths.as_ref().is_none_or(|g| {
                let path = file_of(session, entry, block);
                path.is_some_and(|path| g.is_match(&*with_slashes(&path)))
            })
    };
    let found = session.calls().iter().filter(matches).map(|call| call.id);
    Ok(Some(found.collect()))
}

/// Returns the size of a call, input and output together.
pub(super) fn size_of(session: &Session, call: &Call) -> u64 {
    let len = |at: &At| session.block(at.block).span.len() as u64;
    let input = call.uses.first().map_or(0, len);
    input + call.results.iter().map(len).max().unwrap_or(0)
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
pub(super) fn find_call(session: &Session, name: &str) -> Result<Id, Refusal> {
    let exact = Id::of(name.as_bytes());
    let is_made = |call: &Call| !call.uses.is_empty();
    if session.calls().find(exact).is_some_and(is_made) {
        return Ok(exact);
    }
    let is_long_enough = name.chars().count() >= 4;
    let mut found = session.calls().iter().filter(|call| {
        is_long_enough
            && call.uses.first().is_some_and(|made| {
                let inner = session
                    .block(made.block)
                    .span
                    .of(session.text(session.entry(made.entry)));
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

/// Builds globs. Those for files also match below any folder, and may be written as paths of Windows.
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
        let glob = if is_path {
            with_slashes(pattern)
        } else {
            Cow::Borrowed(&**pattern)
        };
        builder.add(Glob::new(&glob).map_err(bad)?);
        if is_path && !glob.starts_with('/') {
            builder.add(Glob::new(&format!("**/{glob}")).map_err(bad)?);
        }
    }
    let built = builder.build();
    built
        .map(Some)
        .map_err(|e| Refusal::usage(RefusalKind::BadGlob, e.to_string(), advice))
}
