//! The only writer of sessions: takes what was verified, and publishes it so that it can be undone.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use uuid::Uuid;

use crate::session::Session;
use crate::surgery::{FreshIds, Verified, emit};

use crate::store::fs::Stamp;
use crate::store::journal::{Journal, Operation};
use crate::store::sessions::{IndexEntry, Located, add_to_index, index_file};

use super::change_set::ChangeSet;
use super::copy_plan::CopyPlan;
use super::create::{NewSession, create};
use super::error::CommitError;
use super::export::export;
use super::replace::{Replacement, replace};
use super::sidecar_changes::SidecarChanges;
use super::subagents::ChangedSubagent;
use super::write::Counting;

/// The sessions of a config folder, and the journal that takes changes to them back.
#[derive(Debug)]
pub struct Sessions<'a> {
    journal: &'a Journal,
}

/// Who asked for an operation, and when: kept in the journal.
#[derive(Debug, Clone)]
pub struct Provenance {
    /// The operation's name, such as `strip-thinking`.
    pub operation: String,
    /// The command line, if there is one.
    pub command: Vec<String>,
    /// The time.
    pub now: SystemTime,
    /// A random id, from which the operation gets a name of its own.
    pub random: Uuid,
}

/// What was published.
#[derive(Debug)]
pub struct Published {
    /// The journal's record.
    pub operation: Operation,
    /// Where bytes are kept that left the transcript without being a record.
    pub quarantine: Option<PathBuf>,
    /// Why the new session is not in `sessions-index.json`, if it should be. Clients that keep that list find
    /// the session by themselves later.
    pub not_in_index: Option<String>,
}

impl<'a> Sessions<'a> {
    /// The sessions whose changes a journal keeps.
    pub fn new(journal: &'a Journal) -> Self {
        Self { journal }
    }

    /// Writes a copy of `source` as a new session. `project` is the folder it is listed under.
    pub fn create(
        &self,
        source: &Located,
        copy: &CopyPlan<'_>,
        project: &Path,
        provenance: &Provenance,
    ) -> Result<Published, CommitError> {
        let target = copy.target().transcript();
        let operation = Operation {
            renamed: copy.ids().len(),
            ..record(provenance, source, &target, &copy.target().id.to_string())
        };
        let quarantine = &copy.transcript().operated().record().quarantine;
        let mut not_in_index = None;
        let files = copy.files();
        let new = NewSession {
            files: &files,
            ids: copy.ids(),
            quarantine,
        };
        let operation = create(self.journal, operation, &new, || {
            not_in_index = list_session(copy.transcript().session(), &target, project).err();
        })?;
        Ok(self.published(operation, quarantine.is_empty(), not_in_index))
    }

    /// Rewrites `source` in place, which was read when it had this stamp, and transcripts of its subagents with it.
    pub fn replace(
        &self,
        source: &Located,
        stamp: Stamp,
        after: &Verified,
        subagents: &[ChangedSubagent],
        provenance: &Provenance,
    ) -> Result<Published, CommitError> {
        let sidecars = SidecarChanges::default();
        self.replace_with(source, stamp, after, subagents, &sidecars, provenance)
    }

    /// Rewrites `source` in place like [`Sessions::replace`], and makes or removes files beside it.
    pub fn replace_with(
        &self,
        source: &Located,
        stamp: Stamp,
        after: &Verified,
        subagents: &[ChangedSubagent],
        sidecars: &SidecarChanges,
        provenance: &Provenance,
    ) -> Result<Published, CommitError> {
        let main = Replacement {
            path: &source.path,
            stamp,
            after,
        };
        let agents = subagents.iter().map(|agent| Replacement {
            path: &agent.path,
            stamp: agent.stamp,
            after: &agent.after,
        });
        let files: Vec<Replacement<'_>> = agents.chain([main]).collect();
        let quarantine = &after.operated().record().quarantine;
        let operation = record(provenance, source, &source.path, &source.id);
        let operation = replace(
            self.journal,
            operation,
            &files,
            &sidecars.files(),
            &sidecars.removals(),
            quarantine,
        )?;
        Ok(self.published(operation, quarantine.is_empty(), None))
    }

    /// Makes a change of many files. `sessions` are those that it is about, the first of them for the record.
    pub fn change(
        &self,
        sessions: &[&Located],
        target: &Path,
        changes: &ChangeSet<'_>,
        provenance: &Provenance,
    ) -> Result<Operation, CommitError> {
        let mut operation = match sessions.first() {
            Some(first) => record(provenance, first, target, &first.id),
            None => Operation {
                operation: provenance.operation.clone(),
                command: provenance.command.clone(),
                source: target.to_owned(),
                target: target.to_owned(),
                ..Operation::new(provenance.now, provenance.random)
            },
        };
        let ids: Vec<&str> = sessions.iter().map(|s| s.id.as_str()).collect();
        operation.other.insert("sessions".to_owned(), ids.into());
        changes.publish(self.journal, operation)
    }

    fn published(
        &self,
        operation: Operation,
        nothing_kept: bool,
        not_in_index: Option<String>,
    ) -> Published {
        let kept = (!nothing_kept).then(|| self.journal.quarantine(&operation.id));
        Published {
            operation,
            quarantine: kept,
            not_in_index,
        }
    }
}

/// Writes a result to a file, which must not exist yet. The ids are the copy's, if it is one.
pub fn write_file(
    path: &Path,
    verified: &Verified,
    ids: Option<&FreshIds<'_>>,
) -> Result<(), CommitError> {
    export(path, verified, ids)
}

/// Writes a result to a stream.
pub fn write_stream(
    out: &mut impl Write,
    verified: &Verified,
    ids: Option<&FreshIds<'_>>,
) -> io::Result<()> {
    let count = verified.written();
    emit(verified.session(), ids, &mut Counting { out, count })
}

/// Enters a session that was just written in the list of its folder, if there is one.
pub(super) fn enter_in_index(target: &Path, project: &Path) -> Result<(), String> {
    if target.parent().and_then(index_file).is_none() {
        return Ok(());
    }
    let session = Session::open(target).map_err(|e| e.to_string())?;
    list_session(&session, target, project)
}

/// Enters a new session in the list that clients of about 2.1.9 to 2.1.30 keep, if its folder has one.
fn list_session(session: &Session, target: &Path, project: &Path) -> Result<(), String> {
    let Some(folder) = target.parent().filter(|f| index_file(f).is_some()) else {
        return Ok(());
    };
    let entry = IndexEntry::new(session, target, project).map_err(|e| e.to_string())?;
    let added = add_to_index(folder, &entry);
    added.map(drop).map_err(|e| e.to_string())
}

fn record(provenance: &Provenance, source: &Located, target: &Path, target_id: &str) -> Operation {
    Operation {
        operation: provenance.operation.clone(),
        command: provenance.command.clone(),
        source: source.path.clone(),
        source_id: source.id.clone(),
        target: target.to_owned(),
        target_id: target_id.to_owned(),
        ..Operation::new(provenance.now, provenance.random)
    }
}
