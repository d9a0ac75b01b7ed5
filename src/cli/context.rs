//! Streams, folders and the clock: all that the commands get from outside.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anstream::{AutoStream, ColorChoice};

use crate::doctor::Version;
use crate::render::{Presenter, Screen, Untrusted, YELLOW, json_text, paint};
use crate::store::{Config, Journal};

use super::args::{Color, Global};
use super::error::CliError;
use super::installed;

/// What a command may use.
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Context {
    pub(super) out: AutoStream<io::Stdout>,
    pub(super) err: AutoStream<io::Stderr>,
    pub(super) config: Config,
    pub(super) project: PathBuf,
    pub(super) home: Option<PathBuf>,
    pub(super) journal: Journal,
    pub(super) json: bool,
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    pub(super) columns: usize,
    /// The width to which tables are cut; without a limit in a pipe.
    pub(super) table_columns: usize,
    /// Whether keys and tokens are shown as they are.
    pub(super) show_secrets: bool,
    pub(super) now: SystemTime,
    /// Whether a person can be asked.
    pub(super) interactive: bool,
    /// Whether the result goes to a person's screen.
    pub(super) on_screen: bool,
    /// Whether progress may be shown.
    pub(super) progress: bool,
    pub(super) command_line: Vec<String>,
    /// Whether the work is done, so that a report which cannot be printed is not a failure.
    pub(super) is_done: bool,
}

impl Context {
    pub(super) fn new(global: &Global) -> Result<Self, CliError> {
        let home = etcetera::home_dir().ok();
        let config = match (&global.config_dir, std::env::var_os("CLAUDE_CONFIG_DIR")) {
            (Some(dir), _) => dir.clone(),
            (None, Some(dir)) if !dir.is_empty() => PathBuf::from(dir),
            _ => home.as_ref().map(|h| h.join(".claude")).ok_or_else(|| {
                CliError::failed(
                    "no-home",
                    "there is no home folder",
                    "name the config folder with --config-dir",
                )
            })?,
        };
        let project = match &global.project {
            Some(dir) => dir.clone(),
            None => std::env::current_dir()?,
        };
        let choice = match global.color {
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
            Color::Auto => AutoStream::choice(&io::stdout()),
        };
        let err_choice = if global.color == Color::Auto {
            AutoStream::choice(&io::stderr())
        } else {
            choice
        };
        let config = Config::new(std::path::absolute(config)?);
        let state = state_folder(home.as_deref())?;
        Ok(Self {
            out: AutoStream::new(io::stdout(), choice),
            err: AutoStream::new(io::stderr(), err_choice),
            project: real(&std::path::absolute(project)?),
            journal: Journal::new(state, &config, SystemTime::now),
            config,
            home,
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
            columns: columns(),
            table_columns: table_columns(),
            show_secrets: global.show_secrets,
            now: SystemTime::now(),
            interactive: io::stdin().is_terminal() && io::stderr().is_terminal() && !global.json,
            on_screen: io::stdout().is_terminal() && !global.json,
            progress: io::stderr().is_terminal() && !global.quiet && !global.json,
            command_line: std::env::args().collect(),
            is_done: false,
        })
    }

    /// Returns the newest client that is installed.
    pub(super) fn installed_client(&self) -> Option<Version> {
        let path = std::env::var_os("PATH");
        installed::newest(self.home.as_deref(), path.as_deref())
    }

    /// Says something that is not the result.
    pub(super) fn tell(&mut self, text: &str) {
        if !self.quiet {
            let _ = writeln!(self.err, "{text}");
        }
    }

    /// A session's text on one line: masked, and safe for a terminal.
    pub(super) fn words(&self, text: impl Untrusted) -> String {
        self.presenter().line(text)
    }

    /// The screen that results are laid out for.
    pub(super) fn screen(&self) -> Screen<'_> {
        Screen {
            presenter: self.presenter(),
            columns: self.columns,
            table_columns: self.table_columns,
            home: self.home.as_deref(),
            now: self.now,
        }
    }

    /// Makes text of a session safe to show.
    pub(super) fn presenter(&self) -> Presenter {
        Presenter {
            show_secrets: self.show_secrets,
        }
    }

    /// Ends a command that changed something: `printed` is what came of printing its report.
    ///
    /// The exit code says whether the work was done, and a script must not do it twice because a pipe was
    /// closed or a disk is full; so a report that cannot be printed is only a warning.
    pub(super) fn end_report(&mut self, printed: io::Result<()>) {
        self.is_done = true;
        match printed.and_then(|()| self.out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let note = paint(YELLOW, "warning:");
                let text =
                    format!("{note} it is done, but the report could not be printed: {error}");
                let _ = writeln!(self.err, "{text}");
            }
            _ => {}
        }
    }

    /// Flushes standard output at the end of a run.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self.out.flush() {
            Err(_) if self.is_done => Ok(()),
            flushed => flushed,
        }
    }

    /// Cleans up after runs that were killed, and says so.
    pub(super) fn recover(&mut self) -> Result<(), CliError> {
        for told in self.journal.recover()? {
            self.tell(&format!("{} {told}", paint(YELLOW, "recovered:")));
        }
        Ok(())
    }

    /// Asks a person; anything but yes is no.
    pub(super) fn confirm(&mut self, question: &str) -> io::Result<bool> {
        self.out.flush()?;
        write!(self.err, "{question} [y/N] ")?;
        self.err.flush()?;
        let mut answer = String::new();
        io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Prints the one JSON document of this run.
    pub(super) fn print_json(&mut self, document: &impl serde::Serialize) -> io::Result<()> {
        let text = serde_json::to_string(document).map_err(io::Error::other)?;
        writeln!(self.out, "{}", json_text(&text))
    }
}

/// The folder's real path where it exists: the client names projects by that.
fn real(path: &Path) -> PathBuf {
    fs_err::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Where the journal is: `$CCSURGERY_STATE_DIR`, else the platform's folder for state.
fn state_folder(home: Option<&Path>) -> Result<PathBuf, CliError> {
    if let Some(dir) = std::env::var_os("CCSURGERY_STATE_DIR").filter(|d| !d.is_empty()) {
        return Ok(std::path::absolute(PathBuf::from(dir))?);
    }
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::choose_base_strategy();
    let base = strategy
        .ok()
        .and_then(|s| s.state_dir().or_else(|| Some(s.data_dir())))
        .or_else(|| home.map(|h| h.join(".local/state")));
    let base = base.ok_or_else(|| {
        CliError::failed(
            "no-home",
            "there is no home folder for the journal",
            "set CCSURGERY_STATE_DIR",
        )
    })?;
    Ok(base.join("ccsurgery"))
}

/// The width to write for: the terminal's, or `$COLUMNS`, or 100.
fn columns() -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(w, _)| w.0 as usize);
    given.or_else(terminal).unwrap_or(100).clamp(40, 300)
}

/// The width of tables: nothing is cut in a pipe, unless `$COLUMNS` asks for it.
fn table_columns() -> usize {
    let given = std::env::var_os("COLUMNS").is_some();
    if given || io::stdout().is_terminal() {
        columns()
    } else {
        usize::MAX / 2
    }
}
