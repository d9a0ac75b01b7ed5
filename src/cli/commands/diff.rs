use std::process::ExitCode;

use clap::Args;

use crate::render::ComparisonText;
use crate::session::Session;
use crate::store::Located;
use crate::view::{Compared, Comparison, Difference};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::progress::Progress;
use super::super::{names, pager};

/// Compare two sessions by content, ignoring ids
///
/// Lists entries that only one of them has, and text that changed, by turn. A session and its clone differ
/// only in ids.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery diff @2 @          the last two sessions of this project\n  ccsurgery diff 3d73 5f02 --json"
)]
pub(crate) struct DiffArgs {
    /// The first session
    #[arg(value_name = "A")]
    a: String,
    /// The second session
    #[arg(value_name = "B")]
    b: String,
}

pub(crate) fn run(args: &DiffArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let a = open(context, &args.a)?;
    let b = open(context, &args.b)?;
    let (a, b) = (compared(&a), compared(&b));
    let progress = Progress::start(context.progress, "comparing");
    let comparison = Comparison::of(a.session, b.session);
    progress.done();
    if context.json {
        let presenter = context.presenter();
        let difference = Difference::of(&a, &b, &comparison, presenter.show_secrets);
        context.print_json(&presenter.json(&difference))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = ComparisonText {
        screen: context.screen(),
        a,
        b,
        comparison: &comparison,
    };
    let text = text.render();
    pager::show(context, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn open(context: &mut Context, name: &str) -> Result<(Located, Session), CliError> {
    let name = SessionArg {
        session: Some(name.to_owned()),
    };
    let found = names::find(context, &name)?;
    let session = names::open(context, &found)?;
    Ok((found, session))
}

fn compared((found, session): &(Located, Session)) -> Compared<'_> {
    Compared {
        session,
        session_id: &found.id,
        path: &found.path,
    }
}
