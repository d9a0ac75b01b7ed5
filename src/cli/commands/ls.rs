use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::render::{
    BOLD, DIM, GREEN, YELLOW, age, bytes, clean, fit, pad, paint, short_path, tokens, width,
};
use crate::store::{Depth, Listed, Live, Locator, list, running, slug};
use crate::view::State;

use super::super::context::Context;
use super::super::error::CliError;
use super::super::{names, prompt_history};

/// Without a sign of a running client, a session that was written so lately counts as open.
const LATELY: Duration = Duration::from_secs(120);

/// List the sessions of this project, newest first
///
/// `●` marks a session that a running client has open. Of very many sessions only the newest are read in
/// whole: the others' turns show as `?`, and a window without a record as `~`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery ls                        this project's sessions\n  ccsurgery ls --all --sort tokens    the fullest windows of all projects\n  ccsurgery ls --grep 'flaky test'    where was that?"
)]
pub(crate) struct LsArgs {
    /// Sessions of all projects, a group each
    #[arg(long)]
    all: bool,
    /// What comes first
    #[arg(
        long,
        value_name = "BY",
        default_value = "age",
        hide_default_value = true
    )]
    sort: Sort,
    /// Only sessions with this text in a title or a prompt, whatever its case
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// The largest file
    Size,
    /// The fullest window
    Tokens,
    /// The newest
    Age,
    /// The most turns
    Turns,
}

/// A session with what the running clients say of it.
struct Row {
    listed: Listed,
    live: Option<Live>,
    state: State,
    short: String,
}

pub(crate) fn run(args: &LsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    names::require_data(context)?;
    let locator = Locator::new(&context.config, &context.project);
    let found = if args.all {
        locator.all()
    } else {
        locator.here()
    };
    let found = found.map_err(|e| names::explain(context, e))?;
    let depth = if args.grep.is_some() {
        Depth::Prompts
    } else {
        Depth::Quick
    };
    let mut listed = list(found, depth);
    if let Some(text) = &args.grep {
        let typed = prompt_history::prompts(&context.config, text);
        listed.retain(|l| matches(l, text) || prompt_history::belongs(&typed, l));
    }
    let mut rows = rows(context, listed);
    // Stable, and given newest first: of equals the newer one leads.
    match args.sort {
        Sort::Age => {}
        Sort::Size => rows.sort_by_key(|r| std::cmp::Reverse(r.listed.found.len)),
        Sort::Tokens => rows.sort_by_key(|r| std::cmp::Reverse(r.listed.tokens)),
        Sort::Turns => rows.sort_by_key(|r| std::cmp::Reverse(r.listed.turns)),
    }
    if context.json {
        let sessions: Vec<Value> = rows.iter().map(|r| document(context, r)).collect();
        context.print_json(&json!({"sessions": sessions}))?;
        return Ok(ExitCode::SUCCESS);
    }
    if rows.is_empty() {
        let hint = match (&args.grep, args.all) {
            (Some(_), false) => "No session of this project matches; --all looks in all projects.",
            (Some(_), true) => "No session matches.",
            (None, false) => "This project has no sessions; --all lists those of all projects.",
            (None, true) => "There are no sessions.",
        };
        context.tell(hint);
        return Ok(ExitCode::SUCCESS);
    }
    let text = if args.all {
        grouped(context, &rows)
    } else {
        table(context, &rows.iter().collect::<Vec<_>>())
    };
    context.out.write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn rows(context: &Context, listed: Vec<Listed>) -> Vec<Row> {
    let mut clients = running(&context.config);
    let shorts = short_ids(&listed);
    let rows = listed.into_iter().zip(shorts).map(|(listed, short)| {
        let live = clients.remove(&listed.found.id);
        // A file may well have been written since this run began.
        let age = context.now.duration_since(listed.found.modified);
        let lately = age.is_ok_and(|d| d < LATELY) || listed.found.modified > context.now;
        // Clients that tell of themselves are believed; older ones only leave the file's time.
        let state = listed
            .outlook
            .state(live.is_some() || lately, live.as_ref().and_then(|l| l.busy));
        Row {
            listed,
            live,
            state,
            short,
        }
    });
    rows.collect()
}

/// The shortest beginning of each id, of eight characters or more, that no other id here has.
fn short_ids(listed: &[Listed]) -> Vec<String> {
    let mut sorted: Vec<&str> = listed.iter().map(|l| l.found.id.as_str()).collect();
    sorted.sort_unstable();
    let common = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    let mut lengths: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, id) in sorted.iter().enumerate() {
        let before = if i > 0 { common(sorted[i - 1], id) } else { 0 };
        let after = sorted.get(i + 1).map_or(0, |next| common(next, id));
        lengths.insert(id, before.max(after) + 1);
    }
    listed
        .iter()
        .map(|l| {
            l.found
                .id
                .chars()
                .take(lengths[l.found.id.as_str()].max(8))
                .collect()
        })
        .collect()
}

fn matches(listed: &Listed, text: &str) -> bool {
    let wanted = text.to_lowercase();
    let texts = listed
        .glance
        .title
        .iter()
        .chain(&listed.glance.first_prompt)
        .chain(&listed.prompts);
    texts
        .into_iter()
        .any(|t| t.to_lowercase().contains(&wanted))
}

fn document(context: &Context, row: &Row) -> Value {
    let listed = &row.listed;
    let masked = |text: &Option<String>| text.as_ref().map(|t| context.masked(t).into_owned());
    let pending = listed.outlook.pending.as_ref();
    let modified = jiff::Timestamp::try_from(listed.found.modified)
        .ok()
        .map(|t| t.to_string());
    json!({
        "session_id": listed.found.id, "short_id": row.short, "path": listed.found.path,
        "project": listed.glance.cwd, "title": masked(&listed.glance.title), "first_prompt": masked(&listed.glance.first_prompt),
        "turns": listed.turns, "compactions": listed.compactions,
        "tokens": listed.tokens, "tokens_recorded": listed.recorded,
        "bytes": listed.found.len, "modified": modified, "branch": listed.glance.branch, "version": listed.glance.version,
        "model": listed.outlook.model, "state": row.state, "live": row.live.is_some(), "pid": row.live.as_ref().map(|l| l.pid),
        "pending_call": pending.map(|p| json!({"tool": p.tool, "gist": context.masked(&p.gist)})),
    })
}

/// Sessions under the project's path.
fn grouped(context: &Context, rows: &[Row]) -> String {
    let mut order: Vec<PathBuf> = Vec::new();
    let mut groups: BTreeMap<PathBuf, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let folder = row.listed.found.folder().to_owned();
        if !groups.contains_key(&folder) {
            order.push(folder.clone());
        }
        groups.entry(folder).or_default().push(row);
    }
    let mut out = String::new();
    for folder in order {
        let Some(group) = groups.get(&folder) else {
            continue;
        };
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let held = group.iter().filter_map(|r| r.listed.glance.cwd.as_deref());
        let project = held.clone().find(|c| slug(c) == name).unwrap_or(&name);
        let shown = short_path(
            std::path::Path::new(project),
            context.home.as_deref(),
            context.columns,
        );
        let _ = writeln!(
            out,
            "{}{}",
            if out.is_empty() { "" } else { "\n" },
            paint(BOLD, shown)
        );
        out.push_str(&table(context, group));
    }
    out
}

fn table(context: &Context, rows: &[&Row]) -> String {
    let columns = context.columns;
    let id_width = rows
        .iter()
        .map(|r| width(&clean(&r.short)))
        .max()
        .unwrap_or(8) as i32;
    let compacted = columns >= 80
        && rows
            .iter()
            .any(|r| r.listed.compactions.is_some_and(|n| n > 0));
    let branch_width = if columns >= 100 {
        rows.iter()
            .filter_map(|r| r.listed.glance.branch.as_deref())
            .map(width)
            .max()
            .unwrap_or(0)
            .clamp(6, 18)
    } else {
        0
    };
    let model_width = if columns >= 140 {
        rows.iter()
            .filter_map(|r| r.listed.outlook.model.as_deref())
            .map(width)
            .max()
            .unwrap_or(0)
            .clamp(5, 24)
    } else {
        0
    };
    let line = |mark: &str, cells: [&str; 9]| {
        let [
            id,
            age,
            turns,
            window,
            size,
            compactions,
            state,
            branch,
            model,
        ] = cells;
        let mut out = format!(
            "{} {}  {}  {}  {}",
            pad(mark, 1),
            pad(id, id_width),
            pad(age, -8),
            pad(turns, -5),
            pad(window, -7)
        );
        if columns >= 70 {
            let _ = write!(out, "  {}", pad(size, -8));
        }
        if compacted {
            let _ = write!(out, "  {}", pad(compactions, -7));
        }
        if columns >= 80 {
            let _ = write!(out, "  {}", pad(state, 8));
        }
        if branch_width > 0 {
            let _ = write!(
                out,
                "  {}",
                pad(&fit(branch, branch_width), branch_width as i32)
            );
        }
        if model_width > 0 {
            let _ = write!(
                out,
                "  {}",
                pad(&fit(model, model_width), model_width as i32)
            );
        }
        out
    };
    let header = line(
        " ",
        [
            "id", "age", "turns", "window", "size", "compact", "state", "branch", "model",
        ],
    );
    let room = columns.saturating_sub(width(&header) + 2).max(10);
    let mut out = format!(
        "{}\n",
        paint(
            DIM,
            format!("{header}  title or first prompt")
                .chars()
                .take(columns)
                .collect::<String>()
        )
    );
    for row in rows {
        let l = &row.listed;
        let unknown = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
        let window = format!("{}{}", if l.recorded { "" } else { "~" }, tokens(l.tokens));
        let compactions = if l.compactions == Some(0) {
            String::new()
        } else {
            unknown(l.compactions)
        };
        let (age, branch) = (
            age(l.found.modified, context.now),
            context.words(l.glance.branch.as_deref().unwrap_or_default()),
        );
        let model = context.words(l.outlook.model.as_deref().unwrap_or_default());
        let short = clean(&row.short);
        let cells = [
            short.as_str(),
            &age,
            &unknown(l.turns),
            &window,
            &bytes(l.found.len),
            &compactions,
            row.state.name(),
            &branch,
            &model,
        ];
        let mark = if row.live.is_some() { "●" } else { " " };
        let text = line(mark, cells);
        let text = text.replacen('●', &paint(GREEN, "●"), 1);
        let text = if row.state == State::Approval {
            text.replacen("approval", &paint(YELLOW, "approval"), 1)
        } else {
            text
        };
        let _ = writeln!(
            out,
            "{text}  {}",
            fit(&context.words(l.glance.name()), room)
        );
        if let Some(call) = l.outlook.pending.as_ref().filter(|_| columns >= 70) {
            let gist = fit(
                &context.words(&format!("{}  {}", call.tool, call.gist)),
                columns.saturating_sub(id_width as usize + 22),
            );
            let _ = writeln!(
                out,
                "{}",
                paint(
                    DIM,
                    format!("  {}  unanswered call: {gist}", pad("", id_width))
                )
            );
        }
    }
    out
}
