mod explain;
mod report;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;

use crate::doctor::checks::{Surroundings, diagnose, look_around};
use crate::doctor::{Finding, Judgement, Reason, Remedy, Severity, Version};
use crate::render::{FindingList, GREEN, clean_lines, count, paint, short_id, wrap_message};
use crate::session::Session;
use crate::store::{Config, Located, Locator, file_mode, read_followed, slug};
use crate::view::{Overview, SessionText};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;
use super::super::progress::Progress;
use super::super::shell::quoted;
use explain::explain;
use report::Report;

/// Check sessions for problems
///
/// Problems are judged for the Claude Code version in use: the installed one, or else the newest that
/// wrote the session. What this version recovers from by itself is listed, but does not count as a problem.
///
/// Exit code 1 means that a session does not open, loses history or would be refused by the API.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery doctor                      all sessions of this project\n  ccsurgery doctor 3d731db0             one session\n  ccsurgery doctor --all --client 2.1.45\n  ccsurgery doctor --explain torn-line"
)]
pub(crate) struct DoctorArgs {
    /// A session id, its beginning, a path, a title or `@` [default: all sessions of this project]
    #[arg(value_name = "SESSION", conflicts_with = "all")]
    session: Option<String>,
    /// Check the sessions of all projects
    #[arg(long)]
    all: bool,
    /// Judge for this version of Claude Code [default: the installed one, or else the newest that wrote the session]
    #[arg(long, value_name = "VERSION")]
    client: Option<Version>,
    /// Explain a check: what it finds, which versions suffer, and what `repair` does
    #[arg(long, value_name = "CHECK", conflicts_with_all = ["session", "all", "client"])]
    explain: Option<String>,
}

/// The findings about one session.
struct Examined {
    found: Located,
    title: SessionText,
    judgement: Judgement,
    findings: Vec<Finding>,
    healed: Vec<Finding>,
    /// How the session is named in commands.
    name: String,
}

impl Examined {
    fn has_problem(&self) -> bool {
        self.findings
            .iter()
            .any(|f| f.severity > Severity::Harmless)
    }

    /// The command that repairs what can be repaired.
    fn repair(&self) -> Option<String> {
        let mut all = self.findings.iter().chain(&self.healed);
        all.any(|f| f.repairable)
            .then(|| format!("ccsurgery repair {}", self.name))
    }

    /// What else can be done, each once.
    fn remedies(&self) -> BTreeSet<Remedy> {
        let all = self
            .findings
            .iter()
            .chain(&self.healed)
            .filter_map(|f| f.remedy);
        all.collect()
    }
}

fn worded(remedy: Remedy, name: &str) -> String {
    match remedy {
        Remedy::DropHidden => {
            format!("ccsurgery drop-hidden {name}: removes what the model is not shown")
        }
        Remedy::Shrink => {
            format!("ccsurgery trim {name} --to 100k: makes the conversation smaller")
        }
        Remedy::ShortenResults => format!(
            "ccsurgery drop-tools {name} --larger-than 10MB --stub: shortens large tool results"
        ),
        Remedy::KeepTurns(n) => {
            format!("ccsurgery truncate {name} --at {n}: removes the unfinished turn")
        }
        Remedy::RepairInPlace => format!(
            "ccsurgery repair {name} --in-place: repairs the session itself, on which versions before 2.1.45 hang"
        ),
        Remedy::CopyToProject => format!(
            "ccsurgery clone {name} --to-project FOLDER: puts a copy into the right project"
        ),
    }
}

pub(crate) fn run(args: DoctorArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if let Some(name) = &args.explain {
        return explain(context, name);
    }
    let one = args.session.is_some();
    let found = if let Some(session) = args.session {
        let session = Some(session);
        vec![names::find(context, &SessionArg { session })?]
    } else {
        names::require_data(context)?;
        let locator = Locator::new(&context.config, &context.project);
        let all = if args.all {
            locator.all()
        } else {
            locator.here()
        };
        all.map_err(|e| CliError::failed("unreadable", e.to_string(), "check the config folder"))?
    };
    let warnings = if one {
        Vec::new()
    } else {
        names::unreadable(context, &found, args.all)
    };
    names::warn(context, &warnings);
    let installed = context.installed_client();
    let progress = Progress::start(context.progress, "checking");
    let done = progress.count_to(found.iter().map(|f| f.len).sum());
    let judge = |session: &Session| match args.client {
        Some(client) => Judgement::only(client),
        None => Judgement::for_installed(session, installed),
    };
    let config = &context.config;
    let found = found.into_par_iter().filter(|f| f.len > 0);
    let all = found.map(|found| examine(config, found, &done, judge));
    let all: Vec<Result<Examined, CliError>> = all.collect();
    let mut examined: Vec<Examined> = if one {
        all.into_iter().collect::<Result<_, _>>()?
    } else {
        // Among many sessions, files that cannot be read were named above, and others are not sessions.
        all.into_iter().filter_map(Result::ok).collect()
    };
    progress.done();
    match &mut examined[..] {
        [seen] => seen.name = quoted(&names::command_name(context, &seen.found)),
        many => name_all(many),
    }
    if context.json {
        let document = to_json(&Report::of(&examined, warnings))?;
        context.print_json(&document)?;
    } else {
        show(context, &examined, one)?;
    }
    Ok(if examined.iter().any(Examined::has_problem) {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

/// Names each session of a list so that a command finds it: a beginning of its id that no other one has, else its path.
fn name_all(examined: &mut [Examined]) {
    let beginning = |seen: &Examined| -> String { seen.found.id.chars().take(8).collect() };
    let mut known: HashMap<String, usize> = HashMap::new();
    for seen in examined.iter() {
        *known.entry(beginning(seen)).or_default() += 1;
    }
    for seen in examined {
        let short = beginning(seen);
        seen.name = match known[&short] {
            1 => quoted(&short),
            _ => quoted(&seen.found.path.to_string_lossy()),
        };
    }
}

fn examine(
    config: &Config,
    found: Located,
    done: &AtomicU64,
    judge: impl Fn(&Session) -> Judgement,
) -> Result<Examined, CliError> {
    let session = names::open_one(&found, done)?;
    let judgement = judge(&session);
    let mut all = diagnose(&session, judgement.client);
    all.extend(around(config, &found, &session));
    let (findings, healed) = all.into_iter().partition(|f| judgement.concerns(f));
    Ok(Examined {
        title: Overview::of(&session).name(),
        name: String::new(),
        found,
        judgement,
        findings,
        healed,
    })
}

fn around(config: &Config, found: &Located, session: &Session) -> Vec<Finding> {
    look_around(
        session,
        &Surroundings {
            path: &found.path,
            mode: file_mode(&found.path),
            at_home: found.path.starts_with(config.projects()),
            listed: listed(found).as_deref(),
            file_history: &config.join("file-history").join(&found.id),
            slug,
        },
    )
}

/// Returns where the project's list of sessions expects a session.
fn listed(found: &Located) -> Option<PathBuf> {
    let bytes = read_followed(&found.path.parent()?.join("sessions-index.json")).ok()?;
    let list: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    let mut entries = list["entries"].as_array()?.iter();
    let own = entries.find(|e| e["sessionId"] == found.id.as_str())?;
    own["fullPath"].as_str().map(PathBuf::from)
}

/// Prints the findings: of one session all, of several only those with a problem.
fn show(context: &mut Context, examined: &[Examined], one: bool) -> Result<(), CliError> {
    let listed = |e: &&Examined| e.has_problem() || one;
    for seen in examined.iter().filter(listed) {
        if seen.findings.is_empty() && seen.healed.is_empty() {
            continue;
        }
        let list = FindingList {
            session_id: &seen.found.id,
            title: &seen.title,
            presenter: context.presenter(),
            client: seen.judgement.client,
            findings: &seen.findings,
            healed: &seen.healed,
            columns: context.columns,
        };
        writeln!(context.out, "{}", list.render())?;
    }
    let summary = summary(examined);
    writeln!(
        context.out,
        "{}",
        wrap_message(&summary, context.table_columns)
    )?;
    let shown: Vec<&Examined> = examined.iter().filter(listed).collect();
    let problems = shown.iter().any(|e| e.has_problem());
    let heading = if problems {
        "Repair with:"
    } else {
        "Nothing needs to be done. To tidy up anyway, or for other versions of Claude Code, run:"
    };
    let repairs = shown.iter().filter_map(|e| e.repair()).collect();
    list(context, heading, repairs)?;
    list(context, "You can also run:", remedies(&shown))
}

/// Returns what else can be done, with one row for several sessions that need the same.
fn remedies(shown: &[&Examined]) -> Vec<String> {
    let mut wanted: BTreeMap<Remedy, Vec<&str>> = BTreeMap::new();
    for seen in shown {
        for remedy in seen.remedies() {
            wanted.entry(remedy).or_default().push(&seen.name);
        }
    }
    let row = |(remedy, names): (Remedy, Vec<&str>)| match names[..] {
        [name] => worded(remedy, name),
        _ => format!("{} ({} sessions)", worded(remedy, "SESSION"), names.len()),
    };
    wanted.into_iter().map(row).collect()
}

fn list(context: &mut Context, heading: &str, rows: Vec<String>) -> Result<(), CliError> {
    if !rows.is_empty() {
        let columns = context.table_columns;
        writeln!(context.out, "{}", wrap_message(heading, columns))?;
        for row in rows {
            let row = format!("  {}", clean_lines(&row));
            writeln!(context.out, "{}", wrap_message(&row, columns))?;
        }
    }
    Ok(())
}

/// Summarises all sessions in one line.
fn summary(examined: &[Examined]) -> String {
    let whom = match examined {
        [seen] => {
            format!("{} ({})", short_id(&seen.found.id), judged(seen.judgement))
        }
        _ => format!("{} sessions", count(examined.len() as u64)),
    };
    let mut totals: BTreeMap<Severity, usize> = BTreeMap::new();
    for finding in examined.iter().flat_map(|e| &e.findings) {
        *totals.entry(finding.severity).or_default() += 1;
    }
    let harmless = totals.remove(&Severity::Harmless);
    let mut parts: Vec<String> = totals
        .iter()
        .rev()
        .map(|(&severity, &n)| problems(severity, n))
        .collect();
    let healthy = parts.is_empty();
    parts.extend(harmless.map(|n| format!("{} harmless", count(n as u64))));
    let rest = if parts.is_empty() {
        String::new()
    } else {
        format!(": {}", parts.join(", "))
    };
    if healthy {
        format!("{} {whom}{rest}", paint(GREEN, "Nothing wrong:"))
    } else {
        format!("{whom}{rest}")
    }
}

fn problems(severity: Severity, n: usize) -> String {
    let one = n == 1;
    let what = match severity {
        Severity::Harmless => "harmless",
        Severity::RefusedByTheApi if one => "problem that makes the API refuse the session",
        Severity::RefusedByTheApi => "problems that make the API refuse a session",
        Severity::LosesHistory if one => "problem that loses history",
        Severity::LosesHistory => "problems that lose history",
        Severity::StopsResume if one => "problem that keeps the session from opening",
        Severity::StopsResume => "problems that keep a session from opening",
    };
    format!("{} {what}", count(n as u64))
}

fn judged(judgement: Judgement) -> String {
    let why = match judgement.reason {
        Reason::Named => "",
        Reason::Installed => ", which is installed",
        Reason::WroteTheSession => ", which wrote it",
        Reason::NewestKnown => ", the newest known",
    };
    format!("judged for Claude Code {}{why}", judgement.client)
}

fn to_json(document: &impl Serialize) -> Result<serde_json::Value, CliError> {
    serde_json::to_value(document)
        .map_err(|e| CliError::failed("output", e.to_string(), "please report this as a bug"))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::super::args::Cli;
    use super::*;

    #[test]
    fn doctor_advice_names_commands_that_can_be_run() {
        for remedy in [
            Remedy::DropHidden,
            Remedy::Shrink,
            Remedy::ShortenResults,
            Remedy::KeepTurns(3),
            Remedy::RepairInPlace,
            Remedy::CopyToProject,
        ] {
            let advice = worded(remedy, "3f9c2a71");
            let (command, _) = advice.split_once(": ").expect("a command and its effect");
            let parsed = Cli::try_parse_from(command.split(' '));
            assert!(parsed.is_ok(), "{advice}");
        }
    }
}
