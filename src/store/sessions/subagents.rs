//! The transcripts of a session's subagents.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::json::{decode, lookup};
use crate::store::fs::open_regular;

/// A subagent's transcript.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubagentTranscript {
    /// The subagent's id.
    pub agent_id: String,
    /// The file.
    pub path: PathBuf,
}

/// Finds the subagents of the sessions of one folder.
///
/// Clients up to about 2.1.30 keep all of them beside the sessions, and only their entries tell whose they are; these are
/// read once for all sessions.
#[derive(Debug, Default)]
pub struct SubagentFinder {
    beside: BTreeMap<String, Vec<SubagentTranscript>>,
}

impl SubagentFinder {
    /// Looks at the transcripts beside the sessions of a folder. What cannot be read is left out.
    pub fn new(folder: &Path) -> Self {
        let mut found = Self::default();
        for agent in transcripts(folder) {
            if let Some(session) = session_of(&agent.path) {
                found.beside.entry(session).or_default().push(agent);
            }
        }
        found
    }

    /// Returns the subagents of the session whose transcript this is, in the order of their ids.
    pub fn of(&self, transcript: &Path) -> Vec<SubagentTranscript> {
        let mut folders = vec![transcript.with_extension("").join("subagents")];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            found.extend(transcripts(&folder));
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let inner = entries.filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir()));
            folders.extend(inner.map(|e| e.path()));
        }
        let id = transcript.file_stem().unwrap_or_default().to_string_lossy();
        found.extend(self.beside.get(&*id).into_iter().flatten().cloned());
        found.sort();
        found
    }
}

/// Returns the files of a folder that are named like a subagent's transcript. Links are not followed.
fn transcripts(folder: &Path) -> Vec<SubagentTranscript> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|e| e.file_type().is_ok_and(|kind| kind.is_file()));
    let agent = |name: &str| {
        Some(
            name.strip_prefix("agent-")?
                .strip_suffix(".jsonl")?
                .to_owned(),
        )
    };
    let found = files.filter_map(|file| {
        Some(SubagentTranscript {
            agent_id: agent(file.file_name().to_str()?)?,
            path: file.path(),
        })
    });
    found.collect()
}

/// Returns the session that the first entry of a transcript names.
fn session_of(path: &Path) -> Option<String> {
    /// Far more than an ordinary line.
    const MOST: u64 = 16 << 20;
    let mut line = Vec::new();
    let mut reader = BufReader::new(open_regular(path).ok()?.take(MOST));
    reader.read_until(b'\n', &mut line).ok()?;
    let id = lookup(&line, &["sessionId"])?;
    Some(decode(id.of(&line)).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subagents_are_found_in_both_places() {
        let dir = tempfile::tempdir().expect("a folder");
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs_err::write(path, text).expect("a file");
        };
        put("s1.jsonl", "");
        put("s1/subagents/agent-new.jsonl", "");
        put("s1/subagents/more/agent-deep.jsonl", "");
        put("s1/subagents/agent-new.meta.json", "");
        put("agent-old.jsonl", "{\"sessionId\":\"s1\"}\n");
        put("agent-other.jsonl", "{\"sessionId\":\"s2\"}\n");
        let finder = SubagentFinder::new(dir.path());
        let ids = |session: &str| -> Vec<String> {
            let found = finder.of(&dir.path().join(session)).into_iter();
            found.map(|agent| agent.agent_id).collect()
        };
        assert_eq!(ids("s1.jsonl"), ["deep", "new", "old"]);
        assert_eq!(ids("s2.jsonl"), ["other"]);
        assert!(ids("s3.jsonl").is_empty());
    }
}
