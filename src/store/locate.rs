//! Finds a session by what a person calls it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::view::Overview;

use super::config::Config;
use super::ends::glance;

/// A session's transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The file.
    pub path: PathBuf,
    /// Its id: the file's name.
    pub id: String,
    /// When it was last written.
    pub modified: SystemTime,
    /// Its size.
    pub len: u64,
}

impl Located {
    fn at(path: PathBuf) -> io::Result<Self> {
        let metadata = fs_err::metadata(&path)?;
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

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }
}

/// Why no session was found.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum LocateError {
    #[error("no session is called `{name}`")]
    NotFound {
        name: String,
        near: Vec<(Located, Overview)>,
    },
    #[error("this project has no sessions (looked in `{}`)", folder.display())]
    NoneHere { folder: PathBuf },
    #[error("this project has only {count} session{}", if *count == 1 { "" } else { "s" })]
    TooFew { count: usize },
    #[error("`{name}` could be any of {}", candidates.len())]
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
    /// Looks in `config`, first for the project whose folder is `project`.
    pub fn new(config: &'a Config, project: &'a Path) -> Self {
        Self { config, project }
    }

    /// The session that `name` names.
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
                return self.nth(n.max(1));
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
        for scope in [&here, &all] {
            if let Some(found) = Self::by_title(scope, name)? {
                return Ok(found);
            }
        }
        if name.chars().count() < 4 && all.iter().any(|f| f.id.starts_with(name)) {
            return Err(LocateError::TooShort {
                name: name.to_owned(),
            });
        }
        Err(LocateError::NotFound {
            name: name.to_owned(),
            near: Self::near(&here, &all, name),
        })
    }

    /// The sessions of the current project, newest first; those without a conversation are left out.
    ///
    /// Where the project has no folder of its own (it was moved, or is a worktree), sessions whose
    /// entries say that they were held here count.
    pub fn here(&self) -> Result<Vec<Located>, LocateError> {
        let own = listed(&self.config.project(self.project))?;
        if !own.is_empty() {
            return Ok(own);
        }
        let project = self.project.to_string_lossy();
        let moved = self
            .all()?
            .into_iter()
            .filter(|f| glance(&f.path).is_ok_and(|g| g.cwd.as_deref() == Some(&*project)));
        Ok(moved.collect())
    }

    /// The sessions of all projects, newest first.
    pub fn all(&self) -> Result<Vec<Located>, LocateError> {
        let mut all = Vec::new();
        match std::fs::read_dir(self.config.projects()) {
            Ok(folders) => {
                for folder in folders {
                    let folder = folder?;
                    if folder.file_type()?.is_dir() || folder.path().is_dir() {
                        all.extend(listed(&folder.path())?);
                    }
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e.into()),
        }
        sort(&mut all);
        Ok(all)
    }

    fn by_path(path: &Path) -> Result<Located, LocateError> {
        if path.is_dir() {
            return Err(LocateError::Directory {
                path: path.to_owned(),
            });
        }
        match Located::at(path.to_owned()) {
            Ok(found) if found.len == 0 && path.is_file() => Err(LocateError::Empty {
                path: path.to_owned(),
            }),
            Ok(found) => Ok(Located {
                path: std::path::absolute(&found.path)?,
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
        for found in self.here()? {
            // Clients leave files that hold no conversation; nobody means those.
            if glance(&found.path).is_ok_and(|g| g.has_messages) {
                seen += 1;
                if seen == n {
                    return Ok(found);
                }
            }
        }
        if seen == 0 {
            return Err(LocateError::NoneHere {
                folder: self.config.project(self.project),
            });
        }
        Err(LocateError::TooFew { count: seen })
    }

    fn by_id(among: &[Located], name: &str) -> Result<Option<Located>, LocateError> {
        if let Some(exact) = among.iter().find(|f| f.id == name) {
            return Ok(Some(exact.clone()));
        }
        if name.chars().count() < 4 {
            return Ok(None);
        }
        Self::only(
            among
                .iter()
                .filter(|f| f.id.starts_with(name))
                .cloned()
                .collect(),
            name,
        )
    }

    fn by_title(among: &[Located], name: &str) -> Result<Option<Located>, LocateError> {
        let titled = among
            .iter()
            .filter(|f| glance(&f.path).is_ok_and(|g| g.title.as_deref() == Some(name)));
        Self::only(titled.cloned().collect(), name)
    }

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

    /// The sessions whose ids or titles are most like `name`.
    fn near(here: &[Located], all: &[Located], name: &str) -> Vec<(Located, Overview)> {
        let wanted = name.to_lowercase();
        let pool = here
            .iter()
            .chain(all.iter().filter(|f| !here.contains(f)))
            .take(200);
        let mut scored: Vec<(f32, Located, Overview)> = pool
            .map(|f| {
                let seen = glance(&f.path).unwrap_or_default();
                let title = seen.name().to_lowercase();
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

/// The session files of one folder, newest first.
fn listed(folder: &Path) -> Result<Vec<Located>, LocateError> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e.into()),
    };
    let mut out = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let named_so =
            name.ends_with(".jsonl") && !name.starts_with("agent-") && !name.starts_with('.');
        // Opening a pipe or a device that has such a name could wait forever.
        if named_so && path.is_file() {
            // A file that vanishes while we look was not there.
            out.extend(Located::at(path).ok());
        }
    }
    sort(&mut out);
    Ok(out)
}

fn sort(found: &mut [Located]) {
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.id.cmp(&b.id)));
}
