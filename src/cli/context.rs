//! Streams, folders and the clock: everything that the commands get from outside.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anstream::{AutoStream, ColorChoice};
use anyhow::Context as _;

use crate::doctor::Version;
use crate::render::{
    LocalZone, Presenter, Screen, Untrusted, YELLOW, json_text, paint, wrap_message,
};
use crate::store::{
    Config, Journal, Locator, Provenance, finish_redactions, plain_path, real_path,
};

use super::args::{Color, Global};
use super::error::{CliError, ErrorKind};
use super::settings::Settings;
use super::{clock, installed, pager};

/// What a command may use of the world around it.
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Context {
    pub(super) out: AutoStream<io::Stdout>,
    pub(super) err: AutoStream<io::Stderr>,
    pub(super) config: Config,
    /// The options that every command takes, as they were given.
    pub(super) global: Global,
    /// The current project's folder.
    pub(super) project: PathBuf,
    /// The folder in which the program was started.
    pub(super) working_folder: PathBuf,
    pub(super) home: Option<PathBuf>,
    /// The person's own settings.
    pub(super) settings: Settings,
    /// The program that shows long output; `None` for none.
    pub(super) pager: Option<String>,
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
    pub(super) zone: LocalZone,
    /// Whether a person can be asked.
    pub(super) interactive: bool,
    /// Whether the result is shown on a person's screen.
    pub(super) on_screen: bool,
    /// Whether long text is printed without a pager.
    pub(super) no_pager: bool,
    /// Whether progress may be shown.
    pub(super) progress: bool,
    pub(super) command_line: Vec<String>,
    /// Whether the work is done, so that a report which cannot be printed is not a failure.
    pub(super) is_done: bool,
    /// A copy of the transcript that was read from a stream; it is removed when the run ends.
    pub(super) stream_copy: Option<tempfile::TempDir>,
}

impl Context {
    pub(super) fn new(global: &Global, settings: Settings) -> Result<Self, CliError> {
        let home = etcetera::home_dir().ok();
        let config = config_folder(global, home.as_deref())?;
        let working_folder = std::env::current_dir()
            .context("the working folder cannot be read; change to a folder that exists")?;
        let working_folder = real(&working_folder);
        let project = match &global.project {
            Some(dir) => real(&std::path::absolute(existing(dir, "--project")?)?),
            None => current_project(&config, &working_folder),
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
        let state = state_folder(home.as_deref())?;
        Ok(Self {
            out: AutoStream::new(io::stdout(), choice),
            err: AutoStream::new(io::stderr(), err_choice),
            project,
            working_folder,
            journal: Journal::new(state, &config, clock::now),
            config,
            home,
            pager: (!global.no_pager).then(|| pager(&settings)),
            settings,
            global: global.clone(),
            json: global.json,
            quiet: global.quiet,
            verbose: global.verbose,
            columns: columns(),
            table_columns: table_columns(),
            show_secrets: global.show_secrets,
            now: clock::now(),
            zone: LocalZone::new(clock::local_zone),
            interactive: io::stdin().is_terminal() && io::stderr().is_terminal() && !global.json,
            on_screen: io::stdout().is_terminal() && !global.json,
            no_pager: global.no_pager,
            progress: io::stderr().is_terminal() && !global.quiet && !global.json,
            command_line: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            is_done: false,
            stream_copy: None,
        })
    }

    /// Returns the newest client that is installed.
    pub(super) fn installed_client(&self) -> Option<Version> {
        let path = std::env::var_os("PATH");
        installed::newest(self.home.as_deref(), path.as_deref())
    }

    /// Prints something that is not the result to standard error.
    pub(super) fn tell(&mut self, text: &str) {
        if !self.quiet {
            let _ = writeln!(self.err, "{}", wrap_message(text, message_columns()));
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
            zone: Some(&self.zone),
            colours: self.out.current_choice() != ColorChoice::Never,
            links: self.on_screen && pager::has_links(),
            is_pipe: !self.on_screen && std::env::var_os("COLUMNS").is_none(),
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

    /// Shows what will happen before it happens. A reader that closed the pipe does not stop the work that was asked for.
    pub(super) fn show_plan(&mut self, text: &str) -> io::Result<()> {
        let shown = self.out.write_all(text.as_bytes());
        match shown.and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            shown => shown,
        }
    }

    /// Flushes standard output at the end of a run.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self.out.flush() {
            Err(_) if self.is_done => Ok(()),
            flushed => flushed,
        }
    }

    /// Cleans up after runs that were killed, and reports what was done.
    pub(super) fn recover(&mut self) -> Result<(), CliError> {
        let finished = finish_redactions(&self.journal)?;
        for told in finished.into_iter().chain(self.journal.recover()?) {
            self.tell(&format!("{} {told}", paint(YELLOW, "recovered:")));
        }
        Ok(())
    }

    /// Describes an operation of this run for the journal.
    pub(super) fn provenance(&self, operation: &str) -> Provenance {
        Provenance {
            operation: operation.to_owned(),
            command: self.command_line.clone(),
            now: self.now,
            random: uuid::Uuid::new_v4(),
        }
    }

    /// Asks a person; any answer but yes means no.
    pub(super) fn confirm(&mut self, question: &str) -> io::Result<bool> {
        let answer = self.answer(&format!("{question} [y/N] "))?;
        Ok(matches!(answer.as_deref(), Some("y" | "yes")))
    }

    /// Returns what a person answers, in small letters; `None` if the input has ended.
    pub(super) fn answer(&mut self, question: &str) -> io::Result<Option<String>> {
        self.out.flush()?;
        write!(self.err, "{question}")?;
        self.err.flush()?;
        let mut answer = String::new();
        let length = io::stdin().read_line(&mut answer)?;
        Ok((length > 0).then(|| answer.trim().to_lowercase()))
    }

    /// Prints the one JSON document of this run.
    pub(super) fn print_json(&mut self, document: &impl serde::Serialize) -> io::Result<()> {
        let mut text = serde_json::to_string(document).map_err(io::Error::other)?;
        text.push('\n');
        self.print_plain(json_text(&text).as_bytes())
    }

    /// Prints text without any codes for a terminal. `out` would look at each byte for codes to remove, which takes as
    /// long as masking the text does.
    pub(super) fn print_plain(&mut self, text: &[u8]) -> io::Result<()> {
        self.out.flush()?;
        io::stdout().lock().write_all(text)
    }
}

/// Returns a folder that an option names, and refuses one that does not exist.
fn existing<'d>(dir: &'d Path, option: &str) -> Result<&'d Path, CliError> {
    if dir.is_dir() {
        return Ok(dir);
    }
    let problem = if dir.exists() {
        "is not a folder"
    } else {
        "does not exist"
    };
    Err(CliError::failed(
        ErrorKind::NoSuchFolder,
        format!("`{}` {problem}", dir.display()),
        format!("check the folder that {option} names"),
    ))
}

/// Returns Claude Code's config folder: that of the option, of `$CLAUDE_CONFIG_DIR`, or `~/.claude`.
fn config_folder(global: &Global, home: Option<&Path>) -> Result<Config, CliError> {
    let variable = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
    let folder = match (&global.config_dir, variable) {
        (Some(dir), _) => existing(dir, "--config-dir")?.to_owned(),
        (None, Some(dir)) => PathBuf::from(dir),
        (None, None) => home.map(|h| h.join(".claude")).ok_or_else(|| {
            CliError::failed(
                ErrorKind::NoHome,
                "there is no home folder",
                "name the config folder with --config-dir",
            )
        })?,
    };
    // A folder that does not exist is reported later.
    let plain = plain_path(&folder).or_else(|_| std::path::absolute(&folder));
    Ok(Config::new(plain?))
}

/// Returns the project of a folder: the folder itself, or the nearest one above it that has sessions.
fn current_project(config: &Config, folder: &Path) -> PathBuf {
    let mut above = folder.ancestors().filter(|dir| has_sessions(config, dir));
    let Some(nearest) = above.next() else {
        return folder.to_owned();
    };
    // Sessions that were held here may be listed under another folder's name: those come first.
    let moved_here = || {
        let here = Locator::new(config, folder).here();
        here.is_ok_and(|sessions| !sessions.is_empty())
    };
    if nearest != folder && moved_here() {
        return folder.to_owned();
    }
    nearest.to_owned()
}

/// Whether a folder is a project with at least one transcript.
fn has_sessions(config: &Config, dir: &Path) -> bool {
    let files = fs_err::read_dir(config.project(dir)).into_iter().flatten();
    let mut names = files.flatten().map(|file| file.file_name());
    names.any(|name| name.to_string_lossy().ends_with(".jsonl"))
}

/// Returns the pager: that of `$CCSURGERY_PAGER`, of the settings, of `$PAGER`, or `less -R`.
fn pager(settings: &Settings) -> String {
    let variable = |name: &str| {
        let value = std::env::var(name).ok();
        value.filter(|p| !p.trim().is_empty())
    };
    let chosen = variable("CCSURGERY_PAGER").or_else(|| settings.pager().map(str::to_owned));
    let chosen = chosen.or_else(|| variable("PAGER"));
    chosen.unwrap_or_else(|| "less -R".to_owned())
}

/// The folder's real path where it exists: Claude Code names projects by that.
fn real(path: &Path) -> PathBuf {
    real_path(path).unwrap_or_else(|_| path.to_owned())
}

/// Returns the journal's folder: `$CCSURGERY_STATE_DIR`, else the platform's folder for state.
fn state_folder(home: Option<&Path>) -> Result<PathBuf, CliError> {
    if let Some(dir) = std::env::var_os("CCSURGERY_STATE_DIR").filter(|d| !d.is_empty()) {
        return Ok(std::path::absolute(PathBuf::from(dir))?);
    }
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::choose_base_strategy();
    let base = strategy
        .ok()
        .map(|s| match s.state_dir() {
            Some(dir) => dir,
            // On Windows, the folder that does not follow the user to other machines.
            None if cfg!(windows) => s.cache_dir(),
            None => s.data_dir(),
        })
        .or_else(|| home.map(|h| h.join(".local/state")));
    let base = base.ok_or_else(|| {
        CliError::failed(
            ErrorKind::NoHome,
            "there is no home folder for the journal",
            "set CCSURGERY_STATE_DIR",
        )
    })?;
    Ok(base.join("ccsurgery"))
}

/// Returns the width to write for: the terminal's, or `$COLUMNS`, or 100.
pub(super) fn columns() -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || terminal_size::terminal_size().map(|(w, _)| w.0 as usize);
    given.or_else(terminal).unwrap_or(100).clamp(40, 300)
}

/// The width of messages on standard error: they are wrapped on a terminal, or if `$COLUMNS` asks for it.
pub(super) fn message_columns() -> usize {
    let given = std::env::var_os("COLUMNS").is_some();
    if given || io::stderr().is_terminal() {
        columns()
    } else {
        usize::MAX / 2
    }
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
