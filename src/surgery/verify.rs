//! The only judge of a result: it may have no fault that the original had not.

use std::collections::BTreeMap;

use crate::doctor::checks::examine;
use crate::session::Session;

/// A result that is worse than its original. This is a bug in a transform; nothing is written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the result would have {after} × {check} where the original has {before}; this is a bug in ccsurgery, and nothing was written"
)]
pub struct Fault {
    /// The check that found more after than before.
    pub check: &'static str,
    /// How often it found something in the original.
    pub before: usize,
    /// And in the result.
    pub after: usize,
    /// Where it found the first, for the report.
    pub example: String,
}

/// How often each check finds something in a session, and where it does so first.
#[derive(Debug, Clone, Default)]
pub struct Faults(BTreeMap<&'static str, (usize, String)>);

impl Faults {
    /// Examines a session.
    pub fn of(session: &Session) -> Self {
        let mut counts: BTreeMap<&'static str, (usize, String)> = BTreeMap::new();
        for finding in examine(session) {
            let slot = counts
                .entry(finding.check)
                .or_insert_with(|| (0, finding.to_string()));
            slot.0 += 1;
        }
        Self(counts)
    }

    /// The same where something came to light later.
    ///
    /// Where lines that could not be read were recovered on the way, or a conversation was found again, `revealed`
    /// is the session as it was then: its faults were there before, only nobody saw them.
    #[must_use]
    pub fn revealed(mut self, revealed: &Session) -> Self {
        for (check, (n, example)) in Self::of(revealed).0 {
            let slot = self.0.entry(check).or_insert((0, example));
            slot.0 = slot.0.max(n);
        }
        self
    }

    /// Judges a result of the session that has these faults.
    pub fn judge(&self, after: &Session) -> Result<(), Fault> {
        for (check, (after, example)) in Self::of(after).0 {
            let before = self.0.get(check).map_or(0, |(n, _)| *n);
            if after > before {
                return Err(Fault {
                    check,
                    before,
                    after,
                    example,
                });
            }
        }
        Ok(())
    }
}

/// Compares what the doctor finds before and after.
pub fn verify(before: &Session, after: &Session) -> Result<(), Fault> {
    Faults::of(before).judge(after)
}
