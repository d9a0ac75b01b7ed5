use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::doctor::Judgement;
use crate::doctor::Version;
use crate::doctor::checks::{Surroundings, diagnose, look_around};
use crate::doctor::{Finding, Severity};
use crate::render::{FindingList, GREEN, clean, clean_lines, count, paint};
use crate::session::Session;
use crate::store::{Located, Locator, slug};
use crate::view::Overview;

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;
use super::super::report::quoted;

/// Say what is wrong with sessions, and which client versions that breaks
///
/// Exit code 1 means that something stops a session, loses history or would be refused by the API.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery doctor                      all sessions of this project\n  ccsurgery doctor 3d731db0             one session\n  ccsurgery doctor --all --client 2.1.45"
)]
pub(crate) struct DoctorArgs {
    /// An id, a prefix of one, a path, a title or `@` [default: all sessions of this project]
    #[arg(value_name = "SESSION", conflicts_with = "all")]
    session: Option<String>,
    /// Look at the sessions of all projects
    #[arg(long)]
    all: bool,
    /// Judge for this version of the client [default: those that wrote the session, and the newest that is installed]
    #[arg(long, value_name = "VERSION")]
    client: Option<Version>,
}

/// What was found in one session.
struct Examined {
    found: Located,
    title: String,
    judgement: Judgement,
    findings: Vec<Finding>,
    healed: Vec<Finding>,
    /// Whether a client would find it where it is.
    at_home: bool,
}

impl Examined {
    fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|f| f.severity).max()
    }

    /// The command that mends what can be mended.
    fn repair(&self) -> Option<String> {
        let mendable = self.findings.iter().chain(&self.healed).any(|f| f.mendable);
        let name = if self.at_home {
            self.found.id.clone()
        } else {
            quoted(&self.found.path.to_string_lossy())
        };
        mendable.then(|| format!("ccsurgery repair {name}"))
    }
}

pub(crate) fn run(args: DoctorArgs, context: &mut Context) -> Result<ExitCode, CliError> {
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
    let installed = context.newest_client();
    let mut examined = Vec::new();
    for found in found.into_iter().filter(|f| f.len > 0) {
        let judge = |session: &Session| match args.client {
            Some(client) => Judgement::only(client),
            None => Judgement::beside(session, installed),
        };
        match examine(context, found, judge) {
            Ok(seen) => examined.push(seen),
            Err(error) if one => return Err(error),
            // A file that is none of ours to judge is passed over among many.
            Err(_) => {}
        }
    }
    if context.json {
        let document = document(&examined);
        context.print_json(&document)?;
    } else {
        tell(context, &examined, one)?;
    }
    let ill = examined.iter().any(|e| e.worst() > Some(Severity::Waste));
    Ok(if ill {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

fn examine(
    context: &Context,
    found: Located,
    judge: impl Fn(&Session) -> Judgement,
) -> Result<Examined, CliError> {
    let session = names::open(&found)?;
    let judgement = judge(&session);
    let mut all = diagnose(&session, &[judgement.next]);
    all.extend(around(context, &found, &session));
    let at_home = found.path.starts_with(context.config.projects());
    let (findings, healed) = all.into_iter().partition(|f| judgement.concerns(f));
    Ok(Examined {
        title: Overview::of(&session).name().to_owned(),
        found,
        judgement,
        findings,
        healed,
        at_home,
    })
}

fn around(context: &Context, found: &Located, session: &Session) -> Vec<Finding> {
    look_around(
        session,
        &Surroundings {
            path: &found.path,
            mode: mode(&found.path),
            at_home: found.path.starts_with(context.config.projects()),
            listed: listed(found).as_deref(),
            file_history: &context.config.join("file-history").join(&found.id),
            slug,
        },
    )
}

/// Where the project's list of sessions says that a session is.
fn listed(found: &Located) -> Option<PathBuf> {
    let bytes = fs_err::read(found.path.parent()?.join("sessions-index.json")).ok()?;
    let list: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    let mut entries = list["entries"].as_array()?.iter();
    let own = entries.find(|e| e["sessionId"] == found.id.as_str())?;
    own["fullPath"].as_str().map(PathBuf::from)
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    fs_err::metadata(path).ok().map(|m| m.permissions().mode())
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

fn tell(context: &mut Context, examined: &[Examined], one: bool) -> Result<(), CliError> {
    for seen in examined
        .iter()
        .filter(|e| !e.findings.is_empty() || !e.healed.is_empty())
    {
        let list = FindingList {
            session_id: &seen.found.id,
            title: &seen.title,
            findings: &seen.findings,
            healed: &seen.healed,
            columns: context.columns,
        };
        writeln!(context.out, "{}", list.render())?;
    }
    let totals = totals(examined);
    let whom = match examined {
        [seen] => {
            let versions: Vec<String> = seen
                .judgement
                .versions
                .iter()
                .map(ToString::to_string)
                .collect();
            format!(
                "{} (judged for {})",
                clean(&seen.found.id),
                versions.join(" and ")
            )
        }
        _ => format!("{} sessions", count(examined.len() as u64)),
    };
    if totals.is_empty() {
        writeln!(context.out, "{} {whom}", paint(GREEN, "Nothing wrong:"))?;
    } else {
        let said: Vec<String> = totals
            .iter()
            .rev()
            .map(|(severity, n)| format!("{} {severity}", count(*n as u64)))
            .collect();
        writeln!(context.out, "{whom}: {}", said.join(" · "))?;
    }
    let commands = examined.iter().filter_map(Examined::repair);
    let commands: Vec<String> = commands.map(|c| clean_lines(&c)).collect();
    if !commands.is_empty() {
        let whom = if totals.is_empty() {
            "For older clients, mend with:"
        } else {
            "Mend with:"
        };
        writeln!(context.out, "{whom}")?;
        for command in &commands {
            writeln!(context.out, "  {command}")?;
        }
    } else if one && totals.keys().any(|s| *s > Severity::Waste) {
        writeln!(
            context.out,
            "None of this can be mended by `ccsurgery repair`; what to do instead stands beside it."
        )?;
    }
    Ok(())
}

fn totals(examined: &[Examined]) -> BTreeMap<Severity, usize> {
    let mut totals = BTreeMap::new();
    for finding in examined.iter().flat_map(|e| &e.findings) {
        *totals.entry(finding.severity).or_default() += 1;
    }
    totals
}

fn document(examined: &[Examined]) -> serde_json::Value {
    let sessions: Vec<_> = examined
        .iter()
        .map(|e| {
            json!({
                "session_id": e.found.id, "path": e.found.path,
                "judged_for": e.judgement.versions.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "findings": e.findings, "healed": e.healed, "repair": e.repair(),
            })
        })
        .collect();
    let totals = totals(examined);
    let of = |severity| totals.get(&severity).copied().unwrap_or(0);
    json!({
        "sessions": sessions,
        "totals": {
            "stops-resume": of(Severity::StopsResume), "loses-history": of(Severity::LosesHistory),
            "refused-by-the-api": of(Severity::RefusedByTheApi), "waste": of(Severity::Waste),
        },
    })
}
