//! Takes turns out of a session, and gives them the names that they have in another.

use std::io;

use memchr::memmem;
use rustc_hash::FxHashSet;

use crate::json::{apply_edits, encode};
use crate::session::{Session, TurnRange};
use crate::surgery::{
    ChangeKind, CopyNames, Detail, Excerpt, Fault, FreshIds, Plan, Refusal, Surgery, SurgeryError,
    Transform, Verified, Words, emit,
};
use crate::transcript::{Entry, Id, Kind};

use super::agents::launched;
use super::drop_tools::doom_thinking;
use super::extract::Extract;
use super::graft_ids::{BackupName, Clashes};
use super::removals::BlockRemovals;
use super::restore_branch::{RestoreBranch, shared_turns};

/// Which turns are taken out of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DonorTurns {
    /// The turns; all of them if `None`, or those that only the branch has.
    pub turns: Option<TurnRange>,
    /// The uuid of an entry of an abandoned branch, or the beginning of one. The turns are then those of that branch.
    pub branch: Option<String>,
}

/// Why turns could not be taken out of a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DonorError {
    /// A transform declined.
    #[error(transparent)]
    Surgery(#[from] SurgeryError),
    /// The result is faulty, which is a bug.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A line with fresh names is another entry than before, which is a bug.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Refusal> for DonorError {
    fn from(refusal: Refusal) -> Self {
        Self::Surgery(refusal.into())
    }
}

/// Turns that were taken out of their session, under the ids that they have there.
#[derive(Debug)]
pub struct Excised {
    verified: Verified,
    names: CopyNames,
}

impl Excised {
    /// Takes turns out of a session. `names` has a random id in the place of the new session's.
    pub fn new(
        session: Session,
        chosen: &DonorTurns,
        names: CopyNames,
    ) -> Result<Self, DonorError> {
        let mut steps: Vec<Box<dyn Transform>> = Vec::new();
        let mut first = 1;
        if let Some(entry) = chosen.branch.clone() {
            first = shared_turns(&session, &entry)? + 1;
            steps.push(Box::new(RestoreBranch { entry }));
        }
        let turns = chosen.turns.clone();
        let turns = turns.unwrap_or_else(|| TurnRange::from_first(first));
        steps.push(Box::new(Extract { turns }));
        let surgery = Surgery::on(session)
            .then_all(steps)
            .as_copy(names.clone())
            .recording(Detail::None);
        let verified = surgery.operate()?.verify()?;
        Ok(Self { verified, names })
    }

    /// The ids of the subagents that the turns launched, as their own session calls them.
    pub fn agents(&self) -> Vec<String> {
        let mut ids = launched(self.verified.session(), |_| true);
        for id in &mut ids {
            if let Some((old, _)) = self.names.agents.iter().find(|(_, new)| new == id) {
                id.clone_from(old);
            }
        }
        ids.sort();
        ids.dedup();
        ids
    }

    /// Gives the turns and the transcripts of their subagents the ids that they have in `target`, whose id is `id`.
    /// `backups` are files for rewinding that get another name.
    pub fn named_for(
        self,
        target: &Session,
        id: &str,
        agents: Vec<(String, Session)>,
        backups: &[BackupName],
    ) -> Result<Donor, DonorError> {
        let mut transcripts = Vec::with_capacity(agents.len());
        for (agent, session) in agents {
            let surgery = Surgery::on(session).as_copy(self.names.clone());
            transcripts.push((agent, surgery.operate()?.verify()?));
        }
        let turns = self.verified.session();
        let mut ids = FreshIds::for_copy(&self.names, turns);
        for (_, agent) in &transcripts {
            ids.entries(agent.session());
        }
        let written = |session: &Session| {
            let mut bytes = Vec::new();
            emit(session, Some(&ids), &mut bytes)?;
            let encoded = encode(id);
            let id = &encoded.as_bytes()[1..encoded.len() - 1];
            let stand_in = self.names.new_id.to_string();
            Ok::<_, io::Error>(replaced(&bytes, stand_in.as_bytes(), id))
        };
        let named = Session::from_bytes(written(turns)?);
        let clashes = Clashes::between(&named, target, self.names.new_id);
        let mut lines = Vec::new();
        for e in named.entries() {
            if is_wanted(turns, &named, e) {
                let edits = clashes.edits(&named, e, backups);
                let text = named.text(e);
                lines.extend(apply_edits(text, &edits).unwrap_or_else(|_| text.to_vec()));
                lines.push(b'\n');
            }
        }
        let mut agents = Vec::with_capacity(transcripts.len());
        for (agent, transcript) in &transcripts {
            let renamed = self.names.agents.iter().find(|(old, _)| old == agent);
            agents.push(DonorAgent {
                old_id: agent.clone(),
                new_id: renamed.map_or(agent, |(_, new)| new).clone(),
                transcript: written(transcript.session())?,
            });
        }
        let session = Session::from_bytes(lines);
        let messages = clashes.changed_messages(&session);
        let changed = messages.len();
        let lost = Surgery::on(session).then(LoseThinking { messages });
        let lost = lost.recording(Detail::None).operate()?.verify()?;
        Ok(Donor {
            session: Session::from_bytes(lost.to_vec()),
            agents,
            messages_without_thinking: if lost.operated().is_transformed() {
                changed
            } else {
                0
            },
        })
    }
}

/// Removes the thinking of some messages, whose calls got new ids: its signature covers the whole message.
struct LoseThinking {
    messages: FxHashSet<Id>,
}

impl Transform for LoseThinking {
    fn name(&self) -> &'static str {
        "graft"
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::with_detail(detail);
        let mut doomed = BlockRemovals::default();
        doom_thinking(session, &self.messages, &mut doomed);
        doomed.plan(session, &mut plan, |entry, block| {
            let excerpt = Excerpt::of(session, entry, block, Words::Thinking);
            (ChangeKind::Thinking, excerpt)
        });
        Ok(plan)
    }
}

/// Turns as they will stand in another session, except for their place and their times.
#[derive(Debug)]
pub struct Donor {
    pub(super) session: Session,
    /// The subagents that the turns launched.
    pub agents: Vec<DonorAgent>,
    /// How many messages lost their thinking, because their calls got new ids.
    pub(super) messages_without_thinking: usize,
}

/// A subagent that comes along with turns.
#[derive(Debug)]
pub struct DonorAgent {
    /// Its id in the session that the turns come from.
    pub old_id: String,
    /// Its id in the session that they are inserted into.
    pub new_id: String,
    /// Its transcript with fresh ids.
    pub transcript: Vec<u8>,
}

impl Donor {
    /// Whether the turns name a file.
    pub fn names_file(&self, name: &str) -> bool {
        let text = self.session.document().source();
        !name.is_empty() && memmem::find(text, name.as_bytes()).is_some()
    }
}

/// Whether a line comes along: entries of the conversation, what they need for rewinding, and which of their results the
/// client replaced.
fn is_wanted(turns: &Session, named: &Session, e: &Entry) -> bool {
    // Entries that only lead clients to a restored branch are not part of it.
    if turns.document().origin(e.line).is_none() {
        return false;
    }
    let names_own = || e.refers_to.some().and_then(|id| named.find(id)).is_some();
    e.is_chained()
        || match e.kind {
            Kind::FileHistorySnapshot | Kind::FileHistoryDelta => names_own(),
            Kind::Other => named
                .string(e, &["type"])
                .is_some_and(|kind| kind == "content-replacement"),
            _ => false,
        }
}

/// Returns bytes with every occurrence of a name replaced by another.
fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for at in memmem::find_iter(bytes, old) {
        out.extend_from_slice(&bytes[from..at]);
        out.extend_from_slice(new);
        from = at + old.len();
    }
    out.extend_from_slice(&bytes[from..]);
    out
}
