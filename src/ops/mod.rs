//! The operations: each an options struct that makes a plan.

mod advice;
mod agents;
mod clone;
mod compact;
mod compact_with;
mod digest;
mod drop_hidden;
mod drop_images;
mod drop_tools;
mod removals;
mod repair;
mod strip_thinking;
mod stub;
mod superseded_reads;
mod token_count;
mod trim;
mod trim_step;
mod truncate;
mod turn_filter;

pub use advice::{Advisor, Saving, Suggestion, Tried};
pub use clone::{Clone, fresh_slug};
pub use compact::Compact;
pub use compact_with::{CompactWith, Summarizer};
pub use digest::{digest, summarised_text};
pub use drop_hidden::DropHidden;
pub use drop_images::DropImages;
pub use drop_tools::{DropTools, SizeSpec};
pub(crate) use removals::BlockRemovals;
pub use repair::{RepairOptions, passes};
pub use strip_thinking::StripThinking;
pub use token_count::TokenCount;
pub use trim::{Taken, Trim, Trimmed};
pub use trim_step::{Reach, Step};
pub use truncate::Truncate;
