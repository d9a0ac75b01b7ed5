//! Shows what is being done on long runs, and nothing on short ones.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(500);

/// Shows what is being done once it takes longer than half a second.
pub(super) struct Progress {
    phases: Option<Sender<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts with a first phase; shows nothing at all unless `wanted`.
    pub(super) fn start(wanted: bool, phase: impl Into<String>) -> Self {
        let phase = phase.into();
        if !wanted {
            return Self {
                phases: None,
                thread: None,
            };
        }
        let (send, receive) = channel();
        let thread = std::thread::spawn(move || show(&receive, phase));
        Self {
            phases: Some(send),
            thread: Some(thread),
        }
    }

    /// Shows that the next phase has begun.
    pub(super) fn phase(&self, phase: impl Into<String>) {
        if let Some(phases) = &self.phases {
            let _ = phases.send(phase.into());
        }
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

fn show(phases: &Receiver<String>, mut phase: String) {
    let started = std::time::Instant::now();
    loop {
        match phases.recv_timeout(PATIENCE.saturating_sub(started.elapsed())) {
            Ok(next) => phase = next,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(100));
    bar.set_message(phase);
    while let Ok(next) = phases.recv() {
        bar.set_message(next);
    }
    bar.finish_and_clear();
}
