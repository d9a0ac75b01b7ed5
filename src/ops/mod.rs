//! The operations: each an options struct that makes a plan.

mod agents;
mod blocks;
mod clone;
mod compact;
mod digest;
mod drop_hidden;
mod drop_images;
mod drop_tools;
mod finish;
mod forecast;
mod reads;
mod repair;
mod scope;
mod strip_thinking;
mod stub;
mod token_count;
mod trim;
mod trim_step;
mod truncate;

pub use clone::{Clone, fresh_slug};
pub use compact::{Compact, summarised_text};
pub use digest::digest;
pub use drop_hidden::DropHidden;
pub use drop_images::DropImages;
pub use drop_tools::{DropTools, SizeSpec};
pub use finish::{Finish, title_for};
pub use forecast::Forecast;
pub use repair::{RepairOptions, passes};
pub use strip_thinking::StripThinking;
pub use token_count::TokenCount;
pub use trim::{Taken, Trim, Trimmed};
pub use trim_step::{Reach, Step};
pub use truncate::Truncate;
