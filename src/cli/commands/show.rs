use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::render::{BOLD, DIM, RED, YELLOW, age, bytes, fit, pad, paint, tokens, width};
use crate::session::{Session, TurnRange};
use crate::store::Located;
use crate::view::{Overview, TurnItem, TurnStats, turn_items};
use crate::window::{Calibration, EntryWeights};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::{names, pager, reading};
use crate::cli::branches;

/// Show a session's turns, or what is in some of them
///
/// Without turns, a table: number, age, first words, calls by tool, size and tokens. Turns before the
/// last compaction are dim: the model is shown them no more.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery show                         the turns of the newest session\n  ccsurgery show --turns -1              the last turn, to read\n  ccsurgery show @2 --turns 3..5 --full  with whole results\n  ccsurgery show --only prompts          what was asked, as plain text"
)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    session: SessionArg,
    /// The content of these turns: 7, 3..7, -1, -3..
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// What is not on the live path
    #[arg(long, conflicts_with_all = ["turns", "only"])]
    branches: bool,
    /// Whole results, inputs and thinking
    #[arg(long)]
    full: bool,
    /// Just the prompts, answers or calls, as plain text
    #[arg(long, value_name = "WHAT")]
    only: Option<Only>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// What was asked
    Prompts,
    /// What the model said
    Answers,
    /// What it did
    Calls,
}

pub(crate) fn run(args: &ShowArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let found = names::find(context, &args.session)?;
    let session = names::open_to_read(&found)?;
    if args.branches {
        return branches::run(context, &found, &session);
    }
    if args.turns.is_none() && args.only.is_none() {
        return table(context, &found, &session);
    }
    names::say_which(context, &args.session, &found, &session);
    let (from, to) = match &args.turns {
        Some(range) => range.resolve(&session)?,
        None => (0, session.turns().len() as u32),
    };
    let mut told: Vec<(u32, Vec<TurnItem>)> =
        (from..=to).map(|n| (n, turn_items(&session, n))).collect();
    if let Some(only) = args.only {
        for (_, items) in &mut told {
            items.retain(|item| wanted(item, only));
        }
    }
    told.retain(|(n, items)| *n > 0 || !items.is_empty());
    if context.json {
        let turns: Vec<Value> = told.iter().map(|(n, items)| json!({"turn": n, "items": items.iter().map(|i| reading::document(context, i)).collect::<Vec<_>>()})).collect();
        context.print_json(&json!({"session_id": found.id, "turns": turns}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match args.only {
        Some(_) => reading::plain(context, told.iter().flat_map(|(_, items)| items)),
        None => told
            .iter()
            .map(|(n, items)| reading::turn(context, *n, items, args.full))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    pager::show(context, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn wanted(item: &TurnItem, only: Only) -> bool {
    match only {
        Only::Prompts => matches!(item, TurnItem::Prompt { .. }),
        Only::Answers => matches!(item, TurnItem::Answer { .. }),
        Only::Calls => matches!(item, TurnItem::Call { .. }),
    }
}

fn table(context: &mut Context, found: &Located, session: &Session) -> Result<ExitCode, CliError> {
    let ledger = EntryWeights::of(session);
    let facts = TurnStats::all(session, &ledger);
    let calibration = Calibration::by(session, &ledger);
    let weight = |f: &TurnStats| calibration.tokens(f.weight).max(0.0) as u64;
    if context.json {
        let turns: Vec<Value> = facts
            .iter()
            .map(|f| document(context, f, weight(f)))
            .collect();
        let document = json!({"session_id": found.id, "path": found.path, "window": calibration.window(), "turns": turns});
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    let glance = Overview::of(session);
    let id: String = found.id.chars().take(8).collect();
    let about = if calibration.recorded.is_some() {
        ""
    } else {
        "about "
    };
    let mut out = format!(
        "{}  “{}”\n",
        paint(BOLD, context.words(&id)),
        fit(
            &context.words(glance.name()),
            context.columns.saturating_sub(12)
        )
    );
    let summary = format!(
        "{} turns, {}, {about}{} tokens in the window",
        session.turns().len(),
        bytes(found.len),
        tokens(calibration.window())
    );
    let _ = writeln!(out, "{}\n", paint(DIM, summary));
    let roomy = context.columns >= 80;
    let calls: Vec<String> = facts
        .iter()
        .map(|f| context.words(&call_words(f)))
        .collect();
    let calls_width = if roomy {
        calls
            .iter()
            .map(|c| width(c))
            .max()
            .unwrap_or(0)
            .clamp(5, context.columns / 4)
    } else {
        0
    };
    let marks: Vec<String> = facts.iter().map(marks).collect();
    let marks_width = marks.iter().map(|m| width(m)).max().unwrap_or(0);
    let fixed = 4
        + 2
        + 8
        + 2
        + 9
        + 2
        + 7
        + 2
        + if roomy { calls_width + 2 } else { 0 }
        + if marks_width > 0 { marks_width + 2 } else { 0 };
    let room = context.columns.saturating_sub(fixed).max(12);
    let line =
        |n: &str, age: &str, size: &str, tokens: &str, calls: &str, mark: &str, words: &str| {
            let mut out = format!(
                "{}  {}  {}  {}",
                pad(n, -4),
                pad(age, -8),
                pad(size, -9),
                pad(tokens, -7)
            );
            if roomy {
                let _ = write!(
                    out,
                    "  {}",
                    pad(&fit(calls, calls_width), calls_width as i32)
                );
            }
            if marks_width > 0 {
                let _ = write!(out, "  {}", pad(mark, marks_width as i32));
            }
            format!("{out}  {words}")
        };
    let _ = writeln!(
        out,
        "{}",
        paint(
            DIM,
            line("turn", "age", "size", "tokens", "calls", "", "prompt")
        )
    );
    for ((f, calls), mark) in facts.iter().zip(&calls).zip(&marks) {
        let number = if f.number == 0 {
            String::new()
        } else {
            f.number.to_string()
        };
        let age = f.time.map(|t| age_of(context, t)).unwrap_or_default();
        let words = if f.number == 0 {
            "(before the first prompt)".to_owned()
        } else {
            context.words(&f.words)
        };
        let text = line(
            &number,
            &age,
            &bytes(f.bytes),
            &format!("~{}", tokens(weight(f))),
            calls,
            mark,
            &fit(&words, room),
        );
        let text = if f.shown {
            paint_marks(&text, mark)
        } else {
            paint(DIM, text)
        };
        let _ = writeln!(out, "{}", text.trim_end());
    }
    pager::show(context, &out)?;
    Ok(ExitCode::SUCCESS)
}

fn call_words(f: &TurnStats) -> String {
    f.calls
        .iter()
        .map(|(tool, n)| {
            if *n == 1 {
                tool.clone()
            } else {
                format!("{tool}×{n}")
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// What is unusual about a turn.
fn marks(f: &TurnStats) -> String {
    let mut out = Vec::new();
    for (is, word) in [
        (f.compacted, "compacted"),
        (f.interrupted, "interrupted"),
        (f.unfinished, "unfinished"),
    ] {
        if is {
            out.push(word.to_owned());
        }
    }
    if f.errors > 0 {
        out.push(format!("{} failed", f.errors));
    }
    out.join(" ")
}

fn paint_marks(text: &str, mark: &str) -> String {
    if mark.is_empty() {
        return text.to_owned();
    }
    let style = if mark.contains("failed") { RED } else { YELLOW };
    text.replacen(mark, &paint(style, mark), 1)
}

fn document(context: &Context, f: &TurnStats, tokens: u64) -> Value {
    let calls: serde_json::Map<String, Value> = f
        .calls
        .iter()
        .map(|(t, n)| (t.clone(), (*n).into()))
        .collect();
    json!({
        "turn": f.number, "time": f.time.and_then(|t| jiff::Timestamp::from_millisecond(t).ok()).map(|t| t.to_string()),
        "prompt": context.masked(&f.words), "calls": calls, "entries": f.entries, "bytes": f.bytes, "tokens": tokens,
        "window": f.window, "shown": f.shown, "compacted": f.compacted, "interrupted": f.interrupted, "errors": f.errors, "unfinished": f.unfinished,
    })
}

/// How long ago a time of the epoch, in milliseconds, is.
fn age_of(context: &Context, time: i64) -> String {
    let then = SystemTime::UNIX_EPOCH + Duration::from_millis(time.max(0) as u64);
    age(then, context.now)
}
