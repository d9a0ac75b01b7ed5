//! What can be said of all entries of a session together.

use super::entry::{Entry, Flags};
use super::id::Id;
use super::reader::Repeated;

/// What can be said of all entries together: the different values of fields that most lines repeat, quotes included, in the
/// order of their first occurrence; and what is true of any.
#[derive(Debug, Clone)]
pub(crate) struct Inventory {
    /// A bit for each kind that one of them is, and what is true of one of them; or was, of one that was taken away.
    pub(crate) kinds: u32,
    pub(crate) flags: Flags,
    /// The first session that one of them names, and whether one names another.
    pub(crate) session: Id,
    pub(crate) several_sessions: bool,
    /// Whether no line was taken away since, which may have held the only mention of one.
    pub(crate) complete: bool,
    pub(crate) cwds: Vec<Vec<u8>>,
    pub(crate) slugs: Vec<Vec<u8>>,
    pub(crate) versions: Vec<Vec<u8>>,
    pub(crate) models: Vec<Vec<u8>>,
    /// The names of tools that calls name; see [`Block::named`](super::entry::Block::named).
    pub(crate) tools: Vec<Vec<u8>>,
}

/// The numbers of names in another list, by their numbers in one.
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
    /// The values of a field, if they are known.
    pub(crate) fn of(&self, key: &str) -> Option<&Vec<Vec<u8>>> {
        match key {
            "cwd" => Some(&self.cwds),
            "slug" => Some(&self.slugs),
            "version" => Some(&self.versions),
            _ => None,
        }
    }

    pub(crate) fn take(&mut self, line: &[u8], entry: &Entry, repeated: Repeated) {
        self.kinds |= 1 << entry.kind as u8;
        self.flags = self.flags.or(entry.flags);
        self.take_session(entry.session);
        note(&mut self.cwds, repeated.cwd.of(line));
        note(&mut self.slugs, repeated.slug.of(line));
        note(&mut self.versions, repeated.version.of(line));
        note(&mut self.models, repeated.model.of(line));
    }

    /// Takes the session that an entry names.
    fn take_session(&mut self, session: Id) {
        if !self.session.is_some() {
            self.session = session;
        }
        self.several_sessions |= session.is_some() && session != self.session;
    }

    /// The number of a tool's name, counted from 1; 0 where it is none, or one too many.
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

    /// Takes what is said of the entries that follow, and tells under which numbers it took the names of their tools.
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

/// Takes a string that is not there yet; the last one is the likeliest.
fn note(values: &mut Vec<Vec<u8>>, raw: &[u8]) {
    if raw.starts_with(b"\"") && !values.iter().rev().any(|v| v == raw) {
        values.push(raw.to_vec());
    }
}
