//! Writes results: a new session, a session in place, or a file of the user's choice.
//!
//! The only part of the program that creates or replaces transcripts. The old bytes are durable in the journal before the
//! new ones are visible. Knows nothing of how a result came about.

mod create;
mod error;
mod export;
mod quarantine;
mod replace;
mod write;

pub use create::{Make, NewFile, NewSession, create};
pub use error::CommitError;
pub use export::export;
pub use replace::{Replacement, replace};
