use std::process::ExitCode;

use clap::Args;

use crate::store;

use super::super::context::Context;
use super::super::error::CliError;
use super::super::operations::Wanted;
use super::undo::{Page, WayArgs, explain, prepare, report};

/// Redo what was undone last, or a named operation
#[derive(Debug, Args)]
pub(crate) struct RedoArgs {
    /// The operation: its short name in `ccsurgery history`, or the beginning of its full name [default: the one undone last]
    #[arg(value_name = "OP")]
    operation: Option<String>,
    #[command(flatten)]
    way: WayArgs,
}

pub(crate) fn run(args: &RedoArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let name = args.operation.as_deref();
    let (operation, steps) = prepare(
        context,
        &args.way,
        name,
        Wanted::Redo,
        |context, operation| store::check_redo(&context.journal, operation),
    )?;
    let page = Page::new(context, &args.way, Wanted::Redo, &operation, &steps);
    if args.way.is_dry_run() {
        page.write(context, false)?;
        return report(context, Wanted::Redo, &operation, &steps, true);
    }
    let done = store::redo(&context.journal, operation.clone())
        .map_err(|e| explain(e, &operation, Wanted::Redo))?;
    page.write(context, true)?;
    report(context, Wanted::Redo, &done, &steps, false)
}
