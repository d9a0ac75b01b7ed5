//! What the repairs of torn lines share: where a line was, and how much of a string is left.

use crate::doctor::checks::chain::dangling_parent;
use crate::document::LineIx;
use crate::json::decode;
use crate::session::Session;
use crate::transcript::{Entry, EntryIx, LineState};

/// A record that was put together again.
pub(super) struct Restored {
    /// What it is: a prompt or a result.
    pub(super) kind: &'static str,
    /// The new line.
    pub(super) line: String,
    /// Its words.
    pub(super) words: String,
    /// Where the words come from.
    pub(super) source: &'static str,
}

/// Where a torn line is among the entries.
pub(super) struct Place<'s> {
    /// The nearest chain entry: the one after the line, or else the one before it.
    pub(super) like: &'s Entry,
    /// A time between those of its neighbours.
    pub(super) time: i64,
    /// The first entry after the line.
    next: EntryIx,
    line: LineIx,
}

impl<'s> Place<'s> {
    pub(super) fn of(session: &'s Session, line: LineIx) -> Option<Self> {
        let entries = session.entries();
        let next = EntryIx::new(entries.partition_point(|e| e.line < line));
        let is_chained = |i: &EntryIx| entries[*i].is_chained();
        let (like, time) = match session.numbers().skip(next.index()).find(is_chained) {
            Some(i) => (&entries[i], entries[i].time.saturating_sub(1)),
            None => {
                let before = next.before().rev().find(is_chained)?;
                (&entries[before], entries[before].time.saturating_add(1))
            }
        };
        let time = time.max(0);
        Some(Self {
            like,
            time,
            next,
            line,
        })
    }

    /// Returns the uuid under which the next entry without a parent still knows the record, unless another line that
    /// cannot be read is nearer to that entry.
    pub(super) fn named_by_child(&self, session: &Session) -> Option<String> {
        let child = dangling_parent::entries(session).find(|&i| i >= self.next)?;
        let child = session.entry(child);
        let between = session
            .lines()
            .get(self.line.index() + 1..child.line.index())?;
        let is_nearest = !between.contains(&LineState::Opaque);
        session
            .string(child, &["parentUuid"])
            .filter(|_| is_nearest)
    }
}

/// Returns the JSON string at the start of `text`, as far as it is there, and what follows it.
pub(super) fn string_at(text: &[u8]) -> Option<(String, &[u8])> {
    let inner = text.strip_prefix(b"\"")?;
    let mut at = 0;
    while at < inner.len() {
        let len = match inner[at] {
            b'"' => return Some((closed(&inner[..at]), &inner[at + 1..])),
            b'\\' if inner.get(at + 1) == Some(&b'u') => 6,
            b'\\' => 2,
            _ => 1,
        };
        // An escape that is cut off is not part of the words.
        if at + len > inner.len() {
            break;
        }
        at += len;
    }
    Some((closed(&inner[..at]), &[]))
}

fn closed(inner: &[u8]) -> String {
    let whole = [b"\"", inner, b"\""].concat();
    let words = decode(&whole);
    // So is a character that is cut off.
    words.trim_end_matches('\u{fffd}').to_owned()
}
