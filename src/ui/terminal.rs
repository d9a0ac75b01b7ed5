//! Takes the terminal over, and gives it back as it was, whatever happens.

use std::io::{self, Stdout, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

/// Whether a thread of the interface panicked, and the terminal was given back.
static PANICKED: AtomicBool = AtomicBool::new(false);

/// Returns whether a thread panicked since the terminal was taken over.
pub(super) fn has_panicked() -> bool {
    PANICKED.load(Ordering::Relaxed)
}

/// A terminal that belongs to the interface until this is dropped.
pub(super) struct OwnTerminal {
    pub(super) screen: Terminal<CrosstermBackend<Stdout>>,
}

impl OwnTerminal {
    /// Takes the terminal over. A panic gives it back before its message is printed.
    pub(super) fn take() -> io::Result<Self> {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            PANICKED.store(true, Ordering::Relaxed);
            before(panic);
        }));
        enter()?;
        let screen = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(Self { screen })
    }

    /// Gives the terminal to another program while `work` runs.
    pub(super) fn lend<T>(&mut self, work: impl FnOnce() -> T) -> io::Result<T> {
        restore();
        let done = work();
        enter()?;
        self.screen.clear()?;
        Ok(done)
    }
}

impl Drop for OwnTerminal {
    fn drop(&mut self) {
        restore();
    }
}

fn enter() -> io::Result<()> {
    enable_raw_mode()?;
    execute!(
        stdout(),
        EnterAlternateScreen,
        EnableMouseCapture,
        EnableBracketedPaste
    )
}

/// Gives the terminal back. It may be gone already, so failures do not matter.
fn restore() {
    let _ = execute!(
        stdout(),
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        ratatui::crossterm::cursor::Show
    );
    let _ = disable_raw_mode();
}
