//! What the lines of a transcript mean: entries, the graph that they form, turns, calls and references.

mod attachment;
mod entry;
mod gist;
mod glance;
mod graph;
mod id;
mod image;
mod index;
mod outlook;
mod payload;
mod prompt;
mod refs;
mod shown;
mod tokens;
mod tools;
mod turn_spec;
mod turns;

pub use entry::{Block, BlockKind, Entry, Flags, Kind, LineState, Subtype};
pub use gist::CallGist;
pub use glance::{Glance, prompt_words};
pub use graph::{Graph, Place};
pub use id::Id;
pub use image::{Picture, images};
pub use index::Session;
pub use outlook::{Next, Outlook, State};
pub use payload::{Message, Role, payload};
pub use prompt::PromptKind;
pub use refs::{IdUse, visit_ids};
pub use shown::Shown;
pub use tokens::{Calibration, Weight, window_tokens};
pub use tools::{At, Call, Calls};
pub use turn_spec::{TurnError, TurnRange, TurnSpec};
pub use turns::{Turn, Turns};
