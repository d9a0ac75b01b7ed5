//! All files that belong to a session besides its transcript.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::fs::disk::is_missing;
use crate::store::fs::open_regular;

use super::config::Config;
use super::places::{CopyRule, ENVIRONMENTS, PLACES, Place, Shape, is_name, own_place};

/// The kind of a file that belongs to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum SidecarKind {
    /// A subagent's transcript in the session's own folder.
    Subagent,
    /// A subagent's transcript beside the session's, as clients up to about 2.1.30 have them.
    OldSubagent,
    /// Anything else in the session's own folder: large outputs, notes on subagents.
    Own,
    /// A version of a file, for rewinding.
    FileHistory,
    /// Todos, tasks and environment, named after the session.
    State,
    /// A plan, named after the session's slug.
    Plan,
    /// An image that was pasted, or a file that was sent.
    Attachment,
    /// The client's log of a run: debug output, start-up times, events that could not be sent.
    Log,
    /// The client's log of its requests to the model.
    RequestLog,
    /// What the client found out about the session for its reports.
    Statistics,
}

/// A file that belongs to a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sidecar {
    /// What it is.
    pub kind: SidecarKind,
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub len: u64,
    /// How a copy treats it.
    pub copy: CopyRule,
    /// What it is named after: the agent of an old subagent, the slug of a plan, else the session's id.
    pub owner: String,
}

impl Sidecar {
    /// Returns whether a session takes the file along to another machine. Environments stay: they are scripts that clients
    /// run before each command, and nobody else's scripts may run here.
    pub fn travels(&self, config: &Config) -> bool {
        self.copy != CopyRule::LeaveOut && !self.path.starts_with(config.join(ENVIRONMENTS))
    }
}

/// The files of a session besides its transcript.
#[derive(Debug, Default)]
pub struct SessionFiles {
    /// Regular files, sorted.
    pub files: Vec<Sidecar>,
    /// Links, pipes, devices and sockets at such places. They are never opened.
    pub skipped: Vec<PathBuf>,
}

/// The places of one session.
#[derive(Debug, Clone, Copy)]
pub struct SessionPlaces<'a> {
    /// The config folder.
    pub config: &'a Config,
    /// The folder of the session's transcript.
    pub folder: &'a Path,
    /// The session's id.
    pub id: &'a str,
}

/// Returns the files that a copy of session `id` takes along: everything beside its transcript in `folder`, and the plans
/// named by `slugs`.
pub fn sidecars(
    config: &Config,
    folder: &Path,
    id: &str,
    slugs: &[String],
) -> io::Result<Vec<Sidecar>> {
    let mut files = SessionPlaces { config, folder, id }.files(slugs)?.files;
    files.retain(|f| f.copy != CopyRule::LeaveOut);
    Ok(files)
}

/// Returns the folders that hold nothing but files of this session, outermost first.
pub fn session_folders(places: &SessionPlaces<'_>) -> io::Result<Vec<PathBuf>> {
    if !is_name(places.id) {
        return Ok(Vec::new());
    }
    let trees = PLACES.iter().filter_map(|place| match place.shape {
        Shape::Tree(top) => Some(places.config.join(top).join(places.id)),
        _ => None,
    });
    let mut folders = Vec::new();
    for folder in [places.folder.join(places.id)].into_iter().chain(trees) {
        match fs_err::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => folders.push(folder),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    let mut next = 0;
    while let Some(folder) = folders.get(next) {
        let mut below = Vec::new();
        for entry in listed(folder)? {
            if entry.file_type()?.is_dir() {
                below.push(entry.path());
            }
        }
        folders.extend(below);
        next += 1;
    }
    folders.sort();
    Ok(folders)
}

impl SessionPlaces<'_> {
    /// Lists all files of the session, and the plans named by `slugs`. An id that could lead elsewhere has none.
    pub fn files(&self, slugs: &[String]) -> io::Result<SessionFiles> {
        let mut found = SessionFiles::default();
        if !is_name(self.id) {
            return Ok(found);
        }
        let own = self.folder.join(self.id);
        found.tree(
            &own,
            |path| own_place(path.strip_prefix(&own).ok()?),
            self.id,
        )?;
        for place in &PLACES {
            match place.shape {
                Shape::OwnFile(_) | Shape::OwnTranscripts(_) | Shape::Own => {}
                Shape::AgentBeside => found.folder(self.folder, place, |name, path| {
                    let agent = name.strip_prefix("agent-");
                    let agent = agent.and_then(|a| a.strip_suffix(".jsonl"));
                    let ours = agent.is_some() && path.map_or(Ok(true), |p| belongs(p, self.id))?;
                    Ok(agent.filter(|_| ours).map(str::to_owned))
                })?,
                Shape::Tree(top) => {
                    let root = self.config.join(top).join(self.id);
                    found.tree(&root, |_| Some(place), self.id)?;
                }
                Shape::Prefixed(top) => {
                    found.folder(&self.config.join(top), place, |name, _| {
                        let rest = name.strip_prefix(self.id);
                        let ours = rest.is_some_and(|r| r.starts_with("-agent-"));
                        Ok(ours.then(|| self.id.to_owned()))
                    })?;
                }
                Shape::Slug(top) => found.folder(&self.config.join(top), place, |name, _| {
                    Ok(slug_of(name, slugs).map(str::to_owned))
                })?,
                Shape::Named(top, before, after) => {
                    found.named(self.config, self.id, place, (top, before, after))?;
                }
            }
        }
        found.files.sort();
        found.skipped.sort();
        Ok(found)
    }

    /// Returns the path that a file of this session has in the session at `to`, where its owner is called `owner`.
    pub fn moved(&self, file: &Sidecar, to: &SessionPlaces<'_>, owner: &str) -> Option<PathBuf> {
        let below = |from: PathBuf, to: PathBuf| {
            file.path.strip_prefix(from).ok().map(|rest| to.join(rest))
        };
        let renamed = |folder: &Path, name: String| is_name(&name).then(|| folder.join(name));
        let name = file.path.file_name()?.to_str();
        match file.kind {
            SidecarKind::Subagent | SidecarKind::Own => {
                below(self.folder.join(self.id), to.folder.join(to.id))
            }
            SidecarKind::OldSubagent => renamed(to.folder, format!("agent-{owner}.jsonl")),
            SidecarKind::Plan => {
                let rest = name?.strip_prefix(file.owner.as_str())?;
                renamed(&to.config.join("plans"), format!("{owner}{rest}"))
            }
            SidecarKind::Log | SidecarKind::RequestLog | SidecarKind::Statistics => {
                let name = name?.replacen(self.id, to.id, 1);
                renamed(&to.config.join(self.top_of(file)?), name)
            }
            SidecarKind::FileHistory | SidecarKind::State | SidecarKind::Attachment => {
                let top = self.top_of(file)?;
                if let Some(path) = below(
                    self.config.join(top).join(self.id),
                    to.config.join(top).join(to.id),
                ) {
                    return Some(path);
                }
                // `S-agent-A.json`; the agent of the main conversation has the session's id.
                let agent = name?.strip_prefix(self.id)?.strip_prefix("-agent-")?;
                let agent = match agent.strip_prefix(self.id) {
                    Some(rest) if rest.starts_with('.') => format!("{}{rest}", to.id),
                    _ => agent.to_owned(),
                };
                renamed(&to.config.join(top), format!("{}-agent-{agent}", to.id))
            }
        }
    }

    /// Returns the folder of the config folder that a file is in.
    fn top_of(&self, file: &Sidecar) -> Option<&'static str> {
        let mut tops = PLACES.iter().filter_map(|place| place.shape.folder());
        tops.find(|top| file.path.starts_with(self.config.join(top)))
    }
}

impl SessionFiles {
    fn add(&mut self, path: PathBuf, len: u64, place: &Place, owner: String) {
        self.files.push(Sidecar {
            kind: place.kind,
            path,
            len,
            copy: place.copy,
            owner,
        });
    }

    /// Adds every file below a folder that `place_of` knows. A folder that is a link is skipped.
    fn tree(
        &mut self,
        root: &Path,
        place_of: impl Fn(&Path) -> Option<&'static Place>,
        owner: &str,
    ) -> io::Result<()> {
        match std::fs::symlink_metadata(root) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                self.skipped.push(root.to_owned());
                return Ok(());
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(cannot_list(root, &e)),
        }
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in listed(&folder)? {
                let kind = entry.file_type()?;
                let path = entry.path();
                if kind.is_dir() {
                    folders.push(path);
                } else if !kind.is_file() {
                    self.skipped.push(path);
                } else if let Some(place) = place_of(&path) {
                    self.add(path, entry.metadata()?.len(), place, owner.to_owned());
                }
            }
        }
        Ok(())
    }

    /// Adds the file whose name is the id between two parts. Only a name with an open end needs a look at the folder.
    fn named(
        &mut self,
        config: &Config,
        id: &str,
        place: &Place,
        (top, before, after): (&str, &str, &str),
    ) -> io::Result<()> {
        let folder = config.join(top);
        if after == "." {
            let start = format!("{before}{id}.");
            return self.folder(&folder, place, |name, _| {
                Ok(name.starts_with(&start).then(|| id.to_owned()))
            });
        }
        let path = folder.join(format!("{before}{id}{after}"));
        match std::fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                self.add(path, metadata.len(), place, id.to_owned());
            }
            Ok(metadata) if !metadata.is_dir() => self.skipped.push(path),
            Err(e) if !is_missing(&e) => return Err(e),
            _ => {}
        }
        Ok(())
    }

    /// Adds the files of one folder that have an owner. `owner` is given the name, and the path if it may be opened.
    fn folder(
        &mut self,
        folder: &Path,
        place: &Place,
        owner: impl Fn(&str, Option<&Path>) -> io::Result<Option<String>>,
    ) -> io::Result<()> {
        for entry in listed(folder)? {
            let name = entry.file_name();
            let (Some(name), kind, path) = (name.to_str(), entry.file_type()?, entry.path()) else {
                continue;
            };
            let is_file = kind.is_file();
            match owner(name, is_file.then_some(path.as_path()))? {
                Some(owner) if is_file => self.add(path, entry.metadata()?.len(), place, owner),
                Some(_) if !kind.is_dir() => self.skipped.push(path),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Returns the slug that a plan is named after. If one slug begins with another, the longest that fits counts.
fn slug_of<'s>(name: &str, slugs: &'s [String]) -> Option<&'s str> {
    let fits = |slug: &&String| {
        is_name(slug)
            && name
                .strip_prefix(slug.as_str())
                .is_some_and(|rest| rest == ".md" || rest.starts_with("-agent-"))
    };
    let longest = slugs.iter().filter(fits).max_by_key(|s| s.len());
    longest.map(String::as_str)
}

/// Returns whether one of the first entries of a subagent's transcript names this session.
fn belongs(path: &Path, id: &str) -> io::Result<bool> {
    use io::ErrorKind::{InvalidInput, NotFound, PermissionDenied};
    match names(path, id) {
        // It vanished or was replaced meanwhile, or it is somebody else's.
        Err(e) if matches!(e.kind(), InvalidInput | NotFound | PermissionDenied) => Ok(false),
        named => named,
    }
}

fn names(path: &Path, id: &str) -> io::Result<bool> {
    use std::io::{BufRead as _, BufReader, Read as _};
    /// Far more than five ordinary lines.
    const MOST: u64 = 16 << 20;
    let id = format!("\"{id}\"");
    let lines = BufReader::new(open_regular(path)?.take(MOST)).split(b'\n');
    for line in lines.take(5) {
        let line = line?;
        let named = crate::json::lookup(&line, &["sessionId"]);
        if named.is_some_and(|s| s.of(&line) == id.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the entries of a folder; none if there is no folder.
fn listed(folder: &Path) -> io::Result<Vec<std::fs::DirEntry>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(cannot_list(folder, &e)),
    }
}

fn cannot_list(folder: &Path, error: &io::Error) -> io::Error {
    let message = format!("cannot list `{}`: {error}", folder.display());
    io::Error::new(error.kind(), message)
}

#[cfg(test)]
mod tests;
