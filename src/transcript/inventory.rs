//! Values that occur anywhere in a transcript.

use super::entry::Entry;
use super::head::Flags;
use super::id::Id;
use super::reader::Repeated;

/// Values that occur anywhere in the transcript, collected while reading.
///
/// Values of fields are kept with their quotes, in the order of their first occurrence.
#[derive(Debug, Clone)]
pub(crate) struct Inventory {
    /// One bit for each kind of entry, and the facts that are true of at least one entry. An entry that was removed since
    /// may have been the only one.
    pub(crate) kinds: u32,
    pub(crate) flags: Flags,
    /// The first session id, and whether there is another.
    pub(crate) session: Id,
    pub(crate) several_sessions: bool,
    /// Whether no line was removed or edited since: each value still occurs.
    pub(crate) complete: bool,
    pub(crate) cwds: Vec<Vec<u8>>,
    pub(crate) slugs: Vec<Vec<u8>>,
    pub(crate) versions: Vec<Vec<u8>>,
    pub(crate) models: Vec<Vec<u8>>,
    /// The names of tools; see [`Block::named`](super::block::Block::named).
    pub(crate) tools: Vec<Vec<u8>>,
}

/// The new numbers of names, by their old numbers.
pub(crate) type Renumbered = [u8; 1 + u8::MAX as usize];

impl Default for Inventory {
    fn default() -> Self {
        Self {
            kinds: 0,
            flags: Flags::default(),
            session: Id::NONE,
            several_sessions: false,
            complete: true,
            cwds: Vec::new(),
            slugs: Vec::new(),
            versions: Vec::new(),
            models: Vec::new(),
            tools: Vec::new(),
        }
    }
}

impl Inventory {
    /// Returns the values of a field, if they are collected.
    pub(crate) fn of(&self, key: &str) -> Option<&Vec<Vec<u8>>> {
        match key {
            "cwd" => Some(&self.cwds),
            "slug" => Some(&self.slugs),
            "version" => Some(&self.versions),
            _ => None,
        }
    }

    /// Adds what an entry says.
    pub(crate) fn take(&mut self, line: &[u8], entry: &Entry, repeated: Repeated) {
        self.kinds |= 1 << entry.kind as u8;
        self.flags = self.flags.or(entry.flags);
        self.take_session(entry.session);
        note(&mut self.cwds, repeated.cwd.of(line));
        note(&mut self.slugs, repeated.slug.of(line));
        note(&mut self.versions, repeated.version.of(line));
        note(&mut self.models, repeated.model.of(line));
    }

    /// Adds the session id of an entry.
    fn take_session(&mut self, session: Id) {
        if !self.session.is_some() {
            self.session = session;
        }
        self.several_sessions |= session.is_some() && session != self.session;
    }

    /// Returns the number of a tool's name, counted from 1; 0 where it is not a name, or there are too many.
    pub(crate) fn tool(&mut self, raw: &[u8]) -> u8 {
        if let Some(at) = self.tools.iter().position(|t| t == raw) {
            return at as u8 + 1;
        }
        if !raw.starts_with(b"\"") || self.tools.len() == usize::from(u8::MAX) {
            return 0;
        }
        self.tools.push(raw.to_vec());
        self.tools.len() as u8
    }

    /// Adds the inventory of later entries; returns the new numbers of their tools' names.
    pub(crate) fn append(&mut self, next: &Self) -> Renumbered {
        self.kinds |= next.kinds;
        self.flags = self.flags.or(next.flags);
        self.take_session(next.session);
        self.several_sessions |= next.several_sessions;
        next.cwds.iter().for_each(|v| note(&mut self.cwds, v));
        next.slugs.iter().for_each(|v| note(&mut self.slugs, v));
        let versions = next.versions.iter();
        versions.for_each(|v| note(&mut self.versions, v));
        next.models.iter().for_each(|v| note(&mut self.models, v));
        let mut numbers = [0; 1 + u8::MAX as usize];
        for (number, name) in numbers[1..].iter_mut().zip(&next.tools) {
            *number = self.tool(name);
        }
        numbers
    }
}

/// Adds a string that is not there yet, looking at the last ones first.
fn note(values: &mut Vec<Vec<u8>>, raw: &[u8]) {
    if raw.starts_with(b"\"") && !values.iter().rev().any(|v| v == raw) {
        values.push(raw.to_vec());
    }
}
