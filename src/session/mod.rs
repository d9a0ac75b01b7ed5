//! What the lines of a transcript mean: entries, the graph that they form, turns, calls and references.

mod entry;
mod glance;
mod graph;
mod id;
mod index;
mod prompt;
mod refs;
mod tokens;
mod tools;
mod turn_spec;
mod turns;

pub use entry::{Block, BlockKind, Entry, Flags, Kind, LineState, Subtype};
pub use glance::{Glance, prompt_words};
pub use graph::{Graph, Place};
pub use id::Id;
pub use index::Session;
pub use prompt::PromptKind;
pub use refs::{IdUse, visit_ids};
pub use tokens::{recorded_at, window_tokens};
pub use tools::{At, Call, Calls};
pub use turn_spec::{TurnError, TurnRange, TurnSpec};
pub use turns::{Turn, Turns};
