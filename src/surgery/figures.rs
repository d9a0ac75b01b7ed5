//! Measure of a session, before and after.

use serde::Serialize;

use crate::session::Session;

/// How large a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Figures {
    /// Records.
    pub entries: u64,
    /// Bytes on disk.
    pub bytes: u64,
    /// Turns of the live path.
    pub turns: u64,
    /// Tokens in the model's window, by the session's own record where it has one.
    pub tokens: u64,
}

impl Figures {
    /// Measures a session whose window holds `tokens`.
    pub fn of(session: &Session, tokens: u64) -> Self {
        Self {
            entries: session.entries().len() as u64,
            bytes: session.document().len(),
            turns: session.turns().len() as u64,
            tokens,
        }
    }
}
