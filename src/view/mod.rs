//! What people are shown of a session, as data: overview, turns as readable items, statistics, comparison, branches.

mod call_summary;
mod compare;
mod excerpt;
mod items;
mod overview;
mod status;
mod turn_stats;

pub use call_summary::CallSummary;
pub use compare::{Changed, Comparison};
pub use excerpt::{entry_label, entry_summary, entry_text};
pub use items::{TurnItem, turn_items};
pub use overview::{Overview, prompt_as_typed, prompt_text};
pub use status::{Next, State, Status};
pub use turn_stats::{Growth, TurnStats};
