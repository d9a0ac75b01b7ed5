//! A whole transcript: entries, the graph they form, calls and their results, turns, and how one session is derived from another.
//!
//! Knows nothing of tokens, of people, or of disks.

mod build;
mod calls;
mod derive;
mod entries;
mod graph;
mod live_path;
mod merge;
mod midstream;
mod preserved;
mod session;
#[cfg(test)]
mod tests;
mod turn_spec;
mod turns;
mod values;

pub use calls::{At, Call, Calls, Places};
pub use graph::{Graph, Standing};
pub use session::Session;
pub use turn_spec::{TurnError, TurnRange, TurnSpec};
pub(crate) use turns::is_queued_prompt;
pub use turns::{Turn, Turns, turn_end};
