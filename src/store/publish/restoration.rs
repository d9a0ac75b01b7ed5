//! Archived sessions that come back as they were.

use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use crate::store::bundle::Manifest;
use crate::store::fs::{disk, is_regular};
use crate::store::journal::Operation;
use crate::store::sessions::{Config, Located, is_place};

use super::change_set::{ChangeSet, Content, Creation};
use super::error::CommitError;
use super::publisher::{Provenance, Sessions};

/// A session that comes back.
#[derive(Debug)]
pub struct RestoredSession {
    /// Its transcript, as it will be.
    pub found: Located,
    /// The folder that it was held in.
    pub project: Option<String>,
}

/// Files that come back to their places.
#[derive(Debug, Default)]
pub struct Restoration {
    /// The sessions.
    pub sessions: Vec<RestoredSession>,
    /// Unpacked files, and where each belongs.
    files: Vec<(PathBuf, PathBuf)>,
    /// Files that are there as they were.
    pub same: Vec<PathBuf>,
    /// Files whose place is taken by another.
    pub taken: Vec<PathBuf>,
    /// Files that do not belong into a config folder.
    pub strays: Vec<String>,
}

impl Restoration {
    /// Adds what was unpacked in `from`.
    pub fn add(&mut self, from: &Config, to: &Config, manifest: &Manifest) -> io::Result<()> {
        for file in &manifest.files {
            let (unpacked, target) = (from.join(&file.name), to.join(&file.name));
            if !is_place(to, &target) || to.root().starts_with(&target) {
                self.strays.push(file.name.clone());
            } else if !disk::is_there(&target)? {
                self.files.push((unpacked, target));
            } else if is_regular(&target)? && fs_err::read(&target)? == fs_err::read(&unpacked)? {
                self.same.push(target);
            } else {
                self.taken.push(target);
            }
        }
        for session in &manifest.sessions {
            let found = Located::at(from.join(session.transcript()))?;
            self.sessions.push(RestoredSession {
                found: Located {
                    path: to.join(session.transcript()),
                    ..found
                },
                project: session.project.clone(),
            });
        }
        Ok(())
    }

    /// Returns how many files come back.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns whether nothing comes back.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Makes the change. `time` returns the time that a file gets for the one that it had.
    pub fn publish(
        &self,
        sessions: &Sessions<'_>,
        provenance: &Provenance,
        time: impl Fn(SystemTime) -> SystemTime,
    ) -> Result<Operation, CommitError> {
        let mut changes = ChangeSet::default();
        let is_transcript = |target: &PathBuf| {
            let mut all = self.sessions.iter();
            all.any(|s| s.found.path == *target)
        };
        let (last, first): (Vec<_>, Vec<_>) = self
            .files
            .iter()
            .partition(|(_, target)| is_transcript(target));
        for (from, target) in first.into_iter().chain(last) {
            changes.create.push(Creation {
                target: target.clone(),
                content: Content::File(from.clone()),
                modified: Some(time(fs_err::metadata(from)?.modified()?)),
            });
        }
        changes.enter = self
            .sessions
            .iter()
            .filter_map(|s| Some((s.found.path.clone(), s.project.as_ref()?.into())))
            .collect();
        let located: Vec<&Located> = self.sessions.iter().map(|s| &s.found).collect();
        let target = located.first().map(|f| f.path.clone());
        sessions.change(&located, &target.unwrap_or_default(), &changes, provenance)
    }
}
