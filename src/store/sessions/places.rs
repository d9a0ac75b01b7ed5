//! One table of all places where Claude Code keeps something of a session.
//!
//! Finding, copying, moving, measuring and removing a session's files all follow this table, so a new place needs one new
//! row. What many sessions or projects share (prompt history, pasted texts, the client's own state) is in `shared`.
//!
//! Not in the table, because they belong to a process or to the machine and not to a session: `sessions/` (notes of running
//! clients), `shell-snapshots/`, `backups/`, `plugins/`, `ide/`, `cache/`.

use std::path::{Path, PathBuf};

use super::super::fs::{real_path, sys};
use super::config::Config;
use super::sidecars::SidecarKind;

/// How a copy of a session treats a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CopyRule {
    /// Writes it anew, with fresh ids inside: transcripts.
    Rewrite,
    /// Copies it.
    Copy,
    /// Gives it a second name, because nobody ever rewrites it.
    Link,
    /// Leaves it out.
    LeaveOut,
}

/// Which files of a folder a row is about. `C` is the config folder, `P` the project's folder of transcripts, `S` the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `P/S/NAME`
    OwnFile(&'static str),
    /// `P/S/NAME/**/*.jsonl`
    OwnTranscripts(&'static str),
    /// `P/S/**`
    Own,
    /// `P/agent-*.jsonl` whose entries name the session
    AgentBeside,
    /// `C/NAME/S/**`
    Tree(&'static str),
    /// `C/NAME/S-agent-*`
    Prefixed(&'static str),
    /// `C/NAME/` and a file whose name is the id between these two
    Named(&'static str, &'static str, &'static str),
    /// `C/NAME/SLUG.md` and `C/NAME/SLUG-agent-*`
    Slug(&'static str),
}

/// A place where Claude Code keeps something of a session.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) shape: Shape,
    pub(crate) kind: SidecarKind,
    pub(crate) copy: CopyRule,
}

const fn place(shape: Shape, kind: SidecarKind, copy: CopyRule) -> Place {
    Place { shape, kind, copy }
}

const fn log(shape: Shape, kind: SidecarKind) -> Place {
    place(shape, kind, CopyRule::LeaveOut)
}

impl Shape {
    /// Returns the folder of the config folder that the row is about; `None` if that is the project's.
    pub(crate) fn folder(self) -> Option<&'static str> {
        match self {
            Self::Tree(top) | Self::Prefixed(top) | Self::Slug(top) | Self::Named(top, ..) => {
                Some(top)
            }
            Self::OwnFile(_) | Self::OwnTranscripts(_) | Self::Own | Self::AgentBeside => None,
        }
    }

    /// Returns the session id in the name of a file or folder that is directly in the row's folder. Rows that are not
    /// named after a session return `None`.
    pub(crate) fn id_in(self, name: &str) -> Option<&str> {
        let id = match self {
            Self::Tree(_) => name,
            Self::Prefixed(_) => name.split_once("-agent-")?.0,
            Self::Named(_, before, ".") => name.strip_prefix(before)?.split_once('.')?.0,
            Self::Named(_, before, after) => name.strip_prefix(before)?.strip_suffix(after)?,
            _ => return None,
        };
        is_name(id).then_some(id)
    }
}

/// The client's cache of positions in a transcript: useless for any other transcript.
const RESUME_CACHE: &str = "resume-head.jsonl";

/// The folder of environments that hooks have set: scripts.
pub(super) const ENVIRONMENTS: &str = "session-env";

/// All places. For files in `P/S` the first row that fits counts.
pub(crate) const PLACES: [Place; 19] = [
    place(
        Shape::OwnFile(RESUME_CACHE),
        SidecarKind::Own,
        CopyRule::LeaveOut,
    ),
    // A copy of an archived session is not archived.
    place(
        Shape::OwnFile("archived.json"),
        SidecarKind::Own,
        CopyRule::LeaveOut,
    ),
    place(
        Shape::OwnTranscripts("subagents"),
        SidecarKind::Subagent,
        CopyRule::Rewrite,
    ),
    // Large outputs in `tool-results`, notes on subagents.
    place(Shape::Own, SidecarKind::Own, CopyRule::Copy),
    place(
        Shape::AgentBeside,
        SidecarKind::OldSubagent,
        CopyRule::Rewrite,
    ),
    place(
        Shape::Tree("file-history"),
        SidecarKind::FileHistory,
        CopyRule::Link,
    ),
    place(Shape::Tree("tasks"), SidecarKind::State, CopyRule::Copy),
    place(
        Shape::Tree(ENVIRONMENTS),
        SidecarKind::State,
        CopyRule::Copy,
    ),
    place(Shape::Prefixed("todos"), SidecarKind::State, CopyRule::Copy),
    place(Shape::Slug("plans"), SidecarKind::Plan, CopyRule::Copy),
    // Pasted images and sent files. The messages contain the images themselves, and clients remove the files of other
    // sessions whenever they start.
    place(
        Shape::Tree("image-cache"),
        SidecarKind::Attachment,
        CopyRule::LeaveOut,
    ),
    place(
        Shape::Tree("uploads"),
        SidecarKind::Attachment,
        CopyRule::LeaveOut,
    ),
    // What the client logs is about the run that wrote it, so a copy has none.
    log(Shape::Named("debug", "", ".txt"), SidecarKind::Log),
    log(
        Shape::Named("dump-prompts", "", ".jsonl"),
        SidecarKind::RequestLog,
    ),
    log(Shape::Named("startup-perf", "", ".txt"), SidecarKind::Log),
    log(Shape::Named("startup-perf", "", ".json"), SidecarKind::Log),
    // Followed by a dot, the run's id and `.json`.
    log(
        Shape::Named("telemetry", "1p_failed_events.", "."),
        SidecarKind::Log,
    ),
    log(
        Shape::Named("usage-data/session-meta", "", ".json"),
        SidecarKind::Statistics,
    ),
    log(
        Shape::Named("usage-data/facets", "", ".json"),
        SidecarKind::Statistics,
    ),
];

/// Returns whether a session id or a slug can be part of a path without leading anywhere else.
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name != "."
        && name != ".."
        && !name.contains(['/', '\\', '\0'])
        && sys::is_file_name(name)
}

/// Returns the row for a file at `rest` below `P/S`.
pub(crate) fn own_place(rest: &Path) -> Option<&'static Place> {
    PLACES.iter().find(|place| match place.shape {
        Shape::OwnFile(name) => rest == Path::new(name),
        Shape::OwnTranscripts(folder) => {
            rest.starts_with(folder) && rest.extension().is_some_and(|x| x == "jsonl")
        }
        Shape::Own => true,
        _ => false,
    })
}

/// Returns whether a path is below a folder of the config folder in which Claude Code keeps files of sessions. Files that
/// sessions share are not meant: they are never created or removed.
pub(crate) fn is_place(config: &Config, path: &Path) -> bool {
    let root = config.root();
    if root.starts_with(path) {
        // The config folder itself, or one above it; such a folder is only ever removed when it is empty.
        return true;
    }
    let is_below = |root: &Path, path: &Path| path.strip_prefix(root).is_ok_and(is_in_table);
    is_below(root, path) || real_path(root).is_ok_and(|root| is_below(&root, &resolved(path)))
}

/// Returns whether a path of the config folder is in a folder of the table.
fn is_in_table(rest: &Path) -> bool {
    let mut tops = PLACES.iter().filter_map(|place| place.shape.folder());
    rest.starts_with("projects") || tops.any(|top| rest.starts_with(top))
}

/// Returns a path with the links of its existing part resolved.
fn resolved(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (real_path(ancestor), path.strip_prefix(ancestor)) {
            return real.join(rest);
        }
    }
    path.to_owned()
}

/// Returns the client's cache of a transcript, if there is one and no link leads to it.
pub(crate) fn resume_cache(transcript: &Path) -> Option<PathBuf> {
    let id = transcript.file_stem()?.to_str().filter(|id| is_name(id))?;
    let folder = transcript.parent()?.join(id);
    let cache = folder.join(RESUME_CACHE);
    let is_real = std::fs::symlink_metadata(&folder).ok()?.is_dir()
        && std::fs::symlink_metadata(&cache).ok()?.is_file();
    is_real.then_some(cache)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_ids_that_lead_elsewhere_are_not_names() {
        for bad in ["", ".", "..", "a/b", "/", r"a\b", "a\0b"] {
            assert!(!is_name(bad), "{bad:?}");
        }
        assert!(is_name("5e551000") && is_name("odd name"));
        // Windows drops dots at the end, and has names that lead to devices or into other files.
        for odd in ["...", "nul", "COM1.x", "a:b"] {
            assert_eq!(is_name(odd), cfg!(unix), "{odd}");
        }
    }

    #[test]
    fn places_below_the_config_folder_are_recognised() {
        let config = Config::new("/home/u/.claude");
        let at = |rest: &str| is_place(&config, &config.root().join(rest));
        for rest in [
            "projects/p/s.jsonl",
            "todos/s-agent-s.json",
            "plans/x.md",
            "file-history/s/a",
            "usage-data/facets/s.json",
        ] {
            assert!(at(rest), "{rest}");
        }
        for rest in [
            "settings.json",
            "sessions/1.json",
            "ide/x",
            "usage-data/report.html",
            "history.jsonl",
            ".claude.json",
        ] {
            assert!(!at(rest), "{rest}");
        }
        assert!(!is_place(&config, Path::new("/home/u/notes.txt")));
        assert!(!is_place(&config, Path::new("/etc/passwd")));
    }

    #[test]
    fn places_know_the_session_in_a_name() {
        let id = |shape: Shape, name| shape.id_in(name).map(str::to_owned);
        let some = Some("s1".to_owned());
        assert_eq!(id(Shape::Tree("tasks"), "s1"), some);
        assert_eq!(id(Shape::Prefixed("todos"), "s1-agent-s1.json"), some);
        assert_eq!(id(Shape::Named("debug", "", ".txt"), "s1.txt"), some);
        let events = Shape::Named("telemetry", "1p_failed_events.", ".");
        assert_eq!(id(events, "1p_failed_events.s1.run.json"), some);
        assert_eq!(id(Shape::Named("debug", "", ".txt"), "latest"), None);
        assert_eq!(id(Shape::Slug("plans"), "shiny.md"), None);
    }

    #[test]
    fn files_of_the_session_folder_have_their_rule() {
        let rule = |rest: &str| own_place(Path::new(rest)).map(|p| p.copy);
        assert_eq!(rule("archived.json"), Some(CopyRule::LeaveOut));
        assert_eq!(rule("resume-head.jsonl"), Some(CopyRule::LeaveOut));
        assert_eq!(rule("subagents/agent-a.jsonl"), Some(CopyRule::Rewrite));
        assert_eq!(rule("subagents/agent-a.meta.json"), Some(CopyRule::Copy));
        assert_eq!(rule("tool-results/archived.json"), Some(CopyRule::Copy));
    }
}
