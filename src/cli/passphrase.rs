//! Passphrases of bundles: from a file, or typed by a person.

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::store::Passphrase;

use super::error::{CliError, ErrorKind};

/// No passphrase is longer.
const LONGEST: u64 = 4096;

/// Where a passphrase comes from.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct PassphraseArgs {
    /// Read the passphrase from the first line of this file, instead of asking for it
    #[arg(long, value_name = "FILE")]
    passphrase_file: Option<PathBuf>,
}

impl PassphraseArgs {
    /// Returns whether a file was named.
    pub(super) fn is_given(&self) -> bool {
        self.passphrase_file.is_some()
    }

    /// Returns a new passphrase. A person types it twice.
    pub(super) fn choose(&self) -> Result<Passphrase, CliError> {
        if let Some(path) = &self.passphrase_file {
            return from_file(path);
        }
        let first = typed("Passphrase for the bundle: ")?;
        if typed("The same again: ")? != first {
            return Err(refused("the two passphrases differ"));
        }
        checked(first)
    }

    /// Returns the passphrase of a bundle that exists.
    pub(super) fn enter(&self) -> Result<Passphrase, CliError> {
        match &self.passphrase_file {
            Some(path) => from_file(path),
            None => checked(typed("Passphrase of the bundle: ")?),
        }
    }
}

fn typed(prompt: &str) -> Result<String, CliError> {
    if !std::io::stderr().is_terminal() {
        return Err(refused(
            "a passphrase is needed, and there is no terminal to ask on",
        ));
    }
    rpassword::prompt_password(prompt).map_err(CliError::from)
}

fn from_file(path: &Path) -> Result<Passphrase, CliError> {
    let mut text = String::new();
    let file = fs_err::File::open(path).map_err(CliError::unreadable)?;
    let read = file.take(LONGEST).read_to_string(&mut text);
    read.map_err(CliError::unreadable)?;
    let line = text.lines().next().unwrap_or_default();
    checked(line.to_owned())
}

fn checked(text: String) -> Result<Passphrase, CliError> {
    if text.is_empty() {
        return Err(refused("the passphrase is empty"));
    }
    Ok(Passphrase::new(text))
}

fn refused(message: &str) -> CliError {
    CliError::refused(
        ErrorKind::Passphrase,
        message,
        "name a file whose first line is the passphrase: --passphrase-file FILE. Nothing was written",
    )
}
