//! Decides whether a record may be acted on: a record can delete and replace files, so it is not believed blindly.

use std::path::{Component, Path};

use super::journal::Journal;
use super::record::{Operation, VERSION, is_operation_id};
use super::shared_edit::SharedEdit;
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
    if !operation.replaced.iter().all(|r| is_transcript(&r.path)) {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    fn operation() -> Operation {
        let mut operation = Operation::new(SystemTime::UNIX_EPOCH, uuid::Uuid::nil());
        operation.created = vec!["/c/projects/p/s.jsonl".into()];
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

    #[test]
    fn record_of_a_newer_version_is_a_fault() {
        let mut newer = operation();
        newer.version = 3;
        assert!(matches!(read(&newer), Err(RecordFault::Newer(3))));
        let text = br#"{"version": 7, "shape": "unknown"}"#;
        assert!(matches!(parse("x", text), Err(RecordFault::Newer(7))));
    }
}
