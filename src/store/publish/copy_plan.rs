//! The files of a copy: which of the original's it needs, and what each is called in the copy.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
#[cfg(feature = "bundle")]
use std::time::SystemTime;

use uuid::Uuid;

use crate::document::Source;
use crate::session::Session;
use crate::surgery::{Change, CopyNames, FreshIds, Surgery, Verified, emitted_len, fresh_slug};

use crate::store::sessions::{
    Config, CopyRule, Located, SessionFiles, SessionPlaces, Sidecar, SidecarKind, index_file,
};

use super::brought::{BroughtContent, BroughtFile};
#[cfg(feature = "bundle")]
use super::change_set::{Content, Creation};
use super::create::{Make, NewFile};
use super::subagents::{SubagentError, SubagentWork, operate_on};
use super::unneeded::take_unneeded;

/// Where a copy goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyTarget {
    /// The copy's session id.
    pub id: Uuid,
    /// The project folder, below the config folder, that will hold its transcript.
    pub folder: PathBuf,
    /// The project's path before and after, if the copy moves to another project.
    pub project: Option<(PathBuf, PathBuf)>,
}

impl CopyTarget {
    /// The path of the copy's transcript.
    pub fn transcript(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.id))
    }
}

/// A session's files, gathered for a copy before the session is operated on.
#[derive(Debug)]
pub struct CopySource {
    names: CopyNames,
    files: SessionFiles,
    target: CopyTarget,
    folder: PathBuf,
    transcript: PathBuf,
}

impl CopySource {
    /// Finds the files that belong to a session, and names the copy's. `fresh` makes up random ids.
    pub fn gather(
        config: &Config,
        source: &Located,
        session: &Session,
        target: CopyTarget,
        mut fresh: impl FnMut() -> Uuid,
    ) -> io::Result<Self> {
        let slugs = slugs(session);
        let places = SessionPlaces {
            config,
            folder: source.folder(),
            id: &source.id,
        };
        let mut files = places.files(&slugs)?;
        files.files.retain(|f| f.copy != CopyRule::LeaveOut);
        let owners = |kind: SidecarKind| files.files.iter().filter(move |f| f.kind == kind);
        // A slug whose plan is not copied keeps its name: the copy has no plan of its own.
        let is_copied = |slug: &&String| owners(SidecarKind::Plan).any(|f| f.owner == **slug);
        let copied = slugs.iter().filter(is_copied);
        let slugs: Vec<_> = copied
            .map(|slug| (slug.clone(), fresh_slug(slug, fresh())))
            .collect();
        // Both sessions' old-style agents share a folder, so the copy's need names of their own.
        let agents = owners(SidecarKind::OldSubagent).map(|f| {
            let hex = fresh().simple().to_string();
            (
                f.owner.clone(),
                hex[..f.owner.len().clamp(7, 17)].to_owned(),
            )
        });
        let agents = agents.collect();
        let names = CopyNames {
            old_id: source.id.clone(),
            new_id: target.id,
            folders: (file_name(source.folder()), file_name(&target.folder)),
            slugs,
            agents,
            project: target
                .project
                .as_ref()
                .map(|(from, to)| (text(from), text(to))),
        };
        Ok(Self {
            names,
            files,
            target,
            folder: source.folder().to_owned(),
            transcript: source.path.clone(),
        })
    }

    /// Leaves out files that the copy does not get.
    #[cfg(feature = "bundle")]
    pub(crate) fn retain(&mut self, keep: impl FnMut(&Sidecar) -> bool) {
        self.files.files.retain(keep);
    }

    /// The names that the copy uses, for [`Surgery::as_copy`](crate::surgery::Surgery::as_copy).
    pub fn names(&self) -> &CopyNames {
        &self.names
    }

    /// Plans the files of a copy whose transcript was operated on and verified. The transcripts of its
    /// subagents are operated on too, where there is work for them.
    pub fn plan<'a>(
        self,
        config: &Config,
        transcript: &'a Verified,
        work: Option<&SubagentWork<'_>>,
    ) -> Result<CopyPlan<'a>, SubagentError> {
        self.plan_with(config, transcript, work, Vec::new())
    }

    /// Plans the files of a copy like [`CopySource::plan`], together with files that came along with inserted turns.
    pub fn plan_with<'a>(
        self,
        config: &Config,
        transcript: &'a Verified,
        work: Option<&SubagentWork<'_>>,
        brought: Vec<BroughtFile>,
    ) -> Result<CopyPlan<'a>, SubagentError> {
        self.plan_between((config, config), transcript, work, brought)
    }

    /// Plans the files of a copy like [`CopySource::plan_with`], from one config folder to another.
    pub(crate) fn plan_between<'a>(
        self,
        (config, target_config): (&Config, &Config),
        transcript: &'a Verified,
        work: Option<&SubagentWork<'_>>,
        brought: Vec<BroughtFile>,
    ) -> Result<CopyPlan<'a>, SubagentError> {
        let mut plan = CopyPlan {
            ids: FreshIds::for_copy(&self.names, transcript.session()),
            transcript,
            subagents: Vec::new(),
            others: Vec::new(),
            redacted: BTreeMap::new(),
            subagent_changes: Vec::new(),
            skipped: self.files.skipped,
            target: self.target,
        };
        let new_id = self.names.new_id.to_string();
        let from = SessionPlaces {
            config,
            folder: &self.folder,
            id: &self.names.old_id,
        };
        let folder = plan.target.folder.clone();
        let to = SessionPlaces {
            config: target_config,
            folder: &folder,
            id: &new_id,
        };
        let mut needed = self.files.files;
        take_unneeded(&mut needed, &self.transcript, transcript).map_err(|source| {
            let path = self.transcript.clone();
            SubagentError::Read { path, source }
        })?;
        for sidecar in needed {
            let owner = owner_in_copy(&self.names, &sidecar, &new_id);
            if let Some(target) = from.moved(&sidecar, &to, owner) {
                plan.add_own(sidecar, target, &self.names, work)?;
            }
        }
        for file in brought {
            // Names that are not the session's are new already.
            let owner = match file.sidecar.kind {
                SidecarKind::OldSubagent | SidecarKind::Plan => &file.sidecar.owner,
                _ => &new_id,
            };
            if let Some(target) = from.moved(&file.sidecar, &to, owner) {
                plan.add_brought(file, target, &self.names)?;
            }
        }
        Ok(plan)
    }
}

/// All files of a copy, ready to be written.
#[derive(Debug)]
pub struct CopyPlan<'a> {
    transcript: &'a Verified,
    ids: FreshIds<'a>,
    subagents: Vec<(Sidecar, PathBuf, Verified)>,
    others: Vec<(Sidecar, PathBuf)>,
    /// Files of the copy that differ from the original's because secrets in them are replaced.
    redacted: BTreeMap<PathBuf, Vec<u8>>,
    subagent_changes: Vec<Change>,
    skipped: Vec<PathBuf>,
    target: CopyTarget,
}

/// A file of a copy, as a preview shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedFile {
    /// Where it will be.
    pub path: PathBuf,
    /// How it is made.
    pub action: PlannedAction,
    /// Its size, or that of the file it is made from.
    pub len: u64,
    /// What it is.
    pub what: &'static str,
}

impl PlannedFile {
    /// A copy of a file that is not a transcript.
    pub(super) fn copy_of(sidecar: &Sidecar, target: &Path) -> Self {
        let (action, what) = match sidecar.kind {
            SidecarKind::FileHistory => (PlannedAction::Link, "file history"),
            SidecarKind::Plan => (PlannedAction::Copy, "plan"),
            SidecarKind::State => (PlannedAction::Copy, "tasks and todos"),
            kind if kind.is_transcript() => (PlannedAction::Copy, "subagent"),
            _ => (PlannedAction::Copy, "sidecar"),
        };
        Self {
            path: target.to_owned(),
            action,
            len: sidecar.len,
            what,
        }
    }
}

/// How a file of a copy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlannedAction {
    /// It is written anew.
    Write,
    /// It is copied.
    Copy,
    /// It is linked, or copied where links are not possible.
    Link,
    /// It is removed.
    Remove,
}

impl CopyPlan<'_> {
    /// Adds a file of the original.
    fn add_own(
        &mut self,
        sidecar: Sidecar,
        target: PathBuf,
        names: &CopyNames,
        work: Option<&SubagentWork<'_>>,
    ) -> Result<(), SubagentError> {
        if sidecar.kind.is_transcript() {
            let (verified, change) = operate_on(&sidecar.path, work, Some(names))?;
            self.subagent_changes.extend(change);
            self.add_transcript(sidecar, target, verified);
        } else {
            if let Some(bytes) = redacted(&sidecar.path, work)? {
                self.redacted.insert(target.clone(), bytes);
            }
            self.others.push((sidecar, target));
        }
        Ok(())
    }

    /// Adds a file that came along with inserted turns.
    fn add_brought(
        &mut self,
        file: BroughtFile,
        target: PathBuf,
        names: &CopyNames,
    ) -> Result<(), SubagentError> {
        let sidecar = file.sidecar;
        match file.content {
            BroughtContent::Transcript(bytes) => {
                let surgery = Surgery::on(Session::from_bytes(bytes)).as_copy(names.clone());
                let verified = surgery.operate()?.verify()?;
                self.add_transcript(sidecar, target, verified);
            }
            BroughtContent::File(path) => self.others.push((Sidecar { path, ..sidecar }, target)),
        }
        Ok(())
    }

    fn add_transcript(&mut self, sidecar: Sidecar, target: PathBuf, verified: Verified) {
        self.ids.entries(verified.session());
        self.subagents.push((sidecar, target, verified));
    }

    /// The ids that the copy gets.
    pub fn ids(&self) -> &FreshIds<'_> {
        &self.ids
    }

    /// The copy's transcript.
    pub fn transcript(&self) -> &Verified {
        self.transcript
    }

    /// Where the copy goes.
    pub fn target(&self) -> &CopyTarget {
        &self.target
    }

    /// What was done to the transcripts of subagents.
    pub fn subagent_changes(&self) -> &[Change] {
        &self.subagent_changes
    }

    /// Links, pipes, devices and sockets at the places of the session's files. They are not copied.
    pub fn skipped(&self) -> &[PathBuf] {
        &self.skipped
    }

    /// The size of the copy's transcript.
    pub fn transcript_len(&self) -> u64 {
        emitted_len(self.transcript.session(), Some(&self.ids))
    }

    /// The files that will be written, the transcript first.
    pub fn planned_files(&self) -> Vec<PlannedFile> {
        let mut files = vec![PlannedFile {
            path: self.target.transcript(),
            action: PlannedAction::Write,
            len: self.transcript_len(),
            what: "transcript",
        }];
        files.extend(self.subagents.iter().map(|(s, target, _)| PlannedFile {
            path: target.clone(),
            action: PlannedAction::Write,
            len: s.len,
            what: "subagent",
        }));
        files.extend(self.others.iter().map(|(sidecar, target)| {
            let planned = PlannedFile::copy_of(sidecar, target);
            if self.redacted.contains_key(target) {
                PlannedFile {
                    action: PlannedAction::Write,
                    ..planned
                }
            } else {
                planned
            }
        }));
        if let Some(path) = index_file(&self.target.folder) {
            files.push(PlannedFile {
                len: fs_err::metadata(&path).map_or(0, |m| m.len()),
                path,
                action: PlannedAction::Write,
                what: "index",
            });
        }
        files
    }

    /// The files as parts of a larger change, the transcript last. All get this time.
    #[cfg(feature = "bundle")]
    pub(crate) fn creations(&self, modified: Option<SystemTime>) -> Vec<Creation<'_>> {
        let created = self.files().into_iter().map(|file| Creation {
            target: file.target,
            content: match file.make {
                Make::Transcript(verified) => Content::Copy(verified, &self.ids),
                Make::Bytes(bytes) => Content::Bytes(bytes.to_vec()),
                Make::Copy(path) | Make::Link(path) => Content::File(path),
            },
            modified,
        });
        created.collect()
    }

    /// The files in the order in which they are made, the transcript last.
    pub(crate) fn files(&self) -> Vec<NewFile<'_>> {
        let subagents = self.subagents.iter().map(|(_, target, verified)| NewFile {
            target: target.clone(),
            make: Make::Transcript(verified),
        });
        let others = self.others.iter().map(|(sidecar, target)| {
            let copied = NewFile::copy_of(sidecar, target);
            match self.redacted.get(target) {
                Some(bytes) => NewFile {
                    make: Make::Bytes(bytes),
                    ..copied
                },
                None => copied,
            }
        });
        let transcript = NewFile {
            target: self.target.transcript(),
            make: Make::Transcript(self.transcript),
        };
        subagents.chain(others).chain([transcript]).collect()
    }
}

/// Returns the bytes of a file with its secrets replaced, if it has any and that is wanted.
fn redacted(
    path: &Path,
    work: Option<&SubagentWork<'_>>,
) -> Result<Option<Vec<u8>>, SubagentError> {
    let Some(redact) = work.and_then(|work| work.redact.as_ref()) else {
        return Ok(None);
    };
    let source = Source::open(path).map_err(|source| SubagentError::Read {
        path: path.to_owned(),
        source,
    })?;
    Ok(redact(path, source.bytes()))
}

/// The name that a file's owner has in the copy.
fn owner_in_copy<'n>(names: &'n CopyNames, file: &Sidecar, new_id: &'n str) -> &'n str {
    let renamed = match file.kind {
        SidecarKind::OldSubagent => &names.agents,
        SidecarKind::Plan => &names.slugs,
        _ => return new_id,
    };
    let of_file = renamed.iter().find(|(old, _)| *old == file.owner);
    of_file.map_or(new_id, |(_, new)| new)
}

pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The slugs that name a session's plans, in order.
pub(crate) fn slugs(session: &Session) -> Vec<String> {
    let mut all = session.distinct("slug");
    all.retain(|s| !s.is_empty() && !s.contains(['/', '\\', '.']));
    all
}
