//! How much of the disk sessions take, by project, session and kind, without reading what is in the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rayon::prelude::*;

use super::super::fs::sys;
use super::config::Config;
use super::duplicates::{Duplicates, duplicates};
use super::live::running;
use super::places::{PLACES, is_name, own_place};
use super::shared::memory;
use super::sidecars::SidecarKind;

/// Files that were written within this time may belong to a session that has no transcript yet.
const TOO_NEW: Duration = Duration::from_secs(3600);

/// What a file is, for measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UsageKind {
    /// A session's transcript.
    Transcript,
    /// A subagent's transcript.
    Subagent,
    /// Large outputs of tools, and notes on subagents.
    Output,
    /// Versions of files, for rewinding.
    Rewind,
    /// Pasted images and sent files.
    Attachment,
    /// Todos, tasks and environment.
    State,
    /// Plans.
    Plan,
    /// The client's logs of its requests.
    RequestLog,
    /// The client's other logs.
    Log,
    /// What the client found out for its reports.
    Statistics,
    /// What the client remembers of a project.
    Memory,
}

impl UsageKind {
    /// Returns the kind as people read it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transcript => "transcripts",
            Self::Subagent => "subagents",
            Self::Output => "outputs",
            Self::Rewind => "rewind data",
            Self::Attachment => "attachments",
            Self::State => "tasks and todos",
            Self::Plan => "plans",
            Self::RequestLog => "request logs",
            Self::Log => "debug logs",
            Self::Statistics => "statistics",
            Self::Memory => "memory",
        }
    }

    fn of(kind: SidecarKind) -> Self {
        match kind {
            SidecarKind::Subagent | SidecarKind::OldSubagent => Self::Subagent,
            SidecarKind::Own => Self::Output,
            SidecarKind::FileHistory => Self::Rewind,
            SidecarKind::State => Self::State,
            SidecarKind::Plan => Self::Plan,
            SidecarKind::Attachment => Self::Attachment,
            SidecarKind::Log => Self::Log,
            SidecarKind::RequestLog => Self::RequestLog,
            SidecarKind::Statistics => Self::Statistics,
        }
    }
}

/// Bytes by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sizes(pub BTreeMap<UsageKind, u64>);

impl Sizes {
    /// Returns the sum.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    /// Adds the bytes of others.
    pub fn add_all(&mut self, other: &Self) {
        for (&kind, &len) in &other.0 {
            self.add(kind, len);
        }
    }

    fn add(&mut self, kind: UsageKind, len: u64) {
        *self.0.entry(kind).or_default() += len;
    }
}

/// What one session takes.
#[derive(Debug, Clone)]
pub struct SessionUsage {
    /// Its transcript.
    pub path: PathBuf,
    /// Its id.
    pub id: String,
    /// When its transcript was last written.
    pub modified: SystemTime,
    /// Its bytes.
    pub sizes: Sizes,
}

/// What one project takes.
#[derive(Debug, Clone)]
pub struct ProjectUsage {
    /// The folder of its transcripts.
    pub folder: PathBuf,
    /// Its sessions, the largest first.
    pub sessions: Vec<SessionUsage>,
    /// What belongs to the project and to none of its sessions.
    pub other: Sizes,
    /// What its forks repeat.
    pub duplicates: Duplicates,
}

impl ProjectUsage {
    /// Returns the bytes of the project and of its sessions.
    pub fn sizes(&self) -> Sizes {
        let mut all = self.other.clone();
        for session in &self.sessions {
            all.add_all(&session.sizes);
        }
        all
    }
}

/// A file of a session that no longer exists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Orphan {
    /// What it is.
    pub kind: UsageKind,
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub len: u64,
}

/// What all sessions take.
#[derive(Debug, Default)]
pub struct Usage {
    /// The projects, the largest first.
    pub projects: Vec<ProjectUsage>,
    /// What cannot be assigned to a session without reading it: plans.
    pub other: Sizes,
    /// Files of sessions that no longer exist, sorted.
    pub orphans: Vec<Orphan>,
    /// Bytes that are counted once although several sessions have them, because they are one file with several names.
    pub linked: u64,
}

/// Measures everything that belongs to sessions. Folders that cannot be listed count as empty.
pub fn usage(config: &Config, now: SystemTime) -> io::Result<Usage> {
    let folders = match std::fs::read_dir(config.projects()) {
        Ok(entries) => entries.filter_map(Result::ok).map(|e| e.path()).collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(e) => return Err(e),
    };
    let folders: Vec<PathBuf> = folders;
    let mut projects: Vec<Project> = folders.into_par_iter().filter_map(Project::read).collect();
    projects.sort_by(|a, b| a.folder.cmp(&b.folder));
    let mut scan = Scan {
        now,
        live: running(config).into_keys().collect(),
        usage: Usage::default(),
        seen: BTreeSet::new(),
        by_id: BTreeMap::new(),
    };
    scan.take_projects(projects);
    scan.take_rows(config);
    Ok(scan.end())
}

/// A file that was found below a folder.
struct Found {
    path: PathBuf,
    metadata: Metadata,
}

/// The contents of one project's folder.
struct Project {
    folder: PathBuf,
    transcripts: Vec<(String, Found)>,
    /// Files in a session's own folder, by its id.
    own: Vec<(String, Vec<Found>)>,
    other: Vec<(UsageKind, Found)>,
    duplicates: Duplicates,
}

impl Project {
    fn read(folder: PathBuf) -> Option<Self> {
        let mut project = Self {
            transcripts: Vec::new(),
            own: Vec::new(),
            other: Vec::new(),
            duplicates: Duplicates::default(),
            folder,
        };
        let memory = memory(&project.folder);
        for entry in std::fs::read_dir(&project.folder).ok()?.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let (Some(name), Ok(metadata)) = (name.to_str(), entry.metadata()) else {
                continue;
            };
            if metadata.is_dir() {
                let files = below(&path);
                if path == memory {
                    let files = files.into_iter().map(|f| (UsageKind::Memory, f));
                    project.other.extend(files);
                } else {
                    project.own.push((name.to_owned(), files));
                }
            } else if metadata.is_file()
                && let Some(id) = name.strip_suffix(".jsonl")
            {
                let found = Found { path, metadata };
                if name.starts_with("agent-") {
                    project.other.push((UsageKind::Subagent, found));
                } else {
                    project.transcripts.push((id.to_owned(), found));
                }
            }
        }
        let transcripts = project.transcripts.iter();
        project.duplicates =
            duplicates(transcripts.map(|(_, f)| (f.path.as_path(), f.metadata.len())));
        Some(project)
    }
}

/// Everything that is known while the disk is measured.
struct Scan {
    now: SystemTime,
    live: BTreeSet<String>,
    usage: Usage,
    /// Files with several names that were counted.
    seen: BTreeSet<(u64, u64)>,
    /// The project and the position of each session.
    by_id: BTreeMap<String, (usize, usize)>,
}

impl Scan {
    fn take_projects(&mut self, projects: Vec<Project>) {
        for project in projects {
            let at = self.usage.projects.len();
            let mut sessions = Vec::new();
            for (id, found) in project.transcripts {
                self.by_id.insert(id.clone(), (at, sessions.len()));
                let mut sizes = Sizes::default();
                sizes.add(UsageKind::Transcript, found.metadata.len());
                sessions.push(SessionUsage {
                    path: found.path,
                    id,
                    modified: found.metadata.modified().unwrap_or(self.now),
                    sizes,
                });
            }
            let mut other = Sizes::default();
            for (kind, found) in project.other {
                other.add(kind, found.metadata.len());
            }
            self.usage.projects.push(ProjectUsage {
                folder: project.folder.clone(),
                duplicates: project.duplicates,
                sessions,
                other,
            });
            for (id, files) in project.own {
                let folder = project.folder.join(&id);
                for found in files {
                    let rest = found.path.strip_prefix(&folder).ok();
                    let kind = rest.and_then(own_place).map(|p| UsageKind::of(p.kind));
                    self.assign(&id, kind.unwrap_or(UsageKind::Output), found);
                }
            }
        }
    }

    /// Assigns the files of the config folder's rows to their sessions.
    fn take_rows(&mut self, config: &Config) {
        let rows = PLACES.iter().filter_map(|place| {
            let entries = std::fs::read_dir(config.join(place.shape.folder()?)).ok()?;
            Some((place, entries.flatten().collect::<Vec<_>>()))
        });
        for (place, entries) in rows.collect::<Vec<_>>() {
            let kind = UsageKind::of(place.kind);
            let found: Vec<(Option<String>, Vec<Found>)> = entries
                .par_iter()
                .filter_map(|entry| {
                    let name = entry.file_name();
                    let id = place.shape.id_in(name.to_str()?).map(str::to_owned);
                    let metadata = entry.metadata().ok()?;
                    let path = entry.path();
                    Some(if metadata.is_dir() {
                        (id, below(&path))
                    } else if metadata.is_file() {
                        (id, vec![Found { path, metadata }])
                    } else {
                        return None;
                    })
                })
                .collect();
            for (id, files) in found {
                for file in files {
                    match &id {
                        Some(id) => self.assign(id, kind, file),
                        None if kind == UsageKind::Plan => {
                            self.usage.other.add(kind, file.metadata.len());
                        }
                        None => {}
                    }
                }
            }
        }
    }

    fn assign(&mut self, id: &str, kind: UsageKind, found: Found) {
        let len = found.metadata.len();
        if let Some(key) = sys::several_names(&found.path, &found.metadata)
            && !self.seen.insert(key)
        {
            self.usage.linked += len;
            return;
        }
        if let Some(&(project, session)) = self.by_id.get(id) {
            let session = &mut self.usage.projects[project].sessions[session];
            session.sizes.add(kind, len);
            return;
        }
        let modified = found.metadata.modified().unwrap_or(self.now);
        let is_old = self.now.duration_since(modified).is_ok_and(|d| d > TOO_NEW);
        if is_old && is_name(id) && !self.live.contains(id) {
            self.usage.orphans.push(Orphan {
                kind,
                path: found.path,
                len,
            });
        } else {
            self.usage.other.add(kind, len);
        }
    }

    fn end(mut self) -> Usage {
        self.usage.orphans.sort();
        for project in &mut self.usage.projects {
            let size = |s: &SessionUsage| std::cmp::Reverse(s.sizes.total());
            project
                .sessions
                .sort_by(|a, b| size(a).cmp(&size(b)).then(a.id.cmp(&b.id)));
        }
        let empty = |p: &ProjectUsage| p.sessions.is_empty() && p.sizes().total() == 0;
        self.usage.projects.retain(|p| !empty(p));
        let size = |p: &ProjectUsage| std::cmp::Reverse(p.sizes().total());
        self.usage.projects.sort_by_cached_key(size);
        self.usage
    }
}

/// Returns all regular files below a folder.
fn below(folder: &Path) -> Vec<Found> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            let path = entry.path();
            if metadata.is_dir() {
                folders.push(path);
            } else if metadata.is_file() {
                found.push(Found { path, metadata });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, rest: &str, len: usize) {
        let path = root.join(rest);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs_err::write(path, vec![b'x'; len]).expect("a file");
    }

    #[test]
    fn usage_assigns_files_to_sessions_and_finds_orphans() {
        let root = tempfile::tempdir().expect("a folder");
        let config = Config::new(root.path());
        write(root.path(), "projects/p/s1.jsonl", 100);
        write(root.path(), "projects/p/s1/tool-results/a.txt", 20);
        write(root.path(), "projects/p/s1/subagents/agent-a.jsonl", 5);
        write(root.path(), "projects/p/memory/MEMORY.md", 7);
        write(root.path(), "projects/p/s2/tool-results/a.txt", 30);
        write(root.path(), "file-history/s1/a@v1", 3);
        write(root.path(), "file-history/s2/a@v1", 4);
        write(root.path(), "debug/s2.txt", 1);
        write(root.path(), "plans/shiny.md", 9);
        let later = SystemTime::now() + Duration::from_secs(7200);
        let usage = usage(&config, later).expect("figures");
        let [project] = &usage.projects[..] else {
            panic!("one project");
        };
        let [session] = &project.sessions[..] else {
            panic!("one session");
        };
        assert_eq!(session.sizes.total(), 128);
        assert_eq!(session.sizes.0[&UsageKind::Rewind], 3);
        assert_eq!(project.sizes().total(), 135);
        let orphans: Vec<u64> = usage.orphans.iter().map(|o| o.len).collect();
        assert_eq!(orphans, [30, 4, 1]);
        assert_eq!(usage.other.0[&UsageKind::Plan], 9);
    }

    #[test]
    fn usage_leaves_new_files_alone() {
        let root = tempfile::tempdir().expect("a folder");
        write(root.path(), "debug/s2.txt", 1);
        let usage = usage(&Config::new(root.path()), SystemTime::now()).expect("figures");
        assert!(usage.orphans.is_empty());
    }
}
