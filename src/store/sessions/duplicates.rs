//! How much of their transcripts forks repeat. A fork has the entries of the session that it came from, under their own
//! uuids, or under fresh ones with a note of the old.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::Path;

use memchr::memmem;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::document::Source;
use crate::store::fs::open_regular;

/// How many bytes of a transcript are read to see whether it may be a fork.
const HEAD: u64 = 32 << 10;

/// How many bytes of forks are read, so that measuring the disk stays quick.
const MOST: u64 = 256 << 20;

/// Bytes that occur more than once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Duplicates {
    /// The bytes of entries that another session has, too, each counted but once.
    pub bytes: u64,
    /// How many sessions share entries with another.
    pub sessions: usize,
    /// Whether there are too many forks to look at all of them.
    pub is_partial: bool,
}

/// Finds entries that several of these transcripts have. Only those that begin alike are read.
pub(super) fn duplicates<'p>(transcripts: impl Iterator<Item = (&'p Path, u64)>) -> Duplicates {
    let all: Vec<(&Path, u64)> = transcripts.collect();
    let origins: Vec<Option<Vec<u8>>> = all
        .par_iter()
        .map(|(path, _)| first_origin(path).ok().flatten())
        .collect();
    let mut families: BTreeMap<Vec<u8>, Vec<(&Path, u64)>> = BTreeMap::new();
    for (origin, transcript) in origins.into_iter().zip(all) {
        if let Some(origin) = origin {
            families.entry(origin).or_default().push(transcript);
        }
    }
    let mut found = Duplicates::default();
    let mut left = MOST;
    for family in families.into_values().filter(|f| f.len() > 1) {
        found.sessions += family.len();
        let mut seen = FxHashSet::default();
        for (path, len) in family {
            match left.checked_sub(len) {
                Some(rest) => left = rest,
                None => {
                    found.is_partial = true;
                    continue;
                }
            }
            found.bytes += repeated(path, &mut seen).unwrap_or(0);
        }
    }
    found
}

/// Returns how many bytes of a transcript are in entries that were seen before.
fn repeated(path: &Path, seen: &mut FxHashSet<u128>) -> io::Result<u64> {
    let source = Source::open(path)?;
    let mut own = Vec::new();
    let mut bytes = 0;
    for line in source.bytes().split_inclusive(|&b| b == b'\n') {
        let Some(origin) = origin_of(line) else {
            continue;
        };
        let origin = twox_hash::XxHash3_128::oneshot(origin);
        if seen.contains(&origin) {
            bytes += line.len() as u64;
        } else {
            own.push(origin);
        }
    }
    // An entry that a transcript has twice by itself is not a duplicate among forks.
    seen.extend(own);
    Ok(bytes)
}

/// Returns the origin of the first entry of a transcript.
fn first_origin(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    open_regular(path)?.take(HEAD).read_to_end(&mut head)?;
    let mut lines = head.split(|&b| b == b'\n');
    Ok(lines.find_map(|line| origin_of(line).map(<[u8]>::to_vec)))
}

/// Returns the uuid that an entry had when it was first written.
fn origin_of(line: &[u8]) -> Option<&[u8]> {
    let after = |key: &[u8]| {
        let at = memmem::find(line, key)? + key.len();
        let end = memchr::memchr(b'"', &line[at..])?;
        Some(&line[at..at + end])
    };
    after(b"\"messageUuid\":\"").or_else(|| after(b",\"uuid\":\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_among_forks_are_counted_but_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, lines: &[&str]| {
            let path = folder.path().join(name);
            fs_err::write(&path, lines.join("\n") + "\n").expect("a file");
            path
        };
        let (a, b) = (r#"{"s":"1","uuid":"a"}"#, r#"{"s":"1","uuid":"b"}"#);
        let fork = r#"{"s":"2","uuid":"x","forkedFrom":{"sessionId":"1","messageUuid":"a"}}"#;
        let first = write("1", &[a, b]);
        let second = write("2", &[fork, r#"{"s":"2","uuid":"y"}"#]);
        let third = write("3", &[r#"{"s":"3","uuid":"z"}"#]);
        let all = [&first, &second, &third];
        let found = duplicates(all.into_iter().map(|path| (path.as_path(), 100)));
        assert_eq!((found.bytes, found.sessions), (fork.len() as u64 + 1, 2));
    }
}
