//! Operations on the transcripts of a session's subagents.

use std::io;
use std::path::{Path, PathBuf};

use crate::session::Session;
use crate::surgery::{
    Action, Change, CopyNames, Fault, Surgery, SurgeryError, Transform, Verified,
};

use crate::store::fs::Stamp;
use crate::store::sessions::{Config, Located, SessionFiles, SessionPlaces, SidecarKind};

/// Returns the new bytes of a file, by its path and its bytes; `None` if it stays as it is.
pub type RewriteFile<'a> = Box<dyn Fn(&Path, &[u8]) -> Option<Vec<u8>> + 'a>;

/// What is done to the files beside a session.
#[derive(Default)]
pub struct SubagentWork<'a> {
    /// What is done to the transcripts of subagents, in order.
    pub steps: Vec<SubagentStep<'a>>,
    /// What replaces secrets in the other files of a copy, if anything does.
    pub redact: Option<RewriteFile<'a>>,
}

/// A transform for the transcripts of subagents.
pub struct SubagentStep<'a> {
    /// What is done to each.
    pub transform: Box<dyn Transform + 'a>,
    /// The ids of the subagents it is done to; all if `None`.
    pub only: Option<Vec<String>>,
}

impl<'a> SubagentWork<'a> {
    /// Adds a transform for these subagents, or for all if `only` is `None`.
    pub fn add(&mut self, transform: impl Transform + 'a, only: Option<Vec<String>>) {
        self.steps.push(SubagentStep {
            transform: Box::new(transform),
            only,
        });
    }

    /// Returns what is done to one subagent's transcript.
    fn of(&self, agent: &str) -> impl Iterator<Item = &(dyn Transform + 'a)> {
        let is_for = move |step: &&SubagentStep<'a>| {
            let only = step.only.as_ref();
            only.is_none_or(|only| only.iter().any(|id| id == agent))
        };
        self.steps
            .iter()
            .filter(is_for)
            .map(|step| &*step.transform)
    }
}

/// Why the transcript of a subagent could not be operated on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SubagentError {
    /// It could not be read.
    #[error("cannot read the subagent's transcript `{}`", path.display())]
    Read {
        /// The transcript.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The transform declined.
    #[error(transparent)]
    Surgery(#[from] SurgeryError),
    /// The result is faulty, which is a bug.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// A subagent's transcript that changes in place.
#[derive(Debug)]
pub struct ChangedSubagent {
    /// The transcript.
    pub path: PathBuf,
    /// The state of the file when it was read.
    pub stamp: Stamp,
    /// What it becomes.
    pub after: Verified,
    /// What was done to it.
    pub change: Change,
}

/// Operates on the transcripts of a session's subagents. Returns those that change, and the links, pipes, devices and
/// sockets that were left alone.
pub fn changed_subagents(
    config: &Config,
    source: &Located,
    work: &SubagentWork<'_>,
) -> Result<(Vec<ChangedSubagent>, Vec<PathBuf>), SubagentError> {
    let at = |source: io::Error, path: &Path| SubagentError::Read {
        path: path.to_owned(),
        source,
    };
    let places = SessionPlaces {
        config,
        folder: source.folder(),
        id: &source.id,
    };
    let SessionFiles { files, mut skipped } =
        places.files(&[]).map_err(|e| at(e, source.folder()))?;
    skipped.retain(|path| path.extension().is_some_and(|x| x == "jsonl"));
    let mut changed = Vec::new();
    for sidecar in files.into_iter().filter(|s| s.kind.is_transcript()) {
        if work.of(&agent_of(&sidecar.path)).next().is_none() {
            continue;
        }
        let stamp = Stamp::of(&sidecar.path).map_err(|e| at(e, &sidecar.path))?;
        let (after, change) = operate_on(&sidecar.path, Some(work), None)?;
        if let Some(change) = change {
            changed.push(ChangedSubagent {
                path: sidecar.path,
                stamp,
                after,
                change,
            });
        }
    }
    Ok((changed, skipped))
}

/// Operates on one subagent's transcript; the change is `None` where the work has nothing to do in it.
pub(crate) fn operate_on(
    path: &Path,
    work: Option<&SubagentWork<'_>>,
    copy: Option<&CopyNames>,
) -> Result<(Verified, Option<Change>), SubagentError> {
    let session = Session::open(path).map_err(|source| SubagentError::Read {
        path: path.to_owned(),
        source,
    })?;
    let agent = agent_of(path);
    let mut surgery = Surgery::on(session);
    for transform in work.into_iter().flat_map(|work| work.of(&agent)) {
        surgery = surgery.then(transform);
    }
    if let Some(names) = copy {
        surgery = surgery.as_copy(names.clone());
    }
    let operated = surgery.operate()?;
    let change = operated.is_transformed().then(|| Change {
        line: None,
        uuid: None,
        action: Action::Edit,
        what: "subagent".into(),
        bytes: operated.record().changes.iter().map(|c| c.bytes).sum(),
        turn: None,
        gist: agent.as_str().into(),
        shown: 0,
        count: 1,
    });
    Ok((operated.verify()?, change))
}

/// The id of the subagent whose transcript this is.
pub(crate) fn agent_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_prefix("agent-").unwrap_or(&name);
    name.strip_suffix(".jsonl").unwrap_or(name).to_owned()
}

impl SidecarKind {
    /// Whether it is the transcript of a subagent.
    pub fn is_transcript(self) -> bool {
        matches!(self, SidecarKind::Subagent | SidecarKind::OldSubagent)
    }
}
