//! Shows what is being done on long runs, and nothing on short ones.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::human::bytes;

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Shows what is being done once it takes longer than half a second.
pub(super) struct Progress {
    phases: Option<Sender<String>>,
    thread: Option<JoinHandle<()>>,
    bytes: Arc<Bytes>,
}

/// How many bytes are done, and of how many.
#[derive(Default)]
struct Bytes(Mutex<(Arc<AtomicU64>, u64)>);

impl Bytes {
    fn watch(&self, done: Arc<AtomicU64>, total: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (done, total);
    }

    fn now(&self) -> (u64, u64) {
        let watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (watched.0.load(Ordering::Relaxed), watched.1)
    }
}

impl Progress {
    /// Starts with a first phase; shows nothing at all unless `wanted`.
    pub(super) fn start(wanted: bool, phase: impl Into<String>) -> Self {
        let (phase, bytes) = (phase.into(), Arc::<Bytes>::default());
        if !wanted {
            return Self {
                phases: None,
                thread: None,
                bytes,
            };
        }
        let (send, receive) = channel();
        let counted = Arc::clone(&bytes);
        let thread = std::thread::spawn(move || show(&receive, phase, &counted));
        Self {
            phases: Some(send),
            thread: Some(thread),
            bytes,
        }
    }

    /// Shows that the next phase has begun.
    pub(super) fn phase(&self, phase: impl Into<String>) {
        if let Some(phases) = &self.phases {
            let _ = phases.send(phase.into());
        }
    }

    /// Returns a counter of bytes that are done, of `total`; the part is shown.
    pub(super) fn count_to(&self, total: u64) -> Arc<AtomicU64> {
        let done = Arc::default();
        self.watch(&done, total);
        done
    }

    /// Shows how many bytes somebody else has counted, of `total`.
    pub(super) fn watch(&self, done: &Arc<AtomicU64>, total: u64) {
        self.bytes.watch(Arc::clone(done), total);
    }

    /// Clears what was shown.
    pub(super) fn done(mut self) {
        self.stop();
    }

    fn stop(&mut self) {
        drop(self.phases.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.stop();
    }
}

fn show(phases: &Receiver<String>, mut phase: String, counted: &Bytes) {
    let started = std::time::Instant::now();
    loop {
        match phases.recv_timeout(PATIENCE.saturating_sub(started.elapsed())) {
            Ok(next) => phase = next,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    loop {
        bar.set_message(message(&phase, counted.now(), started.elapsed()));
        match phases.recv_timeout(Duration::from_millis(200)) {
            Ok(next) => phase = next,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    bar.finish_and_clear();
}

/// Returns what is being done, how much of it is, and how long the rest will take, or how long it has taken if that
/// is not known.
fn message(phase: &str, counted: (u64, u64), elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match counted {
        (0, _) => format!("{phase} ({seconds} s)"),
        (done, 0) => format!("{phase}: {} ({seconds} s)", bytes(done)),
        (done, total) => {
            let done = done.min(total);
            let left = elapsed.as_secs_f64() * (total - done) as f64 / done as f64;
            let (done, total) = (bytes(done), bytes(total));
            format!("{phase}: {done} of {total} ({left:.0} s left)")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_shows_bytes_and_time_left() {
        let shown = |done, total| message("reading", (done, total), Duration::from_secs(2));
        assert_eq!(shown(0, 0), "reading (2 s)");
        assert_eq!(shown(1_000_000, 0), "reading: 1.0 MB (2 s)");
        assert_eq!(
            shown(1_000_000, 4_000_000),
            "reading: 1.0 MB of 4.0 MB (6 s left)"
        );
        assert_eq!(
            shown(5_000_000, 4_000_000),
            "reading: 4.0 MB of 4.0 MB (0 s left)"
        );
    }
}
