//! Finds text in transcripts.
//!
//! A transcript is first searched as it is in the file, with a pattern that matches escaped JSON: this is as fast as
//! searching any file. Only the lines found that way are read, and only their texts are decoded and searched again.

mod hit;
mod pattern;
mod raw_pattern;
#[cfg(test)]
mod tests;
mod text_kind;
mod transcript;

pub use hit::{FoundSession, Hit, HitText, SearchReport, Whereabouts};
pub use pattern::{Pattern, PatternError, PatternOptions};
pub use text_kind::TextKind;
pub use transcript::{Match, Search};
