//! A file as lines: reading, the exact bytes of each line, and building a new document from an old one.
//!
//! Knows nothing of what a line means.

mod document;
mod line;

pub use document::{Document, DocumentBuilder, Source, Stretch};
pub use line::{Ending, Line};
