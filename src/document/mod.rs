//! A file as lines: reading it, the exact bytes of each line, and building a new document from an old one.
//!
//! Knows nothing of what a line means.

mod builder;
mod document;
mod line;
mod line_ix;
mod line_map;
mod source;
mod split;

pub use builder::DocumentBuilder;
pub use document::Document;
pub use line::{Ending, Line};
pub use line_ix::{LineColumn, LineIx};
pub use line_map::{LineMap, LineSource};
pub use source::{FileKind, NotAFile, Source};
pub use split::LineChunk;
