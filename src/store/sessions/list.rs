//! Lists many sessions without reading all of them completely.

use std::io;
use std::path::PathBuf;

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::session::Session;
use crate::transcript::{Kind, PromptKind};
use crate::view::{Overview, Status, prompt_text};
use crate::window::Calibration;

use super::ends::Ends;
use super::locate::Located;

/// How many bytes are read completely for one listing, newest sessions first. Of the other sessions only the first and
/// last bytes are read, because reading thousands of sessions takes minutes.
const BUDGET: u64 = 32 << 20;

/// How much of each session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The newest completely, the first and last bytes of the others.
    Quick,
    /// Every prompt of every session.
    Prompts,
}

/// One session of a listing.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Where it is.
    pub found: Located,
    /// Its title, first prompt and project.
    pub glance: Overview,
    /// Its status.
    pub outlook: Status,
    /// Turns of the live path; `None` if only the first and last bytes were read.
    pub turns: Option<u64>,
    /// Compactions of the live path; `None` if only the first and last bytes were read.
    pub compactions: Option<u64>,
    /// Tokens in the context window.
    pub tokens: u64,
    /// Whether the session records that number; otherwise it is an estimate.
    pub recorded: bool,
    /// Every prompt, for [`Depth::Prompts`].
    pub prompts: Vec<String>,
    /// When its first and last entries were made, in milliseconds since the epoch.
    pub times: Option<(i64, i64)>,
}

/// Sessions of a listing, and those that could not be read.
#[derive(Debug, Default)]
pub struct Batch {
    /// The sessions that hold a conversation, newest first.
    pub listed: Vec<Listed>,
    /// The others that could not be read.
    pub failed: Vec<Located>,
}

/// Lists sessions, which are given newest first. Those that cannot be read or hold no conversation are left out.
pub fn list(found: Vec<Located>, depth: Depth) -> Vec<Listed> {
    read(planned(found, depth), depth).listed
}

/// Lists sessions, which are given newest first, and names those that cannot be read.
pub fn list_all(found: Vec<Located>, depth: Depth) -> Batch {
    read(planned(found, depth), depth)
}

/// A listing that is read project by project, the project with the newest session first.
#[derive(Debug)]
pub struct Listing {
    projects: std::vec::IntoIter<Vec<Planned>>,
    depth: Depth,
}

/// How many sessions are read together at least: as many as keep all cores busy, and appear at once.
const BATCH: usize = 256;

impl Listing {
    /// Plans to list sessions, which are given newest first.
    pub fn by_project(found: Vec<Located>, depth: Depth) -> Self {
        let mut projects: IndexMap<PathBuf, Vec<Planned>> = IndexMap::new();
        for planned in planned(found, depth) {
            let folder = planned.found.folder();
            match projects.get_mut(folder) {
                Some(project) => project.push(planned),
                None => {
                    projects.insert(folder.to_owned(), vec![planned]);
                }
            }
        }
        let projects: Vec<_> = projects.into_values().collect();
        Self {
            projects: projects.into_iter(),
            depth,
        }
    }
}

/// Yields the sessions of whole projects, some hundred at a time.
impl Iterator for Listing {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        let mut batch = self.projects.next()?;
        while batch.len() < BATCH
            && let Some(more) = self.projects.next()
        {
            batch.extend(more);
        }
        Some(read(batch, self.depth))
    }
}

/// A session that will be read, and whether completely.
#[derive(Debug)]
struct Planned {
    found: Located,
    whole: bool,
}

/// Decides which sessions, given newest first, are read completely.
fn planned(found: Vec<Located>, depth: Depth) -> Vec<Planned> {
    let mut left = BUDGET;
    let plan = |found: Located| {
        let whole = depth == Depth::Prompts || found.len <= left;
        // A session that is not read completely leaves the budget to those after it.
        if whole {
            left = left.saturating_sub(found.len);
        }
        Planned { found, whole }
    };
    found.into_iter().map(plan).collect()
}

/// Reads sessions on all cores.
fn read(planned: Vec<Planned>, depth: Depth) -> Batch {
    let one = |Planned { found, whole }| look(&found, whole, depth).map_err(|_| found);
    let all: Vec<_> = planned.into_par_iter().map(one).collect();
    let mut batch = Batch::default();
    for seen in all {
        match seen {
            Ok(listed) => batch.listed.extend(listed),
            Err(found) => batch.failed.push(found),
        }
    }
    batch
}

/// A session, or its first and last lines, and what they show.
struct Seen {
    session: Session,
    whole: bool,
    glance: Overview,
    /// The tokens in the context window, if recorded.
    recorded: Option<u64>,
}

impl Seen {
    fn of(session: Session, whole: bool) -> Self {
        Self {
            glance: Overview::of(&session),
            recorded: Calibration::recorded_at_a_glance(&session),
            session,
            whole,
        }
    }

    /// Reads as few lines of the ends as show the session's name, project and context size.
    fn ends(ends: Ends) -> Self {
        if !ends.whole && !ends.is_summarised() {
            let few = Self::of(ends.outermost(), false);
            let named = few.glance.title.is_some() || few.glance.first_prompt.is_some();
            if named && few.glance.cwd.is_some() && few.recorded.is_some() {
                return few;
            }
        }
        let whole = ends.whole;
        Self::of(ends.session(), whole)
    }
}

fn look(found: &Located, whole: bool, depth: Depth) -> io::Result<Option<Listed>> {
    let Seen {
        session,
        whole,
        glance,
        recorded,
    } = if whole {
        Seen::of(Session::open(&found.path)?, true)
    } else {
        Seen::ends(Ends::read(&found.path)?)
    };
    if !glance.has_messages {
        return Ok(None);
    }
    let path = session.graph().path();
    let boundaries = path.iter().filter(|&&i| session.entry(i).is_boundary());
    let times = session
        .entries()
        .iter()
        .map(|e| e.time)
        .filter(|&t| t != i64::MIN);
    let prompts = match depth {
        Depth::Quick => Vec::new(),
        Depth::Prompts => session
            .entries()
            .iter()
            .filter(|e| {
                e.kind == Kind::User && matches!(e.prompt, PromptKind::Words | PromptKind::Command)
            })
            .filter_map(|e| prompt_text(&session, e))
            .collect(),
    };
    // A session that was read completely is measured as all other commands measure it, so that the numbers agree.
    let measured = || {
        let calibration = Calibration::of(&session);
        (calibration.window(), calibration.recorded.is_some())
    };
    let (tokens, recorded) = match recorded {
        Some(tokens) if !whole => (tokens, true),
        _ => measured(),
    };
    Ok(Some(Listed {
        outlook: Status::of(&session),
        turns: whole.then(|| session.turns().len() as u64),
        compactions: whole.then(|| boundaries.count() as u64),
        tokens,
        recorded,
        prompts,
        times: times.clone().min().zip(times.max()),
        glance,
        found: found.clone(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listing_by_project_yields_whole_projects_newest_first() {
        let root = tempfile::tempdir().unwrap();
        let line = r#"{"type":"user","uuid":"u","message":{"content":"words"}}"#;
        let mut found = Vec::new();
        for project in ["b", "c", "a"] {
            let folder = root.path().join(project);
            fs_err::create_dir(&folder).unwrap();
            for n in 0..=BATCH / 2 {
                let path = folder.join(format!("{n}.jsonl"));
                fs_err::write(&path, line).unwrap();
                found.push(Located::at(path).unwrap());
            }
        }
        found[1].path = root.path().join("b").join("none.jsonl");
        // The newest session of `a` is newer than some of the others.
        let last = found.len() - 1;
        found.swap(last, 5);
        let names = |batch: &Batch| {
            let folders = batch.listed.iter().map(|l| l.found.folder());
            let mut names: Vec<_> = folders.map(|f| f.file_name().unwrap().to_owned()).collect();
            names.dedup();
            names
        };
        let batches: Vec<Batch> = Listing::by_project(found.clone(), Depth::Quick).collect();
        assert_eq!(names(&batches[0]), ["b", "a"]);
        assert_eq!(names(&batches[1]), ["c"]);
        assert_eq!(batches.len(), 2);
        let listed: usize = batches.iter().map(|b| b.listed.len()).sum();
        assert_eq!(listed, list(found, Depth::Quick).len());
        assert_eq!(batches[0].failed.len(), 1);
    }
}
