use std::process::ExitCode;

use clap::{Args, CommandFactory as _};

use super::super::args::Cli;
use super::super::context::Context;
use super::super::error::CliError;

/// Print the manual page
#[derive(Debug, Args)]
pub(crate) struct ManArgs {}

pub(crate) fn run(_args: &ManArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    clap_mangen::Man::new(Cli::command()).render(&mut context.out)?;
    Ok(ExitCode::SUCCESS)
}
