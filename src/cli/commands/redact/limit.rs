//! A search that is limited to a part of one session.

use crate::document::LineIx;
use crate::ops::{RedactScope, Selector};
use crate::session::Session;
use crate::store::{Found, Located};

use super::super::super::error::CliError;

/// The part of a session in which secrets are replaced.
pub(super) struct Limit {
    session: Session,
    scope: RedactScope,
}

impl Limit {
    /// Looks up in a session what a selector names.
    pub(super) fn new(only: &Selector, found: &Located) -> Result<Self, CliError> {
        let session = Session::open(&found.path)?;
        let scope = RedactScope::new(only, &session)?;
        Ok(Self { session, scope })
    }

    /// Whether a finding in the transcript is in the selected part.
    pub(super) fn holds(&self, found: &Found) -> bool {
        let line = found.line as usize - 1;
        let lines = self.session.document().lines();
        let start = lines.get(line).and_then(|l| l.start_in_file());
        start.is_some_and(|start| {
            let at = found.finding.range.start - start as usize;
            self.scope.holds(&self.session, LineIx::new(line), at)
        })
    }
}
