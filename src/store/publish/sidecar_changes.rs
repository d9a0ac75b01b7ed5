//! What happens to the files beside a session that is rewritten in place.

use std::io;
use std::path::PathBuf;

use crate::session::Session;
use crate::store::sessions::Sidecar;
use crate::surgery::{Surgery, Verified};

use super::brought::{BroughtContent, BroughtFile};
use super::change_set::Removal;
use super::copy_plan::{PlannedAction, PlannedFile};
use super::create::{Make, NewFile};
use super::subagents::SubagentError;

/// Files that are made or removed beside a session that is rewritten in place.
#[derive(Debug, Default)]
pub struct SidecarChanges {
    transcripts: Vec<(PathBuf, Verified)>,
    others: Vec<(Sidecar, PathBuf)>,
    removed: Vec<(Sidecar, Removal)>,
}

impl SidecarChanges {
    /// Prepares files that come along with inserted turns.
    pub fn new(brought: Vec<BroughtFile>) -> Result<Self, SubagentError> {
        let mut out = Self::default();
        for BroughtFile { sidecar, content } in brought {
            match content {
                BroughtContent::Transcript(bytes) => {
                    let operated = Surgery::on(Session::from_bytes(bytes)).operate()?;
                    out.transcripts.push((sidecar.path, operated.verify()?));
                }
                BroughtContent::File(from) => {
                    let target = sidecar.path.clone();
                    let sidecar = Sidecar {
                        path: from,
                        ..sidecar
                    };
                    out.others.push((sidecar, target));
                }
            }
        }
        Ok(out)
    }

    /// Removes files that nothing needs any more.
    pub fn removing(mut self, files: Vec<Sidecar>) -> io::Result<Self> {
        for file in files {
            let removal = Removal::of(file.path.clone())?;
            self.removed.push((file, removal));
        }
        Ok(self)
    }

    /// Whether a file will be removed.
    pub fn removes(&self, path: &std::path::Path) -> bool {
        self.removed.iter().any(|(file, _)| file.path == path)
    }

    /// The files that will be made or removed.
    pub fn planned_files(&self) -> Vec<PlannedFile> {
        let transcripts = self.transcripts.iter().map(|(path, verified)| PlannedFile {
            path: path.clone(),
            action: PlannedAction::Write,
            len: verified.session().document().len(),
            what: "subagent",
        });
        let others = self.others.iter();
        let others = others.map(|(sidecar, target)| PlannedFile::copy_of(sidecar, target));
        let removed = self.removed.iter().map(|(file, _)| PlannedFile {
            action: PlannedAction::Remove,
            ..PlannedFile::copy_of(file, &file.path)
        });
        transcripts.chain(others).chain(removed).collect()
    }

    /// The files that are made.
    pub(super) fn files(&self) -> Vec<NewFile<'_>> {
        let transcripts = self.transcripts.iter().map(|(path, verified)| NewFile {
            target: path.clone(),
            make: Make::Transcript(verified),
        });
        let others = self.others.iter();
        let others = others.map(|(sidecar, target)| NewFile::copy_of(sidecar, target));
        transcripts.chain(others).collect()
    }

    /// The files that are removed.
    pub(super) fn removals(&self) -> Vec<&Removal> {
        self.removed.iter().map(|(_, removal)| removal).collect()
    }
}
