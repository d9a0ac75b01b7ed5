//! Decides whether a record may be acted on: a record can delete and replace files, so it is not believed blindly.

use std::path::{Component, Path, PathBuf};

use super::journal::Journal;
use super::record::{Operation, VERSION, is_operation_id};
use super::shared_edit::SharedEdit;
use crate::store::fs::real_path;
use crate::store::sessions::{is_place, is_shared};

/// Why a record is not used.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RecordFault {
    #[error("it is not a whole record: {0}")]
    Malformed(#[from] serde_json::Error),
    #[error("it was written by a newer ccsurgery (record version {0})")]
    Newer(u64),
    #[error("{0}")]
    Unsafe(&'static str),
    #[error("{0}")]
    Unreadable(#[from] std::io::Error),
}

/// Reads the record of the folder called `name`, and checks it.
pub(crate) fn parse(name: &str, text: &[u8]) -> Result<Operation, RecordFault> {
    let value: serde_json::Value = serde_json::from_slice(text)?;
    if let Some(version) = value.get("version").and_then(serde_json::Value::as_u64)
        && version > u64::from(VERSION)
    {
        return Err(RecordFault::Newer(version));
    }
    let operation: Operation = serde_json::from_value(value)?;
    if operation.id != name || !is_operation_id(name) {
        return Err(RecordFault::Unsafe("its id is not the name of its folder"));
    }
    let created = operation.created.iter().chain(&operation.created_dirs);
    let replaced = operation.replaced.iter().map(|r| &r.path);
    let removed = operation.removed.iter().map(|r| &r.path);
    let removed = removed.chain(&operation.removed_dirs);
    let shared = operation.shared.iter().map(SharedEdit::path);
    let all = created.chain(replaced).chain(removed).chain(shared);
    if !all.into_iter().all(|path| is_plain(path)) {
        return Err(RecordFault::Unsafe(
            "it names a path that is not absolute, or has `..` in it",
        ));
    }
    let is_transcript = |path: &Path| path.extension().is_some_and(|x| x == "jsonl");
    let is_redaction = operation.operation == "redact";
    if !is_redaction && !operation.replaced.iter().all(|r| is_transcript(&r.path)) {
        return Err(RecordFault::Unsafe(
            "it replaces a file that is not a transcript",
        ));
    }
    Ok(operation)
}

/// Returns whether a path is absolute and leads nowhere but down.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path
            .components()
            .all(|c| !matches!(c, Component::ParentDir | Component::CurDir))
}

impl Journal {
    /// Returns the first path of a record at which undo and redo must not change anything. A file that was replaced is in
    /// the config folder, or in the folder of the session that the operation was run on; the session that resulted is one
    /// of the record's own files.
    pub(crate) fn misplaced<'o>(&self, operation: &'o Operation) -> Option<&'o Path> {
        let sources = [real_place(&operation.source), operation.source.clone()];
        let is_beside = |path: &Path| {
            sources.iter().any(|source| {
                let own = source.with_extension("");
                path.parent() == source.parent() || own != *source && path.starts_with(own)
            })
        };
        let mut replaced = operation.replaced.iter().map(|r| r.path.as_path());
        let stray = replaced.find(|path| !self.is_known(path) && !is_beside(path));
        let target = operation.target.as_path();
        let is_own = if operation.replaced.is_empty() || operation.removes() {
            operation.created.is_empty() || is_place(self.config(), target)
        } else {
            target == operation.source
        };
        stray.or_else(|| (!is_own).then_some(target))
    }

    /// Returns whether all files and folders that an operation created or removed are where Claude Code keeps sessions, in
    /// the config folder of this run. Only then they may be removed or created again.
    pub(crate) fn is_ours(&self, operation: &Operation) -> bool {
        let created = operation.created.iter().chain(&operation.created_dirs);
        let removed = operation.removed.iter().map(|r| &r.path);
        let mut files = created.chain(removed).chain(&operation.removed_dirs);
        let mut shared = operation.shared.iter().map(SharedEdit::path);
        let pastes = self.config().pastes();
        files.all(|path| is_place(self.config(), path) || path.starts_with(&pastes))
            && shared.all(|path| is_shared(self.config(), path))
    }

    /// Returns whether a path is one of those at which Claude Code keeps sessions, or what they share.
    fn is_known(&self, path: &Path) -> bool {
        let config = self.config();
        is_place(config, path) || is_shared(config, path) || path.starts_with(config.pastes())
    }
}

/// Returns where a link leads, whether or not there is a file.
fn real_place(path: &Path) -> PathBuf {
    if let Ok(real) = real_path(path) {
        return real;
    }
    match (std::fs::read_link(path), path.parent()) {
        (Ok(to), Some(folder)) => folder.join(to),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::FileState;
    use std::time::SystemTime;

    fn operation() -> Operation {
        let mut operation = Operation::new(SystemTime::UNIX_EPOCH, uuid::Uuid::nil());
        let created = std::path::absolute("/c/projects/p/s.jsonl");
        operation.created = vec![created.unwrap()];
        operation
    }

    fn read(operation: &Operation) -> Result<Operation, RecordFault> {
        let text = serde_json::to_vec(operation).unwrap();
        parse("19700101-000000000-0000", &text)
    }

    #[test]
    fn record_torn_at_any_byte_is_a_fault() {
        let text = serde_json::to_vec_pretty(&operation()).unwrap();
        for len in 0..text.len() {
            let torn = parse("19700101-000000000-0000", &text[..len]);
            assert!(matches!(torn, Err(RecordFault::Malformed(_))), "{len}");
        }
        assert_eq!(read(&operation()).unwrap(), operation());
    }

    #[test]
    fn record_with_any_byte_flipped_is_a_fault_or_harmless() {
        let text = serde_json::to_vec_pretty(&operation()).unwrap();
        for at in 0..text.len() {
            for flip in [1, 0x0e, 0x20, 0x80] {
                let mut bad = text.clone();
                bad[at] ^= flip;
                if let Ok(read) = parse("19700101-000000000-0000", &bad) {
                    assert_eq!(read.id, "19700101-000000000-0000");
                    assert!(read.created.iter().all(|p| is_plain(p)), "{at}");
                }
            }
        }
    }

    #[test]
    fn record_with_tampered_ids_or_paths_is_a_fault() {
        let tampered: [fn(&mut Operation); 6] = [
            |o| o.id = "../../../victim".to_owned(),
            |o| o.id = "19700101-000000000-0001".to_owned(),
            |o| o.created = vec!["/c/projects/../../etc/passwd".into()],
            |o| o.created_dirs = vec!["relative".into()],
            |o| o.created = vec!["".into()],
            |o| o.removed_dirs = vec!["/c/projects/../..".into()],
        ];
        for (n, tamper) in tampered.iter().enumerate() {
            let mut bad = operation();
            tamper(&mut bad);
            assert!(matches!(read(&bad), Err(RecordFault::Unsafe(_))), "{n}");
        }
    }

    /// Returns the path that keeps a record from being used in the config folder `/c`.
    fn misplaced(change: impl FnOnce(&mut Operation)) -> Option<String> {
        let mut operation = operation();
        operation.created.clear();
        operation.source = "/c/projects/p/s.jsonl".into();
        operation.target = operation.source.clone();
        change(&mut operation);
        let config = crate::store::Config::new("/c");
        let journal = Journal::new("/state", &config, SystemTime::now);
        let path = journal.misplaced(&operation);
        path.map(|path| path.to_string_lossy().into_owned())
    }

    fn replaced(path: &str) -> crate::store::Replaced {
        let state = FileState::of(Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/Cargo.toml"
        )))
        .unwrap();
        crate::store::Replaced {
            path: path.into(),
            backup: PathBuf::new(),
            before: state.clone(),
            after: Some(state),
        }
    }

    #[test]
    fn record_replaces_files_of_sessions_and_beside_them() {
        for path in [
            "/c/projects/p/s.jsonl",
            "/c/projects/p/s/subagents/agent-a.jsonl",
        ] {
            assert_eq!(misplaced(|o| o.replaced = vec![replaced(path)]), None);
        }
        let elsewhere = |o: &mut Operation| {
            o.source = "/home/u/shared.jsonl".into();
            o.target = o.source.clone();
            o.replaced = vec![
                replaced("/home/u/shared/subagents/agent-a.jsonl"),
                replaced("/home/u/shared.jsonl"),
            ];
        };
        assert_eq!(misplaced(elsewhere), None);
    }

    #[test]
    fn record_with_tampered_places_is_not_used() {
        let stray = |path: &'static str| misplaced(move |o| o.replaced = vec![replaced(path)]);
        for path in ["/etc/x.jsonl", "/c/x.jsonl", "/x.jsonl"] {
            assert_eq!(stray(path).as_deref(), Some(path));
        }
        let root = |o: &mut Operation| {
            o.source = "/s.jsonl".into();
            o.target = o.source.clone();
            o.replaced = vec![replaced("/etc/x.jsonl")];
        };
        assert_eq!(misplaced(root).as_deref(), Some("/etc/x.jsonl"));
        let target = |o: &mut Operation| {
            o.replaced = vec![replaced("/c/projects/p/s.jsonl")];
            o.target = "/etc/x.jsonl".into();
        };
        assert_eq!(misplaced(target).as_deref(), Some("/etc/x.jsonl"));
        let created = |o: &mut Operation| {
            o.created = vec!["/c/projects/p/t.jsonl".into()];
            o.target = "/etc/x.jsonl".into();
        };
        assert_eq!(misplaced(created).as_deref(), Some("/etc/x.jsonl"));
    }

    #[test]
    fn record_of_a_newer_version_is_a_fault() {
        let mut newer = operation();
        newer.version = 3;
        assert!(matches!(read(&newer), Err(RecordFault::Newer(3))));
        let text = br#"{"version": 7, "shape": "unknown"}"#;
        assert!(matches!(parse("x", text), Err(RecordFault::Newer(7))));
    }
}
