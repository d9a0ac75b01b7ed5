//! Finds a session by the name that a person gives: an id, a title, a path, or `@`.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rayon::prelude::*;

use crate::transcript::project_path::is_same_folder;
use crate::view::Overview;

use super::super::fs::plain_path;
use super::config::Config;
use super::ends::glance;

/// A session's transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The file.
    pub path: PathBuf,
    /// Its id: the file's name without its ending.
    pub id: String,
    /// When it was last written.
    pub modified: SystemTime,
    /// Its size.
    pub len: u64,
}

impl Located {
    pub(crate) fn at(path: PathBuf) -> io::Result<Self> {
        let metadata = fs_err::metadata(&path)?;
        Self::with(path, &metadata)
    }

    fn with(path: PathBuf, metadata: &Metadata) -> io::Result<Self> {
        let id = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Ok(Self {
            id,
            modified: metadata.modified()?,
            len: metadata.len(),
            path,
        })
    }

    /// Returns the folder that it is in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }
}

/// Why no session was found.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum LocateError {
    #[error("no session is called `{name}`")]
    NotFound {
        name: String,
        near: Vec<(Located, Overview)>,
    },
    #[error("this project has no sessions (looked in `{}`)", folder.display())]
    NoneHere { folder: PathBuf },
    #[error("`@{number}` is not a session: counting starts at 1")]
    NoNumber { number: usize },
    #[error("this project has only {count} session{}", if *count == 1 { "" } else { "s" })]
    TooFew { count: usize },
    #[error("`{name}` fits {} sessions", candidates.len())]
    Ambiguous {
        name: String,
        candidates: Vec<(Located, Overview)>,
    },
    #[error("`{name}` is too short for an id: give at least 4 characters")]
    TooShort { name: String },
    #[error("there is no file `{}`", path.display())]
    NoSuchFile { path: PathBuf },
    #[error("`{}` is a directory, not a session", path.display())]
    Directory { path: PathBuf },
    #[error("`{}` is not a regular file", path.display())]
    Special { path: PathBuf },
    #[error("`{}` is empty", path.display())]
    Empty { path: PathBuf },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Looks for sessions in a config folder, in one project first.
#[derive(Debug)]
pub struct Locator<'a> {
    config: &'a Config,
    project: &'a Path,
}

impl<'a> Locator<'a> {
    /// Looks in `config`, first for sessions of the project in `project`.
    pub fn new(config: &'a Config, project: &'a Path) -> Self {
        Self { config, project }
    }

    /// Returns the session that `name` names.
    pub fn find(&self, name: &str) -> Result<Located, LocateError> {
        if name.contains(['/', std::path::MAIN_SEPARATOR])
            || Path::new(name).extension().is_some_and(|x| x == "jsonl")
        {
            return Self::by_path(Path::new(name));
        }
        if let Some(nth) = name.strip_prefix('@') {
            if nth.is_empty() {
                return self.nth(1);
            }
            if let Ok(n) = nth.parse::<usize>() {
                return match n {
                    0 => Err(LocateError::NoNumber { number: n }),
                    n => self.nth(n),
                };
            }
        }
        let here = self.here()?;
        if let Some(found) = Self::by_id(&here, name)? {
            return Ok(found);
        }
        let all = self.all()?;
        if let Some(found) = Self::by_id(&all, name)? {
            return Ok(found);
        }
        if let Some(found) = by_title(&here, &all, name)? {
            return Ok(found);
        }
        if name.chars().count() < SHORTEST_ID && all.iter().any(|f| id_starts_with(f, name)) {
            return Err(LocateError::TooShort {
                name: name.to_owned(),
            });
        }
        Err(LocateError::NotFound {
            name: name.to_owned(),
            near: Self::near(&here, &all, name),
        })
    }

    /// Returns the sessions of the current project, newest first.
    ///
    /// If the project has no folder of its own, because it was moved or is a worktree, these are the sessions whose
    /// entries name the project's folder.
    pub fn here(&self) -> Result<Vec<Located>, LocateError> {
        let own = listed(&self.config.project(self.project))?;
        if !own.is_empty() {
            return Ok(own);
        }
        let project = self.project.to_string_lossy();
        let moved = self.all()?.into_iter().filter(|f| {
            let cwd = glance(&f.path).ok().and_then(|g| g.cwd);
            cwd.is_some_and(|cwd| is_same_folder(&cwd, &project))
        });
        Ok(moved.collect())
    }

    /// Returns the sessions of all projects, newest first. Projects that cannot be listed are left out; see
    /// [`Self::unreadable_projects`].
    pub fn all(&self) -> Result<Vec<Located>, LocateError> {
        // Asking the system about 50,000 files takes 0.3 s on one core.
        let folders = self.projects()?.into_par_iter();
        let found = folders.map(|folder| listed(&folder).unwrap_or_default());
        let mut all = found.collect::<Vec<_>>().concat();
        sort(&mut all);
        Ok(all)
    }

    /// Returns the sessions in a folder of transcripts, newest first. Fails if one of them cannot be looked at.
    pub(crate) fn in_folder(folder: &Path) -> io::Result<Vec<Located>> {
        let mut out = Vec::new();
        for path in transcripts(folder)? {
            out.extend(session_at(path)?);
        }
        sort(&mut out);
        Ok(out)
    }

    /// Returns the projects' folders that cannot be listed, and why.
    pub fn unreadable_projects(&self) -> Result<Vec<(PathBuf, io::Error)>, LocateError> {
        let mut unreadable = Vec::new();
        for folder in self.projects()? {
            if let Err(error) = fs_err::read_dir(&folder) {
                unreadable.push((folder, error));
            }
        }
        Ok(unreadable)
    }

    fn projects(&self) -> Result<Vec<PathBuf>, LocateError> {
        let folders = match fs_err::read_dir(self.config.projects()) {
            Ok(folders) => folders,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(e.into()),
        };
        let mut all = Vec::new();
        for folder in folders {
            let path = folder?.path();
            if path.is_dir() {
                all.push(path);
            }
        }
        all.sort();
        Ok(all)
    }

    fn by_path(path: &Path) -> Result<Located, LocateError> {
        if path.is_dir() {
            return Err(LocateError::Directory {
                path: path.to_owned(),
            });
        }
        if fs_err::metadata(path).is_ok_and(|m| !m.is_file()) {
            return Err(LocateError::Special {
                path: path.to_owned(),
            });
        }
        match Located::at(path.to_owned()) {
            Ok(found) if found.len == 0 && path.is_file() => Err(LocateError::Empty {
                path: path.to_owned(),
            }),
            Ok(found) => Ok(Located {
                path: plain_path(&found.path)?,
                ..found
            }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Err(LocateError::NoSuchFile {
                path: path.to_owned(),
            }),
            Err(e) => Err(e.into()),
        }
    }

    fn nth(&self, n: usize) -> Result<Located, LocateError> {
        let mut seen = 0;
        let mut unreadable = None;
        for found in self.here()? {
            match glance(&found.path) {
                // Clients leave files without a conversation; nobody means those.
                Ok(overview) if !overview.has_messages => {}
                Ok(_) if seen + 1 == n => return Ok(found),
                Ok(_) => seen += 1,
                Err(error) => unreadable = unreadable.or(Some(error)),
            }
        }
        if seen == 0 {
            if let Some(error) = unreadable {
                return Err(error.into());
            }
            return Err(LocateError::NoneHere {
                folder: self.config.project(self.project),
            });
        }
        Err(LocateError::TooFew { count: seen })
    }

    fn by_id(among: &[Located], name: &str) -> Result<Option<Located>, LocateError> {
        let equal = |f: &&Located| f.id.eq_ignore_ascii_case(name);
        let exact = among.iter().find(|f| f.id == name);
        if let Some(exact) = exact.or_else(|| among.iter().find(equal)) {
            return Ok(Some(exact.clone()));
        }
        if name.chars().count() < SHORTEST_ID {
            return Ok(None);
        }
        let fitting = among.iter().filter(|f| id_starts_with(f, name));
        only(fitting.cloned().collect(), name)
    }

    /// Returns the sessions whose ids or titles are most like `name`.
    fn near(here: &[Located], all: &[Located], name: &str) -> Vec<(Located, Overview)> {
        let wanted = name.to_lowercase();
        let pool = here
            .iter()
            .chain(all.iter().filter(|f| !here.contains(f)))
            .take(200);
        let mut scored: Vec<(f32, Located, Overview)> = pool
            .map(|f| {
                let seen = glance(&f.path).unwrap_or_default();
                let title = seen.name().raw().to_lowercase();
                let alike = |a: &str| similar::TextDiff::from_chars(a, &wanted).ratio();
                let head: String = f.id.chars().take(wanted.chars().count()).collect();
                let contained = if title.contains(&wanted) { 1.0 } else { 0.0 };
                let short: String = title.chars().take(80).collect();
                (
                    alike(&head).max(alike(&short)).max(contained),
                    f.clone(),
                    seen,
                )
            })
            .filter(|(score, ..)| *score >= 0.5)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().take(5).map(|(_, f, g)| (f, g)).collect()
    }
}

/// The shortest start of an id that names a session.
const SHORTEST_ID: usize = 4;

/// The shortest part of a title that names a session: a shorter one is rather a typing error.
const SHORTEST_PART: usize = 3;

/// Whether the session's id starts with `name`, capital letters or not.
fn id_starts_with(found: &Located, name: &str) -> bool {
    let start = found.id.as_bytes().get(..name.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
}

/// How well a title fits a name, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TitleFit {
    Exact,
    ExceptCase,
    Part,
}

impl TitleFit {
    /// Compares a session's title, or its first prompt where it has none, with a name in lower case.
    fn of(overview: &Overview, name: &str, lower: &str) -> Option<Self> {
        let title = overview.title.as_ref().or(overview.first_prompt.as_ref())?;
        let title = title.raw();
        if title == name {
            return Some(Self::Exact);
        }
        let title = title.to_lowercase();
        if title == lower {
            return Some(Self::ExceptCase);
        }
        let long_enough = lower.chars().count() >= SHORTEST_PART;
        (long_enough && title.contains(lower)).then_some(Self::Part)
    }
}

/// Finds a session by its title: the whole of it, else a part that only one title has. Sessions of the
/// current project come before those of others.
fn by_title(here: &[Located], all: &[Located], name: &str) -> Result<Option<Located>, LocateError> {
    let lower = name.to_lowercase();
    let fits = |among: &[Located]| -> Vec<(TitleFit, Located)> {
        let overviews = among
            .iter()
            .filter_map(|f| Some((f, glance(&f.path).ok()?)));
        let fits =
            overviews.filter_map(|(f, o)| Some((TitleFit::of(&o, name, &lower)?, f.clone())));
        fits.collect()
    };
    let here = fits(here);
    // The other projects need not be read where a title of this one is the name itself.
    let all = if here.iter().any(|(fit, _)| *fit == TitleFit::Exact) {
        Vec::new()
    } else {
        fits(all)
    };
    for fit in [TitleFit::Exact, TitleFit::ExceptCase, TitleFit::Part] {
        for scope in [&here, &all] {
            let fitting = scope.iter().filter(|(f, _)| *f == fit);
            if let Some(found) = only(fitting.map(|(_, l)| l.clone()).collect(), name)? {
                return Ok(Some(found));
            }
        }
    }
    Ok(None)
}

/// Returns the one candidate, or none; several are an error that lists them.
fn only(mut candidates: Vec<Located>, name: &str) -> Result<Option<Located>, LocateError> {
    if candidates.len() > 1 {
        let candidates = candidates
            .into_iter()
            .map(|f| (f.clone(), glance(&f.path).unwrap_or_default()))
            .collect();
        return Err(LocateError::Ambiguous {
            name: name.to_owned(),
            candidates,
        });
    }
    Ok(candidates.pop())
}

/// The session files of one folder, newest first.
fn listed(folder: &Path) -> Result<Vec<Located>, LocateError> {
    let found = transcripts(folder)?.into_iter();
    let mut out: Vec<Located> = found
        .filter_map(|path| session_at(path).ok().flatten())
        .collect();
    sort(&mut out);
    Ok(out)
}

/// Returns what has the name of a session's transcript in a folder; nothing if there is no such folder.
fn transcripts(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut out = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".jsonl") && !name.starts_with("agent-") && !name.starts_with('.') {
            out.push(path);
        }
    }
    Ok(out)
}

/// Returns the session at a path. Pipes, devices and folders are not sessions, and a file may vanish meanwhile.
fn session_at(path: PathBuf) -> io::Result<Option<Located>> {
    match fs_err::metadata(&path) {
        Ok(metadata) if metadata.is_file() => Located::with(path, &metadata).map(Some),
        Ok(_) => Ok(None),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

fn sort(found: &mut [Located]) {
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
}
