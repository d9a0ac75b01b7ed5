//! The files of a copy: which of the original's it needs, and what each is called in the copy.

use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::session::Session;
use crate::surgery::{Change, CopyNames, FreshIds, Verified, emitted_len, fresh_slug};

use crate::store::sessions::{
    Config, CopyRule, Located, SessionFiles, SessionPlaces, Sidecar, SidecarKind, index_file,
};

use super::create::{Make, NewFile};
use super::subagents::{SubagentError, SubagentWork, operate_on};

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
        })
    }

    /// The names that the copy uses, for [`Surgery::as_copy`](crate::surgery::Surgery::as_copy).
    pub fn names(&self) -> &CopyNames {
        &self.names
    }

    /// Links, pipes, devices and sockets at the places of the session's files. They are not copied.
    pub fn skipped(&self) -> &[PathBuf] {
        &self.files.skipped
    }

    /// Plans the files of a copy whose transcript was operated on and verified. The transcripts of its
    /// subagents are operated on too, where there is work for them.
    pub fn plan<'a>(
        self,
        config: &Config,
        transcript: &'a Verified,
        work: Option<&SubagentWork<'_>>,
    ) -> Result<CopyPlan<'a>, SubagentError> {
        let mut plan = CopyPlan {
            ids: FreshIds::for_copy(&self.names, transcript.session()),
            transcript,
            subagents: Vec::new(),
            others: Vec::new(),
            subagent_changes: Vec::new(),
            target: self.target,
        };
        let dropped = &transcript.operated().record().dropped_agents;
        let new_id = self.names.new_id.to_string();
        let from = SessionPlaces {
            config,
            folder: &self.folder,
            id: &self.names.old_id,
        };
        let folder = plan.target.folder.clone();
        let to = SessionPlaces {
            config,
            folder: &folder,
            id: &new_id,
        };
        for sidecar in self.files.files {
            let is_dropped =
                |agent: &String| file_name(&sidecar.path).starts_with(&format!("agent-{agent}."));
            if dropped.iter().any(is_dropped) {
                continue;
            }
            let owner = owner_in_copy(&self.names, &sidecar, &new_id);
            let Some(target) = from.moved(&sidecar, &to, owner) else {
                continue;
            };
            if sidecar.kind.is_transcript() {
                let (verified, change) = operate_on(&sidecar.path, work, Some(&self.names))?;
                plan.ids.entries(verified.session());
                plan.subagent_changes.extend(change);
                plan.subagents.push((sidecar, target, verified));
            } else {
                plan.others.push((sidecar, target));
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
    subagent_changes: Vec<Change>,
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

/// How a file of a copy is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlannedAction {
    /// It is written anew.
    Write,
    /// It is copied.
    Copy,
    /// It is linked, or copied where links are not possible.
    Link,
}

impl CopyPlan<'_> {
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
            let (action, what) = match sidecar.kind {
                SidecarKind::FileHistory => (PlannedAction::Link, "file history"),
                SidecarKind::Plan => (PlannedAction::Copy, "plan"),
                SidecarKind::State => (PlannedAction::Copy, "tasks and todos"),
                _ => (PlannedAction::Copy, "sidecar"),
            };
            PlannedFile {
                path: target.clone(),
                action,
                len: sidecar.len,
                what,
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

    /// The files in the order in which they are made, the transcript last.
    pub(crate) fn files(&self) -> Vec<NewFile<'_>> {
        let subagents = self.subagents.iter().map(|(_, target, verified)| NewFile {
            target: target.clone(),
            make: Make::Transcript(verified),
        });
        let others = self.others.iter().map(|(sidecar, target)| NewFile {
            target: target.clone(),
            make: match sidecar.copy {
                CopyRule::Link => Make::Link(sidecar.path.clone()),
                _ => Make::Copy(sidecar.path.clone()),
            },
        });
        let transcript = NewFile {
            target: self.target.transcript(),
            make: Make::Transcript(self.transcript),
        };
        subagents.chain(others).chain([transcript]).collect()
    }
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

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The slugs that name a session's plans, in order.
pub(super) fn slugs(session: &Session) -> Vec<String> {
    let mut all = session.distinct("slug");
    all.retain(|s| !s.is_empty() && !s.contains(['/', '\\', '.']));
    all
}
