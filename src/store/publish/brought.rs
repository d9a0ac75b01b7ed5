//! Files that come along when turns of another session are inserted.

use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::ops::{BackupName, Donor};
use crate::session::Session;
use crate::store::sessions::{Config, CopyRule, Located, SessionPlaces, Sidecar, SidecarKind};
use crate::surgery::{CopyNames, fresh_slug};

use super::copy_plan::{file_name, slugs, text};
use super::subagents::agent_of;

/// How much the versions of files grow if later turns of the session have versions of their own. Claude Code counts on
/// from the last turn, and must not reach the names of inserted versions.
const APART: u32 = 1000;

/// The session that turns come from, and the one that they are inserted into.
#[derive(Debug, Clone, Copy)]
pub struct GraftPair<'a> {
    /// The config folder of both.
    pub config: &'a Config,
    /// The session that the turns come from.
    pub donor: &'a Located,
    /// The session that they are inserted into.
    pub target: &'a Located,
}

impl<'a> GraftPair<'a> {
    fn places(&self, of: &'a Located) -> SessionPlaces<'a> {
        SessionPlaces {
            config: self.config,
            folder: of.folder(),
            id: &of.id,
        }
    }
}

/// The files of the session that turns come from.
#[derive(Debug)]
pub struct GraftSource<'a> {
    pair: GraftPair<'a>,
    names: CopyNames,
    files: Vec<Sidecar>,
    backups: Vec<BackupName>,
}

impl<'a> GraftSource<'a> {
    /// Finds the files of the session that turns come from, and names for those that the other session has too.
    ///
    /// `project` is the folder that each session was held in, if these differ; `in_middle` says that later turns follow;
    /// `fresh` makes up random ids.
    pub fn gather(
        pair: GraftPair<'a>,
        donor: &Session,
        project: Option<(PathBuf, PathBuf)>,
        in_middle: bool,
        mut fresh: impl FnMut() -> Uuid,
    ) -> io::Result<Self> {
        let slugs = slugs(donor);
        // Turns of the session itself find their files where they are.
        let mut files = if pair.donor.path == pair.target.path {
            Vec::new()
        } else {
            pair.places(pair.donor).files(&slugs)?.files
        };
        files.retain(|f| f.copy != CopyRule::LeaveOut);
        let taken = pair.places(pair.target).files(&[])?.files;
        let transcripts = |files: &[Sidecar]| -> Vec<(SidecarKind, String)> {
            let transcripts = files.iter().filter(|f| f.kind.is_transcript());
            transcripts.map(|f| (f.kind, agent_of(&f.path))).collect()
        };
        let known = transcripts(&taken);
        let mut agents = transcripts(&files);
        agents.retain(|(kind, id)| {
            *kind == SidecarKind::OldSubagent || known.iter().any(|(_, other)| other == id)
        });
        let agents = agents.into_iter().map(|(_, id)| {
            let hex = fresh().simple().to_string();
            let new = hex[..id.len().clamp(7, 17)].to_owned();
            (id, new)
        });
        let agents = agents.collect();
        let plans = files.iter().filter(|f| f.kind == SidecarKind::Plan);
        let mut plans: Vec<&String> = plans.map(|f| &f.owner).collect();
        plans.dedup();
        let slugs = plans.into_iter().cloned();
        let slugs = slugs.map(|slug| (fresh_slug(&slug, fresh()), slug));
        let slugs = slugs.map(|(new, old)| (old, new)).collect();
        let names = CopyNames {
            old_id: pair.donor.id.clone(),
            new_id: fresh(),
            folders: (
                file_name(pair.donor.folder()),
                file_name(pair.target.folder()),
            ),
            slugs,
            agents,
            project: project.map(|(from, to)| (text(&from), text(&to))),
        };
        let backups = backup_names(&files, &taken, in_middle)?;
        Ok(Self {
            pair,
            names,
            files,
            backups,
        })
    }

    /// The names that the turns get in the other session, which has a random id here.
    pub fn names(&self) -> &CopyNames {
        &self.names
    }

    /// The files for rewinding that get another name.
    pub fn backups(&self) -> &[BackupName] {
        &self.backups
    }

    /// Reads the transcripts of subagents, as far as they are there.
    pub fn open_agents(&self, ids: &[String]) -> io::Result<Vec<(String, Session)>> {
        let mut out = Vec::new();
        for file in self.files.iter().filter(|f| f.kind.is_transcript()) {
            let id = agent_of(&file.path);
            if ids.contains(&id) {
                out.push((id, Session::open(&file.path)?));
            }
        }
        Ok(out)
    }

    /// Returns the files that the turns need, each with the place that it gets beside the other session.
    pub fn brought(&self, donor: &Donor) -> io::Result<Vec<BroughtFile>> {
        let mut out = Vec::new();
        for file in &self.files {
            if let Some(brought) = self.brought_as(file, donor)
                && !is_same(&brought)?
            {
                out.push(brought);
            }
        }
        Ok(out)
    }

    fn brought_as(&self, file: &Sidecar, donor: &Donor) -> Option<BroughtFile> {
        let (from, to) = (
            self.pair.places(self.pair.donor),
            self.pair.places(self.pair.target),
        );
        let name = file_name(&file.path);
        let agent = donor
            .agents
            .iter()
            .find(|agent| name.starts_with(&format!("agent-{}.", agent.old_id)));
        let mut owner = self.pair.target.id.clone();
        let mut content = BroughtContent::File(file.path.clone());
        let mut new_name = None;
        match (file.kind, agent) {
            (SidecarKind::Subagent | SidecarKind::OldSubagent, Some(agent)) => {
                content = BroughtContent::Transcript(agent.transcript.clone());
                new_name = Some(format!("agent-{}.jsonl", agent.new_id));
                if file.kind == SidecarKind::OldSubagent {
                    owner.clone_from(&agent.new_id);
                }
            }
            (SidecarKind::Own, Some(agent)) => {
                let rest = name.strip_prefix(&format!("agent-{}", agent.old_id))?;
                new_name = Some(format!("agent-{}{rest}", agent.new_id));
            }
            (SidecarKind::Own, None) if donor.names_file(&name) => {}
            (SidecarKind::FileHistory, _) => {
                let renamed = self.backups.iter().find(|backup| backup.old == name);
                let new = renamed.map_or(&name, |backup| &backup.new);
                if !donor.names_file(new) {
                    return None;
                }
                new_name = Some(new.clone());
            }
            (SidecarKind::Plan, _) => {
                let renamed = self.names.slugs.iter().find(|(old, _)| *old == file.owner);
                owner.clone_from(&renamed?.1);
                if !donor.names_file(&owner) {
                    return None;
                }
            }
            _ => return None,
        }
        let mut path = from.moved(file, &to, &owner)?;
        if let Some(name) = new_name {
            path.set_file_name(name);
        }
        Some(BroughtFile {
            sidecar: Sidecar {
                path,
                owner,
                ..file.clone()
            },
            content,
        })
    }
}

/// A file that comes along with inserted turns.
#[derive(Debug, Clone)]
pub struct BroughtFile {
    /// What it is, and its place beside the session that the turns are inserted into.
    pub(super) sidecar: Sidecar,
    pub(super) content: BroughtContent,
}

impl BroughtFile {
    /// Its place beside the session that the turns are inserted into.
    pub fn path(&self) -> PathBuf {
        self.sidecar.path.clone()
    }
}

/// What is in a file that comes along.
#[derive(Debug, Clone)]
pub(super) enum BroughtContent {
    /// What is in this file.
    File(PathBuf),
    /// A subagent's transcript with fresh ids.
    Transcript(Vec<u8>),
}

/// Whether a file with the same bytes is in its place already.
fn is_same(brought: &BroughtFile) -> io::Result<bool> {
    match &brought.content {
        BroughtContent::File(from) => have_same_bytes(from, &brought.sidecar.path),
        BroughtContent::Transcript(_) => Ok(false),
    }
}

fn have_same_bytes(one: &Path, other: &Path) -> io::Result<bool> {
    if !other.try_exists()? {
        return Ok(false);
    }
    Ok(fs_err::read(one)? == fs_err::read(other)?)
}

/// Returns new names for versions of files that the other session has under the same names.
fn backup_names(
    files: &[Sidecar],
    taken: &[Sidecar],
    in_middle: bool,
) -> io::Result<Vec<BackupName>> {
    let is_backup = |f: &&Sidecar| f.kind == SidecarKind::FileHistory;
    let taken: Vec<(&Sidecar, String)> = taken
        .iter()
        .filter(is_backup)
        .map(|f| (f, file_name(&f.path)))
        .collect();
    let mut out = Vec::new();
    for file in files.iter().filter(is_backup) {
        let old = file_name(&file.path);
        let Some((hash, version)) = versioned(&old) else {
            continue;
        };
        let versions = taken.iter().filter_map(|(_, name)| versioned(name));
        let newest = versions.filter(|(other, _)| *other == hash);
        let newest = newest.map(|(_, version)| version).max().unwrap_or(0);
        let is_kept = match taken.iter().find(|(_, name)| *name == old) {
            Some((twin, _)) => have_same_bytes(&file.path, &twin.path)?,
            None => version > newest && !in_middle,
        };
        if is_kept {
            continue;
        }
        let gap = if in_middle { APART } else { 0 };
        let version = version.saturating_add(newest).saturating_add(gap);
        let new = format!("{hash}@v{version}");
        out.push(BackupName { old, new, version });
    }
    Ok(out)
}

/// Splits the name of a version of a file: `6736a65e13dd8574@v2`.
fn versioned(name: &str) -> Option<(&str, u32)> {
    let (hash, version) = name.rsplit_once("@v")?;
    Some((hash, version.parse().ok()?))
}
