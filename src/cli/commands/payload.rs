use std::borrow::Cow;
use std::convert::Infallible;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::render::json_text;
use crate::session::TurnSpec;
use crate::threads::in_order;
use crate::view::SCHEMA;
use crate::window::payload;

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;

/// How many messages are masked and printed at a time.
const PIECE: usize = 16;

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
    let session = names::open_to_read(context, &found)?;
    names::say_which(context, &args.session, &found, &session);
    let at = args
        .at
        .as_ref()
        .map(|turn| turn.resolve(&session))
        .transpose()?;
    let presenter = context.presenter();
    let messages = payload(&session, at);
    let pieces: Vec<_> = messages.chunks(PIECE).collect();
    let print = |piece: usize, out: &mut Vec<u8>| {
        for (i, message) in pieces[piece].iter().enumerate() {
            if piece > 0 || i > 0 {
                out.extend_from_slice(b",\n");
            }
            // Bytes that are not UTF-8 reach the model as replacement characters.
            let text = message.json();
            let text = match simdutf8::basic::from_utf8(&text) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => String::from_utf8_lossy(&text),
            };
            let safe = presenter.masked_json(&text);
            out.extend_from_slice(json_text(&safe).as_bytes());
        }
        Ok::<(), Infallible>(())
    };
    let (begin, end) = if context.json {
        let head = json!({"session_id": found.id, "path": found.path.to_string_lossy()});
        let head = json_text(&head.to_string()).into_owned();
        let head = &head[1..head.len() - 1];
        let begin = format!("{{\"schema\":{SCHEMA},{head},\"messages\":[\n");
        (begin, "\n]}\n")
    } else {
        ("[\n".to_owned(), "\n]\n")
    };
    context.print_plain(begin.as_bytes())?;
    in_order(pieces.len(), print, |text| context.print_plain(text))?;
    context.print_plain(end.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
