use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::render::{
    BOLD, DIM, GREEN, YELLOW, bar, bytes, clean, fit, pad, paint, signed_bytes, sparkline, tokens,
    width, wrap,
};
use crate::session::{Session, Standing};
use crate::store::Located;
use crate::view::{Growth, Overview, entry_label};
use crate::window::{
    Calibration, Category, EntryWeights, Large, Tools, WindowBreakdown, file_parts, largest,
};

use super::super::advice::{Advice, Advisor};
use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::{names, pager};

/// How many of the largest entries are named.
const LARGEST: usize = 8;

/// X-ray a session: where the window and the bytes go, and what would save some
///
/// The window is what the model is shown at the next request; the file also holds what it is shown no
/// more, and what it never was.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery inspect              the newest session of this project\n  ccsurgery inspect 3d73 --json  the same numbers for a script"
)]
pub(crate) struct InspectArgs {
    #[command(flatten)]
    session: SessionArg,
}

/// Everything that is said of a session.
struct Xray {
    id: String,
    calibration: Calibration,
    window: Vec<(Category, u64)>,
    file: Vec<(Category, u64)>,
    shown_bytes: u64,
    largest: Vec<Large>,
    growth: Vec<Growth>,
    advice: Vec<Advice>,
}

pub(crate) fn run(args: &InspectArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let found = names::find(context, &args.session)?;
    let session = names::open_to_read(&found)?;
    let id: String = found.id.chars().take(8).collect();
    let ledger = EntryWeights::of(&session);
    let advisor = Advisor {
        session: &session,
        id: &id,
        ledger: &ledger,
    };
    // What is told of the window takes long, one thing after the other: what need not wait for it is done beside it.
    let tools = Tools::of(&session);
    let weigh = || WindowBreakdown::of(&session, &tools);
    let calibrate = || Calibration::by(&session, &ledger);
    let tell = || {
        let bulk = advisor.on_bulk();
        let rest = rayon::join(
            || file_parts(&session, &tools),
            || Growth::all(&session, &ledger),
        );
        (bulk, rest)
    };
    let (weights, (calibration, (bulk, (file, growth)))) =
        rayon::join(weigh, || rayon::join(calibrate, tell));
    let window = weights.parts(&calibration);
    let on_largest = || advisor.on_largest(&window);
    let compact = || advisor.on_old_turns(calibration.window());
    let largest = || largest(&session, &calibration, &ledger, &tools, LARGEST);
    let (largest_tool, (compact, largest)) =
        rayon::join(on_largest, || rayon::join(compact, largest));
    // By how much harm is done: all of it goes in a summary.
    let tried = bulk.into_iter().chain(largest_tool).chain(compact);
    let advice = tried.filter_map(|t| t.advice(&calibration)).collect();
    let xray = Xray {
        file,
        shown_bytes: shown_bytes(&session),
        largest,
        growth,
        advice,
        id,
        window,
        calibration,
    };
    if context.json {
        let document = document(context, &found, &session, &xray);
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = render(context, &session, &xray);
    pager::show(context, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Bytes of lines that the model is shown something of.
fn shown_bytes(session: &Session) -> u64 {
    let lines = session.document().lines();
    let shown = |i: &usize| session.graph().is_shown(*i);
    (0..session.entries().len())
        .into_par_iter()
        .filter(shown)
        .map(|i| lines[session.entries()[i].line as usize])
        .map(crate::document::Line::raw_len)
        .sum()
}

fn render(context: &Context, session: &Session, xray: &Xray) -> String {
    let c = &xray.calibration;
    let glance = Overview::of(session);
    let mut out = format!(
        "{}  “{}”\n",
        paint(BOLD, context.words(&xray.id)),
        fit(
            &context.words(glance.name()),
            context.columns.saturating_sub(12)
        )
    );
    let on_path = |i: usize| matches!(session.graph().place(i), Standing::Path(_));
    let boundaries = session.boundaries().filter(|(i, _)| on_path(*i)).count();
    let compacted = if boundaries > 0 {
        format!(", compacted {boundaries}×")
    } else {
        String::new()
    };
    let summary = format!(
        "{} turns, {} entries, {}{compacted}",
        session.turns().len(),
        session.entries().len(),
        bytes(session.document().len())
    );
    let _ = writeln!(out, "{}", paint(DIM, summary));

    let about = if c.recorded.is_some() { "" } else { "about " };
    let _ = writeln!(
        out,
        "\n{}",
        paint(
            BOLD,
            format!("The window: {about}{} tokens", tokens(c.window()))
        )
    );
    chart(context, &mut out, &xray.window, &tokens);
    remark(context, &mut out, &trust(c));

    let whole = session.document().len();
    let _ = writeln!(
        out,
        "\n{}",
        paint(BOLD, format!("The file: {}", bytes(whole)))
    );
    chart(context, &mut out, &xray.file, &bytes);
    let hidden = whole - xray.shown_bytes;
    let branches = session
        .entries()
        .iter()
        .enumerate()
        .any(|(i, _)| matches!(session.graph().place(i), Standing::Branch(_)));
    let why = match (boundaries > 0, branches) {
        (true, true) => "before the last compaction, on other branches, or the client's own",
        (true, false) => "before the last compaction, or the client's own",
        (false, true) => "on other branches, or the client's own",
        (false, false) => "the client's own",
    };
    let remainder = bytes(hidden);
    remark(
        context,
        &mut out,
        &format!("{remainder} of it in lines that the model is not shown: {why}"),
    );

    growth(context, &mut out, &xray.growth);
    entries(context, session, &mut out, &xray.largest);
    operations(context, &mut out, &xray.advice, c.window());
    out
}

/// A sentence below a chart.
fn remark(context: &Context, out: &mut String, text: &str) {
    for line in wrap(text, context.columns.saturating_sub(2)) {
        let _ = writeln!(out, "  {}", paint(DIM, line));
    }
}

/// Bars, a line each.
fn chart(
    context: &Context,
    out: &mut String,
    parts: &[(Category, u64)],
    say: &dyn Fn(u64) -> String,
) {
    let whole: u64 = parts.iter().map(|p| p.1).sum();
    let names: Vec<String> = parts
        .iter()
        .map(|p| fit(&context.words(&p.0.name()), 28))
        .collect();
    let name_width = names.iter().map(|n| width(n)).max().unwrap_or(0) as i32;
    let room = context
        .columns
        .saturating_sub(name_width as usize + 24)
        .clamp(8, 60);
    let top = parts.iter().map(|p| p.1).max().unwrap_or(0);
    for (name, (_, size)) in names.iter().zip(parts) {
        let share = *size as f64 / whole.max(1) as f64 * 100.0;
        let share = if share < 0.95 {
            "<1%".to_owned()
        } else {
            format!("{share:.0}%")
        };
        let _ = writeln!(
            out,
            "  {}  {}  {}  {}",
            pad(name, name_width),
            pad(&say(*size), -9),
            pad(&share, -4),
            paint(GREEN, bar(*size, top, room))
        );
    }
}

/// How good the numbers are.
fn trust(c: &Calibration) -> String {
    let ratio = format!("{:.1} bytes a token", c.bytes_per_token);
    match (c.recorded, c.error()) {
        (Some(recorded), Some(error)) if c.measured => {
            let n = c.records;
            format!(
                "measured on {n} requests: {ratio}; at the last one the record says {}, the estimate is {:.1}% off",
                tokens(recorded),
                error.abs() * 100.0
            )
        }
        (Some(recorded), None) if c.measured => format!(
            "the last record says {}; {ratio}, measured on {} requests before it",
            tokens(recorded),
            c.records - 1
        ),
        (Some(recorded), _) => format!(
            "the last request took {}; the parts assume {ratio}, as its {} records do not tell",
            tokens(recorded),
            c.records
        ),
        (None, _) => format!("no record of the window as it is now; estimated at {ratio}"),
    }
}

/// The window at each turn's last request.
fn growth(context: &Context, out: &mut String, turns: &[Growth]) {
    let mut last = 0;
    let values: Vec<u64> = turns
        .iter()
        .map(|t| {
            last = t.window.unwrap_or(last);
            last
        })
        .collect();
    let Some(highest) = values
        .iter()
        .copied()
        .max()
        .filter(|&h| h > 0 && values.len() > 1)
    else {
        return;
    };
    let columns = context.columns.saturating_sub(4).min(values.len());
    let _ = writeln!(
        out,
        "\n{}",
        paint(
            BOLD,
            format!(
                "Its growth, turn by turn: at most {} tokens",
                tokens(highest)
            )
        )
    );
    let _ = writeln!(out, "  {}", paint(GREEN, sparkline(&values, columns)));
    let mut marks = vec![' '; columns];
    for (i, _) in turns.iter().enumerate().filter(|(_, t)| t.compacted) {
        marks[i * columns / values.len()] = '▲';
    }
    if marks.contains(&'▲') {
        let line: String = marks.into_iter().collect();
        let _ = writeln!(
            out,
            "  {}  {}",
            paint(YELLOW, line.trim_end()),
            paint(DIM, "▲ compacted")
        );
    }
}

fn entries(context: &Context, session: &Session, out: &mut String, largest: &[Large]) {
    let _ = writeln!(out, "\n{}", paint(BOLD, "The largest entries"));
    let part_width = if context.columns < 80 { 12 } else { 22 };
    for large in largest {
        let turn = match large.turn {
            Some(0) => "start".to_owned(),
            Some(n) => format!("turn {n}"),
            None => "–".to_owned(),
        };
        let weight = if large.tokens > 0 {
            format!("~{}", tokens(large.tokens))
        } else {
            "not shown".to_owned()
        };
        let part = fit(&context.words(&large.part.name()), part_width);
        let head = format!(
            "  {}  {}  {}  {}",
            pad(&turn, 8),
            pad(&bytes(large.bytes), -9),
            pad(&weight, -9),
            pad(&part, part_width as i32)
        );
        let room = context.columns.saturating_sub(width(&head) + 2);
        let gist = fit(
            &context.words(&entry_label(
                session,
                &session.entries()[large.entry as usize],
            )),
            room,
        );
        let _ = writeln!(out, "{head}  {}", paint(DIM, gist));
    }
}

fn operations(context: &Context, out: &mut String, advice: &[Advice], window: u64) {
    if advice.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", paint(BOLD, "What would save some"));
    for a in advice {
        let share = (a.tokens as f64 / window.max(1) as f64 * 100.0).min(100.0);
        let saved = format!(
            "window −{} ({share:.0}%), file {}: {}",
            tokens(a.tokens),
            signed_bytes(-a.bytes),
            a.what
        );
        let _ = writeln!(
            out,
            "  ccsurgery {}\n  {}",
            clean(&a.command),
            paint(
                DIM,
                format!("  {}", fit(&saved, context.columns.saturating_sub(4)))
            )
        );
    }
}

fn document(context: &Context, found: &Located, session: &Session, xray: &Xray) -> Value {
    let c = &xray.calibration;
    let parts = |parts: &[(Category, u64)], unit: &str| -> Vec<Value> {
        parts
            .iter()
            .map(|(part, n)| {
                let mut value = json!(part);
                value[unit] = json!(n);
                value
            })
            .collect()
    };
    let largest: Vec<Value> = xray
        .largest
        .iter()
        .map(|l| {
            let e = &session.entries()[l.entry as usize];
            json!({"line": e.line + 1, "uuid": session.uuid(e), "turn": l.turn, "part": l.part, "bytes": l.bytes, "tokens": l.tokens, "gist": context.masked(&entry_label(session, e))})
        })
        .collect();
    let growth: Vec<Value> = xray
        .growth
        .iter()
        .map(|t| json!({"turn": t.turn, "window": t.window, "compacted": t.compacted}))
        .collect();
    let operations: Vec<Value> = xray.advice.iter().map(|a| json!({"command": format!("ccsurgery {}", a.command), "tokens": a.tokens, "bytes": a.bytes})).collect();
    json!({
        "session_id": found.id, "path": found.path,
        "turns": session.turns().len(), "entries": session.entries().len(),
        "window": {
            "tokens": c.window(), "recorded": c.recorded, "estimated": c.estimated, "error": c.error(),
            "bytes_per_token": c.bytes_per_token, "measured": c.measured, "records": c.records, "parts": parts(&xray.window, "tokens"),
        },
        "file": {"bytes": session.document().len(), "not_shown": session.document().len() - xray.shown_bytes, "parts": parts(&xray.file, "bytes")},
        "largest": largest, "growth": growth, "operations": operations,
    })
}
