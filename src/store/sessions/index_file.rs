//! The list of a project's sessions that clients of about 2.1.9 to 2.1.30 keep for their picker.
//!
//! Those clients add and remove sessions by themselves, according to the files' times. A copy is entered at once, so that
//! the client lists it without delay.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

use crate::json::{Edit, Span, apply_edits, elements, lookup, remove_elements};
use crate::session::Session;
use crate::transcript::{BlockKind, PromptKind};
use crate::view::{Overview, SessionText, prompt_text};

use crate::store::fs::atomic::{PublishError, write_private};
use crate::store::fs::open_regular;

/// The name of the list.
pub(crate) const INDEX: &str = "sessions-index.json";

/// The list's entry for one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexEntry {
    session_id: String,
    full_path: PathBuf,
    file_mtime: u64,
    first_prompt: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_title: Option<String>,
    message_count: usize,
    created: String,
    modified: String,
    git_branch: String,
    project_path: PathBuf,
    is_sidechain: bool,
}

impl IndexEntry {
    /// Describes the session that was written to `path` and is resumed in `project`. Like the client's, the entry is about
    /// what follows the last compaction.
    pub fn new(session: &Session, path: &Path, project: &Path) -> io::Result<Self> {
        let glance = Overview::of(session);
        let path_entries = || session.graph().path().iter().map(|&i| session.entry(i));
        let boundary = path_entries().rposition(|e| e.is_boundary()).unwrap_or(0);
        let shown = || path_entries().skip(boundary);
        let prompt_as_typed = shown().filter(|e| {
            let text = e.flags.string_content()
                || session.blocks(e).iter().any(|b| b.kind == BlockKind::Text);
            e.is_message() && text && !e.flags.meta()
        });
        let first = shown()
            .find(|e| e.prompt == PromptKind::Words)
            .and_then(|e| prompt_text(session, e));
        let time = |e: &crate::transcript::Entry| session.string(e, &["timestamp"]);
        let written = fs_err::metadata(path)?.modified()?;
        Ok(Self {
            session_id: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            full_path: path.to_owned(),
            file_mtime: milliseconds(written),
            first_prompt: first
                .or(glance.first_prompt.map(SessionText::into_raw))
                .unwrap_or_else(|| "No prompt".to_owned()),
            custom_title: glance.title.map(SessionText::into_raw),
            message_count: prompt_as_typed.count(),
            created: shown().find_map(time).unwrap_or_default(),
            modified: path_entries().rev().find_map(time).unwrap_or_default(),
            git_branch: glance.branch.unwrap_or_default().into_raw(),
            project_path: project.to_owned(),
            is_sidechain: false,
        })
    }
}

/// Returns the list in a project's folder of transcripts, if there is one that can be changed.
pub fn index_file(folder: &Path) -> Option<PathBuf> {
    let path = folder.join(INDEX);
    entries_of(&read(&path)?).map(|_| path)
}

/// Adds a session to its project's list. Returns false if there is no list.
pub fn add_to_index(folder: &Path, entry: &IndexEntry) -> Result<bool, PublishError> {
    change(folder, |text, list| {
        let inner = list.of(text);
        let own = serde_json::to_string_pretty(entry)
            .ok()?
            .replace('\n', "\n    ");
        let last = elements(inner).ok()?.last().copied();
        Some(vec![match last {
            Some(last) => {
                let end = last.shift(list.start).end;
                Edit::new(Span { start: end, end }, format!(",\n    {own}"))
            }
            None => Edit::new(list, format!("[\n    {own}\n  ]")),
        }])
    })
}

/// Returns a session's entry in a list, as the client wrote it, and its position.
pub(crate) fn listed(folder: &Path, session_id: &str) -> Option<(String, usize)> {
    let text = read(&folder.join(INDEX))?;
    let list = entries_of(&text)?;
    let inner = list.of(&text);
    let all = elements(inner).ok()?;
    let at = all
        .iter()
        .position(|span| is_of(span.of(inner), session_id))?;
    let entry = String::from_utf8(all[at].of(inner).to_vec()).ok()?;
    Some((entry, at))
}

/// Returns a list's text without a session; `None` if it is not listed.
pub(crate) fn without_entry(text: &[u8], session_id: &str) -> Option<Vec<u8>> {
    let list = entries_of(text)?;
    let inner = list.of(text);
    let all = elements(inner).ok()?;
    let gone: Vec<usize> = (0..all.len())
        .filter(|&i| is_of(all[i].of(inner), session_id))
        .collect();
    let edits = remove_elements(&all, &gone).into_iter();
    let edits: Vec<Edit> = edits
        .map(|e| Edit::new(e.span.shift(list.start), e.with))
        .collect();
    (!edits.is_empty()).then(|| apply_edits(text, &edits).ok())?
}

/// Returns a list's text with an entry at a position; `None` if the session is listed.
pub(crate) fn with_entry(text: &[u8], session_id: &str, entry: &str, at: usize) -> Option<Vec<u8>> {
    let list = entries_of(text)?;
    let inner = list.of(text);
    let all = elements(inner).ok()?;
    if all.iter().any(|span| is_of(span.of(inner), session_id)) {
        return None;
    }
    let point = |at: u32| Span { start: at, end: at };
    let edit = match (all.get(at), all.last()) {
        (Some(next), _) => {
            let start = next.shift(list.start).start;
            Edit::new(point(start), format!("{entry},\n    "))
        }
        (None, Some(last)) => {
            let end = last.shift(list.start).end;
            Edit::new(point(end), format!(",\n    {entry}"))
        }
        (None, None) => Edit::new(list, format!("[\n    {entry}\n  ]")),
    };
    apply_edits(text, &[edit]).ok()
}

/// Returns whether an entry is that of a session.
fn is_of(entry: &[u8], session_id: &str) -> bool {
    let id = lookup(entry, &["sessionId"]);
    id.is_some_and(|s| crate::json::decode(s.of(entry)) == session_id)
}

/// Removes a session from its project's list. Returns whether it was there.
pub fn remove_from_index(folder: &Path, session_id: &str) -> Result<bool, PublishError> {
    let path = folder.join(INDEX);
    let new = read(&path).and_then(|text| without_entry(&text, session_id));
    let Some(new) = new else {
        return Ok(false);
    };
    write_private(&path, &new)?;
    Ok(true)
}

/// Edits the text of the list, so that everything else stays as the client wrote it.
fn change(
    folder: &Path,
    edit: impl FnOnce(&[u8], Span) -> Option<Vec<Edit>>,
) -> Result<bool, PublishError> {
    let path = folder.join(INDEX);
    let Some(text) = read(&path) else {
        return Ok(false);
    };
    let edits = entries_of(&text)
        .and_then(|list| edit(&text, list))
        .filter(|e| !e.is_empty());
    let Some(new) = edits.and_then(|edits| apply_edits(&text, &edits).ok()) else {
        return Ok(false);
    };
    write_private(&path, &new)?;
    Ok(true)
}

/// Reads a list. A link is not followed: writing would replace the link by a file.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    open_regular(path).ok()?.read_to_end(&mut text).ok()?;
    Some(text)
}

/// Returns where the entries are, if the list has the one form that is known.
fn entries_of(text: &[u8]) -> Option<Span> {
    let version = lookup(text, &["version"])?.of(text);
    let entries = lookup(text, &["entries"])?;
    (version == b"1"
        && entries.of(text).starts_with(b"[")
        && serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok())
    .then_some(entries)
}

fn milliseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_millis() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str) -> IndexEntry {
        let path = Path::new("/p").join(id);
        IndexEntry {
            session_id: id.to_owned(),
            full_path: path,
            file_mtime: 1,
            first_prompt: "hi".to_owned(),
            custom_title: None,
            message_count: 2,
            created: String::new(),
            modified: String::new(),
            git_branch: String::new(),
            project_path: PathBuf::from("/w"),
            is_sidechain: false,
        }
    }

    #[test]
    fn index_entry_can_be_added_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions-index.json");
        let empty = "{\n  \"version\": 1,\n  \"entries\": []\n}";
        fs_err::write(&path, empty).unwrap();
        assert!(add_to_index(folder.path(), &entry("a")).unwrap());
        let one = fs_err::read_to_string(&path).unwrap();
        assert!(
            one.starts_with(
                "{\n  \"version\": 1,\n  \"entries\": [\n    {\n      \"sessionId\": \"a\",\n"
            ),
            "{one}"
        );
        assert!(add_to_index(folder.path(), &entry("b")).unwrap());
        assert!(remove_from_index(folder.path(), "b").unwrap());
        assert_eq!(fs_err::read_to_string(&path).unwrap(), one);
        assert!(!remove_from_index(folder.path(), "b").unwrap());
    }

    #[test]
    fn index_entry_comes_back_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(INDEX);
        fs_err::write(&path, "{\n  \"version\": 1,\n  \"entries\": []\n}").unwrap();
        for id in ["a", "b", "c"] {
            assert!(add_to_index(folder.path(), &entry(id)).unwrap());
            let before = fs_err::read(&path).unwrap();
            for id in ["a", "b", "c"] {
                let Some((own, at)) = listed(folder.path(), id) else {
                    continue;
                };
                let less = without_entry(&before, id).unwrap();
                assert_eq!(without_entry(&less, id), None);
                assert_eq!(with_entry(&less, id, &own, at).unwrap(), before, "{id}");
                assert_eq!(with_entry(&before, id, &own, at), None);
            }
        }
    }

    #[test]
    fn index_is_not_created() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!add_to_index(folder.path(), &entry("a")).unwrap());
        assert_eq!(index_file(folder.path()), None);
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn index_that_is_a_link_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (
            folder.path().join("real"),
            folder.path().join("sessions-index.json"),
        );
        let empty = "{\"version\": 1, \"entries\": []}";
        fs_err::write(&real, empty).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(!add_to_index(folder.path(), &entry("a")).unwrap());
        assert!(link.is_symlink());
        assert_eq!(fs_err::read_to_string(&real).unwrap(), empty);
    }
}
