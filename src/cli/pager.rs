//! Long text, a screen at a time.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use anstream::ColorChoice;
use anstream::adapter::strip_str;

use super::context::Context;
use super::error::CliError;

/// Shows text through the person's pager, or writes it out where nobody looks or there is no pager.
pub(super) fn show(context: &mut Context, text: &str) -> Result<(), CliError> {
    if context.on_screen {
        paged(context, text);
    }
    context.out.write_all(text.as_bytes())?;
    Ok(())
}

/// Becomes the pager, with the text as its input; returns only if that did not work.
///
/// A child would do as well until a person presses Ctrl-C: that ends the parent, but a pager stays, and both it
/// and the shell then read from the terminal.
fn paged(context: &mut Context, text: &str) {
    let chosen = context.pager.clone().unwrap_or_default();
    let mut words = chosen.split_whitespace();
    let Some(program) = words.next().filter(|&p| p != "cat") else {
        return;
    };
    let plain = context.out.current_choice() == ColorChoice::Never;
    let text = if plain {
        Cow::Owned(strip_str(text).to_string())
    } else {
        Cow::Borrowed(text)
    };
    let Ok(input) = nameless(text.as_bytes()) else {
        return;
    };
    let mut command = Command::new(program);
    command.args(words).stdin(input);
    if std::env::var_os("LESS").is_none() {
        // Ends by itself if all fits on one screen, passes colours, leaves the text on the screen.
        command.env("LESS", "FRX");
    }
    let _ = context.out.flush();
    let _ = context.err.flush();
    // What comes back is why it could not be run.
    let _ = command.exec();
}

/// A file without a name that holds the text, at its beginning.
fn nameless(text: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text)?;
    file.rewind()?;
    Ok(file)
}
