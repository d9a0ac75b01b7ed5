use std::process::ExitCode;

use clap::Args;
use rayon::prelude::*;

use crate::render::InspectionText;
use crate::session::{Session, Standing};
use crate::store::Located;
use crate::transcript::EntryIx;
use crate::view::{
    FileUse, Growth, Inspection, LargeEntry, Overview, SCHEMA, Suggestion, WindowUse,
};
use crate::window::{Calibration, EntryWeights, Tools, WindowBreakdown, file_parts, largest};

use super::super::advice::{Advice, Advisor};
use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::progress::Progress;
use super::super::{names, pager};

/// How many of the largest entries are listed.
const LARGEST: usize = 8;

/// Show what fills the context window and the file, and how to free some of it
///
/// The context window is what the model is sent with the next request. The file also holds messages that the
/// model no longer sees, or never saw.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery inspect              the newest session of this project\n  ccsurgery inspect 3d73 --json  the same numbers for a script"
)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    session: SessionArg,
}

pub(crate) fn run(args: &InspectArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let found = names::find(context, &args.session)?;
    let session = names::open_to_read(context, &found)?;
    let progress = Progress::start(context.progress, "measuring the context window");
    let inspection = inspect(&found, &session);
    progress.done();
    if context.json {
        let document = context.presenter().json(&inspection);
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = InspectionText {
        screen: context.screen(),
        inspection: &inspection,
    };
    let text = text.render();
    pager::show(context, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn inspect(found: &Located, session: &Session) -> Inspection {
    let id: String = found.id.chars().take(8).collect();
    let ledger = EntryWeights::of(session);
    let advisor = Advisor {
        session,
        id: &id,
        ledger: &ledger,
    };
    // Each of these takes long on a large session, so those that do not depend on each other run in parallel.
    let tools = Tools::of(session);
    let weigh = || WindowBreakdown::of(session, &tools);
    let calibrate = || Calibration::by(session, &ledger);
    let rest = || {
        let bulk = advisor.on_bulk();
        let rest = rayon::join(
            || file_parts(session, &tools),
            || Growth::all(session, &ledger),
        );
        (bulk, rest)
    };
    let (weights, (calibration, (bulk, (file, growth)))) =
        rayon::join(weigh, || rayon::join(calibrate, rest));
    let window = weights.parts(&calibration);
    let on_largest = || advisor.on_largest(&window);
    let compact = || advisor.on_old_turns(calibration.window());
    let largest = || largest(session, &calibration, &ledger, &tools, LARGEST);
    let on_hidden = || advisor.on_hidden();
    let ((largest_tool, hidden), (compact, largest)) = rayon::join(
        || rayon::join(on_largest, on_hidden),
        || rayon::join(compact, largest),
    );
    // Ordered by how much of the conversation is lost.
    let tried = bulk.into_iter().chain(largest_tool).chain(compact);
    let tried = tried.chain(hidden);
    let advice = tried.filter_map(|t| t.advice(&calibration));
    let place = |i: EntryIx| session.graph().place(i);
    let bytes = session.document().len();
    Inspection {
        schema: SCHEMA,
        session_id: found.id.clone(),
        path: found.path.clone(),
        title: Overview::of(session).name(),
        turns: session.turns().len() as u64,
        entries: session.entries().len() as u64,
        compactions: session
            .boundaries()
            .filter(|(i, _)| matches!(place(*i), Standing::Path(_)))
            .count() as u64,
        has_branches: session
            .numbers()
            .any(|i| matches!(place(i), Standing::Branch(_))),
        window: WindowUse::new(&calibration, window, &growth),
        file: FileUse::new(bytes, bytes - shown_bytes(session), file),
        largest: largest
            .into_iter()
            .map(|l| LargeEntry::new(session, l))
            .collect(),
        growth,
        operations: advice.map(suggestion).collect(),
    }
}

fn suggestion(advice: Advice) -> Suggestion {
    Suggestion {
        command: format!("ccsurgery {}", advice.command),
        tokens: advice.tokens,
        bytes: advice.bytes,
        what: advice.what,
    }
}

/// Returns the bytes of lines of which the model is shown something.
fn shown_bytes(session: &Session) -> u64 {
    let lines = session.document().lines();
    session
        .par_numbered()
        .filter(|(i, _)| session.graph().is_shown(*i))
        .map(|(_, entry)| lines[entry.line])
        .map(crate::document::Line::raw_len)
        .sum()
}
