//! Prompts in the client's own history file, outside the sessions.

use serde::Deserialize;

use crate::store::{Config, Listed, read_followed};

/// A prompt in the client's `history.jsonl`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Typed {
    display: String,
    project: Option<String>,
    timestamp: Option<i64>,
    session_id: Option<String>,
}

/// Returns the prompts that contain `text`, in any case.
pub(super) fn prompts(config: &Config, text: &str) -> Vec<Typed> {
    let wanted = text.to_lowercase();
    let bytes = read_followed(&config.join("history.jsonl")).unwrap_or_default();
    let lines = bytes.split(|&b| b == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice::<Typed>(line).ok())
        .filter(|t| t.display.to_lowercase().contains(&wanted))
        .collect()
}

/// Whether one of the prompts was typed in this session. Older clients did not record the session's id;
/// their prompts are matched by project and time.
pub(super) fn belongs(typed: &[Typed], listed: &Listed) -> bool {
    typed
        .iter()
        .any(|t| match (&t.session_id, t.timestamp, listed.times) {
            (Some(id), ..) => *id == listed.found.id,
            (None, Some(time), Some((first, last))) => {
                t.project.is_some()
                    && t.project == listed.glance.cwd
                    && (first..=last).contains(&time)
            }
            _ => false,
        })
}
