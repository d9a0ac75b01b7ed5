//! Which sessions running clients have open.

use std::collections::BTreeMap;
use std::io::Read as _;

use serde::Deserialize;

use super::config::Config;
use crate::store::fs::{open_regular, process_start};

/// A running client that has a session open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// Its process number.
    pub pid: u32,
    /// Whether it reports that it is busy, if it reports anything.
    pub busy: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Running {
    pid: u32,
    session_id: Option<String>,
    proc_start: Option<serde_json::Value>,
    /// When it started, as clients on Windows write it down.
    proc_start_ft: Option<serde_json::Value>,
    status: Option<String>,
}

/// How many bytes of a client's note are read.
const MOST: u64 = 1 << 20;

/// Returns the running client that has this session open, if any.
pub fn live(config: &Config, session_id: &str) -> Option<Live> {
    running(config).remove(session_id)
}

/// Returns the sessions that running clients have open.
pub fn running(config: &Config) -> BTreeMap<String, Live> {
    let mut out: BTreeMap<String, Live> = BTreeMap::new();
    let Ok(entries) = fs_err::read_dir(config.join("sessions")) else {
        return out;
    };
    for entry in entries.filter_map(Result::ok) {
        if entry.path().extension().is_none_or(|x| x != "json") {
            continue;
        }
        let Ok(file) = open_regular(&entry.path()) else {
            continue;
        };
        let Ok(client) = serde_json::from_reader::<_, Running>(file.take(MOST)) else {
            continue;
        };
        if !is_running(&client) {
            continue;
        }
        let Some(session) = client.session_id else {
            continue;
        };
        let live = Live {
            pid: client.pid,
            busy: client.status.map(|s| s == "busy"),
        };
        // If there are several, the lowest number counts, so that the answer does not depend on the folder's order.
        let slot = out.entry(session).or_insert_with(|| live.clone());
        if live.pid < slot.pid {
            *slot = live;
        }
    }
    out
}

/// Returns whether the process still runs, and is not a later one with the same number.
fn is_running(r: &Running) -> bool {
    let Some(start) = process_start(r.pid) else {
        return false;
    };
    let noted = match r.proc_start.as_ref().or(r.proc_start_ft.as_ref()) {
        Some(serde_json::Value::String(s)) => s.clone(),
        Some(serde_json::Value::Number(n)) => n.to_string(),
        _ => return true,
    };
    // A time in another notation, or none from the system, does not show that it is another process.
    noted == start || !is_like(&noted, &start)
}

/// Returns whether two times are written in the same notation. On Linux that is always the same: ticks since the start.
fn is_like(a: &str, b: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    cfg!(target_os = "linux") || (a.len() == b.len() && is_number(a) == is_number(b))
}
