//! Work on several threads.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

/// How many buffers there are for each worker.
const BUFFERS: usize = 8;

/// Waits for a thread and returns its result; a panic in it continues here.
pub(crate) fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// Makes pieces of output on all cores, and passes them to `take` in order.
pub(crate) fn in_order<E: Into<Box<dyn Error + Send + Sync>> + Send>(
    pieces: usize,
    make: impl Fn(usize, &mut Vec<u8>) -> Result<(), E> + Sync,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let workers = rayon::current_num_threads().min(pieces);
    // A worker takes an empty buffer before the next piece, so that no worker runs far ahead of `take`.
    let (empty, buffers) = channel();
    for _ in 0..workers * BUFFERS {
        let _ = empty.send(Vec::new());
    }
    let (buffers, next) = (Mutex::new(buffers), AtomicUsize::new(0));
    let work = |made: Sender<_>| {
        let buffer = || {
            buffers
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .recv()
        };
        while let Ok(mut buffer) = buffer() {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                break;
            }
            buffer.clear();
            // A panic is passed on to the thread that waits for this piece.
            let outcome = catch_unwind(AssertUnwindSafe(|| make(piece, &mut buffer)));
            let outcome = outcome.map(|made| made.map(|()| buffer));
            if made.send((piece, outcome)).is_err() {
                break;
            }
        }
    };
    std::thread::scope(|scope| {
        let (send, made) = channel();
        for _ in 0..workers {
            let send = send.clone();
            scope.spawn(|| work(send));
        }
        drop(send);
        // Pieces arrive as they are finished and are passed on in order. On an error both channels are closed, which ends
        // the workers.
        let mut waiting = BTreeMap::new();
        for piece in 0..pieces {
            while !waiting.contains_key(&piece) {
                let (piece, outcome) = made.recv().map_err(io::Error::other)?;
                let outcome = outcome.unwrap_or_else(|panic| resume_unwind(panic));
                waiting.insert(piece, outcome.map_err(io::Error::other)?);
            }
            if let Some(bytes) = waiting.remove(&piece) {
                take(&bytes)?;
                let _ = empty.send(bytes);
            }
        }
        drop(empty);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Eq, thiserror::Error)]
    #[error("the fourth fails")]
    struct Fourth;

    #[test]
    fn threads_pass_pieces_on_in_order() {
        let number = |piece: usize, out: &mut Vec<u8>| {
            out.extend((piece as u32).to_le_bytes());
            Ok::<_, Fourth>(())
        };
        for pieces in [0, 1, 500] {
            let mut taken = Vec::new();
            let took = in_order(pieces, number, |bytes| {
                taken.extend_from_slice(bytes);
                Ok(())
            });
            took.expect("nothing fails");
            let expected: Vec<u8> = (0..pieces as u32).flat_map(u32::to_le_bytes).collect();
            assert_eq!(taken, expected);
        }
    }

    #[test]
    fn threads_end_when_a_piece_fails() {
        // Far more pieces than buffers, so that a worker that did not end would wait forever.
        let failing = |piece: usize, _: &mut Vec<u8>| match piece {
            3 => Err(Fourth),
            _ => Ok(()),
        };
        let failed = in_order(1000, failing, |_| Ok(())).expect_err("the fourth fails");
        let why = failed.get_ref().and_then(|e| e.downcast_ref::<Fourth>());
        assert_eq!(why, Some(&Fourth));
        let fine = |_: usize, _: &mut Vec<u8>| Ok::<_, Fourth>(());
        let full = || Err(io::ErrorKind::StorageFull.into());
        let failed = in_order(1000, fine, |_| full()).expect_err("there is no room");
        assert_eq!(failed.kind(), io::ErrorKind::StorageFull);
        let panicking = |piece: usize, _: &mut Vec<u8>| {
            assert!(piece != 3, "the fourth panics");
            Ok::<_, Fourth>(())
        };
        let ended = catch_unwind(|| in_order(1000, panicking, |_| Ok(())));
        assert!(ended.is_err());
    }
}
