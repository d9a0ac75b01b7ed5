//! All that belongs to a session beside its transcript.

use std::io;
use std::path::{Path, PathBuf};

use super::config::Config;

/// What a file beside the transcript is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SidecarKind {
    /// A subagent's transcript in the session's own folder.
    Subagent,
    /// A subagent's transcript beside the session's, as clients up to about 2.1.30 have them.
    OldSubagent,
    /// Anything else in the session's own folder: large outputs, notes on subagents.
    Own,
    /// A version of a file, for rewinding.
    FileHistory,
    /// Todos, tasks and environment, named after the session.
    State,
    /// A plan, named after the session's slug.
    Plan,
}

/// A file that belongs to a session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sidecar {
    /// What it is.
    pub kind: SidecarKind,
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub len: u64,
}

/// Files that hold byte offsets into the transcript: useless beside any other.
const DERIVED: [&str; 1] = ["resume-head.jsonl"];

/// Everything that belongs to session `id` with its transcript in `folder`, and to the plans named by `slugs`.
pub fn sidecars(
    config: &Config,
    folder: &Path,
    id: &str,
    slugs: &[String],
) -> io::Result<Vec<Sidecar>> {
    let mut out = Vec::new();
    tree(&folder.join(id), &mut |path, len| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if DERIVED.contains(&&*name) {
            return;
        }
        let in_subagents = path.components().any(|c| c.as_os_str() == "subagents");
        let kind = if in_subagents && name.ends_with(".jsonl") {
            SidecarKind::Subagent
        } else {
            SidecarKind::Own
        };
        out.push(Sidecar { kind, path, len });
    })?;
    for entry in listed(folder)? {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("agent-") && name.ends_with(".jsonl") && belongs(&entry.path(), id)? {
            out.push(Sidecar {
                kind: SidecarKind::OldSubagent,
                path: entry.path(),
                len: entry.metadata()?.len(),
            });
        }
    }
    tree(&config.join("file-history").join(id), &mut |path, len| {
        out.push(Sidecar {
            kind: SidecarKind::FileHistory,
            path,
            len,
        });
    })?;
    for dir in ["tasks", "session-env"] {
        tree(&config.join(dir).join(id), &mut |path, len| {
            out.push(Sidecar {
                kind: SidecarKind::State,
                path,
                len,
            });
        })?;
    }
    for entry in listed(&config.join("todos"))? {
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with(&format!("{id}-agent-"))
        {
            out.push(Sidecar {
                kind: SidecarKind::State,
                path: entry.path(),
                len: entry.metadata()?.len(),
            });
        }
    }
    for entry in listed(&config.join("plans"))? {
        let name = entry.file_name().to_string_lossy().into_owned();
        if slugs
            .iter()
            .any(|s| name == format!("{s}.md") || name.starts_with(&format!("{s}-agent-")))
        {
            out.push(Sidecar {
                kind: SidecarKind::Plan,
                path: entry.path(),
                len: entry.metadata()?.len(),
            });
        }
    }
    out.sort();
    Ok(out)
}

/// Whether the first record of a subagent's transcript names this session.
fn belongs(path: &Path, id: &str) -> io::Result<bool> {
    use io::ErrorKind::{IsADirectory, NotFound, PermissionDenied};
    match names(path, id) {
        // No transcript at all, a link that leads nowhere, or what somebody keeps to themselves.
        Err(e) if matches!(e.kind(), IsADirectory | NotFound | PermissionDenied) => Ok(false),
        named => named,
    }
}

fn names(path: &Path, id: &str) -> io::Result<bool> {
    use std::io::{BufRead, BufReader};
    let id = format!("\"{id}\"");
    for line in BufReader::new(fs_err::File::open(path)?)
        .split(b'\n')
        .take(5)
    {
        let line = line?;
        let named = crate::json::lookup(&line, &["sessionId"]);
        if named.is_some_and(|s| s.of(&line) == id.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The entries of a folder; none where there is no folder.
fn listed(folder: &Path) -> io::Result<Vec<std::fs::DirEntry>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => entries.collect(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(e) => Err(io::Error::new(
            e.kind(),
            format!("cannot list `{}`: {e}", folder.display()),
        )),
    }
}

/// Calls `found` for every file below a folder; links are not followed out of it.
fn tree(folder: &Path, found: &mut impl FnMut(PathBuf, u64)) -> io::Result<()> {
    let mut stack = vec![folder.to_owned()];
    while let Some(dir) = stack.pop() {
        for entry in listed(&dir)? {
            let kind = entry.file_type()?;
            if kind.is_dir() {
                stack.push(entry.path());
            } else if kind.is_file() {
                found(entry.path(), entry.metadata()?.len());
            }
        }
    }
    Ok(())
}
