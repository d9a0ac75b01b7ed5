//! What the lines of a transcript mean: entries, the graph that they form, turns, calls and references.

mod attachment;
mod compare;
mod entry;
mod entry_words;
mod gist;
mod glance;
mod graph;
mod id;
mod image;
mod index;
mod ledger;
mod outlook;
mod payload;
mod prompt;
mod reader;
mod refs;
mod rows;
mod said;
mod shown;
mod story;
mod successor;
mod tokens;
mod tools;
mod turn_facts;
mod turn_spec;
mod turns;
mod usage;
mod usual;
mod xray;

pub use compare::{Changed, Comparison};
pub use entry::{
    Block, BlockKind, Entry, Flags, ID_LEN, IdsAt, Kind, LEADING_PARENT, LineState, Subtype, Tag,
};
pub use entry_words::{entry_gist, entry_words};
pub use gist::CallGist;
pub use glance::{Glance, prompt_words, spoken};
pub use graph::{Graph, Place};
pub use id::Id;
pub(crate) use id::hash as hash_of_id;
pub use image::{Picture, images};
pub use index::Session;
pub use ledger::{Ledger, line_weight};
pub use outlook::{Next, Outlook, State};
pub use payload::{Message, Role, payload};
pub use prompt::PromptKind;
pub use reader::reread;
pub use refs::{IdUse, LONGEST_ID, visit_ids};
pub use shown::Shown;
pub use story::{Item, story};
pub use tokens::{Calibration, Overstated, Weight};
pub use tools::{At, Call, Calls, Places};
pub use turn_facts::{Growth, TurnFacts};
pub use turn_spec::{TurnError, TurnRange, TurnSpec};
pub use turns::{Turn, Turns, turn_end};
pub(crate) use usage::{lower_usage, recorded_window};
pub use xray::{Large, Part, Tools, WindowWeights, file_parts, largest};
