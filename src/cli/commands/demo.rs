use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anstream::AutoStream;
use clap::{Args, Parser as _};

use crate::render::{BOLD, DIM, pad, paint, wrap};
use crate::store::{Config, Journal, create_private_dirs, write_private};

use super::super::args::Cli;
use super::super::clock;
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::settings::Settings;

/// Try the tool on a made-up session
///
/// Everything happens in a temporary folder that is removed at the end. Your own sessions are neither
/// read nor changed.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ccsurgery demo")]
pub(crate) struct DemoArgs {}

/// The made-up session: four turns, one of them with a large output.
const SESSION: &str = include_str!("../../../fixtures/demo.jsonl");
const ID: &str = "3f9c2a71-5d0e-4b8a-9c64-1e7d52ab0c93";
/// The folder that its entries name. It need not exist.
const PROJECT: &str = "/home/you/weather";

pub(crate) fn run(_args: &DemoArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if context.json {
        return Err(CliError::usage(
            ErrorKind::Usage,
            "demo has no JSON output",
            "leave out --json; every other command supports it",
        ));
    }
    let home = tempfile::Builder::new()
        .prefix("ccsurgery-demo-")
        .tempdir()?;
    let mut stage = stage(context, home.path())?;
    narrate(
        &mut stage,
        "This is a made-up session in a temporary folder, which is removed when the demo ends. Your own sessions are not touched.",
    )?;
    play(&mut stage, &["ls"])?;
    narrate(
        &mut stage,
        "One long output fills half of this file. How small would the session be with only its first and last lines? With -n you see the full preview, and nothing is written.",
    )?;
    let shorten = [
        "drop-tools",
        "3f9c",
        "--stub",
        "--head",
        "3",
        "--tail",
        "2",
        "-n",
    ];
    play(&mut stage, &shorten)?;
    narrate(
        &mut stage,
        "Turn 4 was a detour. Make a copy that stops before it. The copy is independent of the original; the printed command resumes it.",
    )?;
    play(&mut stage, &["clone", "3f9c", "--at", "3", "--quiet"])?;
    narrate(
        &mut stage,
        "The original is unchanged, and both are listed:",
    )?;
    play(&mut stage, &["ls"])?;
    next(&mut stage)?;
    stage.out.flush()?;
    home.close()?;
    Ok(ExitCode::SUCCESS)
}

/// The age of the made-up session.
const AGE: Duration = Duration::from_secs(3 * 60 * 60);

/// Makes a context whose folders are all below `home`, with the streams of the real one.
fn stage(context: &Context, home: &Path) -> Result<Context, CliError> {
    let config = Config::new(home.join(".claude"));
    let folder = config.project(Path::new(PROJECT));
    create_private_dirs(&folder)?;
    let path = folder.join(format!("{ID}.jsonl"));
    write_private(&path, SESSION.as_bytes())?;
    // Claude Code left it some time ago.
    let file = fs_err::OpenOptions::new().append(true).open(&path)?;
    file.file().set_modified(context.now - AGE)?;
    Ok(Context {
        out: AutoStream::new(io::stdout(), context.out.current_choice()),
        err: AutoStream::new(io::stderr(), context.err.current_choice()),
        journal: Journal::new(home.join("state"), &config, clock::now),
        config,
        project: PathBuf::from(PROJECT),
        working_folder: PathBuf::from(PROJECT),
        home: Some(home.to_owned()),
        settings: Settings::default(),
        pager: None,
        global: context.global.clone(),
        json: false,
        quiet: false,
        verbose: false,
        columns: context.columns.min(100),
        table_columns: context.table_columns.min(100),
        now: context.now,
        zone: context.zone.clone(),
        no_pager: true,
        interactive: false,
        on_screen: false,
        show_secrets: false,
        progress: false,
        is_done: false,
        command_line: Vec::new(),
        stream_copy: None,
    })
}

/// Prints text of the demo itself, wrapped at words.
fn narrate(stage: &mut Context, text: &str) -> Result<(), CliError> {
    writeln!(stage.out)?;
    for line in wrap(text, stage.columns.min(80)) {
        writeln!(stage.out, "{line}")?;
    }
    Ok(writeln!(stage.out)?)
}

/// Prints a command as a person would type it, and runs it.
fn play(stage: &mut Context, arguments: &[&str]) -> Result<(), CliError> {
    let line = format!("ccsurgery {}", arguments.join(" "));
    writeln!(stage.out, "{} {}", paint(DIM, "$"), paint(BOLD, line))?;
    let parsed = Cli::try_parse_from(["ccsurgery"].iter().chain(arguments));
    let cli = parsed.map_err(|e| {
        CliError::failed(
            ErrorKind::Bug,
            format!("the demo's own command is wrong: {e}"),
            "please report this",
        )
    })?;
    stage.quiet = cli.global.quiet;
    super::super::run(cli.command, stage)?;
    stage.quiet = false;
    Ok(())
}

/// Prints what to try next.
fn next(stage: &mut Context) -> Result<(), CliError> {
    let commands = [
        ("ls", "", "list your sessions here, newest first"),
        (
            "inspect",
            "",
            "show what fills the context window and the file",
        ),
        ("doctor", "", "find out why a session won't resume"),
        ("strip-thinking", " -n", "preview it on your newest session"),
        ("clone", "", "copy your newest session"),
        ("undo", "", "take the last change back"),
    ];
    narrate(
        stage,
        "Your turn: change to a project in which you have used Claude Code, and try",
    )?;
    for (command, more, what) in commands {
        let command = pad(&format!("ccsurgery {command}{more}"), 28);
        writeln!(stage.out, "  {}  {what}", paint(BOLD, command))?;
    }
    let all = pad("ccsurgery --help", 28);
    Ok(writeln!(
        stage.out,
        "  {}  everything else",
        paint(BOLD, all)
    )?)
}
