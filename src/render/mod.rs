//! What people see: sizes, clean text, the preview.

mod findings;
mod preview;
mod style;
mod text;

pub use crate::human::{age, bytes, count, signed_bytes, tokens};
pub use findings::FindingList;
pub use preview::{FileAction, FileRow, Preview};
pub use style::{BOLD, DIM, GREEN, RED, YELLOW, paint};
pub use text::{clean, fit, pad, short_path, width};
