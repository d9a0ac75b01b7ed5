//! Names for subagents as clients before 2.1 kept them: beside the transcripts of all sessions of a project.
//!
//! A copy has its own, so they are called otherwise in it, and the model is told the new name: it can go on with the
//! copy's, and not with the original's. To compare the two, each is known by the moment at which it was started.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::record::{Recording, slug};
use crate::view::PayloadBlock;

/// The names of a session's own subagents, and when each was started.
fn of(recording: &Recording, session: &str, work: &Path) -> Result<Vec<(String, String)>> {
    let folder = recording.config().join("projects").join(slug(work));
    let mut found = Vec::new();
    if !folder.exists() {
        return Ok(found);
    }
    for file in fs_err::read_dir(&folder)? {
        let path = file?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let Some(agent) = name.strip_prefix("agent-") else {
            continue;
        };
        let text = fs_err::read_to_string(&path)?;
        let first: Value = serde_json::from_str(text.lines().next().unwrap_or("null"))?;
        if first["sessionId"] == session {
            let start = first["timestamp"].as_str().unwrap_or_default();
            found.push((agent.to_owned(), start.to_owned()));
        }
    }
    Ok(found)
}

/// Calls a session's subagents in a view of it by names that its copies share.
pub(crate) fn rename(
    recording: &Recording,
    session: &str,
    work: &Path,
    shown: &mut [PayloadBlock],
) -> Result<()> {
    for (agent, start) in of(recording, session, work)? {
        for shown in &mut *shown {
            replace(&mut shown.block, &agent, &format!("AGENT {start}"));
        }
    }
    Ok(())
}

/// Calls the subagents of a copy in its transcript as the original does, for a reader who compares word by word.
pub(crate) fn put_back(recording: &Recording, session: &str) -> Result<()> {
    let work = recording.work();
    let transcript = recording
        .transcript()
        .with_file_name(format!("{session}.jsonl"));
    let old = of(recording, &recording.session, &work)?;
    for (agent, start) in of(recording, session, &work)? {
        if let Some((was, _)) = old.iter().find(|(_, began)| *began == start) {
            let text = fs_err::read_to_string(&transcript)?;
            fs_err::write(&transcript, text.replace(&agent, was))?;
        }
    }
    Ok(())
}

fn replace(value: &mut Value, old: &str, new: &str) {
    match value {
        Value::String(text) => *text = text.replace(old, new),
        Value::Array(list) => list.iter_mut().for_each(|v| replace(v, old, new)),
        Value::Object(map) => map.values_mut().for_each(|v| replace(v, old, new)),
        _ => {}
    }
}
