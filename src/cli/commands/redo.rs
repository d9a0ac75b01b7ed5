use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;

use crate::store::{self, State};

use super::super::context::Context;
use super::super::error::CliError;
use super::super::operations::{describe, pick};
use super::undo::{explain, finish};

/// Do again what was undone last
#[derive(Debug, Args)]
pub(crate) struct RedoArgs {
    /// The operation, or a unique prefix of its name [default: the one undone last]
    #[arg(value_name = "OP")]
    operation: Option<String>,
    /// Do not ask; redo never does
    #[arg(short, long, hide = true)]
    yes: bool,
}

pub(crate) fn run(args: &RedoArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    context.recover()?;
    let operation = pick(context, args.operation.as_deref(), State::Undone)?;
    if !context.json {
        let text = format!("redo {}", describe(context, &operation));
        writeln!(context.out, "{text}")?;
    }
    let done =
        store::redo(&context.journal, operation.clone()).map_err(|e| explain(e, &operation))?;
    finish(context, "redo", &done, false)
}
