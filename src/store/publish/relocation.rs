//! What moves with a project whose folder was renamed: its sessions and those of the folders below it, their files, its
//! memory, the prompts typed in it, and its entry in the client's state.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::json::{Edit, apply_edits, decode, encode, fields, lookup};
use crate::ops::MoveProject;
use crate::session::Session;
use crate::store::fs::{disk, is_regular, open_regular, real_path};
use crate::store::journal::{LineChange, SharedEdit};
use crate::store::sessions::{
    Config, Located, Locator, SessionPlaces, Sidecar, SidecarKind, glance, memory, resume_cache,
    session_folders, slug,
};
use crate::surgery::{Surgery, SurgeryError, Verified, moved_path};
use crate::transcript::project_path;

use super::change_set::{ChangeSet, Content, Creation, Removal};
use super::error::CommitError;
use super::subagents::SubagentError;

/// A session that moves.
#[derive(Debug)]
pub struct MovedSession {
    /// Its transcript.
    pub found: Located,
    /// Where its transcript will be.
    pub target: PathBuf,
    /// The folder that it was held in, and what that is called now.
    pub project: (String, String),
    /// Its files in the project's folder of transcripts.
    pub files: Vec<Sidecar>,
}

/// What moves with a project.
#[derive(Debug, Default)]
pub struct Relocation {
    /// Its sessions.
    pub sessions: Vec<MovedSession>,
    /// Sessions that stay, because the new place has a session with the same id or a file with the same name.
    pub collisions: Vec<Located>,
    /// Files of the project's memory and list of sessions, and where they will be.
    pub project_files: Vec<(PathBuf, PathBuf)>,
    /// Files that stay, because the new place has another file with the same name.
    pub kept: Vec<PathBuf>,
    /// Changes of files that sessions share.
    pub shared: Vec<SharedEdit>,
    /// Projects whose entry in the client's state stays, because the new place has one.
    pub kept_entries: Vec<String>,
    /// Folders that are empty afterwards.
    folders: BTreeSet<PathBuf>,
}

/// Returns whether two paths name the same folder, by their names alone.
pub fn is_same_folder(a: &Path, b: &Path) -> bool {
    project_path::is_same_folder(&a.to_string_lossy(), &b.to_string_lossy())
}

impl Relocation {
    /// Finds everything that moves when the folder `old` is called `new`.
    pub fn find(config: &Config, old: &str, new: &str) -> io::Result<Self> {
        let mut all = Self::default();
        let start = slug(old);
        // A long name ends with a hash, and the rest of it is the beginning of longer ones.
        let start = &start[..start.len().min(200)];
        for folder in folders_of(config)? {
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            if is_start(&name, start, old) {
                all.take_folder(config, &folder, old, new)?;
            }
        }
        all.take_prompts(config, old, new)?;
        all.take_entries(config, old, new)?;
        Ok(all)
    }

    /// Returns whether nothing moves.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.project_files.is_empty() && self.shared.is_empty()
    }

    /// Returns how many bytes move.
    pub fn len(&self) -> u64 {
        let files = |s: &MovedSession| s.files.iter().map(|f| f.len).sum::<u64>();
        self.sessions.iter().map(|s| s.found.len + files(s)).sum()
    }

    fn take_folder(
        &mut self,
        config: &Config,
        folder: &Path,
        old: &str,
        new: &str,
    ) -> io::Result<()> {
        let mut homes = BTreeSet::new();
        let mut taken: BTreeSet<PathBuf> = BTreeSet::new();
        let mut stays = false;
        for found in Locator::in_folder(folder)? {
            let Some(home) = project_of(&found, folder, old)? else {
                stays = true;
                continue;
            };
            let Some(to) = moved_path(&home, old, new) else {
                stays = true;
                continue;
            };
            let places = SessionPlaces {
                config,
                folder,
                id: &found.id,
            };
            let mut files = places.files(&[])?.files;
            // A subagent of an old client can belong to two sessions; it moves with the first.
            let is_taken = |f: &Sidecar| taken.contains(&f.path);
            files.retain(|f| f.path.starts_with(folder) && !is_taken(f));
            let target = config.project(Path::new(&to));
            let own_folders = session_folders(&places)?;
            let mut is_free = target != folder;
            for path in files.iter().map(|f| &f.path).chain([&found.path]) {
                if let Some(moved) = moved_file(path, folder, &target) {
                    is_free &= !disk::is_there(&moved)?;
                }
            }
            if !is_free {
                stays = true;
                self.collisions.push(found);
                continue;
            }
            taken.extend(files.iter().map(|f| f.path.clone()));
            let own = own_folders.into_iter();
            self.folders.extend(own.filter(|f| f.starts_with(folder)));
            self.sessions.push(MovedSession {
                target: target.join(format!("{}.jsonl", found.id)),
                project: (home.clone(), to.clone()),
                files,
                found,
            });
            homes.insert((home, target));
        }
        // The memory of a folder that several projects share by name stays with those that stay.
        if let (1, false, Some((_, target))) = (homes.len(), stays, homes.first()) {
            self.take_project_files(folder, target)?;
            self.folders.insert(folder.to_owned());
        }
        Ok(())
    }

    fn take_project_files(&mut self, folder: &Path, target: &Path) -> io::Result<()> {
        let remembered = memory(folder);
        let mut folders = vec![remembered.clone()];
        let mut files = vec![folder.join("sessions-index.json")];
        while let Some(dir) = folders.pop() {
            let entries = match fs_err::read_dir(&dir) {
                Ok(entries) => entries,
                Err(e) if disk::is_missing(&e) => continue,
                Err(e) => return Err(e),
            };
            self.folders.insert(dir);
            for entry in entries {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    folders.push(entry.path());
                } else {
                    files.push(entry.path());
                }
            }
        }
        for path in files {
            match is_regular(&path) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(e) if disk::is_missing(&e) => continue,
                Err(e) => return Err(e),
            }
            let Some(moved) = moved_file(&path, folder, target) else {
                continue;
            };
            if disk::is_there(&moved)? {
                self.kept.push(path);
            } else {
                self.project_files.push((path, moved));
            }
        }
        Ok(())
    }

    /// Changes the project of prompts that were typed in it.
    fn take_prompts(&mut self, config: &Config, old: &str, new: &str) -> io::Result<()> {
        let path = config.prompt_history();
        let Some(text) = read(&path)? else {
            return Ok(());
        };
        let mut changes = Vec::new();
        for line in text.split(|&b| b == b'\n') {
            let Some(project) = lookup(line, &["project"]) else {
                continue;
            };
            let Some(to) = moved_path(&decode(project.of(line)), old, new) else {
                continue;
            };
            let after = apply_edits(line, &[Edit::new(project, encode(&to))]);
            if let (Ok(before), Some(Ok(after))) =
                (std::str::from_utf8(line), after.ok().map(String::from_utf8))
            {
                changes.push(LineChange {
                    before: before.to_owned(),
                    after: Some(after),
                });
            }
        }
        if !changes.is_empty() {
            self.shared.push(SharedEdit::Lines { path, changes });
        }
        Ok(())
    }

    /// Renames the project's entries in the client's state.
    fn take_entries(&mut self, config: &Config, old: &str, new: &str) -> io::Result<()> {
        for path in config.client_state() {
            let Some(text) = read(&path)? else {
                continue;
            };
            let Some(projects) = lookup(&text, &["projects"]) else {
                continue;
            };
            let inner = projects.of(&text);
            let keys = fields(inner).unwrap_or_default();
            let keys: BTreeSet<String> = keys
                .iter()
                .map(|f| decode(&inner[f.key.start as usize - 1..=f.key.end as usize]).into_owned())
                .collect();
            for from in &keys {
                match moved_path(from, old, new) {
                    Some(to) if keys.contains(&to) => self.kept_entries.push(from.clone()),
                    Some(to) => self.shared.push(SharedEdit::RenameProject {
                        path: path.clone(),
                        from: from.clone(),
                        to,
                    }),
                    None => {}
                }
            }
        }
        Ok(())
    }

    /// Returns the change that moves everything. Sessions that Claude Code would soon delete because of their age get a
    /// time that `fresh` returns for theirs.
    pub fn changes(&self, fresh: impl Fn(SystemTime) -> SystemTime) -> io::Result<ChangeSet<'_>> {
        let mut changes = ChangeSet {
            shared: self.shared.clone(),
            remove_dirs: self.folders.iter().cloned().collect(),
            ..ChangeSet::default()
        };
        let mut transcripts = Vec::new();
        for (from, to) in &self.project_files {
            changes.remove.push(Removal::of(from.clone())?);
            changes.create.push(self.project_file(from, to)?);
        }
        for session in &self.sessions {
            let folder = session.found.folder();
            let target = session.target.parent().unwrap_or(folder);
            let cache = resume_cache(&session.found.path);
            for file in &session.files {
                changes.remove.push(Removal::of(file.path.clone())?);
                let Some(moved) = moved_file(&file.path, folder, target) else {
                    continue;
                };
                if cache.as_ref() == Some(&file.path) {
                    // It has positions in the old bytes; the client makes a new one.
                    continue;
                }
                let is_transcript =
                    matches!(file.kind, SidecarKind::Subagent | SidecarKind::OldSubagent);
                changes.create.push(Creation {
                    target: moved,
                    content: if is_transcript {
                        session.transcript(&file.path)
                    } else {
                        Content::Link(file.path.clone())
                    },
                    modified: None,
                });
            }
            changes
                .remove
                .push(Removal::of(session.found.path.clone())?);
            transcripts.push(Creation {
                target: session.target.clone(),
                content: session.transcript(&session.found.path),
                modified: Some(fresh(session.found.modified)),
            });
        }
        changes.create.append(&mut transcripts);
        Ok(changes)
    }

    /// Returns a file of the project in its new place; in the list of sessions the paths change.
    fn project_file(&self, from: &Path, to: &Path) -> io::Result<Creation<'static>> {
        let is_list = from.file_name().is_some_and(|n| n == "sessions-index.json");
        let content = if is_list {
            let mut text = fs_err::read_to_string(from)?;
            for session in &self.sessions {
                let quoted = |path: &Path| encode(&path.to_string_lossy());
                text = text.replace(&quoted(&session.found.path), &quoted(&session.target));
                text = text.replace(
                    &format!("\"projectPath\": {}", encode(&session.project.0)),
                    &format!("\"projectPath\": {}", encode(&session.project.1)),
                );
            }
            Content::Bytes(text.into_bytes())
        } else {
            Content::Link(from.to_owned())
        };
        Ok(Creation {
            target: to.to_owned(),
            content,
            modified: None,
        })
    }
}

impl MovedSession {
    /// Returns a transcript of the session with the new paths, made when it is needed.
    fn transcript(&self, path: &Path) -> Content<'_> {
        let path = path.to_owned();
        Content::Transcript(Box::new(move || {
            self.operate(&path)
                .map_err(|e| CommitError::from(Box::new(e)))
        }))
    }

    fn operate(&self, path: &Path) -> Result<Verified, SubagentError> {
        let name = |path: Option<&Path>| {
            let name = path.and_then(Path::file_name).unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        let session = Session::open(path).map_err(|source| SubagentError::Read {
            path: path.to_owned(),
            source,
        })?;
        let operated = Surgery::on(session)
            .then(MoveProject {
                id: self.found.id.clone(),
                folders: (name(Some(self.found.folder())), name(self.target.parent())),
                project: self.project.clone(),
            })
            .operate()
            .map_err(|e: SurgeryError| SubagentError::from(e))?;
        Ok(operated.verify()?)
    }
}

/// Returns when a file shall seem written, so that a client that deletes sessions after `period` keeps it for at least a
/// quarter of that time. Files keep their order, and those of the first half of the period keep their time.
pub fn kept_time(modified: SystemTime, now: SystemTime, period: Duration) -> SystemTime {
    let half = period / 2;
    let Ok(age) = now.duration_since(modified) else {
        return modified;
    };
    if age <= half {
        return modified;
    }
    let share = half.as_secs_f64() / age.as_secs_f64();
    now - half - half.mul_f64((1.0 - share) / 2.0)
}

/// Returns the folder that a session was held in, if it is the one after which its folder of transcripts is named.
fn project_of(found: &Located, folder: &Path, old: &str) -> io::Result<Option<String>> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let first = glance(&found.path)?.cwd;
    if let Some(cwd) = first.filter(|cwd| slug(cwd) == name) {
        return Ok(Some(cwd));
    }
    let all = Session::open(&found.path)?.distinct("cwd");
    let named = all.into_iter().find(|cwd| slug(cwd) == name);
    Ok(named.or_else(|| (slug(old) == name).then(|| old.to_owned())))
}

fn folders_of(config: &Config) -> io::Result<Vec<PathBuf>> {
    let entries = match fs_err::read_dir(config.projects()) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(e),
    };
    let mut all = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            all.push(entry.path());
        }
    }
    all.sort();
    Ok(all)
}

/// Returns whether a folder's name begins like that of the folder `old`. On Windows, capital letters do not count.
fn is_start(name: &str, start: &str, old: &str) -> bool {
    if !project_path::is_windows(old) {
        return name.starts_with(start);
    }
    let head = name.get(..start.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(start))
}

fn moved_file(path: &Path, from: &Path, to: &Path) -> Option<PathBuf> {
    path.strip_prefix(from).ok().map(|rest| to.join(rest))
}

/// Reads a shared file, if there is one. A link is followed: its file is edited, and the link stays.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let path = match real_path(path) {
        Ok(path) => path,
        Err(e) if disk::is_missing(&e) => return Ok(None),
        Err(e) => return Err(e),
    };
    let mut text = Vec::new();
    open_regular(&path)?.read_to_end(&mut text)?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_time_keeps_the_order_and_leaves_a_week() {
        let day = Duration::from_secs(86_400);
        let now = SystemTime::UNIX_EPOCH + 20_000 * day;
        let at = |days: u32| kept_time(now - days * day, now, 30 * day);
        assert_eq!(at(10), now - 10 * day);
        assert!(at(20) < at(10) && at(40) < at(20) && at(4000) < at(40));
        assert!(at(4000) > now - 23 * day);
    }
}
