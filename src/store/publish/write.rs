//! Writes one transcript to a temp file and checks what reached the disk.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::store::fs::{Candidate, FileState, PublishError, VerifyingWriter};
use crate::surgery::{FreshIds, NotAsMeant, Verified, emit, least_emitted};

use super::error::CommitError;

/// Writes a transcript to a temp file, reads it back meanwhile, and makes it durable. Returns the file and its state for
/// the journal. The file gets the mode of the one that it will replace, if any.
pub(crate) fn write_transcript(
    target: &Path,
    verified: &Verified,
    ids: Option<&FreshIds<'_>>,
    replaced: Option<&Path>,
) -> Result<(Candidate, FileState), CommitError> {
    let not_as_meant = || CommitError::ReadBack {
        path: target.to_owned(),
    };
    std::thread::scope(|scope| {
        let mut written = None;
        let candidate = Candidate::write(target, |file, path| {
            let least = least_emitted(verified.session(), ids);
            let mut writing = VerifyingWriter::new(scope, file, path, least)?;
            let mut counting = Counting {
                out: &mut writing,
                count: verified.written(),
            };
            emit(verified.session(), ids, &mut counting)?;
            written = Some(writing.end()?);
            Ok(())
        });
        let candidate = candidate.map_err(|error| match &error {
            PublishError::Write { source, .. }
                if source
                    .get_ref()
                    .and_then(|e| e.downcast_ref::<NotAsMeant>())
                    .is_some() =>
            {
                not_as_meant()
            }
            _ => error.into(),
        })?;
        if let Some(replaced) = replaced {
            candidate.mode_of(replaced)?;
        }
        candidate.sync()?;
        let written = written.ok_or_else(not_as_meant)?;
        let (sum, len) = written.sum_if_as_sent()?.ok_or_else(not_as_meant)?;
        let metadata = fs_err::metadata(candidate.path())?;
        let state = FileState::new(&metadata, sum, len)?;
        Ok((candidate, state))
    })
}

/// Counts what is written.
pub(super) struct Counting<'a, W> {
    pub(super) out: W,
    pub(super) count: &'a AtomicU64,
}

impl<W: Write> Write for Counting<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.count.fetch_add(written as u64, Ordering::Relaxed);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
