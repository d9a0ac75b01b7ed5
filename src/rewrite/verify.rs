//! The only judge of a result: it may have no fault that the original had not.

use std::collections::BTreeMap;

use crate::doctor::examine;
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

/// Compares what the doctor finds before and after.
pub fn verify(before: &Session, after: &Session) -> Result<(), Fault> {
    verify_revealed(before, None, after)
}

/// Compares what the doctor finds before and after, where something came to light in between.
///
/// Where lines that could not be read were recovered on the way, or a conversation was found again,
/// `revealed` is the session as it was then: its faults were there before, only nobody saw them.
pub fn verify_revealed(
    before: &Session,
    revealed: Option<&Session>,
    after: &Session,
) -> Result<(), Fault> {
    let count = |session: &Session| {
        let mut counts: BTreeMap<&'static str, (usize, String)> = BTreeMap::new();
        for finding in examine(session) {
            let slot = counts
                .entry(finding.check)
                .or_insert((0, finding.to_string()));
            slot.0 += 1;
        }
        counts
    };
    let (mut old, new) = rayon::join(|| count(before), || count(after));
    for (check, (n, example)) in revealed.map(count).unwrap_or_default() {
        let slot = old.entry(check).or_insert((0, example));
        slot.0 = slot.0.max(n);
    }
    for (check, (after, example)) in new {
        let before = old.get(check).map_or(0, |(n, _)| *n);
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
