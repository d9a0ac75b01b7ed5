//! What people see: sizes, clean text, the preview.

mod chart;
mod diff;
mod findings;
mod preview;
mod secrets;
mod style;
mod text;

pub use crate::human::{age, bytes, count, signed_bytes, tokens};
pub use chart::{bar, sparkline};
pub use diff::SessionDiff;
pub use findings::FindingList;
pub use preview::{FileAction, FileRow, Preview};
pub use secrets::mask;
pub use style::{BOLD, DIM, GREEN, RED, YELLOW, paint};
pub use text::{clean, clean_lines, fit, json_text, pad, short_path, width, wrap};
