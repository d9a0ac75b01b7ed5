//! Remembers what clients made of results, so that a result that comes out the same need not be shown to them again.
//!
//! A client is a function of what it can read: what it showed of these very bytes it shows again, whichever build of the
//! program wrote them. Results come out the same but for what is made up anew each time; ids are counted instead of named.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::folders;
use crate::record::{Recording, slug};

/// What a view depends on besides client and session: what the stand-in says, and how a request is read.
const SUITE: [&str; 4] = [
    include_str!("api.rs"),
    include_str!("rules.rs"),
    include_str!("sdk.rs"),
    include_str!("view.rs"),
];

/// Where what `by` makes of a session in its present state is kept. `by` is a client with all that it is told.
pub(crate) fn place(
    recording: &Recording,
    by: &str,
    session: &str,
    work: &Path,
) -> Result<PathBuf> {
    let mut digest = Sha256::new();
    let mut field = |text: &[u8]| {
        digest.update(text.len().to_le_bytes());
        digest.update(text);
    };
    for part in SUITE {
        field(part.as_bytes());
    }
    field(by.as_bytes());
    field(work.as_os_str().as_encoded_bytes());
    let mut ids = Ids::default();
    let transcript = recording
        .config()
        .join("projects")
        .join(slug(work))
        .join(format!("{session}.jsonl"));
    if transcript.exists() {
        field(ids.counted(&fs_err::read(transcript)?).as_bytes());
    }
    let (was, is) = (
        recording.pristine().join("home/.claude"),
        recording.config(),
    );
    let mut others = Vec::new();
    for file in folders::files(&is)? {
        let inside = file.strip_prefix(&is)?;
        if is_old_helper(&file) {
            continue;
        }
        let old = was.join(inside);
        let bytes = fs_err::read(&file)?;
        if !old.exists() || fs_err::read(&old)? != bytes {
            others.push((ids.counted(inside.as_os_str().as_encoded_bytes()), bytes));
        }
    }
    others.sort();
    for (name, bytes) in &others {
        field(name.as_bytes());
        field(ids.counted(bytes).as_bytes());
    }
    for file in folders::files(&was)? {
        let inside = file.strip_prefix(&was)?;
        if !is.join(inside).exists() {
            field(inside.as_os_str().as_encoded_bytes());
        }
    }
    let hex = digest
        .finalize()
        .iter()
        .take(12)
        .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    Ok(recording.file("seen").join(format!("{hex}.json")))
}

/// Whether a file is a subagent's in the manner of clients before 2.1: copies get random names, and no resume reads them.
fn is_old_helper(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let folder = file.parent().and_then(Path::file_name);
    name.starts_with("agent-") && folder.is_some_and(|f| f != "subagents")
}

/// The day, as clients reckon it.
pub(crate) fn today() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%d").to_string()
}

/// What was seen, and when.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    day: String,
    seen: T,
}

/// What was seen.
pub(crate) fn recall<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let kept: Kept<T> = serde_json::from_slice(&fs_err::read(path).ok()?).ok()?;
    Some(kept.seen)
}

pub(crate) fn keep<T: Serialize>(path: &Path, seen: &T) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    let day = today();
    Ok(fs_err::write(
        path,
        serde_json::to_vec(&Kept { day, seen })?,
    )?)
}

/// Ids by the order in which they first appear.
#[derive(Default)]
struct Ids(BTreeMap<String, usize>);

impl Ids {
    fn counted(&mut self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (dash, _) in text.match_indices('-') {
            let Some(start) = dash.checked_sub(8).filter(|s| *s >= done) else {
                continue;
            };
            let Some(candidate) = text.get(start..start + 36) else {
                continue;
            };
            if uuid::Uuid::try_parse(candidate).is_ok() {
                let next = self.0.len();
                let number = *self.0.entry(candidate.to_owned()).or_insert(next);
                out.push_str(&text[done..start]);
                let _ = write!(out, "#{number}");
                done = start + 36;
            }
        }
        out.push_str(&text[done..]);
        // A copy's plan has a name of its own, and a list of sessions says when a file was written.
        let out = without(&out, r#""slug":""#, '"');
        without(&out, r#""fileMtime": "#, ',')
    }
}

/// A text without what stands between a field's name and the end of its value.
fn without(text: &str, field: &str, end: char) -> String {
    let mut parts = text.split(field);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(field);
        out.push_str(part.find(end).map_or("", |at| &part[at..]));
    }
    out
}
