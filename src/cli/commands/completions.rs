use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::super::args::Cli;
use super::super::context::Context;
use super::super::error::CliError;

/// Print completions for a shell
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    clap_complete::generate(
        args.shell,
        &mut Cli::command(),
        "ccsurgery",
        &mut context.out,
    );
    Ok(ExitCode::SUCCESS)
}
