//! Searches many files on all cores.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::document::Source;
use crate::secrets::{Finding, Form, Scanner, placeholders};
use crate::session::Session;
use crate::store::journal::Journal;
use crate::store::sessions::Config;
use crate::transcript::LineState;

use super::targets::{RedactTarget, walk};

/// A secret in a file.
#[derive(Debug, Clone)]
pub struct Found {
    /// The number of the file in the list that was searched.
    pub target: usize,
    /// The secret.
    pub finding: Finding,
    /// The line, from 1.
    pub line: u32,
    /// The turn of a session, where the line has one.
    pub turn: Option<u32>,
}

/// What a search came to.
#[derive(Debug, Default)]
pub struct Searched {
    /// What was found, in the order of the files.
    pub found: Vec<Found>,
    /// Files that could not be read, and why.
    pub unread: Vec<(PathBuf, String)>,
    /// How many files were read.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
    /// Placeholders of earlier runs.
    pub placeholders: Vec<(String, u32)>,
}

/// What the search of one file came to.
struct OneFile {
    found: Vec<Found>,
    placeholders: Vec<(String, u32)>,
    bytes: u64,
}

/// Searches files. `choose` returns the scanner for a file, by its number, if it is searched at all; `done` counts the
/// bytes.
pub fn search<'s>(
    targets: &[RedactTarget],
    choose: impl Fn(usize, &RedactTarget) -> Option<&'s Scanner> + Sync,
    done: &AtomicU64,
) -> Searched {
    let one = |(n, target): (usize, &RedactTarget)| {
        let result = choose(n, target).map_or_else(
            || Ok(None),
            |scanner| search_one(n, target, scanner).map(Some),
        );
        done.fetch_add(target.len, Ordering::Relaxed);
        result.map_err(|e: std::io::Error| (target.path.clone(), e.to_string()))
    };
    let all: Vec<_> = targets.par_iter().enumerate().map(one).collect();
    let mut out = Searched::default();
    for result in all {
        match result {
            Ok(None) => {}
            Ok(Some(file)) => {
                out.found.extend(file.found);
                out.placeholders.extend(file.placeholders);
                out.files += 1;
                out.bytes += file.bytes;
            }
            Err(unread) => out.unread.push(unread),
        }
    }
    out
}

fn search_one(n: usize, target: &RedactTarget, scanner: &Scanner) -> std::io::Result<OneFile> {
    let source = Source::open(&target.path)?;
    let bytes = source.bytes();
    let findings = scanner.scan_file(Form::of(&target.path), bytes);
    let session = (target.is_transcript && !findings.is_empty())
        .then(|| Session::open(&target.path))
        .transpose()?;
    let mut line = 0;
    let mut at = 0;
    let mut found = Vec::new();
    for finding in findings {
        line += memchr::memchr_iter(b'\n', &bytes[at..finding.range.start]).count();
        at = finding.range.start;
        let turn = session.as_ref().and_then(|s| turn_of(s, line));
        found.push(Found {
            target: n,
            finding,
            line: line as u32 + 1,
            turn,
        });
    }
    Ok(OneFile {
        found,
        placeholders: placeholders(bytes),
        bytes: bytes.len() as u64,
    })
}

fn turn_of(session: &Session, line: usize) -> Option<u32> {
    match session.lines().get(line)? {
        LineState::Entry(at) => session.turns().of(session.graph(), *at),
        LineState::Blank | LineState::Opaque => None,
    }
}

/// A file that has secrets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FilePlace {
    /// The file.
    pub path: PathBuf,
    /// How many secrets are in it.
    pub count: usize,
}

/// What a search of everything came to.
#[derive(Debug, Default)]
pub struct Sweep {
    /// Files of the config folder that have secrets.
    pub left: Vec<FilePlace>,
    /// How many files were searched, those of the journal included.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
}

/// Searches every file of the config folder and of the state folder, raw and decoded. The journal's records are counted,
/// but not listed: [`held_records`](super::held_records) does that.
pub fn search_all(
    config: &Config,
    journal: &Journal,
    scanner: &Scanner,
    done: &AtomicU64,
) -> Sweep {
    let mut files = Vec::new();
    // A folder that cannot be listed is not Claude Code's.
    let _ = walk(config.root(), &mut files);
    let in_config = files.len();
    let _ = walk(journal.root(), &mut files);
    let total: u64 = files.iter().map(|(_, len)| len).sum();
    let counts: Vec<usize> = files
        .par_iter()
        .map(|(path, len)| {
            let count = count(path, scanner);
            done.fetch_add(*len, Ordering::Relaxed);
            count
        })
        .collect();
    let searched = files.len();
    let mut left: Vec<FilePlace> = files
        .into_iter()
        .zip(counts)
        .take(in_config)
        .filter(|(_, count)| *count > 0)
        .map(|((path, _), count)| FilePlace { path, count })
        .collect();
    left.sort();
    Sweep {
        left,
        files: searched,
        bytes: total,
    }
}

/// Returns how many secrets a file has, decoded; raw, at least one.
pub(super) fn count(path: &Path, scanner: &Scanner) -> usize {
    let Ok(source) = Source::open(path) else {
        return 0;
    };
    let bytes = source.bytes();
    let found = scanner.scan_file(Form::of(path), bytes);
    let sure = found.iter().filter(|f| !f.is_suggestion()).count();
    sure.max(usize::from(scanner.holds_known(bytes)))
}
