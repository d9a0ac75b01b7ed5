//! Why a result was not published.

use std::io;
use std::path::PathBuf;

use crate::store::fs::atomic::PublishError;
use crate::store::journal::JournalError;

use super::subagents::SubagentError;

/// Why a result was not published. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum CommitError {
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("`{}` changed while it was being worked on", path.display())]
    Changed { path: PathBuf },
    #[error("another process has `{}` open for writing", path.display())]
    Busy { path: PathBuf },
    #[error("what was written to `{}` does not read back as planned; this is a bug in ccsurgery, and nothing was published", path.display())]
    ReadBack { path: PathBuf },
    #[error(transparent)]
    Transcript(#[from] Box<SubagentError>),
    #[error(transparent)]
    Io(#[from] io::Error),
}
