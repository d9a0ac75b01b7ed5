//! The only judge of a result: it shows the conversation that was promised, and has no fault that the original lacked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::doctor::{CHECKS, Finding, Gate, Severity, Versions, examine};
use crate::session::Session;

use super::conversation::BrokenPromise;
use super::surgery::Operated;

/// A result that must not be written. It is a bug in ccsurgery; nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// A check of the doctor finds more in the result than in the original.
    #[error(
        "the result would have {after} × {check} where the original has {before}; this is a bug in ccsurgery, and nothing was written"
    )]
    Finding {
        /// The check that finds more.
        check: &'static str,
        /// How often it finds something in the original.
        before: usize,
        /// How often it finds something in the result.
        after: usize,
        /// The first finding, for the report.
        example: String,
    },
    /// The session itself is damaged, so that no result could be trusted. This is not a bug: it has to be repaired first.
    #[error(
        "the session is damaged ({check}: {example}), and the result would not be what you asked for: {why}"
    )]
    Damaged {
        /// The check that finds the damage.
        check: &'static str,
        /// The first finding.
        example: String,
        /// What would be wrong with the result.
        why: String,
    },
    /// The model would be shown another conversation than promised.
    #[error("{0}; this is a bug in ccsurgery, and nothing was written")]
    Conversation(#[from] BrokenPromise),
}

/// How often each check finds something in a session, with an example.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    counts: BTreeMap<&'static str, (usize, String)>,
    /// The first finding about the structure of the session that hurts a client.
    damage: Option<(&'static str, String)>,
}

/// The families of checks that are about lines, links and pairs. With such damage, what clients show is a guess.
const STRUCTURE: [&str; 4] = ["lines", "chain", "compaction", "calls"];

impl Faults {
    /// Examines a session.
    pub fn of(session: &Session) -> Self {
        let mut counts: BTreeMap<&'static str, (usize, String)> = BTreeMap::new();
        let mut damage = None;
        for finding in examine(session) {
            if damage.is_none() && is_damage(&finding) {
                damage = Some((finding.check, finding.to_string()));
            }
            let slot = counts
                .entry(finding.check)
                .or_insert_with(|| (0, finding.to_string()));
            slot.0 += 1;
        }
        Self { counts, damage }
    }

    /// Adds faults that the original had, but that came to light only during the operation: `revealed` is the
    /// session after unreadable lines were recovered, or after hidden history was shown again.
    #[must_use]
    pub(super) fn with_revealed(mut self, revealed: &Session) -> Self {
        let revealed = Self::of(revealed);
        self.damage = self.damage.or(revealed.damage);
        for (check, (n, example)) in revealed.counts {
            let slot = self.counts.entry(check).or_insert((0, example));
            slot.0 = slot.0.max(n);
        }
        self
    }

    /// Adds faults that inserted lines had where they come from.
    #[must_use]
    pub(super) fn with_brought(mut self, brought: Self) -> Self {
        self.damage = self.damage.or(brought.damage);
        for (check, (n, example)) in brought.counts {
            self.counts.entry(check).or_insert((0, example)).0 += n;
        }
        self
    }

    /// Fails if a session has a fault that these do not contain.
    fn judge(&self, after: &Session) -> Result<(), Fault> {
        for (check, (after, example)) in Self::of(after).counts {
            let before = self.counts.get(check).map_or(0, |(n, _)| *n);
            if after > before {
                return Err(Fault::Finding {
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

/// Whether a finding is about the structure of a session and hurts a client, and a plain repair removes it. What clients
/// write every day is not damage: calls without results, which every client leaves out, and what only some versions suffer
/// from, such as results of parallel calls.
fn is_damage(finding: &Finding) -> bool {
    let check = CHECKS.iter().find(|check| check.name == finding.check);
    finding.severity > Severity::Harmless
        && finding.suffers != Versions::None
        && check.is_some_and(|check| {
            let is_repaired = check.repair.is_some() && check.gate != Gate::JudgedForVersion;
            STRUCTURE.contains(&check.family) && is_repaired
        })
}

/// The result of an operation that passed the judge. Nothing else is ever written to a transcript.
///
/// [`Operated::verify`] is the only constructor.
#[derive(Debug)]
pub struct Verified {
    operated: Operated,
    written: Arc<AtomicU64>,
}

impl Verified {
    /// The session that will be written.
    pub fn session(&self) -> &Session {
        self.operated.session()
    }

    /// How many bytes of the transcript are written so far, for those who watch from another thread.
    pub fn written(&self) -> &Arc<AtomicU64> {
        &self.written
    }

    /// The bytes of the transcript, as a rewrite in place has them.
    pub fn to_vec(&self) -> Vec<u8> {
        self.session().document().to_vec()
    }

    /// The operation that made it.
    pub fn operated(&self) -> &Operated {
        &self.operated
    }
}

impl Operated {
    /// Judges the result.
    ///
    /// # Errors
    /// Fails if the conversation is not the promised one, or if the doctor finds more in the result than in the
    /// original. Either is a bug in a transform, unless the original is damaged.
    pub fn verify(self) -> Result<Verified, Fault> {
        let after = self.session();
        // Where no line of the original was touched, its entries are all there, and only metadata was added.
        if let Some(expected) = &self.expected {
            let judges = rayon::join(|| expected.judge(after), || self.baseline.judge(after));
            let broken = judges.0.err().map(Fault::from).or(judges.1.err());
            if let Some(fault) = broken {
                return Err(self.excused(fault));
            }
        }
        Ok(Verified {
            operated: self,
            written: Arc::default(),
        })
    }

    /// Returns the fault to report. A damaged session has to be repaired before anything else is promised about it; only a
    /// repair must cope with damage.
    fn excused(&self, fault: Fault) -> Fault {
        match &self.baseline.damage {
            Some((damage, found)) if !self.rearranged => Fault::Damaged {
                check: damage,
                example: found.clone(),
                why: match &fault {
                    Fault::Conversation(broken) => broken.to_string(),
                    Fault::Finding { check, example, .. } => format!("{check}: {example}"),
                    Fault::Damaged { why, .. } => why.clone(),
                },
            },
            _ => fault,
        }
    }
}
