use std::process::ExitCode;

use clap::Args;

use super::super::context::Context;
use super::super::error::CliError;

/// Spend a first minute with the tool, on a session of its own
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {}

pub(crate) fn run(_args: &DemoArgs, _context: &mut Context) -> Result<ExitCode, CliError> {
    Ok(ExitCode::SUCCESS)
}
