use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;

use crate::render::json_text;
use crate::session::TurnSpec;
use crate::window::payload;

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;

/// Print the messages that the model would be shown on resume
///
/// One JSON array, an API message a line, as the newest client puts them together from the last
/// compaction on. The blocks are the session's own bytes. System prompt, tools and what the client adds
/// for the next prompt are not in the session.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery payload | jq length           how many messages\n  ccsurgery payload 3d731db0 --at 7       as it was at the end of turn 7"
)]
pub(crate) struct PayloadArgs {
    #[command(flatten)]
    session: SessionArg,
    /// At the end of this turn
    #[arg(long, value_name = "TURN", allow_hyphen_values = true)]
    at: Option<TurnSpec>,
}

pub(crate) fn run(args: &PayloadArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let found = names::find(context, &args.session)?;
    let session = names::open_to_read(&found)?;
    names::say_which(context, &args.session, &found, &session);
    let at = args
        .at
        .as_ref()
        .map(|turn| turn.resolve(&session))
        .transpose()?;
    let messages = payload(&session, at);
    let texts: Vec<String> = messages
        .iter()
        // What is not UTF-8 in the file reaches the model as replacement characters.
        .map(|m| {
            let text = m.json();
            json_text(&context.masked(&String::from_utf8_lossy(&text))).into_owned()
        })
        .collect();
    write!(context.out, "[\n{}\n]\n", texts.join(",\n"))?;
    Ok(ExitCode::SUCCESS)
}
