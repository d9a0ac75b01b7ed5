//! Turns the errors of the library and of the file system into errors with advice.

use std::io;

use crate::cli::remedy;
use crate::ops::DonorError;
use crate::session::TurnError;
use crate::store::{
    BundleError, CommitError, JournalError, PublishError, RecordFault, SubagentError,
};
use crate::surgery::{Fault, PlanError, Refusal, SurgeryError, Why};

use super::{CliError, ErrorKind};

/// Returns advice for a failure of the file system.
pub(super) fn io_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => {
            "the disk is full; free some space and run the command again. Nothing was changed"
        }
        io::ErrorKind::QuotaExceeded => {
            "your quota on this disk is used up; free some space and run the command again. Nothing was changed"
        }
        io::ErrorKind::PermissionDenied => {
            "check who owns the folder and its mode. Nothing was changed"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only; write elsewhere with -o FILE. Nothing was changed"
        }
        io::ErrorKind::NotFound => "check the path",
        _ => "nothing was changed",
    }
}

/// Returns the kind of a failure of the file system.
pub(super) fn io_kind(error: &io::Error, otherwise: ErrorKind) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::PermissionDenied => ErrorKind::Permission,
        _ => otherwise,
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        let (kind, hint) = (io_kind(&error, ErrorKind::Io), io_hint(&error));
        Self::caused_by(kind, error, hint)
    }
}

impl From<anyhow::Error> for CliError {
    fn from(error: anyhow::Error) -> Self {
        let io = error.chain().find_map(|e| e.downcast_ref::<io::Error>());
        let (kind, hint) = match io {
            Some(io) => (io_kind(io, ErrorKind::Io), io_hint(io)),
            None => (ErrorKind::Io, ""),
        };
        Self::caused_by(kind, error, hint)
    }
}

impl From<TurnError> for CliError {
    fn from(error: TurnError) -> Self {
        Self::usage(ErrorKind::NoSuchTurn, error.message, error.hint)
    }
}

impl From<Refusal> for CliError {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.why {
            Why::Failed => 1,
            Why::Usage => 2,
            Why::Declined => 3,
        };
        Self {
            code,
            ..Self::failed(
                refusal.kind.as_str(),
                refusal.message,
                remedy::hint(&refusal.remedies),
            )
        }
    }
}

impl From<SurgeryError> for CliError {
    fn from(error: SurgeryError) -> Self {
        match error {
            SurgeryError::Refused(refusal) => refusal.into(),
            SurgeryError::Plan(error) => error.into(),
        }
    }
}

impl From<SubagentError> for CliError {
    fn from(error: SubagentError) -> Self {
        match error {
            SubagentError::Read { ref source, .. } => {
                let hint = io_hint(source);
                Self::caused_by(ErrorKind::Unreadable, error, hint)
            }
            SubagentError::Surgery(error) => error.into(),
            SubagentError::Fault(fault) => fault.into(),
        }
    }
}

impl From<DonorError> for CliError {
    fn from(error: DonorError) -> Self {
        match error {
            DonorError::Surgery(error) => error.into(),
            DonorError::Fault(fault) => fault.into(),
            error => Self::bug(error, "both sessions are untouched; please report this"),
        }
    }
}

impl From<Fault> for CliError {
    fn from(fault: Fault) -> Self {
        let hint = match &fault {
            Fault::Damaged { .. } => {
                let hint = "repair it first with: ccsurgery repair; if that leaves a choice between two repairs, add --accept-guess. Nothing was written";
                return Refusal::new("damaged", fault.to_string(), hint).into();
            }
            Fault::Finding { example, .. } => {
                format!("first case: {example}. The original is untouched; please report this")
            }
            Fault::Conversation(_) => "the original is untouched; please report this".to_owned(),
        };
        Self::bug(fault, hint)
    }
}

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> Self {
        Self::bug(error, "the original is untouched; please report this")
    }
}

impl From<PublishError> for CliError {
    fn from(error: PublishError) -> Self {
        match &error {
            PublishError::Exists { .. } => Self {
                code: 3,
                ..Self::caused_by(
                    ErrorKind::Exists,
                    error,
                    "a new session never overwrites a file; choose another name",
                )
            },
            PublishError::Folder { source, .. } | PublishError::Write { source, .. } => {
                let (kind, hint) = (io_kind(source, ErrorKind::Write), io_hint(source));
                Self::caused_by(kind, error, hint)
            }
        }
    }
}

impl From<JournalError> for CliError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Publish(error) => error.into(),
            JournalError::Io { ref source, .. } => {
                let hint = io_hint(source);
                Self::caused_by(ErrorKind::Journal, error, hint)
            }
            JournalError::Write { .. } => {
                Self::caused_by(ErrorKind::Journal, error, "nothing was changed")
            }
            JournalError::Record { ref fault, .. } => {
                let hint = match fault {
                    RecordFault::Newer(_) => {
                        "update ccsurgery, or name an operation: ccsurgery undo OP. Nothing was changed"
                    }
                    _ => {
                        "move its folder away, or name another operation: ccsurgery undo OP. Nothing was changed, and no session is affected"
                    }
                };
                Self::caused_by("unusable-record".into(), error, hint)
            }
            JournalError::NotPrivate { ref folder, .. } => {
                let folder = folder.display().to_string();
                let hint = format!(
                    "own it and make it private (chmod 700 '{folder}'), or set CCSURGERY_STATE_DIR"
                );
                Self {
                    code: 3,
                    ..Self::caused_by("not-private".into(), error, hint)
                }
            }
        }
    }
}

impl From<CommitError> for CliError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Publish(error) => error.into(),
            CommitError::Journal(error) => error.into(),
            CommitError::Io(error) => error.into(),
            CommitError::Transcript(error) => (*error).into(),
            CommitError::Changed { .. } => Self::refused(
                ErrorKind::Changed,
                error.to_string(),
                "nothing was written; run the command again, or without --in-place",
            ),
            CommitError::Busy { .. } => Self::refused(
                ErrorKind::Busy,
                error.to_string(),
                "end what has it open, or leave out --in-place to write a new session. Nothing was written",
            ),
            CommitError::ReadBack { .. } => {
                Self::bug(error, "the original is untouched; please report this")
            }
        }
    }
}

impl From<BundleError> for CliError {
    fn from(error: BundleError) -> Self {
        let refused = |kind, error: BundleError, hint: &str| Self {
            code: 3,
            ..Self::caused_by(kind, error, hint)
        };
        match error {
            BundleError::Publish(error) => error.into(),
            BundleError::Transcript(error) => error.into(),
            BundleError::Io(error) => error.into(),
            BundleError::NotABundle => refused(
                ErrorKind::BadBundle,
                error,
                "bundles are made with: ccsurgery bundle SESSION -o FILE. Nothing was written",
            ),
            BundleError::Damaged(_) => refused(
                ErrorKind::BadBundle,
                error,
                "copy it again from where it was made, or make it again. Nothing was written",
            ),
            BundleError::Hostile(_) => refused(
                ErrorKind::BadBundle,
                error,
                "ccsurgery does not write such bundles; do not trust where it comes from. Nothing was written",
            ),
            BundleError::Newer(_) => refused(
                ErrorKind::NewerBundle,
                error,
                "update ccsurgery. Nothing was written",
            ),
            BundleError::Encrypted => refused(
                ErrorKind::Passphrase,
                error,
                "run it on a terminal, or name a file with the passphrase: --passphrase-file FILE",
            ),
            BundleError::Locked(_) => refused(
                ErrorKind::Passphrase,
                error,
                "check the passphrase. Nothing was written",
            ),
            BundleError::NoRoom { .. } => refused(
                ErrorKind::Write,
                error,
                "free some space. Nothing was written",
            ),
            BundleError::Changed { .. } => refused(
                ErrorKind::Changed,
                error,
                "nothing was written; run the command again",
            ),
            BundleError::Name { .. } => refused(
                ErrorKind::Io,
                error,
                "bundles hold names that every system can have; rename or remove it. Nothing was written",
            ),
        }
    }
}
