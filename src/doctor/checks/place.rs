//! Checks of where the files are, which the transcript itself does not show.

use std::path::Path;

use rayon::prelude::*;

use crate::json::{decode, lookup};
use crate::session::Session;
use crate::transcript::{Entry, Kind};

use super::super::check::{Check, Gate, Survey, whole};
use super::super::finding::{Finding, Remedy, Severity};
use super::super::version::{Version, Versions};

const fn check(
    name: &'static str,
    finds: &'static str,
    severity: Severity,
    symptom: &'static str,
    suffers: Versions,
    healed_by: &'static str,
) -> Check {
    Check {
        name,
        family: "place",
        finds,
        severity,
        symptom,
        suffers,
        healed_by,
        repair: None,
        gate: Gate::ReportOnly,
        run: nothing,
    }
}

fn nothing(_: &Survey<'_>, _: &mut Vec<Finding>) {}

static WRONG_FOLDER: Check = check(
    "wrong-folder",
    "a session that is not in the folder of its project",
    Severity::StopsResume,
    "No conversation found with session ID",
    Versions::Before(Version(2, 1, 325)),
    "2.1.325 also finds sessions of other folders",
);
static OTHER_NAME: Check = check(
    "other-name",
    "a file that is not named after its session",
    Severity::Harmless,
    "the title is not shown in the list",
    Versions::None,
    "every version resumes by the name of the file",
);
static LOST_SIDECARS: Check = check(
    "lost-sidecars",
    "files beside the session that its entries name and that are missing",
    Severity::Harmless,
    "rewinding files fails; a saved output cannot be read",
    Versions::All,
    "",
);
static OPEN_MODE: Check = check(
    "open-mode",
    "a session file that other users may read",
    Severity::Harmless,
    "others on this machine can read the session",
    Versions::None,
    "",
);

static STALE_INDEX: Check = check(
    "stale-index",
    "a list of sessions that expects the session in another place",
    Severity::Harmless,
    "the list of sessions names a file that does not exist",
    Versions::None,
    "only 2.1.9 to 2.1.30 keep such a list, and they rebuild it when they start",
);

/// The checks of this family.
pub(super) static CHECKS: &[&Check] = &[
    &WRONG_FOLDER,
    &OTHER_NAME,
    &LOST_SIDECARS,
    &OPEN_MODE,
    &STALE_INDEX,
];

/// What the disk holds around a transcript.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'a> {
    /// The transcript.
    pub path: &'a Path,
    /// Its file mode, on systems that have modes.
    pub mode: Option<u32>,
    /// Whether it is in the config folder, where a client would find it.
    pub at_home: bool,
    /// Where the project's list of sessions expects it.
    pub listed: Option<&'a Path>,
    /// The folder of its rewind data.
    pub file_history: &'a Path,
    /// Turns the path of a project into the name of its folder.
    pub slug: fn(&str) -> String,
}

/// Returns what is wrong with the place of a transcript. Only names of files are looked at.
pub fn look_around(session: &Session, around: &Surroundings<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if around.at_home {
        folder(session, around, &mut findings);
        name(session, around, &mut findings);
        sidecars(session, around, &mut findings);
    }
    if let Some(listed) = around.listed.filter(|l| *l != around.path) {
        findings.push(whole(
            &STALE_INDEX,
            format!(
                "sessions-index.json expects the session in {}; that list can be deleted, Claude Code rebuilds it",
                listed.display()
            ),
        ));
    }
    if let Some(mode) = around.mode.filter(|m| around.at_home && m & 0o077 != 0) {
        findings.push(whole(
            &OPEN_MODE,
            format!(
                "other users of this machine can read the file (mode {:o}); `chmod 600` makes it private",
                mode & 0o777
            ),
        ));
    }
    findings
}

fn folder(session: &Session, around: &Surroundings<'_>, findings: &mut Vec<Finding>) {
    let folder = around
        .path
        .parent()
        .and_then(Path::file_name)
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    // Upper and lower case may differ between the recorded path and the folder.
    let is_here = |cwd: &str| (around.slug)(cwd).eq_ignore_ascii_case(&folder);
    if let [cwd] = &session.distinct("cwd")[..]
        && is_here(cwd)
    {
        return;
    }
    let mut other = None;
    for e in session
        .entries()
        .iter()
        .filter(|e| e.is_message() && !e.flags.sidechain())
    {
        let Some(cwd) = session.string(e, &["cwd"]) else {
            continue;
        };
        if is_here(&cwd) {
            return;
        }
        other.get_or_insert(cwd);
    }
    if let Some(cwd) = other {
        let message =
            format!("the session was held in {cwd}, but is in the folder of another project");
        findings.push(whole(&WRONG_FOLDER, message).with(Remedy::CopyToProject));
    }
}

fn name(session: &Session, around: &Surroundings<'_>, findings: &mut Vec<Finding>) {
    let stem = around
        .path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let own = session
        .session_id()
        .and_then(|id| session.entries().iter().find(|e| e.session == id))
        .and_then(|e| session.string(e, &["sessionId"]));
    if let Some(own) = own.filter(|o| *o != stem) {
        findings.push(whole(
            &OTHER_NAME,
            format!("the file is called {stem}, but its entries carry the id {own}; in a clone both are the same"),
        ));
    }
}

/// Looks for the saved outputs and rewind data that entries name.
fn sidecars(session: &Session, around: &Surroundings<'_>, findings: &mut Vec<Finding>) {
    let (outputs, versions) = session
        .entries()
        .par_iter()
        .map(|e| (lost_output(session, e), lost_versions(session, around, e)))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    if outputs > 0 {
        findings.push(whole(
            &LOST_SIDECARS,
            format!("{outputs} saved tool outputs are missing: the model cannot read them again"),
        ));
    }
    if versions > 0 {
        findings.push(whole(
            &LOST_SIDECARS,
            format!(
                "{versions} saved versions of files are missing: rewinding cannot restore them"
            ),
        ));
    }
}

/// Returns how many outputs that the client saved for an entry are missing: 0 or 1.
fn lost_output(session: &Session, e: &Entry) -> usize {
    if !e.flags.tool_use_result() || !e.flags.persisted() {
        return 0;
    }
    let result = e.result.of(session.text(e));
    let path = lookup(result, &["persistedOutputPath"]).map(|s| decode(s.of(result)));
    usize::from(path.is_some_and(|p| !Path::new(&*p).exists()))
}

/// Returns how many versions of files that a snapshot names are missing.
fn lost_versions(session: &Session, around: &Surroundings<'_>, e: &Entry) -> usize {
    if e.kind != Kind::FileHistorySnapshot {
        return 0;
    }
    let text = session.text(e);
    let Some(backups) = lookup(text, &["snapshot", "trackedFileBackups"]) else {
        return 0;
    };
    let inner = backups.of(text);
    let all = crate::json::fields(inner).unwrap_or_default().into_iter();
    let gone = |value: &[u8]| {
        let name = lookup(value, &["backupFileName"]).map(|s| s.of(value));
        let name = name.filter(|n| n.starts_with(b"\""));
        name.is_some_and(|n| !around.file_history.join(&*decode(n)).exists())
    };
    all.filter(|field| gone(field.value.of(inner))).count()
}
