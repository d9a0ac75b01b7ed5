//! What people are shown of a session, as data: overview, turns as readable items, statistics, comparison, branches.
//!
//! The types that `--json` prints are `Serialize`; each document carries [`SCHEMA`].

mod boundary;
mod branches;
mod call_summary;
mod compare;
mod conversation;
mod difference;
mod excerpt;
mod file_edit;
mod fullness;
mod highlight;
mod inspection;
mod items;
mod markdown;
mod overview;
mod search;
mod session_row;
mod session_text;
mod status;
mod subagents;
mod turn_list;
mod turn_stats;
mod word_diff;

pub(crate) use boundary::back_to_boundary;
pub use branches::{Branch, Branches};
pub use call_summary::CallSummary;
pub use compare::{Changed, Comparison};
#[cfg(feature = "ui")]
pub(crate) use conversation::live_members;
pub use conversation::{Conversation, TurnContent};
pub use difference::{ChangedEntry, Compared, Difference, DifferenceSide, EntryReference};
pub use excerpt::{entry_label, entry_summary, entry_text};
pub(crate) use excerpt::{result_words, words_of};
pub use file_edit::FileEdit;
pub use fullness::window_limit;
pub use highlight::{CodeKind, CodeLine, code_lines};
pub use inspection::{BytePart, FileUse, Inspection, LargeEntry, Suggestion, TokenPart, WindowUse};
pub use items::{CallItem, ItemContent, MediaItem, TurnItem, note_heading};
pub use markdown::{Inline, MarkdownBlock, markdown};
pub use overview::{Overview, prompt_as_typed, prompt_text};
pub use search::{
    FoundSession, Hit, HitText, Match, Pattern, PatternError, PatternOptions, Search, SearchReport,
    TextKind, Whereabouts,
};
pub use session_row::{SessionList, SessionRow};
pub(crate) use session_text::reveal_while;
pub use session_text::{SessionJson, SessionText};
pub use status::{Next, State, Status};
pub use subagents::{AgentFile, Subagent, Subagents};
pub use turn_list::{ToolCount, TurnList, TurnRow};
pub use turn_stats::{Growth, TurnStats};
pub use word_diff::{Segment, SegmentKind, segments};

use std::path::Path;

use serde::Serializer;

/// Version of the documents that `--json` prints. It grows when a key changes its meaning or its type.
pub const SCHEMA: u32 = 1;

/// Serializes a path; what is not UTF-8 in it is replaced.
pub(crate) fn shown_path<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}
