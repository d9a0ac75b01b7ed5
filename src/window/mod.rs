//! The context window: what the model is shown when a client resumes a session, and what each part of it weighs.

mod block;
mod breakdown;
mod calibration;

mod image;
mod payload;
mod shown_order;
mod usage;
mod weights;

pub use block::PayloadBlock;
pub use breakdown::{Category, Large, Tools, WindowBreakdown, file_parts, largest};
pub use calibration::{Calibration, Overstated, Weight};
pub use image::{Picture, images};
pub use payload::{Message, payload};
pub(crate) use shown_order::shown_entries;
pub(crate) use usage::{lower_usage, recorded_window};
pub use weights::{EntryWeights, line_weight};
