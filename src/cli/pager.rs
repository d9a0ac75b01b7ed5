//! Shows long text one screen at a time, and finds out what the terminal can do.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::process::Command;

use anstream::ColorChoice;
use anstream::adapter::strip_str;

use super::context::Context;
use super::error::CliError;

/// Shows text through the person's pager, or prints it in a pipe, with `--no-pager`, or where there is no pager.
pub(super) fn show(context: &mut Context, text: &str) -> Result<(), CliError> {
    if is_used(context) && paged(context, text) {
        return Ok(());
    }
    context.out.write_all(text.as_bytes())?;
    Ok(())
}

/// Whether text is shown through a pager, if there is one.
pub(super) fn is_used(context: &Context) -> bool {
    context.on_screen && !context.no_pager
}

/// Shows the text in the pager. Returns whether that was possible.
fn paged(context: &mut Context, text: &str) -> bool {
    let chosen = context.pager.clone().unwrap_or_default();
    let mut words = chosen.split_whitespace();
    let Some(program) = words.next().filter(|&p| p != "cat") else {
        return false;
    };
    let plain = context.out.current_choice() == ColorChoice::Never;
    let text = if plain {
        Cow::Owned(strip_str(text).to_string())
    } else {
        Cow::Borrowed(text)
    };
    let Ok(input) = nameless(text.as_bytes()) else {
        return false;
    };
    let mut command = Command::new(program);
    command.args(words).stdin(input);
    if std::env::var_os("LESS").is_none() {
        // `less` then ends by itself if all fits on one screen, passes colours, and leaves the text on the screen.
        command.env("LESS", "FRX");
    }
    let _ = context.out.flush();
    let _ = context.err.flush();
    run(&mut command)
}

/// Replaces this process with the pager; returns only if that failed.
///
/// A child process would not do: Ctrl-C ends the parent but not the pager, and then both the pager and the shell read
/// from the terminal.
#[cfg(unix)]
fn run(pager: &mut Command) -> bool {
    use std::os::unix::process::CommandExt as _;
    let _ = pager.exec();
    false
}

/// Runs the pager and waits for it. Returns whether it could be started.
///
/// Windows cannot replace a process. Ctrl-C is ignored meanwhile, so that this process does not end before the pager.
#[cfg(windows)]
fn run(pager: &mut Command) -> bool {
    crate::store::ignore_interrupts();
    pager.status().is_ok()
}

/// Returns a file without a name that holds the text, positioned at its beginning.
fn nameless(text: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text)?;
    file.rewind()?;
    Ok(file)
}

/// Returns whether the terminal makes links of addresses (OSC 8); `FORCE_HYPERLINK` decides where it is set.
pub(super) fn has_links() -> bool {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if let Ok(forced) = std::env::var("FORCE_HYPERLINK") {
        return !matches!(forced.as_str(), "" | "0" | "false");
    }
    let program = variable("TERM_PROGRAM");
    let known = [
        "iTerm.app",
        "WezTerm",
        "vscode",
        "ghostty",
        "Hyper",
        "Tabby",
        "rio",
    ];
    let term = variable("TERM");
    let terms = [
        "kitty",
        "alacritty",
        "foot",
        "ghostty",
        "wezterm",
        "contour",
    ];
    // Terminals with the VTE library have them since version 0.50.
    let vte: u32 = variable("VTE_VERSION").parse().unwrap_or(0);
    known.contains(&program.as_str())
        || terms.iter().any(|t| term.contains(t))
        || vte >= 5000
        || !variable("WT_SESSION").is_empty()
        || !variable("KONSOLE_VERSION").is_empty()
}
