//! Sessions that a person wants to keep: Claude Code deletes what was not written for a long time, so they are given a new
//! time now and then.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::session::Session;
use crate::store::fs::atomic::{PublishError, create_private_dirs, write_private};
use crate::store::fs::disk::{is_missing, set_time};
use crate::store::fs::open_regular;
use crate::store::sessions::{Config, Located, SessionPlaces};

use super::copy_plan::slugs;

/// The newest form of the list that this program reads.
const VERSION: u32 = 1;

/// The sessions that are kept, in a file of the state folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeepList {
    version: u32,
    /// The ids of the sessions.
    pub sessions: Vec<String>,
}

impl KeepList {
    /// Reads the list; a missing one is empty.
    pub fn read(state: &Path) -> io::Result<Self> {
        let empty = Self {
            version: VERSION,
            sessions: Vec::new(),
        };
        let mut text = Vec::new();
        match open_regular(&file(state)) {
            Ok(mut file) => file.read_to_end(&mut text)?,
            Err(e) if is_missing(&e) => return Ok(empty),
            Err(e) => return Err(e),
        };
        let list: Self = serde_json::from_slice(&text)?;
        if list.version > VERSION {
            let text = "the list of kept sessions was written by a newer ccsurgery";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(list)
    }

    /// Adds a session. Returns whether it is new.
    pub fn add(&mut self, id: &str) -> bool {
        let is_new = !self.sessions.iter().any(|known| known == id);
        if is_new {
            self.sessions.push(id.to_owned());
        }
        is_new
    }

    /// Writes the list.
    pub fn write(&self, state: &Path) -> Result<(), PublishError> {
        create_private_dirs(state)?;
        let failed = |source: serde_json::Error| PublishError::Write {
            path: file(state),
            source: source.into(),
        };
        let text = serde_json::to_vec_pretty(self).map_err(failed)?;
        write_private(&file(state), &text)
    }
}

fn file(state: &Path) -> PathBuf {
    state.join("keep.json")
}

/// Returns the times that sessions of one project get, which are given newest first. That is now, or, if another session of
/// the project was written not long ago, just before that: so that the client still continues what was done last.
pub fn kept_times(
    sessions: &[Located],
    others: &[Located],
    now: SystemTime,
    period: Option<Duration>,
) -> Vec<SystemTime> {
    let newest = others.iter().map(|o| o.modified).max();
    let recent = newest.filter(|&time| {
        let age = now.duration_since(time).unwrap_or_default();
        period.is_none_or(|period| age <= period / 4)
    });
    let second = Duration::from_secs(1);
    let times = sessions.iter().zip(1..).map(|(session, n)| match recent {
        Some(time) if session.modified < time => time.min(now) - n * second,
        _ => now - (n - 1) * second,
    });
    times.collect()
}

/// Gives all files of a session a time, unless they have a later one. Their bytes stay. Returns how many files changed.
pub fn touch(config: &Config, found: &Located, time: SystemTime) -> io::Result<usize> {
    let places = SessionPlaces {
        config,
        folder: found.folder(),
        id: &found.id,
    };
    let files = places.files(&slugs(&Session::open(&found.path)?))?.files;
    let files = files.iter().map(|f| f.path.as_path());
    let mut changed = 0;
    for path in files.chain([found.path.as_path()]) {
        changed += usize::from(set_time(path, time)?);
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keep_times_stay_before_the_session_that_was_written_last() {
        let day = Duration::from_secs(86_400);
        let now = SystemTime::UNIX_EPOCH + 20_000 * day;
        let at = |days: u32| Located {
            path: PathBuf::new(),
            id: String::new(),
            modified: now - days * day,
            len: 1,
        };
        let second = Duration::from_secs(1);
        let times = |others: &[Located]| kept_times(&[at(20), at(29)], others, now, Some(30 * day));
        assert_eq!(times(&[]), [now, now - second]);
        let newest = now - 2 * day;
        assert_eq!(times(&[at(2)]), [newest - second, newest - 2 * second]);
        assert_eq!(
            times(&[at(19)]),
            [now, now - second],
            "that one is old itself"
        );
    }
}
