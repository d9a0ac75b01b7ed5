//! Names for subagents as clients before 2.1 kept them: beside the transcripts of all sessions of a project.
//!
//! A copy has its own, so they are called otherwise in it, and the model is told the new name: it can go on with the
//! copy's, and not with the original's. In views they are called by the moment at which they were started.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::record::{Recording, slug};
use crate::view::Shown;

/// Calls a session's own subagents in a view of it by names that its copies share.
pub(crate) fn rename(
    recording: &Recording,
    session: &str,
    work: &Path,
    shown: &mut [Shown],
) -> Result<()> {
    let folder = recording.config().join("projects").join(slug(work));
    if !folder.exists() {
        return Ok(());
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
            let new = format!("AGENT {}", first["timestamp"].as_str().unwrap_or_default());
            for shown in &mut *shown {
                replace(&mut shown.block, agent, &new);
            }
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
