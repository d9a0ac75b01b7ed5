use std::io::Write as _;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use super::super::args::Cli;
use super::super::context::Context;
use super::super::error::CliError;

/// Print completions for a shell
///
/// Save the output where your shell looks for completions, and start a new shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  bash        ccsurgery completions bash > ~/.local/share/bash-completion/completions/ccsurgery\n  zsh         ccsurgery completions zsh > ~/.zfunc/_ccsurgery    with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc\n  fish        ccsurgery completions fish > ~/.config/fish/completions/ccsurgery.fish\n  elvish      ccsurgery completions elvish >> ~/.config/elvish/rc.elv\n  powershell  ccsurgery completions powershell >> $PROFILE"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    // The generator panics where it cannot write, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "ccsurgery", &mut script);
    if context.json {
        let script = String::from_utf8_lossy(&script);
        let shell = args.shell.to_string();
        context.print_json(&json!({"schema": 1, "shell": shell, "script": script}))?;
    } else {
        context.out.write_all(&script)?;
    }
    Ok(ExitCode::SUCCESS)
}
