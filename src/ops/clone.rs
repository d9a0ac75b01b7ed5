//! A copy, whole or up to a turn's end.

use crate::rewrite::{Plan, Refusal, Transform};
use crate::session::{Session, TurnSpec};

use super::truncate::Truncate;

/// Copies a session. The fresh ids come when the copy is written; what is planned here is only what
/// the copy leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clone {
    /// The last turn of the copy; all of them if `None`.
    pub at: Option<TurnSpec>,
}

impl Transform for Clone {
    fn name(&self) -> &'static str {
        "clone"
    }

    fn plan(&self, session: &Session) -> Result<Plan, Refusal> {
        match &self.at {
            Some(at) => Truncate { at: at.clone() }.plan(session),
            None => Ok(Plan::default()),
        }
    }
}

/// A slug of the copy's own for a plan's file.
pub fn fresh_slug(old: &str) -> String {
    // A clone of a clone replaces the suffix instead of growing another.
    let base = old
        .rsplit_once("-c")
        .filter(|(_, s)| s.len() == 6 && s.bytes().all(|b| b.is_ascii_hexdigit()))
        .map_or(old, |(base, _)| base);
    format!(
        "{base}-c{}",
        &uuid::Uuid::new_v4().simple().to_string()[..6]
    )
}
