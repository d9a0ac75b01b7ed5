//! Beyond resume: whether the Agent SDK lists a result with its title, and reads as much of it as was promised.

use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::case::Case;
use crate::{client, folders};

const PACKAGE: &str = "@anthropic-ai/claude-agent-sdk";

/// Lists the sessions of a project and reads one; what it finds goes to standard output.
const SCRIPT: &str = r"
import { listSessions, getSessionMessages } from '@anthropic-ai/claude-agent-sdk';
const [dir, id] = process.argv.slice(2);
const sessions = await listSessions({ dir, includeProgrammatic: true });
const messages = await getSessionMessages(id, { dir });
process.stdout.write(JSON.stringify({ sessions, messages }));
";

/// Makes the SDK ready; an error says why it is not to be had.
pub(crate) fn ready() -> Result<(), String> {
    static READY: OnceLock<Result<(), String>> = OnceLock::new();
    let known = READY.get_or_init(|| prepare().map_err(|e| format!("{e:#}")));
    known.clone()
}

fn prepare() -> Result<()> {
    let folder = folders::clients()?.join("sdk");
    if !folder.join("node_modules").join(PACKAGE).exists() {
        eprintln!("installing the Agent SDK");
        client::npm(&folder, PACKAGE)?;
    }
    ensure!(client::runs("node"), "Node is not to be had");
    fs_err::write(folder.join("read.mjs"), SCRIPT)?;
    Ok(())
}

/// Compares what the SDK reads of a result with what it reads of the original, of which `turns` turns were kept.
pub(crate) fn judge(case: &Case, session: &str, title: &str, turns: usize) -> Result<()> {
    let (before, after) = (read(case, &case.recording.session)?, read(case, session)?);
    let sessions = after["sessions"].as_array().into_iter().flatten();
    let own = sessions
        .into_iter()
        .find(|s| s["sessionId"] == session)
        .context("the SDK does not list the result")?;
    ensure!(
        own["customTitle"] == title,
        "the SDK lists it as {own}, not as {title:?}"
    );
    let messages = |read: &Value| read["messages"].as_array().cloned().unwrap_or_default();
    let (before, after) = (messages(&before), messages(&after));
    let next = case.prompts.get(turns);
    let asks = |m: &Value| {
        let content = &m["message"]["content"];
        let text = content.as_str().or_else(|| content[0]["text"].as_str());
        m["type"] == "user" && text == next.map(String::as_str)
    };
    let kept = if next.is_some() {
        before
            .iter()
            .position(asks)
            .context("the SDK does not read the next prompt")?
    } else {
        before.len()
    };
    let told = |list: &[Value]| {
        list.iter()
            .map(|m| m["message"]["content"].clone())
            .collect::<Vec<_>>()
    };
    let same = told(&before[..kept]) == told(&after);
    ensure!(
        same,
        "the SDK reads {} messages of the result, not those {kept}",
        after.len()
    );
    Ok(())
}

/// Asks the SDK for the sessions of the recording's project, and for the messages of one.
fn read(case: &Case, session: &str) -> Result<Value> {
    let output = Command::new("node")
        .arg(folders::clients()?.join("sdk/read.mjs"))
        .arg(case.recording.work())
        .arg(session)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", case.recording.home())
        .env("CLAUDE_CONFIG_DIR", case.recording.config())
        .stdin(Stdio::null())
        .output()?;
    let mut said = serde_json::from_slice(&output.stdout).with_context(|| {
        format!(
            "the SDK failed: {}",
            String::from_utf8_lossy(&output.stderr)
        )
    })?;
    plain(&mut said, [session, &case.recording.session]);
    Ok(said)
}

/// Ids of the session inside its outputs' paths differ between an original and its copy; outputs in the folder for
/// temporary files have the original's in both.
fn plain(said: &mut Value, sessions: [&str; 2]) {
    for message in said["messages"].as_array_mut().into_iter().flatten() {
        let mut text = message.to_string();
        for session in sessions {
            text = text.replace(session, "SESSION");
        }
        if let Ok(renamed) = serde_json::from_str(&text) {
            *message = renamed;
        }
    }
}
