//! The JSON document of an operation.

use std::borrow::Cow;

use serde::{Serialize, Serializer};

use crate::cli::commit_flow::Task;
use crate::ops::ChosenStep;
use crate::render::{FileAction, FileRow};
use crate::surgery::{Change, Figures};

use super::lossy;

/// The JSON document of a command that writes.
#[derive(Serialize)]
pub(super) struct OperationDocument<'a> {
    pub(super) schema: u32,
    pub(super) operation: &'a str,
    pub(super) dry_run: bool,
    pub(super) source: SourceDocument,
    pub(super) target: Option<TargetDocument>,
    pub(super) resume: Option<ResumeDocument>,
    pub(super) before: Figures,
    pub(super) after: Figures,
    pub(super) changes: &'a [Change],
    #[serde(serialize_with = "files")]
    pub(super) files: &'a [FileRow],
    pub(super) warnings: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) steps: Vec<StepDocument>,
}

#[derive(Serialize)]
pub(super) struct SourceDocument {
    pub(super) session_id: String,
    pub(super) path: String,
}

#[derive(Serialize)]
pub(super) struct TargetDocument {
    pub(super) session_id: String,
    pub(super) path: String,
    pub(super) in_place: bool,
    pub(super) project: Option<String>,
}

#[derive(Serialize)]
pub(super) struct ResumeDocument {
    pub(super) command: String,
    pub(super) cwd: Option<String>,
}

/// A step that the program chose.
#[derive(Serialize)]
pub(in crate::cli) struct StepDocument {
    operation: &'static str,
    what: String,
    tokens: i64,
    bytes: i64,
    window_tokens: u64,
}

/// Writes the rows of files as scripts read them.
fn files<S: Serializer>(files: &[FileRow], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct FileDocument<'a> {
        path: Cow<'a, str>,
        action: FileAction,
    }
    serializer.collect_seq(files.iter().map(|file| FileDocument {
        path: file.path.to_string_lossy(),
        action: file.action,
    }))
}

pub(super) fn source_document(task: &Task<'_>) -> SourceDocument {
    SourceDocument {
        session_id: task.found.id.clone(),
        path: lossy(&task.found.path),
    }
}

pub(in crate::cli) fn step_document(taken: &ChosenStep) -> StepDocument {
    let difference = |(before, after): (u64, u64)| after as i64 - before as i64;
    StepDocument {
        operation: taken.step.transform().name(),
        what: taken.step.words(),
        tokens: difference(taken.window),
        bytes: difference(taken.bytes),
        window_tokens: taken.window.1,
    }
}
