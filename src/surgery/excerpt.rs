//! The words by which a person knows what a change is about, read only where they are shown.

use crate::json::{decode_head, lookup};
use crate::session::Session;
use crate::transcript::{Block, Entry};
use crate::view::CallSummary;

/// How many characters are ever shown.
const LONGEST: usize = 120;

/// The words that a change concerns.
///
/// Most of the tens of thousands of changes of a large session are only counted. So a gist is a place in the
/// file, and not looked at until somebody wants to read it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Excerpt {
    /// There is nothing to be said.
    #[default]
    None,
    /// These words.
    Words(Box<str>),
    /// The words of a block.
    Block {
        /// Where in the file it begins.
        start: u64,
        /// How many bytes it has.
        len: u32,
        /// Which of its words.
        of: Words,
    },
}

/// Which words of a block tell what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// What was thought.
    Thinking,
    /// The name of a tool.
    Name,
    /// What a call brought.
    Content,
    /// What is asked of a tool.
    Call,
}

impl Words {
    fn read(self, block: &[u8]) -> String {
        let key = match self {
            Words::Call => return CallSummary::of(block).gist.chars().take(LONGEST).collect(),
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
    /// The words of a block of an entry.
    pub fn of(session: &Session, entry: &Entry, block: &Block, of: Words) -> Self {
        if of == Words::Thinking && !block.has_readable_thinking() {
            return Excerpt::None;
        }
        let line = entry.line as usize;
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

    /// Whether there is surely nothing to be said.
    pub fn is_none(&self) -> bool {
        *self == Excerpt::None
    }

    /// Whether there may turn out to be nothing to be said. What is long says something, and sealed thinking has none.
    pub(crate) fn may_be_empty(&self) -> bool {
        match self {
            Excerpt::None => true,
            Excerpt::Words(_) => false,
            Excerpt::Block { len, of, .. } => *of != Words::Thinking && *len < 256,
        }
    }

    /// The words, of a session that was read from `source`; raw, neither cleaned nor masked.
    pub fn read(&self, source: &[u8]) -> String {
        match self {
            Excerpt::None => String::new(),
            Excerpt::Words(words) => words.to_string(),
            Excerpt::Block { start, len, of } => {
                let start = *start as usize;
                let block = source.get(start..start + *len as usize);
                of.read(block.unwrap_or_default())
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

impl From<&str> for Excerpt {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}
