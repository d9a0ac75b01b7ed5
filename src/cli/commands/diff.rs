use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};

use crate::render::{BOLD, DIM, GREEN, RED, YELLOW, bytes, count, fit, pad, paint, width};
use crate::session::Session;
use crate::store::Located;
use crate::view::{Changed, Comparison, entry_summary, entry_text};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::word_diff::{changed_words, segments};
use super::super::{names, pager};

/// Compare two sessions, however their ids differ
///
/// Entries that only one of them has, and words that changed, by turn. A session and its clone have no
/// differences but ids.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery diff @2 @          the last two sessions of this project\n  ccsurgery diff 3d73 5f02 --json"
)]
pub(crate) struct DiffArgs {
    /// A session
    #[arg(value_name = "A")]
    a: String,
    /// Another session
    #[arg(value_name = "B")]
    b: String,
}

/// One of the two.
struct Side {
    found: Located,
    session: Session,
}

pub(crate) fn run(args: &DiffArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let (a, b) = (side(context, &args.a)?, side(context, &args.b)?);
    let comparison = Comparison::of(&a.session, &b.session);
    if context.json {
        let document = document(context, &a, &b, &comparison);
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = render(context, &a, &b, &comparison);
    pager::show(context, &text)?;
    Ok(ExitCode::SUCCESS)
}

fn side(context: &mut Context, name: &str) -> Result<Side, CliError> {
    let found = names::find(
        context,
        &SessionArg {
            session: Some(name.to_owned()),
        },
    )?;
    let session = names::open(&found)?;
    Ok(Side { found, session })
}

fn render(context: &Context, a: &Side, b: &Side, c: &Comparison) -> String {
    let mut out = String::new();
    if let Some((old, new)) = &c.titles {
        let say = |t: &Option<String>| {
            t.as_ref()
                .map_or("none".to_owned(), |t| format!("“{}”", context.words(t)))
        };
        let _ = writeln!(
            out,
            "{}",
            paint(DIM, format!("title: {} → {}", say(old), say(new)))
        );
    }
    if c.is_empty() {
        let same_file = a.found.path == b.found.path;
        let _ = writeln!(
            out,
            "{}",
            if same_file {
                "No differences: they are the same file."
            } else {
                "No differences but ids."
            }
        );
        return out;
    }
    let summary = [
        (c.only_a.len(), "only in A"),
        (c.only_b.len(), "only in B"),
        (c.changed.len(), "changed"),
        (c.unreadable.0, "unreadable only in A"),
        (c.unreadable.1, "unreadable only in B"),
    ];
    let summary: Vec<String> = summary
        .iter()
        .filter(|s| s.0 > 0)
        .map(|(n, what)| format!("{} {what}", count(*n as u64)))
        .collect();
    let _ = writeln!(
        out,
        "{} {}; {} the same",
        paint(BOLD, "Entries:"),
        summary.join(", "),
        count(c.same as u64)
    );
    for (turn, rows) in by_turn(a, b, c) {
        let title = match turn {
            None => "off the live path, and metadata".to_owned(),
            Some(0) => "before the first prompt".to_owned(),
            Some(n) => format!("turn {n}"),
        };
        let _ = writeln!(out, "\n{}", paint(BOLD, title));
        for text in told(context, a, b, &rows) {
            out.push_str(&text);
        }
    }
    out
}

/// Something that differs.
#[derive(Clone, Copy)]
enum Row<'c> {
    OnlyA(u32),
    OnlyB(u32),
    Changed(&'c Changed),
}

/// What differs under the turn that it is in; a turn of the first session where there is one.
fn by_turn<'c>(a: &Side, b: &Side, c: &'c Comparison) -> Vec<(Option<u32>, Vec<Row<'c>>)> {
    let turn = |side: &Side, i: u32| side.session.turns().of(side.session.graph(), i as usize);
    let mut rows: BTreeMap<u32, Vec<(u32, Row<'c>)>> = BTreeMap::new();
    // What is in no turn comes last.
    let mut add = |turn: Option<u32>, line: u32, row: Row<'c>| {
        rows.entry(turn.unwrap_or(u32::MAX))
            .or_default()
            .push((line, row));
    };
    for &i in &c.only_a {
        add(turn(a, i), i, Row::OnlyA(i));
    }
    for changed in &c.changed {
        add(turn(a, changed.a), changed.a, Row::Changed(changed));
    }
    for &i in &c.only_b {
        add(turn(b, i), i, Row::OnlyB(i));
    }
    let sorted = rows.into_iter().map(|(turn, mut rows)| {
        rows.sort_by_key(|r| r.0);
        (
            (turn != u32::MAX).then_some(turn),
            rows.into_iter().map(|r| r.1).collect(),
        )
    });
    sorted.collect()
}

/// The rows of one turn; those that say the same of many entries become one.
fn told(context: &Context, a: &Side, b: &Side, rows: &[Row<'_>]) -> Vec<String> {
    let mut out = Vec::new();
    let mut counted: BTreeMap<(u8, String), (u64, i64)> = BTreeMap::new();
    let mut tally = |order: u8, what: String, bytes: i64| {
        let slot = counted.entry((order, what)).or_default();
        slot.0 += 1;
        slot.1 += bytes;
    };
    for row in rows {
        match *row {
            Row::OnlyA(i) | Row::OnlyB(i) => {
                let in_a = matches!(row, Row::OnlyA(_));
                let session = if in_a { &a.session } else { &b.session };
                let e = &session.entries()[i as usize];
                let (what, gist) = entry_summary(session, e);
                let size = session.text(e).len() as u64;
                if !e.is_message() {
                    tally(u8::from(!in_a), what, size as i64);
                    continue;
                }
                let (style, sign) = if in_a { (RED, "−") } else { (GREEN, "+") };
                let head = format!(
                    "{} {}  {}",
                    paint(style, sign),
                    pad(&context.words(&what), 18),
                    pad(&bytes(size), -9)
                );
                let room = context.columns.saturating_sub(36);
                let gist = fit(&context.words(&gist), room);
                let gist = if gist.is_empty() {
                    gist
                } else {
                    format!("  {}", paint(DIM, gist))
                };
                out.push(format!("  {head}{gist}\n"));
            }
            Row::Changed(changed) => {
                let (ea, eb) = (
                    &a.session.entries()[changed.a as usize],
                    &b.session.entries()[changed.b as usize],
                );
                let (old, new) = (entry_text(&a.session, ea), entry_text(&b.session, eb));
                let (what, _) = entry_summary(&a.session, ea);
                if old == new {
                    tally(2, format!("{what}: {}", changed.fields.join(", ")), 0);
                    continue;
                }
                let mut text = format!("  {} {}\n", paint(YELLOW, "~"), context.words(&what));
                for line in changed_words(context, &old, &new) {
                    let _ = writeln!(text, "      {line}");
                }
                out.push(text);
            }
        }
    }
    for ((order, what), (n, size)) in counted {
        let sign = [paint(RED, "−"), paint(GREEN, "+"), paint(YELLOW, "~")][order as usize].clone();
        let n = if n == 1 {
            String::new()
        } else {
            format!("{} × ", count(n))
        };
        let what = format!("{n}{}", context.words(&what));
        let size = if size == 0 {
            String::new()
        } else {
            format!("  {}", pad(&bytes(size as u64), -9))
        };
        let columns = if size.is_empty() {
            0
        } else {
            width(&what).max(18)
        };
        out.push(format!("  {sign} {}{size}\n", pad(&what, columns as i32)));
    }
    out
}

fn document(context: &Context, a: &Side, b: &Side, c: &Comparison) -> Value {
    let only = |side: &Side, list: &[u32]| -> Vec<Value> {
        list.iter().map(|&i| entry(context, side, i)).collect()
    };
    let changed: Vec<Value> = c
        .changed
        .iter()
        .map(|changed| {
            let (old, new) = (entry_text(&a.session, &a.session.entries()[changed.a as usize]), entry_text(&b.session, &b.session.entries()[changed.b as usize]));
            let words: Vec<Value> = segments(&old, &new).into_iter().map(|s| json!({"op": s.op.name(), "text": context.masked(&s.text)})).collect();
            json!({"a": entry(context, a, changed.a), "b": entry(context, b, changed.b), "fields": changed.fields, "words": if old == new { vec![] } else { words }})
        })
        .collect();
    let side = |s: &Side| json!({"session_id": s.found.id, "path": s.found.path});
    json!({
        "a": side(a), "b": side(b), "same": c.is_empty(), "entries_same": c.same,
        "titles": c.titles.as_ref().map(|(old, new)| json!([old, new])),
        "unreadable": [c.unreadable.0, c.unreadable.1], "only_a": only(a, &c.only_a), "only_b": only(b, &c.only_b), "changed": changed,
    })
}

fn entry(context: &Context, side: &Side, i: u32) -> Value {
    let session = &side.session;
    let e = &session.entries()[i as usize];
    let (what, gist) = entry_summary(session, e);
    json!({
        "line": e.line + 1, "uuid": session.uuid(e), "turn": session.turns().of(session.graph(), i as usize),
        "what": what, "gist": context.masked(&gist), "bytes": session.text(e).len(),
    })
}
