//! The files in which secrets are looked for.

use std::io;
use std::path::{Path, PathBuf};

use crate::session::Session;
use crate::store::fs::disk::{is_missing, is_temp_name};
use crate::store::sessions::{
    Config, Located, PLACES, SessionPlaces, SidecarKind, index_file, resume_cache,
};

/// A file in which secrets are looked for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RedactTarget {
    /// The file.
    pub path: PathBuf,
    /// Whether it is the transcript of a session or a subagent.
    pub is_transcript: bool,
    /// Whether several sessions share it.
    pub is_shared: bool,
    /// What it is, in a word.
    pub what: &'static str,
    /// The session that it belongs to, if it is named after one.
    pub session: Option<String>,
    /// Its size.
    pub len: u64,
}

/// Returns all files of a session: its transcript first, then everything beside it, then what sessions share.
pub fn session_targets(
    config: &Config,
    source: &Located,
    session: &Session,
) -> io::Result<Vec<RedactTarget>> {
    let mut slugs = session.distinct("slug");
    slugs.retain(|s| !s.is_empty() && !s.contains(['/', '\\', '.']));
    let places = SessionPlaces {
        config,
        folder: source.folder(),
        id: &source.id,
    };
    let cache = resume_cache(&source.path);
    let mut out = vec![RedactTarget {
        path: source.path.clone(),
        is_transcript: true,
        is_shared: false,
        what: "transcript",
        session: Some(source.id.clone()),
        len: source.len,
    }];
    for file in places.files(&slugs)?.files {
        // The client's cache of the transcript is removed with the old bytes.
        if cache.as_ref() == Some(&file.path) {
            continue;
        }
        out.push(RedactTarget {
            is_transcript: file.kind.is_transcript(),
            is_shared: false,
            what: name_of(file.kind),
            session: Some(source.id.clone()),
            len: file.len,
            path: file.path,
        });
    }
    if source.path.starts_with(config.projects()) {
        out.extend(shared(config)?);
        out.extend(index_file(source.folder()).and_then(|path| target(path, "session list")));
    }
    Ok(out)
}

/// Returns the files of all sessions, and what they share.
pub fn all_targets(config: &Config) -> io::Result<Vec<RedactTarget>> {
    let mut files = Vec::new();
    walk(&config.projects(), &mut files)?;
    let mut tops: Vec<&str> = PLACES.iter().filter_map(|p| p.shape.folder()).collect();
    tops.sort_unstable();
    tops.dedup();
    for top in tops {
        walk(&config.join(top), &mut files)?;
    }
    let mut out: Vec<RedactTarget> = files
        .into_iter()
        .filter(|(path, _)| path.file_name().is_none_or(|n| n != "resume-head.jsonl"))
        .map(|(path, len)| classified(config, path, len))
        .collect();
    out.extend(shared(config)?);
    out.sort_by(|a, b| (!a.is_transcript, &a.path).cmp(&(!b.is_transcript, &b.path)));
    Ok(out)
}

/// Returns what sessions share: the prompts that were typed, and pasted texts.
fn shared(config: &Config) -> io::Result<Vec<RedactTarget>> {
    let mut pastes = Vec::new();
    walk(&config.pastes(), &mut pastes)?;
    let history = target(config.prompt_history(), "prompt history");
    let pastes = pastes
        .into_iter()
        .filter_map(|(path, _)| target(path, "pasted text"));
    Ok(history.into_iter().chain(pastes).collect())
}

fn target(path: PathBuf, what: &'static str) -> Option<RedactTarget> {
    let metadata = std::fs::symlink_metadata(&path).ok()?;
    metadata.is_file().then_some(RedactTarget {
        path,
        is_transcript: false,
        is_shared: true,
        what,
        session: None,
        len: metadata.len(),
    })
}

fn classified(config: &Config, path: PathBuf, len: u64) -> RedactTarget {
    let rest = path.strip_prefix(config.root()).unwrap_or(&path);
    let in_projects = rest.starts_with("projects");
    let is_lines = path.extension().is_some_and(|x| x == "jsonl");
    let session = session_of(rest);
    let depth = rest.components().count();
    let is_agent = path
        .file_name()
        .is_some_and(|n| n.to_string_lossy().starts_with("agent-"));
    let is_transcript = in_projects && is_lines && (depth == 3 || is_agent);
    let what = match rest.iter().next().and_then(|top| top.to_str()) {
        Some("projects") if is_agent => "subagent",
        Some("projects") if is_transcript => "transcript",
        Some("projects") if path.ends_with("sessions-index.json") => "session list",
        Some("projects") => "sidecar",
        Some("file-history") => "file history",
        Some("plans") => "plan",
        Some("todos" | "tasks" | "session-env") => "tasks and todos",
        _ => "log",
    };
    RedactTarget {
        is_transcript,
        is_shared: false,
        what,
        session,
        len,
        path,
    }
}

fn name_of(kind: SidecarKind) -> &'static str {
    match kind {
        SidecarKind::Subagent | SidecarKind::OldSubagent => "subagent",
        SidecarKind::Own => "sidecar",
        SidecarKind::FileHistory => "file history",
        SidecarKind::State => "tasks and todos",
        SidecarKind::Plan => "plan",
        SidecarKind::Attachment => "attachment",
        _ => "log",
    }
}

/// Returns the session that a file of the config folder is named after.
fn session_of(rest: &Path) -> Option<String> {
    if rest.starts_with("projects") {
        let mut parts = rest.iter().map(|part| part.to_string_lossy());
        return parts.find_map(|part| id_in(&part));
    }
    PLACES.iter().find_map(|place| {
        let below = rest.strip_prefix(place.shape.folder()?).ok()?;
        let name = below.iter().next()?.to_str()?;
        place.shape.id_in(name).map(str::to_owned)
    })
}

/// Returns the session id that a file's or folder's name begins with.
fn id_in(name: &str) -> Option<String> {
    let id = name.get(..36)?;
    uuid::Uuid::try_parse(id).is_ok().then(|| id.to_owned())
}

/// Adds all regular files below a folder, without following links.
pub(super) fn walk(folder: &Path, out: &mut Vec<(PathBuf, u64)>) -> io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) if is_missing(&e) => return Ok(()),
        Err(e) => return Err(e),
    };
    for entry in entries {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), out)?;
        } else if kind.is_file() && !is_temp_name(&entry.file_name().to_string_lossy()) {
            let len = entry.metadata().map_or(0, |m| m.len());
            out.push((entry.path(), len));
        }
    }
    Ok(())
}
