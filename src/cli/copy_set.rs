//! All files of a copy, and what is renamed in them.

use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::ops::fresh_slug;
use crate::render::{FileAction, FileRow};
use crate::session::Session;
use crate::store::{Make, NewFile, Sidecar, SidecarKind, Stamp, index_file, sidecars};
use crate::surgery::Renaming;
use crate::transcript::Id;

use super::commit_flow::{Destination, Job, Outcome};
use super::context::Context;
use super::error::CliError;
use super::names;

/// The files of a copy, and what is renamed in them.
pub(super) struct CopySet<'a> {
    /// Fresh ids, and paths that lead to the copy's own files.
    pub(super) renames: Renaming<'a>,
    subagents: Vec<(Sidecar, PathBuf, Session)>,
    others: Vec<(Sidecar, PathBuf)>,
}

impl<'a> CopySet<'a> {
    pub(super) fn new(
        context: &Context,
        job: &Job<'_>,
        destination: &Destination,
        result: &'a Outcome,
    ) -> Result<Self, CliError> {
        let (new_uuid, folder) = match destination {
            Destination::New { id, folder } => (*id, Some(folder.as_path())),
            _ => (Uuid::new_v4(), None),
        };
        let new_id = new_uuid.to_string();
        let mut renames = Renaming::default();
        let session = &result.after;
        let own_id = session
            .session_id()
            .and_then(|id| session.entries().iter().find(|e| e.session == id))
            .and_then(|e| session.string(e, &["sessionId"]));
        // The file's name and what the entries say may differ; both mean this session. A name that a
        // person gave the file may be any word, and is none.
        if Id::of(job.found.id.as_bytes()).is_uuid() {
            renames.id(&job.found.id, new_uuid);
        }
        if let Some(own_id) = &own_id {
            renames.id(own_id, new_uuid);
        }
        renames.session(own_id.as_deref().unwrap_or(&job.found.id), new_uuid);
        renames.main_entries(session);
        renames.mark_forks();
        let old_folder = job.found.folder();
        let new_folder = folder.unwrap_or(old_folder);
        let name = |p: &Path| {
            p.file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        renames.paths(&job.found.id, &new_id, &name(old_folder), &name(new_folder));
        let slugs = slugs(session);
        let new_slugs: Vec<String> = slugs.iter().map(|s| fresh_slug(s)).collect();
        for (old, new) in slugs.iter().zip(&new_slugs) {
            renames.slug(old, new);
        }
        if let (Some(to), Some(from)) = (&job.to_project, names::project_of(session, old_folder)) {
            renames.cwd(&from.to_string_lossy(), &to.to_string_lossy());
        }
        let mut set = Self {
            renames,
            subagents: Vec::new(),
            others: Vec::new(),
        };
        if folder.is_some() {
            for sidecar in sidecars(&context.config, old_folder, &job.found.id, &slugs)? {
                set.take(
                    context,
                    sidecar,
                    &Names {
                        old: &job.found.id,
                        new: &new_id,
                        old_folder,
                        new_folder,
                        slugs: &slugs,
                        new_slugs: &new_slugs,
                    },
                    &result.dropped_agents,
                    &result.subagents,
                )?;
            }
        }
        Ok(set)
    }

    /// Finds a file's place in the copy, and what is renamed for it.
    fn take(
        &mut self,
        context: &Context,
        sidecar: Sidecar,
        names: &Names<'_>,
        dropped: &[String],
        changed: &[(PathBuf, Stamp, Session)],
    ) -> Result<(), CliError> {
        let name = sidecar
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if dropped
            .iter()
            .any(|agent| name.starts_with(&format!("agent-{agent}.")))
        {
            return Ok(());
        }
        match sidecar.kind {
            SidecarKind::Subagent | SidecarKind::OldSubagent => {
                let session = match changed.iter().find(|(path, ..)| *path == sidecar.path) {
                    Some((_, _, after)) => after.clone(),
                    None => Session::open(&sidecar.path)?,
                };
                self.renames.entries(&session);
                let target = if sidecar.kind == SidecarKind::Subagent {
                    moved(
                        &sidecar.path,
                        &names.old_folder.join(names.old),
                        &names.new_folder.join(names.new),
                    )
                } else {
                    // Both sessions' agents share a folder, so the copy's have names of their own.
                    let agent = name
                        .trim_start_matches("agent-")
                        .trim_end_matches(".jsonl")
                        .to_owned();
                    let hex = Uuid::new_v4().simple().to_string();
                    let fresh = &hex[..agent.len().clamp(7, 17)];
                    self.renames.agent(&agent, fresh);
                    names.new_folder.join(format!("agent-{fresh}.jsonl"))
                };
                self.subagents.push((sidecar, target, session));
            }
            SidecarKind::Own => {
                let target = moved(
                    &sidecar.path,
                    &names.old_folder.join(names.old),
                    &names.new_folder.join(names.new),
                );
                self.others.push((sidecar, target));
            }
            SidecarKind::FileHistory => {
                let root = context.config.join("file-history");
                let target = moved(&sidecar.path, &root.join(names.old), &root.join(names.new));
                self.others.push((sidecar, target));
            }
            SidecarKind::State => {
                let shown = sidecar
                    .path
                    .strip_prefix(context.config.root())
                    .unwrap_or(&sidecar.path)
                    .to_string_lossy()
                    .replace(names.old, names.new);
                let target = context.config.join(shown);
                self.others.push((sidecar, target));
            }
            SidecarKind::Plan => {
                let renamed = names
                    .slugs
                    .iter()
                    .zip(names.new_slugs)
                    .find_map(|(old, new)| {
                        name.strip_prefix(old.as_str())
                            .map(|rest| format!("{new}{rest}"))
                    });
                if let Some(renamed) = renamed {
                    let target = context.config.join("plans").join(renamed);
                    self.others.push((sidecar, target));
                }
            }
        }
        Ok(())
    }

    pub(super) fn rows(&self, transcript_len: u64, destination: &Destination) -> Vec<FileRow> {
        let mut rows: Vec<FileRow> = Vec::new();
        if let Some(path) = destination.transcript() {
            rows.push(FileRow {
                path,
                action: FileAction::Write,
                len: transcript_len,
                what: "transcript",
            });
        }
        rows.extend(self.subagents.iter().map(|(s, target, _)| FileRow {
            path: target.clone(),
            action: FileAction::Write,
            len: s.len,
            what: "subagent",
        }));
        rows.extend(self.others.iter().map(|(s, target)| {
            let (action, what) = match s.kind {
                SidecarKind::FileHistory => (FileAction::Link, "file history"),
                SidecarKind::Plan => (FileAction::Copy, "plan"),
                SidecarKind::State => (FileAction::Copy, "tasks and todos"),
                _ => (FileAction::Copy, "sidecar"),
            };
            FileRow {
                path: target.clone(),
                action,
                len: s.len,
                what,
            }
        }));
        if let Destination::New { folder, .. } = destination
            && let Some(path) = index_file(folder)
        {
            let len = fs_err::metadata(&path).map_or(0, |m| m.len());
            rows.push(FileRow {
                path,
                action: FileAction::Write,
                len,
                what: "index",
            });
        }
        rows
    }

    pub(super) fn files<'b>(&'b self, after: &'b Session, transcript: PathBuf) -> Vec<NewFile<'b>> {
        let subagents = self.subagents.iter().map(|(_, target, session)| NewFile {
            target: target.clone(),
            make: Make::Transcript(session),
        });
        let others = self.others.iter().map(|(s, target)| NewFile {
            target: target.clone(),
            make: if s.kind == SidecarKind::FileHistory {
                Make::Link(s.path.clone())
            } else {
                Make::Copy(s.path.clone())
            },
        });
        subagents
            .chain(others)
            .chain([NewFile {
                target: transcript,
                make: Make::Transcript(after),
            }])
            .collect()
    }
}

struct Names<'a> {
    old: &'a str,
    new: &'a str,
    old_folder: &'a Path,
    new_folder: &'a Path,
    slugs: &'a [String],
    new_slugs: &'a [String],
}

/// The path of a file when the folder above it moves.
fn moved(path: &Path, from: &Path, to: &Path) -> PathBuf {
    to.join(path.strip_prefix(from).unwrap_or(path))
}

/// The slugs that name a session's plans, in order.
fn slugs(session: &Session) -> Vec<String> {
    let mut all = session.distinct("slug");
    all.retain(|s| !s.is_empty() && !s.contains(['/', '\\', '.']));
    all
}
