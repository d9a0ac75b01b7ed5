use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::ops::{Budget, TokenCount, Trim, Trimmed};
use crate::render::{YELLOW, paint, tokens};
use crate::window::Calibration;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::progress::Progress;
use super::super::report::step_document;

/// Bring a session under a token budget with the least harmful operations
///
/// Removes or shortens, oldest first, and only as far as needed: output of files that were edited or read again later; output
/// of commands that ran again; results of edits and task lists; large outputs, which keep the lines that matter; images and
/// documents; other outputs; thinking; reports of subagents and error texts; whole calls; and last, the oldest part, which
/// becomes a digest and may end inside a long turn. What you wrote is never touched, and a digest quotes it in full: prompts,
/// answers to questions, reasons for a refusal, plans that you approved. Only --shorten-words lets a digest shorten it.
///
/// The newest part stays as it is: by default, up to 30 % of what the budget leaves for the conversation after system prompt
/// and tools. Sizes are estimates, so 2 % of the budget are kept in reserve (5 % if the session has no record of its size).
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery trim --to 100k -n            show which steps are needed, and what each saves\n  ccsurgery trim 3d73 --to 0.1M\n  ccsurgery trim --to 50%                half of what the context window takes now\n  ccsurgery trim --to 80k --keep-tokens 20k\n  ccsurgery trim --to 80k --keep-last 1\n  ccsurgery trim --to 100k --explain > plan.toml && ccsurgery run plan.toml"
)]
pub(crate) struct TrimArgs {
    #[command(flatten)]
    session: SessionArg,
    /// The largest context window, in tokens (100k, 100000, 0.5M) or as a share of the present one (50%)
    #[arg(long, value_name = "TOKENS")]
    to: Budget,
    /// Leave this many of the newest tokens alone [default: up to 30 % of the conversation's room]
    #[arg(long, value_name = "TOKENS", value_parser = kept_tokens)]
    keep_tokens: Option<TokenCount>,
    /// Leave the last N turns alone, instead of the newest tokens
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// Let a digest shorten what you wrote, if the budget cannot be met otherwise
    #[arg(long)]
    shorten_words: bool,
    /// Also shrink the file: remove data that the model never sees
    #[arg(long)]
    disk: bool,
    /// Print the steps as a plan for `ccsurgery run`, and write nothing
    #[arg(long, conflicts_with_all = ["in_place", "output", "diff"])]
    explain: bool,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// Reads a number of tokens that may be 0.
pub(super) fn kept_tokens(text: &str) -> Result<TokenCount, String> {
    match text.trim() {
        "0" => Ok(TokenCount(0)),
        text => text.parse(),
    }
}

/// Returns what stays as it is, in words.
fn kept_words(kept_tokens: u64) -> String {
    match kept_tokens {
        0 => String::new(),
        kept => format!("; the newest {} tokens stay as they are", tokens(kept)),
    }
}

/// Returns what is kept in reserve because sizes are estimates, and what stays as it is.
fn reserve_words(to: TokenCount, found: &Trimmed) -> String {
    let aim = to.0 - found.reserve;
    let kept = kept_words(found.kept_tokens);
    if found.after > aim {
        // The last step that was possible met the budget, but not the aim.
        let left = tokens(to.0.saturating_sub(found.after));
        return format!(
            "sizes are estimates, and the result leaves only {left} of the budget in reserve: allow more to be sure{kept}"
        );
    }
    format!(
        "the aim is {}: sizes are estimates, so {} of the budget are kept in reserve{kept}",
        tokens(aim),
        tokens(found.reserve)
    )
}

pub(crate) fn run(args: TrimArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let mut job = Job::new(context, &args.session, "trim", args.write, args.in_place)?;
    let to = match args.to {
        Budget::Tokens(count) => count,
        share @ Budget::Share(_) => share.of_window(Calibration::of(&job.session).window()),
    };
    let trim = Trim {
        to,
        keep_tokens: args.keep_tokens,
        keep_last: args.keep_last,
        disk: args.disk,
        shorten_words: args.shorten_words,
    };
    let progress = Progress::start(context.progress, "looking for the least harmful steps");
    let found = trim.find(&job.session);
    progress.done();
    let found = found?;
    if args.explain && !found.steps.is_empty() {
        let plan = found.plan_file();
        if context.json {
            let steps: Vec<_> = found.steps.iter().map(step_document).collect();
            let document = json!({"schema": 1, "operation": "trim", "before": {"tokens": found.before}, "after": {"tokens": found.after}, "steps": steps, "plan": plan});
            context.print_json(&document)?;
        } else {
            context.out.write_all(plan.as_bytes())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if found.steps.is_empty() {
        job.idle = Some(format!(
            "the context window takes about {} tokens, which is within {}",
            tokens(found.before),
            tokens(to.0)
        ));
    }
    if !found.steps.is_empty() && found.before > to.0 {
        let note = paint(YELLOW, "note:");
        context.tell(&format!("{note} {}", reserve_words(to, &found)));
    }
    let transforms = found.steps.iter().map(|taken| taken.step.transform());
    job.transforms.extend(transforms);
    job.steps = found.steps;
    commit_flow::run(context, job)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trim_names_the_reserve_that_the_result_really_leaves() {
        let words = |after| {
            let found = Trimmed {
                after,
                reserve: 1_200,
                ..Trimmed::default()
            };
            reserve_words(TokenCount(60_000), &found)
        };
        assert_eq!(
            words(58_000),
            "the aim is 58.8k: sizes are estimates, so 1.2k of the budget are kept in reserve"
        );
        assert_eq!(
            words(59_900),
            "sizes are estimates, and the result leaves only 100 of the budget in reserve: allow more to be sure"
        );
    }
}
