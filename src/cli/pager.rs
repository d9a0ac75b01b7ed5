//! Long text, a screen at a time.

use std::borrow::Cow;
use std::io::Write as _;
use std::process::{Command, Stdio};

use anstream::ColorChoice;
use anstream::adapter::strip_str;

use super::context::Context;
use super::error::CliError;

/// Shows text through the person's pager, or writes it out where nobody looks or there is no pager.
pub(super) fn show(context: &mut Context, text: &str) -> Result<(), CliError> {
    if !context.on_screen || !paged(context, text) {
        context.out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// Runs `$PAGER`, else `less -R`; says whether that worked.
fn paged(context: &Context, text: &str) -> bool {
    let chosen = std::env::var("PAGER").ok().filter(|p| !p.trim().is_empty());
    let chosen = chosen.unwrap_or_else(|| "less -R".to_owned());
    let mut words = chosen.split_whitespace();
    let Some(program) = words.next().filter(|&p| p != "cat") else {
        return false;
    };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Ends by itself if all fits on one screen, passes colours, leaves the text on the screen.
        command.env("LESS", "FRX");
    }
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    if let Some(mut stdin) = child.stdin.take() {
        let plain = context.out.current_choice() == ColorChoice::Never;
        let text = if plain {
            Cow::Owned(strip_str(text).to_string())
        } else {
            Cow::Borrowed(text)
        };
        // A person who has seen enough closes the pipe.
        let _ = stdin.write_all(text.as_bytes());
    }
    child.wait().is_ok()
}
