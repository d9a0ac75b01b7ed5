//! Why a bundle was not written or not accepted.

use std::io;
use std::path::PathBuf;

use crate::store::fs::PublishError;
use crate::store::publish::SubagentError;

/// Why a bundle was not written or not accepted. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum BundleError {
    #[error("this is not a bundle of sessions")]
    NotABundle,
    #[error("the bundle is damaged: {0}")]
    Damaged(String),
    #[error("the bundle is not acceptable: {0}")]
    Hostile(String),
    #[error("the bundle was written by a newer ccsurgery (version {0} of its form)")]
    Newer(u64),
    #[error("the bundle is encrypted")]
    Encrypted,
    #[error("the bundle cannot be decrypted: {0}")]
    Locked(String),
    #[error("the bundle needs {needed} bytes, and only {free} are free on the disk")]
    NoRoom { needed: u64, free: u64 },
    #[error("`{}` changed while it was being read", path.display())]
    Changed { path: PathBuf },
    #[error("`{}` has a name that a bundle cannot hold", path.display())]
    Name { path: PathBuf },
    #[error(transparent)]
    Transcript(#[from] SubagentError),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl BundleError {
    /// Returns the error of reading a bundle: bytes that end too early or make no sense mean that it is damaged.
    pub(super) fn reading(error: io::Error) -> Self {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        match error.kind() {
            UnexpectedEof => Self::Damaged("it ends too early".to_owned()),
            InvalidData | InvalidInput | Other => Self::Damaged(error.to_string()),
            _ => Self::Io(error),
        }
    }
}
