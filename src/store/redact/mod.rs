//! Replaces secrets in all files of sessions, without keeping the old bytes.
//!
//! What a file becomes is written to the state folder first, together with a list of all files: that has no secret in it.
//! Then the files are replaced one after the other. A run that is killed in between is finished by the next one, so that no
//! file is left with a secret whose other places are gone already.

mod record;
mod redaction;
mod search;
mod targets;

pub use record::{HeldRecord, clean_records, held_records};
pub use redaction::{Redaction, finish_redactions};
pub use search::{FilePlace, Found, Searched, Sweep, search, search_all};
pub use targets::{RedactTarget, all_targets, session_targets};
