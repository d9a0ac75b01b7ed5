use std::io::Write as _;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use clap::{Args, Subcommand};
use serde_json::json;

use crate::render::{DIM, age, bytes, clean, fit, pad, paint};
use crate::store::{Operation, State};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;

/// List what was done, newest first
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct HistoryArgs {
    /// Only what was done to this session, or made it
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    #[command(subcommand)]
    command: Option<HistoryCommand>,
}

#[derive(Debug, Subcommand)]
enum HistoryCommand {
    /// Forget old operations, and free the space of their old bytes
    Gc {
        /// How old: 30d, 12h, 0d
        #[arg(long, value_name = "AGE", default_value = "30d")]
        older_than: Age,
        /// Show what would go, and change nothing
        #[arg(short = 'n', long)]
        dry_run: bool,
    },
}

/// A span of time: `30d`, `12h`, `45m`.
#[derive(Debug, Clone, Copy)]
struct Age(Duration);

impl std::str::FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not an age; write 30d, 12h or 45m");
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match &text[digits.len()..] {
            "d" => 86_400,
            "h" => 3_600,
            "m" => 60,
            "w" => 604_800,
            _ => return Err(bad()),
        };
        let number: u64 = digits.parse().map_err(|_| bad())?;
        Ok(Self(Duration::from_secs(number.saturating_mul(factor))))
    }
}

pub(crate) fn run(args: HistoryArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if let Some(HistoryCommand::Gc {
        older_than,
        dry_run,
    }) = args.command
    {
        return gc(context, older_than, dry_run);
    }
    let mut operations = context.journal.operations()?;
    operations.retain(|o| !o.state.is_under_way());
    operations.reverse();
    if let Some(name) = args.session {
        // A session that was undone is no longer there to be found; its id still names it.
        let id = match names::find(
            context,
            &SessionArg {
                session: Some(name.clone()),
            },
        ) {
            Ok(found) => found.id,
            Err(error) => {
                let known = operations
                    .iter()
                    .flat_map(|o| [&o.source_id, &o.target_id])
                    .find(|id| id.starts_with(&name));
                known.cloned().ok_or(error)?
            }
        };
        operations.retain(|o| o.source_id == id || o.target_id == id);
    }
    if context.json {
        let rows: Vec<_> = operations.iter().map(|o| json!({
            "id": o.id, "time": o.time, "operation": o.operation, "state": o.state, "command": o.command,
            "source": {"session_id": o.source_id, "path": o.source}, "target": {"session_id": o.target_id, "path": o.target},
            "in_place": !o.replaced.is_empty(),
        })).collect();
        context.print_json(&json!({"operations": rows}))?;
        return Ok(ExitCode::SUCCESS);
    }
    if operations.is_empty() {
        writeln!(context.out, "Nothing was done yet.")?;
        return Ok(ExitCode::SUCCESS);
    }
    for o in &operations {
        let line = row(context, o);
        let line = if o.state == State::Undone {
            paint(DIM, line)
        } else {
            line
        };
        writeln!(context.out, "{line}")?;
    }
    writeln!(
        context.out,
        "\nTake one back with: ccsurgery undo {}",
        operations[0].id
    )?;
    Ok(ExitCode::SUCCESS)
}

fn row(context: &Context, o: &Operation) -> String {
    let short = |id: &str| clean(&id.chars().take(8).collect::<String>());
    let what = match o.replaced.first() {
        Some(r) => format!(
            "{}  in place, {} → {}",
            short(&o.source_id),
            bytes(r.before.len),
            bytes(r.after.as_ref().map_or(0, |a| a.len))
        ),
        None => format!("{} → {}", short(&o.source_id), short(&o.target_id)),
    };
    let undone = if o.state == State::Undone {
        "  undone"
    } else {
        ""
    };
    let ago = age(time_of(o), context.now);
    fit(
        &format!(
            "{}  {}  {}  {what}{undone}",
            o.id,
            pad(&ago, 8),
            pad(&clean(&o.operation), 14)
        ),
        context.columns,
    )
}

fn time_of(o: &Operation) -> SystemTime {
    o.time
        .parse::<jiff::Timestamp>()
        .map_or(SystemTime::UNIX_EPOCH, SystemTime::from)
}

fn gc(context: &mut Context, older_than: Age, dry_run: bool) -> Result<ExitCode, CliError> {
    let mut count = 0u64;
    let mut freed = 0;
    for o in context.journal.operations()? {
        let old = context.now.duration_since(time_of(&o)).unwrap_or_default() >= older_than.0;
        if !old || o.state.is_under_way() {
            continue;
        }
        freed += context.journal.forget(&o, dry_run)?;
        count += 1;
    }
    if context.json {
        context.print_json(&json!({"operation": "history gc", "dry_run": dry_run, "forgotten": count, "bytes": freed}))?;
    } else {
        let verb = if dry_run {
            "would be forgotten"
        } else {
            "forgotten"
        };
        writeln!(
            context.out,
            "{count} operations {verb}, {} freed. They can no longer be undone.",
            bytes(freed)
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
