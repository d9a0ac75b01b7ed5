//! The context window: what the model is shown when a client resumes a session, and what each part of it weighs.

mod block;
mod breakdown;
mod calibration;
mod dropped_thinking;
mod entry_weights;
mod fit;
mod image;
mod measure;
mod payload;
mod records;
mod shown_order;
mod usage;
mod weight;

pub use block::PayloadBlock;
pub use breakdown::{Category, Large, Tools, WindowBreakdown, file_parts, largest};
pub use calibration::{Calibration, Overstated};
pub use entry_weights::EntryWeights;
pub use image::{Picture, images};
pub use payload::{Message, payload};
pub(crate) use shown_order::{end_of_conversation, shown_entries, tail_of_conversation};
pub(crate) use usage::{lower_usage, recorded_window};
#[cfg(feature = "ui")]
pub(crate) use weight::weight_of_block;
pub use weight::{Weight, line_weight};
