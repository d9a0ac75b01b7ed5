//! Is a session live, and has a file changed.

use std::path::Path;
use std::time::SystemTime;

use serde::Deserialize;

use super::config::Config;

/// A running client that has a session open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Live {
    /// Its process.
    pub pid: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Running {
    pid: u32,
    session_id: Option<String>,
    proc_start: Option<serde_json::Value>,
}

/// The running client that has this session open, if any.
pub fn live(config: &Config, session_id: &str) -> Option<Live> {
    let entries = fs_err::read_dir(config.join("sessions")).ok()?;
    let mut found: Vec<u32> = entries
        .filter_map(Result::ok)
        .filter(|e| e.path().extension().is_some_and(|x| x == "json"))
        .filter_map(|e| serde_json::from_slice::<Running>(&fs_err::read(e.path()).ok()?).ok())
        .filter(|r| r.session_id.as_deref() == Some(session_id) && is_running(r))
        .map(|r| r.pid)
        .collect();
    found.sort_unstable();
    found.first().map(|&pid| Live { pid })
}

/// Whether the process still runs, and is not another one that was given its number.
fn is_running(r: &Running) -> bool {
    let Some(start) = super::journal::process_start(r.pid) else {
        return false;
    };
    match &r.proc_start {
        Some(serde_json::Value::String(s)) => *s == start,
        Some(serde_json::Value::Number(n)) => n.to_string() == start,
        _ => true,
    }
}

/// What a file was when it was read, to tell whether it is still that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its size.
    pub len: u64,
    /// When it was last written.
    pub modified: Option<SystemTime>,
    /// Which file it is, where the system tells.
    pub inode: u64,
}

impl Stamp {
    /// The stamp of the file at `path`.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        let metadata = fs_err::metadata(path)?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Ok(Self {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            inode,
        })
    }
}
