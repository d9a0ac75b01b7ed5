//! What is removed with a session: its files in all places, its lines of the prompt history, and texts pasted in these.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use memchr::memmem;
use rayon::prelude::*;

use crate::document::Source;
use crate::json::{decode, lookup};
use crate::session::Session;
use crate::store::fs::disk::is_missing;
use crate::store::fs::{is_regular, open_regular};
use crate::store::journal::{LineChange, SharedEdit};
use crate::store::sessions::{
    Config, Located, SessionPlaces, Sidecar, SidecarKind, index_file, listed, session_folders,
};

use super::change_set::{ChangeSet, Removal};
use super::copy_plan::slugs;

/// A session that is removed.
#[derive(Debug)]
pub struct RemovedSession {
    /// Its transcript.
    pub found: Located,
    /// Its other files.
    pub files: Vec<Sidecar>,
    /// Links, pipes and devices at the places of its files. They stay.
    pub skipped: Vec<PathBuf>,
    /// Other sessions of the project that mention it: forks, which may need its outputs and rewind data.
    pub mentioned_by: Vec<Located>,
    /// Its folders, outermost first.
    folders: Vec<PathBuf>,
}

impl RemovedSession {
    /// Finds everything that belongs to a session. `others` are sessions that stay.
    pub fn find(config: &Config, found: Located, others: &[Located]) -> io::Result<Self> {
        let neighbours = others.iter().filter(|o| o.folder() == found.folder());
        let neighbours: Vec<&Located> = neighbours.collect();
        let slugs = slugs(&Session::open(&found.path)?);
        let places = SessionPlaces {
            config,
            folder: found.folder(),
            id: &found.id,
        };
        let mut files = places.files(&slugs)?;
        // A fork that Claude Code made has the same slug, and so the same plan.
        files.files.retain(|f| {
            let field = format!("\"slug\":\"{}\"", f.owner);
            f.kind != SidecarKind::Plan || mentioning(&neighbours, &field).is_empty()
        });
        Ok(Self {
            mentioned_by: mentioning(&neighbours, &found.id),
            folders: session_folders(&places)?,
            files: files.files,
            skipped: files.skipped,
            found,
        })
    }

    /// Returns how many bytes its files have.
    pub fn len(&self) -> u64 {
        self.found.len + self.files.iter().map(|f| f.len).sum::<u64>()
    }

    /// Returns whether its files have no bytes at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Returns the sessions whose transcripts contain a text.
fn mentioning(sessions: &[&Located], text: &str) -> Vec<Located> {
    let finder = memmem::Finder::new(text);
    let contains = |found: &&&Located| {
        let source = Source::open(&found.path);
        source.is_ok_and(|source| finder.find(source.bytes()).is_some())
    };
    let found = sessions.par_iter().filter(contains);
    found.map(|found| (*found).clone()).collect()
}

/// Returns the change that removes sessions with everything that belongs to them.
pub fn removal_of(config: &Config, sessions: &[RemovedSession]) -> io::Result<ChangeSet<'static>> {
    let mut changes = removal_without_prompts(sessions)?;
    let ids: BTreeSet<&str> = sessions.iter().map(|s| s.found.id.as_str()).collect();
    forget_prompts(config, &ids, &mut changes)?;
    Ok(changes)
}

/// Returns the change that removes the files of sessions. What was typed in them stays in the prompt history.
pub fn removal_without_prompts(sessions: &[RemovedSession]) -> io::Result<ChangeSet<'static>> {
    let mut changes = ChangeSet::default();
    // A subagent of an old client can belong to two sessions.
    let mut taken = BTreeSet::new();
    for session in sessions {
        let files = session.files.iter().map(|f| &f.path);
        // Files are removed in the reverse order, so the transcript is first: without it no client lists the rest.
        for path in files.chain([&session.found.path]) {
            if taken.insert(path) {
                changes.remove.push(Removal::of(path.clone())?);
            }
        }
        let list = index_file(session.found.folder());
        let entry = listed(session.found.folder(), &session.found.id);
        if let (Some(path), Some((entry, position))) = (list, entry) {
            changes.shared.push(SharedEdit::Unlist {
                path,
                session: session.found.id.clone(),
                entry,
                position,
            });
        }
        changes.remove_dirs.extend(session.folders.iter().cloned());
        let project = session.found.folder().to_owned();
        if !changes.remove_dirs.contains(&project) {
            changes.remove_dirs.insert(0, project);
        }
    }
    Ok(changes)
}

/// Returns the change that removes files of sessions that no longer exist.
pub fn removal_of_files(config: &Config, paths: Vec<PathBuf>) -> io::Result<ChangeSet<'static>> {
    let mut changes = ChangeSet::default();
    let mut folders = BTreeSet::new();
    for path in paths {
        // The folders of the session, but not those of all sessions or of the project.
        let own = path.ancestors().skip(1).filter(|folder| {
            let rest = folder.strip_prefix(config.root());
            rest.is_ok_and(|rest| {
                let depth = if rest.starts_with("projects") { 3 } else { 2 };
                rest.components().count() >= depth
            })
        });
        folders.extend(own.map(Path::to_owned));
        changes.remove.push(Removal::of(path)?);
    }
    changes.remove_dirs = folders.into_iter().collect();
    Ok(changes)
}

/// Adds the removal of prompts that were typed in these sessions, and of texts that only they have pasted.
fn forget_prompts(
    config: &Config,
    ids: &BTreeSet<&str>,
    changes: &mut ChangeSet<'_>,
) -> io::Result<()> {
    let path = config.prompt_history();
    let mut text = Vec::new();
    match open_regular(&path) {
        Ok(mut file) => drop(file.read_to_end(&mut text)?),
        // There is no history, or it is a link, which leads to somebody else's file.
        Err(e) if is_missing(&e) || e.kind() == io::ErrorKind::InvalidInput => return Ok(()),
        Err(e) => return Err(e),
    }
    let mut lines = Vec::new();
    let (mut pasted, mut still_pasted) = (BTreeSet::new(), BTreeSet::new());
    for line in text.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
        let id = lookup(line, &["sessionId"]);
        let is_ours = id.is_some_and(|span| ids.contains(&*decode(span.of(line))));
        match std::str::from_utf8(line) {
            Ok(before) if is_ours => {
                pasted.extend(pastes_in(line));
                lines.push(LineChange {
                    before: before.to_owned(),
                    after: None,
                });
            }
            _ => still_pasted.extend(pastes_in(line)),
        }
    }
    for hash in pasted.difference(&still_pasted) {
        let paste = config.pastes().join(format!("{hash}.txt"));
        if is_regular(&paste).unwrap_or(false) {
            changes.remove.insert(0, Removal::of(paste)?);
        }
    }
    if !lines.is_empty() {
        changes.shared.push(SharedEdit::Lines {
            path,
            changes: lines,
        });
    }
    Ok(())
}

/// Returns the names of the pasted texts that a prompt refers to.
fn pastes_in(line: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\"contentHash\":\"";
    let after = memmem::find_iter(line, KEY).map(|at| &line[at + KEY.len()..]);
    let names = after.map(|rest| {
        let is_name = |b: &&u8| b.is_ascii_alphanumeric();
        rest.iter().take_while(is_name).map(|&b| char::from(b))
    });
    names.map(Iterator::collect).collect()
}
