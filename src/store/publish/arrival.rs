//! Sessions that arrive from another machine: where their files go here, and what they are called.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use uuid::Uuid;

use crate::ops::MapPaths;
use crate::session::Session;
use crate::store::bundle::{BundledSession, Manifest};
use crate::store::fs::{disk, is_regular};
use crate::store::journal::Operation;
use crate::store::sessions::{Config, Located, SessionPlaces, Sidecar, memory, session_folders};
use crate::surgery::{PathMap, Verified};

use super::change_set::{ChangeSet, Content, Creation};
use super::copy_plan::{CopyPlan, CopySource, CopyTarget, slugs};
use super::error::CommitError;
use super::publisher::{Provenance, Sessions};
use super::subagents::{SubagentError, SubagentWork, operate_on};

/// From where sessions come, and where they go.
#[derive(Debug, Clone, Copy)]
pub struct Travel<'a> {
    /// The config folder in which they were unpacked.
    pub from: &'a Config,
    /// The config folder that gets them.
    pub to: &'a Config,
    /// What is known of them.
    pub manifest: &'a Manifest,
    /// What the folders of the other machine are called here.
    pub map: &'a PathMap,
}

/// A session that arrives.
#[derive(Debug)]
pub struct Arrival {
    /// Its unpacked transcript.
    pub found: Located,
    /// The id that it gets here.
    pub new_id: String,
    /// Its folder here.
    pub project: String,
    /// The title, as the bundle has it.
    pub title: String,
    /// Its other files.
    pub files: Vec<Sidecar>,
    /// Where its transcript will be.
    pub target: PathBuf,
    /// The transform that leads its paths here.
    paths: MapPaths,
    /// The fresh id that it gets, because its own is taken.
    fresh: Option<Uuid>,
}

impl Arrival {
    /// Returns whether it gets a fresh id, because its own is taken.
    pub fn is_renamed(&self) -> bool {
        self.fresh.is_some()
    }

    /// Returns how many bytes its files have.
    pub fn len(&self) -> u64 {
        self.found.len + self.files.iter().map(|f| f.len).sum::<u64>()
    }

    /// Returns whether its files have no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn work(&self) -> SubagentWork<'static> {
        let mut work = SubagentWork::default();
        work.add(self.paths.clone(), None);
        work
    }

    fn folder(&self) -> &Path {
        self.target.parent().unwrap_or(&self.target)
    }
}

/// Sessions that arrive together.
#[derive(Debug)]
pub struct Arrivals<'a> {
    travel: Travel<'a>,
    /// The sessions.
    pub sessions: Vec<Arrival>,
    /// Files of a project's memory, and where they will be.
    pub memory: Vec<(PathBuf, PathBuf)>,
    /// Files of a project's memory that stay out, because another one is there.
    pub kept: Vec<PathBuf>,
    /// Files that do not come along: logs, and scripts that would run here.
    pub left_out: Vec<String>,
    /// Files that belong to no session of the bundle.
    pub strays: Vec<String>,
}

impl<'a> Arrivals<'a> {
    /// Finds everything that arrives. `project_of` returns the folder of a session here, `fresh` makes up random ids, and
    /// `taken` are ids that sessions of the config folder have.
    pub fn find(
        travel: Travel<'a>,
        taken: &BTreeSet<String>,
        project_of: impl Fn(&BundledSession) -> String,
        mut fresh: impl FnMut() -> Uuid,
    ) -> io::Result<Self> {
        let mut all = Self {
            travel,
            sessions: Vec::new(),
            memory: Vec::new(),
            kept: Vec::new(),
            left_out: Vec::new(),
            strays: Vec::new(),
        };
        let mut known: BTreeSet<PathBuf> = BTreeSet::new();
        let mut targets: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
        for session in &travel.manifest.sessions {
            let project = project_of(session);
            let found = Located::at(travel.from.join(session.transcript()))?;
            known.insert(found.path.clone());
            let mut files = all.files_of(&found)?;
            known.extend(files.iter().map(|f| f.path.clone()));
            let stays = |f: &Sidecar| !f.travels(travel.from);
            let left = files.extract_if(.., |f| stays(f));
            all.left_out
                .extend(left.map(|f| rest(travel.from, &f.path)));
            let remembered = files_below(&memory(found.folder()))?;
            known.extend(remembered.iter().cloned());
            let folder = travel.to.project(Path::new(&project));
            all.take_memory(found.folder(), &folder, remembered, &mut targets)?;
            let is_free =
                !taken.contains(&session.id) && all.is_free(&found, &files, &folder, &targets)?;
            let random = (!is_free).then(&mut fresh);
            let new_id = random.map_or_else(|| session.id.clone(), |id| id.to_string());
            let target = folder.join(format!("{new_id}.jsonl"));
            if is_free {
                targets.extend(all.targets(&found, &files, &folder));
            }
            all.sessions.push(Arrival {
                paths: travel.paths(session, &folder, &new_id),
                found,
                new_id,
                project,
                title: session.title.clone(),
                files,
                target,
                fresh: random,
            });
        }
        for file in &travel.manifest.files {
            if !known.contains(&travel.from.join(&file.name)) {
                all.strays.push(file.name.clone());
            }
        }
        Ok(all)
    }

    fn files_of(&self, found: &Located) -> io::Result<Vec<Sidecar>> {
        let slugs = slugs(&Session::open(&found.path)?);
        let places = SessionPlaces {
            config: self.travel.from,
            folder: found.folder(),
            id: &found.id,
        };
        Ok(places.files(&slugs)?.files)
    }

    /// Returns where the files of a session are if it keeps its id, each with where it comes from.
    fn targets(
        &self,
        found: &Located,
        files: &[Sidecar],
        folder: &Path,
    ) -> Vec<(PathBuf, PathBuf)> {
        let (from, to) = self.places(found, folder, &found.id);
        let moved = |file: &Sidecar| {
            let target = from.moved(file, &to, &file.owner)?;
            Some((target, file.path.clone()))
        };
        let transcript = folder.join(format!("{}.jsonl", found.id));
        let own = [(transcript, found.path.clone())];
        files.iter().filter_map(moved).chain(own).collect()
    }

    fn places<'p>(
        &'p self,
        found: &'p Located,
        folder: &'p Path,
        new_id: &'p str,
    ) -> (SessionPlaces<'p>, SessionPlaces<'p>) {
        let from = SessionPlaces {
            config: self.travel.from,
            folder: found.folder(),
            id: &found.id,
        };
        let to = SessionPlaces {
            config: self.travel.to,
            folder,
            id: new_id,
        };
        (from, to)
    }

    /// Returns whether a session can keep its id: nothing is at its places, and none of the others goes there.
    fn is_free(
        &self,
        found: &Located,
        files: &[Sidecar],
        folder: &Path,
        others: &BTreeMap<PathBuf, PathBuf>,
    ) -> io::Result<bool> {
        let (_, to) = self.places(found, folder, &found.id);
        if !session_folders(&to)?.is_empty() {
            return Ok(false);
        }
        for (target, path) in self.targets(found, files, folder) {
            // Several sessions can have one plan or one subagent in common.
            let is_other = others.get(&target).is_some_and(|other| *other != path);
            if is_other || disk::is_there(&target)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes the memory of a project along. Nothing that is remembered here is replaced.
    fn take_memory(
        &mut self,
        from: &Path,
        to: &Path,
        files: Vec<PathBuf>,
        targets: &mut BTreeMap<PathBuf, PathBuf>,
    ) -> io::Result<()> {
        for path in files {
            let Ok(rest) = path.strip_prefix(from) else {
                continue;
            };
            let target = to.join(rest);
            if targets.contains_key(&target) {
                continue;
            }
            if !disk::is_there(&target)? {
                targets.insert(target.clone(), path.clone());
                self.memory.push((path, target));
            } else if !is_regular(&target)? || fs_err::read(&target)? != fs_err::read(&path)? {
                self.kept.push(target);
            }
        }
        Ok(())
    }

    /// Makes the change. `time` returns the time that a file gets for the one that it had.
    pub fn publish(
        &self,
        sessions: &Sessions<'_>,
        provenance: &Provenance,
        time: impl Fn(SystemTime) -> SystemTime,
        mut fresh: impl FnMut() -> Uuid,
    ) -> Result<Operation, CommitError> {
        let time_of = |path: &Path| -> io::Result<Option<SystemTime>> {
            Ok(Some(time(fs_err::metadata(path)?.modified()?)))
        };
        let renamed = self.sessions.iter().filter(|s| s.is_renamed());
        let copies: Vec<(&Arrival, CopySource, Verified)> = renamed
            .map(|s| self.copied(s, &mut fresh))
            .collect::<Result<_, _>>()?;
        let configs = (self.travel.from, self.travel.to);
        let mut sources = Vec::new();
        let mut transcripts = Vec::new();
        for (arrival, source, verified) in copies {
            sources.push((arrival, source));
            transcripts.push(verified);
        }
        let mut plans: Vec<(&Arrival, CopyPlan<'_>)> = Vec::new();
        for ((arrival, source), verified) in sources.into_iter().zip(&transcripts) {
            let plan = source.plan_between(configs, verified, Some(&arrival.work()), Vec::new());
            plans.push((arrival, plan.map_err(Box::new)?));
        }
        let mut changes = ChangeSet::default();
        let (mut last, mut made) = (Vec::new(), BTreeSet::new());
        for (from, to) in &self.memory {
            changes.create.push(Creation {
                target: to.clone(),
                content: Content::File(from.clone()),
                modified: time_of(from)?,
            });
        }
        for arrival in self.sessions.iter().filter(|s| !s.is_renamed()) {
            self.create_as_is(arrival, &time_of, &mut changes, &mut made)?;
            last.push(Creation {
                target: arrival.target.clone(),
                content: transcript(arrival, arrival.found.path.clone()),
                modified: time_of(&arrival.found.path)?,
            });
        }
        for (arrival, plan) in &plans {
            let modified = time_of(&arrival.found.path)?;
            let mut created = plan.creations(modified);
            last.extend(created.pop());
            changes.create.append(&mut created);
        }
        changes.create.append(&mut last);
        let entered = self.sessions.iter();
        changes.enter = entered
            .map(|s| (s.target.clone(), PathBuf::from(&s.project)))
            .collect();
        let located: Vec<Located> = self.sessions.iter().map(Arrival::located).collect();
        let located: Vec<&Located> = located.iter().collect();
        let target = self.sessions.first().map(|s| s.target.clone());
        sessions.change(&located, &target.unwrap_or_default(), &changes, provenance)
    }

    /// Makes the copy of a session that gets a fresh id.
    fn copied<'s>(
        &self,
        arrival: &'s Arrival,
        fresh: &mut impl FnMut() -> Uuid,
    ) -> Result<(&'s Arrival, CopySource, Verified), CommitError> {
        let session = Session::open(&arrival.found.path)?;
        let target = CopyTarget {
            id: arrival.fresh.unwrap_or_default(),
            folder: arrival.folder().to_owned(),
            project: None,
        };
        let from = self.travel.from;
        let mut source = CopySource::gather(from, &arrival.found, &session, target, fresh)?;
        source.retain(|file| file.travels(from));
        let names = source.names().clone();
        let made = operate_on(&arrival.found.path, Some(&arrival.work()), Some(&names));
        let (verified, _) = made.map_err(Box::new)?;
        Ok((arrival, source, verified))
    }

    /// Adds the files of a session that keeps its id, besides its transcript.
    fn create_as_is<'c>(
        &self,
        arrival: &'c Arrival,
        time_of: &impl Fn(&Path) -> io::Result<Option<SystemTime>>,
        changes: &mut ChangeSet<'c>,
        made: &mut BTreeSet<PathBuf>,
    ) -> io::Result<()> {
        let (from, to) = self.places(&arrival.found, arrival.folder(), &arrival.new_id);
        for file in &arrival.files {
            let Some(target) = from.moved(file, &to, &file.owner) else {
                continue;
            };
            // Several sessions can have one plan or one subagent in common.
            if !made.insert(target.clone()) {
                continue;
            }
            changes.create.push(Creation {
                target,
                content: if file.kind.is_transcript() {
                    transcript(arrival, file.path.clone())
                } else {
                    Content::File(file.path.clone())
                },
                modified: time_of(&file.path)?,
            });
        }
        Ok(())
    }
}

impl Arrival {
    /// Returns the session as it will be.
    fn located(&self) -> Located {
        Located {
            path: self.target.clone(),
            id: self.new_id.clone(),
            ..self.found.clone()
        }
    }
}

impl Travel<'_> {
    /// Returns the transform that leads a session's paths here.
    fn paths(&self, session: &BundledSession, folder: &Path, new_id: &str) -> MapPaths {
        let source = &self.manifest.source;
        let separator = if source.os == "windows" { '\\' } else { '/' };
        let there = |parts: &[&str]| {
            let mut path = source.config.clone();
            for part in parts {
                path.push(separator);
                path.push_str(part);
            }
            path
        };
        let here = |path: PathBuf| path.to_string_lossy().into_owned();
        let old = ["projects", &session.folder];
        let own = PathMap::new([
            (
                there(&[old[0], old[1], &session.id]),
                here(folder.join(new_id)),
            ),
            (there(&[old[0], old[1], "memory"]), here(memory(folder))),
            (there(&["plans"]), here(self.to.join("plans"))),
        ]);
        let name = folder.file_name().unwrap_or_default();
        MapPaths {
            id: session.id.clone(),
            folders: (session.folder.clone(), name.to_string_lossy().into_owned()),
            map: self.map.clone(),
            own,
        }
    }
}

/// Returns a transcript of the session with the paths of this machine, made when it is needed.
fn transcript(arrival: &Arrival, path: PathBuf) -> Content<'_> {
    Content::Transcript(Box::new(move || {
        let made = operate_on(&path, Some(&arrival.work()), None);
        Ok(made.map_err(|e: SubagentError| Box::new(e))?.0)
    }))
}

/// Returns a path below a config folder, as people read it.
fn rest(config: &Config, path: &Path) -> String {
    let rest = path.strip_prefix(config.root()).unwrap_or(path);
    rest.to_string_lossy().into_owned()
}

/// Returns all regular files below a folder.
pub(crate) fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = match fs_err::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if disk::is_missing(&e) => continue,
            Err(e) => return Err(e),
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}
