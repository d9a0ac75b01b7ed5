use std::io::{IsTerminal as _, stdin, stdout};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use anstream::ColorChoice;
use clap::Args;

use crate::render::{LocalZone, Presenter};
use crate::store::glance;
use crate::ui::{App, Effect, Ending, Look, Made, Runner};

use super::super::args::SessionArg;
use super::super::clock;
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::names;
use super::super::plain_ui;
use super::super::shell::replace_process;
use super::super::ui_host::UiHost;

/// Browse sessions, mark what to change, and see the result before it is written
///
/// Opens in the terminal; `ccsurgery` without a command does the same. First choose a session, then mark rows of its tree: a
/// turn, a message, a call, an output. The totals show what the session takes before and after, and the command line
/// below does the same as the marks. Enter shows the preview; nothing is written before you confirm it there.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery ui              the sessions of this project\n  ccsurgery ui --all        the sessions of all projects\n  ccsurgery ui 3d73         one session\n  ccsurgery ui --plain @    with questions instead of a full screen"
)]
pub(crate) struct UiArgs {
    /// The session: an id or the beginning of one, a title, a path, or `@` for the newest of this project
    /// [default: choose from a list]
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// List the sessions of all projects, not only of this one
    #[arg(long)]
    all: bool,
    /// Ask questions line by line instead of drawing a screen, for screen readers and simple terminals
    #[arg(long)]
    plain: bool,
}

pub(crate) fn run(args: &UiArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let host = UiHost::new(context.global.clone());
    let named = match &args.session {
        Some(name) => {
            let session = Some(name.clone());
            Some(names::find(context, &SessionArg { session })?)
        }
        None => None,
    };
    if args.plain {
        let path = named.map(|found| found.path);
        return plain_ui::run(context, &host, path, args.all);
    }
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(CliError::usage(
            ErrorKind::Usage,
            "the terminal interface needs a terminal",
            "use --plain for questions line by line, or a command: see ccsurgery --help",
        ));
    }
    let mut app = App::new(look(context), (80, 24));
    app.list.all = args.all;
    let first = match named {
        Some(found) => {
            let title = glance(&found.path).unwrap_or_default().name();
            app.open(found.path, title.raw(), found.len)
        }
        None => vec![Effect::List(args.all)],
    };
    match Runner::new(app, Arc::new(host)).run(first)? {
        Ending::Left => Ok(ExitCode::SUCCESS),
        Ending::Resume(made) => resume(&made),
    }
}

/// Returns how things look on this terminal.
pub(crate) fn look(context: &Context) -> Look {
    Look {
        presenter: Presenter {
            show_secrets: context.show_secrets,
        },
        colours: context.out.current_choice() != ColorChoice::Never,
        home: context.home.clone(),
        now: context.now,
        zone: LocalZone::new(clock::local_zone),
    }
}

/// Replaces this process with Claude Code, which resumes what was made.
fn resume(made: &Made) -> Result<ExitCode, CliError> {
    let (id, project) = &made.target;
    // On Windows it may be a script, which only the shell can start.
    let mut command = if cfg!(windows) {
        let mut shell = Command::new("cmd");
        shell.args(["/C", "claude"]);
        shell
    } else {
        Command::new("claude")
    };
    command.args(["--resume", id]);
    if let Some(folder) = project.as_ref().filter(|folder| folder.is_dir()) {
        command.current_dir(folder);
    }
    let error = replace_process(&mut command);
    let by_hand = made.resume.clone().unwrap_or_default();
    Err(CliError::failed(
        ErrorKind::Io,
        format!("Claude Code cannot be started: {error}"),
        format!("resume the session by hand: {by_hand}"),
    ))
}
