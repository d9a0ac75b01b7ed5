//! Shows what is being done on long runs, and nothing on short ones.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
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
    /// How many bytes are done, and of how many.
    bytes: Arc<(AtomicU64, AtomicU64)>,
}

/// Counts what is done.
pub(super) struct Counter(Arc<(AtomicU64, AtomicU64)>);

impl Deref for Counter {
    type Target = AtomicU64;

    fn deref(&self) -> &AtomicU64 {
        &self.0.0
    }
}

impl Progress {
    /// Starts with a first phase; shows nothing at all unless `wanted`.
    pub(super) fn start(wanted: bool, phase: impl Into<String>) -> Self {
        let (phase, bytes) = (phase.into(), Arc::default());
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
    pub(super) fn count_to(&self, total: u64) -> Counter {
        self.bytes.0.store(0, Ordering::Relaxed);
        self.bytes.1.store(total, Ordering::Relaxed);
        Counter(Arc::clone(&self.bytes))
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

fn show(phases: &Receiver<String>, mut phase: String, counted: &(AtomicU64, AtomicU64)) {
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
        bar.set_message(message(&phase, counted, started.elapsed()));
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
fn message(phase: &str, counted: &(AtomicU64, AtomicU64), elapsed: Duration) -> String {
    let done = counted.0.load(Ordering::Relaxed);
    let total = counted.1.load(Ordering::Relaxed);
    let seconds = elapsed.as_secs();
    match (done, total) {
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
        let shown = |done, total| {
            let counted = (AtomicU64::new(done), AtomicU64::new(total));
            message("reading", &counted, Duration::from_secs(2))
        };
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
