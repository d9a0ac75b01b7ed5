//! Writes a file while another thread reads it back, so that it is verified as soon as it is written.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

use twox_hash::XxHash3_128;

use crate::threads::joined;

use super::disk;
use super::sum::Sum;

/// How many bytes are written before the system is asked to put them on the disk.
const FLUSH: usize = 8 << 20;

/// How many bytes are written at most before the reader learns of them.
const STRIDE: usize = 4 << 20;

/// How many bytes are read back at a time: few enough to stay in the processor's cache.
const CHUNK: usize = 1 << 18;

/// A file that is being written, flushed early, and read back.
pub(crate) struct VerifyingWriter<'a, 'scope> {
    file: &'a mut File,
    sum: XxHash3_128,
    len: u64,
    unflushed: usize,
    flush: SyncSender<()>,
    flusher: ScopedJoinHandle<'scope, io::Result<()>>,
    tell: Sender<u64>,
    reader: ScopedJoinHandle<'scope, io::Result<Found>>,
}

/// The checksum and size of what was read back.
struct Found {
    sum: XxHash3_128,
    len: u64,
}

/// A file that is completely written, and almost completely read back.
pub(crate) struct Sent<'scope> {
    sum: XxHash3_128,
    len: u64,
    reader: ScopedJoinHandle<'scope, io::Result<Found>>,
}

impl<'a, 'scope> VerifyingWriter<'a, 'scope> {
    /// Begins with the empty file at `path`, which will have at least `least` bytes.
    pub(crate) fn new(
        scope: &'scope Scope<'scope, '_>,
        file: &'a mut File,
        path: &Path,
        least: u64,
    ) -> io::Result<Self> {
        disk::allocate(file, least)?;
        let (flush, flushes) = sync_channel(1);
        let (tell, told) = channel();
        let flushed = file.try_clone()?;
        let read = fs_err::File::open(path)?;
        Ok(Self {
            file,
            sum: XxHash3_128::new(),
            len: 0,
            unflushed: 0,
            flush,
            flusher: scope.spawn(move || flushes.iter().try_for_each(|()| flushed.sync_data())),
            tell,
            reader: scope.spawn(move || follow(read, &told)),
        })
    }

    /// Ends writing. The reader may not have read the last bytes yet.
    pub(crate) fn end(self) -> io::Result<Sent<'scope>> {
        drop((self.flush, self.tell));
        joined(self.flusher)?;
        Ok(Sent {
            sum: self.sum,
            len: self.len,
            reader: self.reader,
        })
    }
}

impl Write for VerifyingWriter<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(&bytes[..bytes.len().min(STRIDE)])?;
        self.sum.write(&bytes[..written]);
        self.len += written as u64;
        self.unflushed += written;
        // If the reader failed, its error is reported at the end.
        let _ = self.tell.send(self.len);
        if self.unflushed >= FLUSH {
            // If the disk is still busy, it is asked again later.
            self.unflushed = 0;
            let _ = self.flush.try_send(());
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Sent<'_> {
    /// Returns the checksum and size of the file; `None` if they are not those of the written bytes.
    pub(crate) fn sum_if_as_sent(self) -> io::Result<Option<(Sum, u64)>> {
        let Found { sum, len } = joined(self.reader)?;
        let found = sum.finish_128();
        let same = found == self.sum.finish_128() && len == self.len;
        Ok(same.then_some((Sum::Xxh3(found), len)))
    }
}

/// Reads a file as far as it is reported to be written, and at the end whatever else it holds.
fn follow(mut file: fs_err::File, told: &Receiver<u64>) -> io::Result<Found> {
    let mut found = Found {
        sum: XxHash3_128::new(),
        len: 0,
    };
    let mut room = vec![0; CHUNK];
    let mut look = |most: u64, found: &mut Found| {
        let most = room.len().min(most as usize);
        let read = loop {
            match file.read(&mut room[..most]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        found.sum.write(&room[..read]);
        found.len += read as u64;
        io::Result::Ok(read)
    };
    for len in told {
        while found.len < len {
            let left = len - found.len;
            if look(left, &mut found)? == 0 {
                // The file is too short, which its length shows.
                return Ok(found);
            }
        }
    }
    while look(u64::MAX, &mut found)? > 0 {}
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes pieces, changes the file, and reads it back.
    fn is_found(pieces: &[Vec<u8>], spoil: impl FnOnce(&Path)) -> Option<(Sum, u64)> {
        let temp = tempfile::NamedTempFile::new().expect("a file");
        let (mut file, path) = temp.into_parts();
        std::thread::scope(|scope| {
            let mut written = VerifyingWriter::new(scope, &mut file, &path, 5).expect("a reader");
            for piece in pieces {
                written.write_all(piece).expect("to be written");
            }
            spoil(&path);
            let sent = written.end().expect("to be flushed");
            sent.sum_if_as_sent().expect("to be read")
        })
    }

    #[test]
    fn verifying_writer_returns_the_checksum() {
        let pieces = [vec![b'a'; 10], Vec::new(), vec![b'b'; 2 * STRIDE + 3]];
        let whole = pieces.concat();
        let sum = (Sum::of(&whole), whole.len() as u64);
        assert_eq!(is_found(&pieces, |_| ()), Some(sum));
        assert!(is_found(&[], |_| ()).is_some());
    }

    #[test]
    fn verifying_writer_detects_other_bytes() {
        let pieces = [vec![b'a'; 10]];
        let longer = |path: &Path| fs_err::write(path, [b'a'; 11]).expect("to be written");
        assert_eq!(is_found(&pieces, longer), None);
    }
}
