//! Files that were read more than once.

use std::collections::BTreeMap;

use crate::json::{decode, lookup};
use crate::session::{Call, Session};
use crate::transcript::BlockKind;

use super::drop_tools::tool_name;
use super::stub::MARK;

/// What a newer client answers to a read whose file is as it was: it points to the earlier output.
const UNCHANGED: &str = "File unchanged since last read";

/// Lines that a read gives at most if nothing is said of how many.
const LINES: usize = 2000;

/// One read that brought a file's content.
struct Read {
    id: String,
    /// The offset, limit and pages that were asked for; empty for all that is given at once.
    part: String,
    /// Whether that was the whole file.
    whole: bool,
    turn: u32,
}

/// The ids of shown reads, oldest first, whose file was read again later, the same part of it or all:
/// their output is outdated or a duplicate. Only those of turns up to `last`.
pub(crate) fn outdone(session: &Session, last: u32) -> Vec<String> {
    let mut by_file: BTreeMap<String, Vec<Read>> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for call in session.calls().iter() {
        if let Some((path, read)) = read_of(session, call) {
            order.push(read.id.clone());
            by_file.entry(path).or_default().push(read);
        }
    }
    let mut out: Vec<String> = Vec::new();
    for reads in by_file.values() {
        for (i, read) in reads.iter().enumerate() {
            let again = |later: &Read| later.whole || later.part == read.part;
            if read.turn <= last && reads[i + 1..].iter().any(again) {
                out.push(read.id.clone());
            }
        }
    }
    let place: BTreeMap<&String, usize> = order.iter().zip(0..).collect();
    out.sort_by_key(|id| place.get(id));
    out
}

/// The file that a call read, if the model is shown its content.
fn read_of(session: &Session, call: &Call) -> Option<(String, Read)> {
    if tool_name(session, call) != "Read" {
        return None;
    }
    let (made, answered) = (call.uses.first()?, call.results.last()?);
    let at = answered.entry as usize;
    if !session.graph().is_shown(made.entry as usize) || !session.graph().is_shown(at) {
        return None;
    }
    let text = session.text(&session.entries()[made.entry as usize]);
    let inner = session.block(made.block).span.of(text);
    let input = lookup(inner, &["input"])?.of(inner);
    let field = |key: &str| lookup(input, &[key]).map(|s| decode(s.of(input)).into_owned());
    let part: Vec<String> = ["offset", "limit", "pages"]
        .iter()
        .filter_map(|k| field(k).map(|v| format!("{k}={v} ")))
        .collect();

    let block = session.block(answered.block);
    let result = block.span.of(session.text(&session.entries()[at]));
    let failed = lookup(result, &["is_error"]).is_some_and(|s| s.of(result) == b"true");
    let content = lookup(result, &["content"])?.of(result);
    let has = |words: &str| memchr::memmem::find(content, words.as_bytes()).is_some();
    if block.kind != BlockKind::ToolResult || failed || has(MARK) {
        return None;
    }
    // A file may well talk of this; only a short answer is one.
    if content.len() < 400 && has(UNCHANGED) {
        return None;
    }
    let part: String = part.concat();
    let lines = memchr::memmem::find_iter(content, br"\n").count() + 1;
    let read = Read {
        whole: part.is_empty() && lines < LINES,
        id: lookup(inner, &["id"]).map(|s| decode(s.of(inner)).into_owned())?,
        part,
        turn: session
            .turns()
            .of(session.graph(), made.entry as usize)
            .unwrap_or(u32::MAX),
    };
    Some((field("file_path")?, read))
}
