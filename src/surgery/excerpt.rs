//! Short excerpts that show people what a change concerns, read only when they are shown.

use crate::json::{decode_head, lookup};
use crate::session::Session;
use crate::transcript::{Block, Entry};
use crate::view::{CallSummary, SessionText};

/// How many characters are read: more than any terminal shows, so that a key at the end of what is shown is whole
/// when it is masked.
const LONGEST: usize = 600;

/// An excerpt of what a change concerns.
///
/// Most of the tens of thousands of changes of a large session are only counted, so an excerpt is a place in the file that
/// is read when it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Excerpt {
    /// There is nothing to show.
    #[default]
    None,
    /// This text.
    Words(Box<str>),
    /// A part of a block.
    Block {
        /// Where in the file it begins.
        start: u64,
        /// How many bytes it has.
        len: u32,
        /// Which part.
        of: Words,
    },
}

/// Which part of a block shows what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// The text of thinking.
    Thinking,
    /// The name of a tool.
    Name,
    /// The content of a result.
    Content,
    /// The input of a call.
    Call,
}

impl Words {
    fn read(self, block: &[u8]) -> String {
        let key = match self {
            Words::Call => {
                return CallSummary::of(block)
                    .gist
                    .raw()
                    .chars()
                    .take(LONGEST)
                    .collect();
            }
            Words::Thinking => "thinking",
            Words::Name => "name",
            Words::Content => "content",
        };
        let raw = lookup(block, &[key]).map_or(&[][..], |s| s.of(block));
        // A character takes at most six bytes to spell, if it is not one of a pair.
        let head = decode_head(raw, LONGEST * 6);
        head.chars().take(LONGEST).collect()
    }
}

impl Excerpt {
    /// Returns the excerpt of an entry's block.
    pub fn of(session: &Session, entry: &Entry, block: &Block, of: Words) -> Self {
        if of == Words::Thinking && !block.has_readable_thinking() {
            return Excerpt::None;
        }
        let line = entry.line;
        let Some(start) = session.document().lines()[line].start_in_file() else {
            // It was made by an earlier step, and is gone when the change is shown.
            return of.read(block.span.of(session.text(entry))).into();
        };
        Excerpt::Block {
            start: start + u64::from(block.span.start),
            len: block.span.len() as u32,
            of,
        }
    }

    /// Whether there is nothing to show.
    pub fn is_none(&self) -> bool {
        *self == Excerpt::None
    }

    /// Whether the text may turn out to be empty. Long blocks have text, and encrypted thinking never gets an excerpt.
    pub(crate) fn may_be_empty(&self) -> bool {
        match self {
            Excerpt::None => true,
            Excerpt::Words(_) => false,
            Excerpt::Block { len, of, .. } => *of != Words::Thinking && *len < 256,
        }
    }

    /// Returns the text, of a session that was read from `source`.
    pub fn read(&self, source: &[u8]) -> SessionText {
        match self {
            Excerpt::None => SessionText::default(),
            Excerpt::Words(words) => (&**words).into(),
            Excerpt::Block { start, len, of } => {
                let start = *start as usize;
                let block = source.get(start..start + *len as usize);
                of.read(block.unwrap_or_default()).into()
            }
        }
    }
}

impl From<String> for Excerpt {
    fn from(words: String) -> Self {
        if words.is_empty() {
            Excerpt::None
        } else {
            Excerpt::Words(words.into())
        }
    }
}

impl From<SessionText> for Excerpt {
    fn from(text: SessionText) -> Self {
        text.into_raw().into()
    }
}

impl From<&str> for Excerpt {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}
