use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::render::json_text;
use crate::session::TurnSpec;
use crate::view::SCHEMA;
use crate::window::payload;

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;

/// Print the messages that the model would be sent on resume
///
/// Prints a JSON array with one API message per line (with --json, an object with them in `messages`), as the newest Claude Code assembles them from the last
/// compaction on. The blocks are those of the session, except that secrets are masked (--show-secrets shows
/// them). The system prompt, the tools and reminders that Claude Code adds are not part of the session.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery payload | jq length           how many messages\n  ccsurgery payload 3d731db0 --at 7       as it was at the end of turn 7"
)]
pub(crate) struct PayloadArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Print the messages as they were at the end of this turn
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
    let presenter = context.presenter();
    let messages = payload(&session, at);
    let texts: Vec<String> = messages
        .iter()
        // Bytes that are not UTF-8 reach the model as replacement characters.
        .map(|m| {
            let text = m.json();
            let text = String::from_utf8_lossy(&text);
            json_text(&presenter.masked_json(&text)).into_owned()
        })
        .collect();
    let messages = texts.join(",\n");
    if context.json {
        let head = json!({"session_id": found.id, "path": found.path.to_string_lossy()});
        let head = json_text(&head.to_string()).into_owned();
        let head = &head[1..head.len() - 1];
        let schema = SCHEMA;
        writeln!(
            context.out,
            "{{\"schema\":{schema},{head},\"messages\":[\n{messages}\n]}}"
        )?;
    } else {
        write!(context.out, "[\n{messages}\n]\n")?;
    }
    Ok(ExitCode::SUCCESS)
}
