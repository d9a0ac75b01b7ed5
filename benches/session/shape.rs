//! The shapes that sessions have.

/// What a session looks like, as far as it matters for speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A few calls at a time, their results one after the other.
    Mixed,
    /// One or two calls a turn, each result below its own call.
    OneCall,
    /// Turns of 200 calls.
    LongTurns,
    /// Eight calls at a time, each result below its own call.
    Parallel,
    /// One chain of entries, as clients of 2.0 wrote it.
    OldChain,
    /// A compaction after every few turns, with preserved messages.
    Compactions,
    /// A person who goes back after every third turn.
    Branches,
    /// Many progress entries between a call and its result.
    Progress,
    /// Some lines of 10 MB: images and outputs.
    LongLines,
    /// Text in Chinese and Japanese, emoji, and escapes.
    Cjk,
    /// White space and an order of keys that no client writes.
    HandEdited,
    /// Half of the bytes in up to 5,000 files of subagents.
    Subagents,
    /// Recorded sessions, again and again with fresh ids.
    Repeated,
}

impl Shape {
    /// All shapes, in the order of the table.
    pub(crate) const ALL: [Self; 13] = [
        Self::Mixed,
        Self::OneCall,
        Self::LongTurns,
        Self::Parallel,
        Self::OldChain,
        Self::Compactions,
        Self::Branches,
        Self::Progress,
        Self::LongLines,
        Self::Cjk,
        Self::HandEdited,
        Self::Subagents,
        Self::Repeated,
    ];

    /// The name on the command line and in the table.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::OneCall => "one-call",
            Self::LongTurns => "long-turns",
            Self::Parallel => "parallel",
            Self::OldChain => "old-chain",
            Self::Compactions => "compactions",
            Self::Branches => "branches",
            Self::Progress => "progress",
            Self::LongLines => "long-lines",
            Self::Cjk => "cjk",
            Self::HandEdited => "hand-edited",
            Self::Subagents => "subagents",
            Self::Repeated => "repeated",
        }
    }

    /// The shape of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.name() == name)
    }

    /// The version of the client that writes such sessions.
    pub(super) fn version(self) -> &'static str {
        match self {
            Self::OldChain => "2.0.50",
            Self::Progress => "2.1.50",
            _ => "2.1.325",
        }
    }
}
