//! Values that a session's entries have in common.

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::json::decode;
use crate::transcript::{Entry, Id, SYNTHETIC};

use super::session::Session;

/// How many entries are read to see which of the collected values still occur.
const SAMPLE: usize = 64;

/// How many entries one core counts at a time.
const ENTRIES_PER_TASK: usize = 1 << 14;

impl Session {
    /// Returns the different values of a string field over all entries, in the order of their first occurrence.
    pub fn distinct(&self, key: &str) -> Vec<String> {
        if let Some(values) = self.inventory.of(key)
            && let Some(inventory) = self.still_listed(key, values)
        {
            return inventory.iter().map(|v| decode(v).into_owned()).collect();
        }
        let finder = memchr::memmem::Finder::new(&format!("\"{key}\":\"")).into_owned();
        let among = |entries: &[Entry]| {
            let mut seen: Vec<&[u8]> = Vec::new();
            let mut out: Vec<String> = Vec::new();
            for e in entries {
                let text = self.text(e);
                // The bytes after the key show whether the value is new, without reading the line.
                let parts = e.outside_conversation(text);
                let values = parts.iter().flat_map(|(_, part)| {
                    let found = finder.find_iter(part);
                    found.map(|at| &part[at + finder.needle().len()..])
                });
                let mut fresh = values.filter(|v| !seen.iter().any(|s| v.starts_with(s)));
                if fresh.next().is_none() {
                    continue;
                }
                let raw = self.lookup(e, &[key]).map_or(&[][..], |s| s.of(text));
                if raw.starts_with(b"\"") {
                    seen.push(&raw[1..]);
                    out.push(decode(raw).into_owned());
                }
            }
            out
        };
        let found: Vec<Vec<String>> = self.entries().par_chunks(256).map(among).collect();
        let mut out: Vec<String> = Vec::new();
        for value in found.into_iter().flatten() {
            if !out.contains(&value) {
                out.push(value);
            }
        }
        out
    }

    /// Returns those of the collected `values` that still occur, if the first lines have all of them, as they nearly always
    /// do.
    fn still_listed<'a>(&'a self, key: &str, values: &'a [Vec<u8>]) -> Option<Vec<&'a [u8]>> {
        if self.inventory.complete {
            return Some(values.iter().map(Vec::as_slice).collect());
        }
        let first = self.entries().iter().take(SAMPLE);
        let found = first.filter_map(|e| Some(self.lookup(e, &[key])?.of(self.text(e))));
        let mut inventory: Vec<&[u8]> = Vec::new();
        for value in found.filter(|v| v.starts_with(b"\"")) {
            if !inventory.contains(&value) {
                inventory.push(value);
            }
        }
        (inventory.len() == values.len()).then_some(inventory)
    }

    /// Whether all answers that name a model name this one (as JSON), except those that the client wrote. Also false where a
    /// removed answer named another.
    pub(crate) fn is_all_by(&self, model: &[u8]) -> bool {
        let allowed = |m: &Vec<u8>| m == model || m == SYNTHETIC;
        model.starts_with(b"\"") && self.inventory.models.iter().all(allowed)
    }

    /// Returns the session id that most entries carry, as they spell it.
    pub fn session_id_text(&self) -> Option<String> {
        let id = self.session_id()?;
        let entry = self.entries().iter().find(|e| e.session == id)?;
        self.string(entry, &["sessionId"])
    }

    /// Returns the session id that most entries have.
    pub fn session_id(&self) -> Option<Id> {
        if !self.inventory.several_sessions {
            // All entries with an id have the same, unless they were removed.
            let mut ids = self.entries().iter().map(|e| e.session);
            return ids.find(|id| id.is_some());
        }
        // Neighbours mostly have the same, so they are counted in runs.
        let count = |entries: &[Entry]| {
            let runs = entries.chunk_by(|a, b| a.session == b.session);
            let named = runs.filter(|s| s[0].session.is_some());
            named.map(|s| (s[0].session, s.len())).collect()
        };
        let counted: Vec<Vec<(Id, usize)>> = self
            .entries()
            .par_chunks(ENTRIES_PER_TASK)
            .map(count)
            .collect();
        let mut counts: IndexMap<Id, usize> = IndexMap::new();
        for (id, count) in counted.into_iter().flatten() {
            *counts.entry(id).or_default() += count;
        }
        // Of several with the same count, the one that occurs first.
        let most = counts.into_iter().rev().max_by_key(|&(_, n)| n);
        most.map(|(id, _)| id)
    }
}
