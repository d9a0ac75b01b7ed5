//! Why an operation cannot be undone or redone.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::fs::atomic::PublishError;
use crate::store::fs::swap::SwapError;

use super::journal::JournalError;

/// Why an operation cannot be undone or redone. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum UndoError {
    #[error("`{}` has changed since", path.display())]
    Changed {
        path: PathBuf,
        /// What was appended, if nothing else happened.
        added: Option<Vec<u8>>,
    },
    #[error("`{}` was written to at this moment", path.display())]
    Disturbed { path: PathBuf },
    #[error("another process has `{}` open for writing", path.display())]
    Busy { path: PathBuf },
    #[error("the bytes kept in `{}` are not what was recorded", path.display())]
    Spoilt { path: PathBuf },
    #[error("`{}` is missing from the journal", path.display())]
    NotKept { path: PathBuf },
    #[error("`{}` does not exist any more", path.display())]
    Gone { path: PathBuf },
    #[error("`{}` exists already", path.display())]
    Exists { path: PathBuf },
    #[error("`{}` is not a regular file any more", path.display())]
    Special { path: PathBuf },
    #[error("the operation kept no old bytes, on purpose: they contained secrets")]
    Forgotten,
    #[error("the record does not describe all files that the operation created")]
    Incomplete,
    #[error("the operation created files outside of the config folder `{}`", config.display())]
    Foreign { config: PathBuf },
    #[error("the journal's record names `{}`, which does not belong to the session", path.display())]
    Misplaced { path: PathBuf },
    #[error("messages that were added since depend on what the operation changed: {0}")]
    Orphans(String),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl UndoError {
    pub(crate) fn at(path: &Path, error: SwapError) -> Self {
        let path = path.to_owned();
        match error {
            SwapError::Busy => Self::Busy { path },
            SwapError::Changed => Self::Disturbed { path },
            SwapError::Io(error) => error.into(),
        }
    }
}
