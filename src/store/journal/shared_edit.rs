//! Changes of files that sessions share: the prompt history and the client's own state.
//!
//! Clients write to these files all the time, so the old bytes cannot simply be put back. Each change is recorded by what
//! it does, and can be made and taken back any number of times, whatever else happened to the file.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::json::{Edit, apply_edits, decode, encode, fields, lookup};
use crate::store::fs::atomic::Candidate;
use crate::store::fs::swap::{Swap, SwapError};
use crate::store::fs::{Stamp, open_regular, path_text, real_path};
use crate::store::sessions::{with_entry, without_entry};

/// How often a change is tried while another program writes the file.
const ATTEMPTS: usize = 5;

/// A change of a file that sessions share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "edit", rename_all = "kebab-case")]
pub enum SharedEdit {
    /// A project's entry in the client's state gets another name, unless one with that name exists.
    RenameProject {
        /// The file.
        #[serde(with = "path_text::one")]
        path: PathBuf,
        /// The project's path.
        from: String,
        /// Its new path.
        to: String,
    },
    /// A session is no longer in the list that some clients keep of a project's sessions.
    Unlist {
        /// The list.
        #[serde(with = "path_text::one")]
        path: PathBuf,
        /// The session's id.
        session: String,
        /// Its entry, as the client wrote it.
        entry: String,
        /// Its position.
        position: usize,
    },
    /// Lines of a file change or are removed.
    Lines {
        /// The file.
        #[serde(with = "path_text::one")]
        path: PathBuf,
        /// The lines.
        changes: Vec<LineChange>,
    },
}

/// A line that changes, or is removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineChange {
    /// The line.
    pub before: String,
    /// What it becomes; `None` if it is removed.
    pub after: Option<String>,
}

impl SharedEdit {
    /// Returns the file.
    pub fn path(&self) -> &PathBuf {
        match self {
            Self::RenameProject { path, .. }
            | Self::Unlist { path, .. }
            | Self::Lines { path, .. } => path,
        }
    }

    /// Returns how many lines or entries change.
    pub fn len(&self) -> usize {
        match self {
            Self::RenameProject { .. } | Self::Unlist { .. } => 1,
            Self::Lines { changes, .. } => changes.len(),
        }
    }

    /// Returns whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns what a file becomes; `None` if nothing in it changes.
    fn applied(&self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::RenameProject { from, to, .. } => renamed(text, from, to),
            Self::Unlist { session, .. } => without_entry(text, session),
            Self::Lines { changes, .. } => {
                let after = |c: &LineChange| (c.before.clone(), c.after.clone());
                changed_lines(text, &changes.iter().map(after).collect())
            }
        }
    }

    /// Returns what a file was; `None` if nothing in it changes.
    fn reverted(&self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::RenameProject { from, to, .. } => renamed(text, to, from),
            Self::Unlist {
                session,
                entry,
                position,
                ..
            } => with_entry(text, session, entry, *position),
            Self::Lines { changes, .. } => {
                let before = |c: &LineChange| Some((c.after.clone()?, Some(c.before.clone())));
                let restored = changed_lines(text, &changes.iter().filter_map(before).collect());
                let removed = changes.iter().filter(|c| c.after.is_none());
                let removed: Vec<&str> = removed.map(|c| c.before.as_str()).collect();
                let base = restored.as_deref().unwrap_or(text);
                insert_by_time(base, &removed).or(restored)
            }
        }
    }
}

/// Makes changes, in order.
pub(crate) fn apply_all(edits: &[SharedEdit]) -> io::Result<()> {
    edits
        .iter()
        .try_for_each(|edit| rewrite(edit.path(), |text| edit.applied(text)))
}

/// Takes changes back, the last one first.
pub(crate) fn revert_all(edits: &[SharedEdit]) -> io::Result<()> {
    let mut edits = edits.iter().rev();
    edits.try_for_each(|edit| rewrite(edit.path(), |text| edit.reverted(text)))
}

/// Changes a file, and tries again if another program wrote to it meanwhile. A file that does not exist needs no change.
fn rewrite(path: &Path, change: impl Fn(&[u8]) -> Option<Vec<u8>>) -> io::Result<()> {
    // A link stays a link: the file that it leads to is written.
    let path = match real_path(path) {
        Ok(path) => path,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(e),
    };
    let mut failed = SwapError::Changed;
    for _ in 0..ATTEMPTS {
        let stamp = Stamp::of(&path)?;
        let mut text = Vec::new();
        open_regular(&path)?.read_to_end(&mut text)?;
        let Some(new) = change(&text) else {
            return Ok(());
        };
        let candidate = Candidate::write(&path, |out, _| out.write_all(&new))?;
        candidate.mode_of(&path)?;
        candidate.sync()?;
        match Swap::put(&path, stamp, candidate.into_temp()) {
            Ok(swap) => {
                swap.finish();
                return Ok(());
            }
            Err(SwapError::Io(error)) => return Err(error),
            Err(error) => failed = error,
        }
    }
    Err(io::Error::other(format!(
        "cannot change `{}`: {failed}",
        path.display()
    )))
}

/// Renames a project's entry. The rest of the text stays as the client wrote it.
fn renamed(text: &[u8], from: &str, to: &str) -> Option<Vec<u8>> {
    let projects = lookup(text, &["projects"])?;
    let inner = projects.of(text);
    let all = fields(inner).ok()?;
    let named = |name: &str| {
        all.iter().find(|field| {
            let (start, end) = (field.key.start as usize, field.key.end as usize);
            decode(&inner[start - 1..=end]) == name
        })
    };
    let entry = named(from)?;
    if named(to).is_some() {
        return None;
    }
    let new = encode(to);
    let span = entry.key.shift(projects.start);
    apply_edits(text, &[Edit::new(span, &new.as_bytes()[1..new.len() - 1])]).ok()
}

/// Replaces or removes lines that are exactly as given.
fn changed_lines(text: &[u8], changes: &BTreeMap<String, Option<String>>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut is_changed = false;
    for line in text.split_inclusive(|&b| b == b'\n') {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        let change = std::str::from_utf8(bare).ok().and_then(|l| changes.get(l));
        is_changed |= change.is_some();
        match change {
            None => out.extend_from_slice(line),
            Some(None) => {}
            Some(Some(new)) => {
                out.extend_from_slice(new.as_bytes());
                out.extend_from_slice(&line[bare.len()..]);
            }
        }
    }
    is_changed.then_some(out)
}

/// Inserts lines where their time is, except those that are there already.
fn insert_by_time(text: &[u8], lines: &[&str]) -> Option<Vec<u8>> {
    let all: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
    let bare = |line: &[u8]| line.strip_suffix(b"\n").unwrap_or(line).to_vec();
    let present: std::collections::BTreeSet<Vec<u8>> = all.iter().map(|l| bare(l)).collect();
    let missing = lines.iter().filter(|l| !present.contains(l.as_bytes()));
    let mut missing: Vec<(i64, &str)> = missing.map(|l| (time(l.as_bytes()), *l)).collect();
    if missing.is_empty() {
        return None;
    }
    missing.sort_by_key(|(time, _)| *time);
    let mut missing = missing.into_iter().peekable();
    let mut out = Vec::with_capacity(text.len());
    for line in all {
        let at = time(line);
        while let Some((_, new)) = missing.next_if(|(time, _)| *time < at) {
            push_line(&mut out, new.as_bytes());
        }
        out.extend_from_slice(line);
    }
    for (_, new) in missing {
        push_line(&mut out, new.as_bytes());
    }
    Some(out)
}

/// Appends a line on a line of its own.
fn push_line(out: &mut Vec<u8>, line: &[u8]) {
    if out.last().is_some_and(|&b| b != b'\n') {
        out.push(b'\n');
    }
    out.extend_from_slice(line);
    out.push(b'\n');
}

/// Returns when a prompt was typed; lines without a time come first.
fn time(line: &[u8]) -> i64 {
    let found = lookup(line, &["timestamp"]);
    let digits = found.and_then(|span| std::str::from_utf8(span.of(line)).ok());
    digits.and_then(|d| d.parse().ok()).unwrap_or(i64::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: Option<Vec<u8>>) -> Option<String> {
        bytes.map(|b| String::from_utf8(b).expect("UTF-8"))
    }

    #[test]
    fn shared_edit_renames_a_project_and_back() {
        let before = "{\n  \"a\": 1.50,\n  \"projects\": {\n    \"/w/old\": {\"x\": [1]}, \"/w/o\": {}\n  }\n}";
        let edit = |from: &str, to: &str| SharedEdit::RenameProject {
            path: "/c/.claude.json".into(),
            from: from.to_owned(),
            to: to.to_owned(),
        };
        let after = text(edit("/w/old", "/w/new").applied(before.as_bytes())).expect("a change");
        assert_eq!(after, before.replace("/w/old", "/w/new"));
        assert_eq!(edit("/w/old", "/w/new").applied(after.as_bytes()), None);
        let back = text(edit("/w/old", "/w/new").reverted(after.as_bytes()));
        assert_eq!(back.as_deref(), Some(before));
        assert_eq!(edit("/w/old", "/w/o").applied(before.as_bytes()), None);
    }

    #[test]
    fn shared_edit_changes_lines_and_back_although_others_were_added() {
        let line = |n: u32, project: &str| {
            format!(r#"{{"display":"p{n}","timestamp":{n},"project":"{project}"}}"#)
        };
        let before = [line(1, "/a"), line(2, "/b"), line(3, "/a")].join("\n") + "\n";
        let edit = SharedEdit::Lines {
            path: "/c/history.jsonl".into(),
            changes: vec![
                LineChange {
                    before: line(1, "/a"),
                    after: Some(line(1, "/n")),
                },
                LineChange {
                    before: line(3, "/a"),
                    after: None,
                },
            ],
        };
        let after = text(edit.applied(before.as_bytes())).expect("a change");
        assert_eq!(after, [line(1, "/n"), line(2, "/b")].join("\n") + "\n");
        assert_eq!(edit.applied(after.as_bytes()), None);
        let grown = format!("{after}{}\n", line(4, "/n"));
        let back = text(edit.reverted(grown.as_bytes())).expect("a change");
        assert_eq!(back, format!("{before}{}\n", line(4, "/n")));
        assert_eq!(edit.reverted(back.as_bytes()), None);
    }
}
