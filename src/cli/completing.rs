//! Answers the shells' completion scripts: what could be typed here?
//!
//! The options whose values depend on your sessions are recognised by the names that the help gives to their values, so
//! that a new command needs nothing of its own.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;

use clap::{Arg, ArgMatches, Command, CommandFactory as _, FromArgMatches as _};
use clap_complete::CompletionCandidate;
use clap_complete::engine::{ArgValueCompleter, PathCompleter, ValueCompleter as _, complete};
use clap_complete::env::Shells;

use crate::doctor::all_checks;
use crate::render::{age, fit};
use crate::session::Session;
use crate::store::{Located, Locator, glance};
use crate::view::{TurnList, entry_summary};

use super::args::{Cli, Global, SessionArg};
use super::context::Context;
use super::names;
use super::settings::Settings;

/// The variable by which a script asks; its value is the shell.
pub(super) const VARIABLE: &str = "CCSURGERY_COMPLETE";

/// The most sessions, turns or messages that are offered.
const MOST: usize = 60;

/// The widest description of a candidate.
const WIDEST: usize = 60;

/// The script for bash. Unlike other shells, bash shows no descriptions, so they are made part of what it lists; it
/// inserts only what all lines have in common.
pub(super) const BASH: &str = r#"_ccsurgery() {
    local words=("${COMP_WORDS[@]}") lines=() line value
    [[ ${BASH_VERSINFO[0]} -ge 4 ]] && words[COMP_CWORD]="$2"
    while IFS= read -r line; do lines+=("$line"); done < <(
        CCSURGERY_COMPLETE=bash _CLAP_COMPLETE_INDEX=$COMP_CWORD ccsurgery -- "${words[@]}" 2> /dev/null
    )
    COMPREPLY=()
    for line in "${lines[@]}"; do
        value="${line%%$'\t'*}"
        if [[ ${#lines[@]} -gt 1 && $COMP_TYPE != 37 && "$line" == *$'\t'* ]]; then
            printf -v value '%-16s  (%s)' "$value" "${line#*$'\t'}"
        fi
        COMPREPLY+=("$value")
    done
    if [[ ${#COMPREPLY[@]} -eq 1 && "${COMPREPLY[0]}" == *[=/] ]]; then
        compopt -o nospace 2> /dev/null
    fi
}
if [[ ${BASH_VERSINFO[0]} -gt 4 || ${BASH_VERSINFO[0]} -eq 4 && ${BASH_VERSINFO[1]} -ge 4 ]]; then
    complete -o bashdefault -o nosort -F _ccsurgery ccsurgery
else
    complete -o bashdefault -F _ccsurgery ccsurgery
fi
"#;

/// Answers a completion script, if one asks. Returns whether that was so.
///
/// Nothing is ever reported: a message in the middle of a command line helps nobody.
pub(super) fn answer() -> bool {
    let Some(shell) = std::env::var_os(VARIABLE).filter(|shell| !shell.is_empty()) else {
        return false;
    };
    let mut words = std::env::args_os();
    let words: Vec<OsString> = words
        .by_ref()
        .skip_while(|word| word != "--")
        .skip(1)
        .collect();
    if !words.is_empty() {
        let text = candidates(&shell.to_string_lossy(), words);
        let _ = std::io::stdout().write_all(&text);
    }
    true
}

/// Returns the candidates in the form that the script of a shell reads.
fn candidates(shell: &str, words: Vec<OsString>) -> Vec<u8> {
    let here = std::env::current_dir().ok();
    let index = std::env::var("_CLAP_COMPLETE_INDEX").ok();
    let index = index
        .and_then(|i| i.parse().ok())
        .unwrap_or(words.len() - 1);
    let current = words.get(index).map(|word| word.to_string_lossy());
    let wants_option = current.is_some_and(|word| word.starts_with('-'));
    let program = if wants_option {
        Cli::command()
    } else {
        without_options(Cli::command())
    };
    let mut program = with_completers(program, &words);
    let mut text = Vec::new();
    if shell == "bash" {
        for candidate in complete(&mut program, words, index, here.as_deref()).unwrap_or_default() {
            let value = candidate.get_value().to_string_lossy();
            let help = candidate.get_help().map(ToString::to_string);
            let help = help.unwrap_or_default();
            let line = match help.lines().next().unwrap_or_default() {
                "" => value.into_owned(),
                help => format!("{value}\t{}", fit(help, WIDEST)),
            };
            let _ = writeln!(text, "{line}");
        }
    } else if let Some(shell) = Shells::builtins().completer(shell) {
        let _ = shell.write_complete(&mut program, words, here.as_deref(), &mut text);
    }
    text
}

/// What an argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    Session,
    Turn,
    Message,
    Tool,
    Check,
    Plan,
    Command,
}

impl Named {
    /// Recognises it by the name of the value in the help.
    fn of(arg: &Arg) -> Option<Self> {
        let value = arg.get_value_names()?.first()?.as_str();
        match (value, arg.get_long()) {
            ("SESSION" | "A" | "B", _) => Some(Self::Session),
            ("TURN" | "TURNS" | "RANGE", _) => Some(Self::Turn),
            ("MESSAGE", _) | ("ID", Some("message")) => Some(Self::Message),
            ("GLOB", Some("tool")) => Some(Self::Tool),
            ("CHECK", _) => Some(Self::Check),
            ("PLAN", _) => Some(Self::Plan),
            ("COMMAND", None) => Some(Self::Command),
            _ => None,
        }
    }
}

/// Hides all options, so that they are offered only where there is nothing else.
fn without_options(program: Command) -> Command {
    let options: Vec<clap::Id> = program
        .get_arguments()
        .filter(|arg| !arg.is_positional())
        .map(|arg| arg.get_id().clone())
        .collect();
    let program = options.into_iter().fold(program, |program, id| {
        program.mut_arg(id, |arg| arg.hide(true))
    });
    let program = program.disable_help_flag(true).disable_version_flag(true);
    let names: Vec<String> = program
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    names.into_iter().fold(program, |program, name| {
        program.mut_subcommand(name, without_options)
    })
}

/// Gives every argument that names something of yours a way to complete it.
fn with_completers(program: Command, words: &[OsString]) -> Command {
    let arguments: Vec<(clap::Id, Named)> = program
        .get_arguments()
        .filter_map(|arg| Some((arg.get_id().clone(), Named::of(arg)?)))
        .collect();
    let mut program = arguments.into_iter().fold(program, |program, (id, named)| {
        let words = words.to_owned();
        let completer = move |current: &OsStr| values(named, &words, current);
        program.mut_arg(id, |arg| arg.add(ArgValueCompleter::new(completer)))
    });
    let commands: Vec<String> = program
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    for name in commands {
        program = program.mut_subcommand(name, |command| with_completers(command, words));
    }
    program
}

/// Returns the values of an argument that begin with `current`.
fn values(named: Named, words: &[OsString], current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let found = match named {
        Named::Session => sessions(words, &text),
        Named::Turn => turns(words),
        Named::Message => messages(words),
        Named::Tool => tools(words),
        Named::Check => Some(all_checks().map(|c| candidate(c.name, c.symptom)).collect()),
        Named::Plan => return plans(current),
        Named::Command => {
            let program = Cli::command();
            let commands = program.get_subcommands().map(|command| {
                let about = command.get_about().map(ToString::to_string);
                candidate(command.get_name(), &about.unwrap_or_default())
            });
            Some(commands.collect())
        }
    };
    let mut found = found.unwrap_or_default();
    if named == Named::Session {
        if text.contains(['/', '.', std::path::MAIN_SEPARATOR]) {
            found.extend(files(current, "jsonl"));
        }
        return found;
    }
    let begins = |c: &CompletionCandidate| c.get_value().to_string_lossy().starts_with(&*text);
    found.retain(begins);
    found
}

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    let help = fit(help, WIDEST);
    CompletionCandidate::new(value).help(Some(help.into()))
}

/// Returns what the words say so far.
fn typed(words: &[OsString]) -> Option<(Context, ArgMatches)> {
    let program = Cli::command().ignore_errors(true);
    let matches = program.try_get_matches_from(words).ok()?;
    let global = Global::from_arg_matches(&matches).ok()?;
    let context = Context::new(&global, Settings::default()).ok()?;
    let (_, matches) = matches.subcommand()?;
    Some((context, matches.clone()))
}

/// Opens the session that the words name, or the newest.
fn typed_session(words: &[OsString]) -> Option<(Context, Located, Session)> {
    let (mut context, matches) = typed(words)?;
    let session = matches.try_get_one::<String>("session").ok().flatten();
    // Standard input belongs to the shell.
    let session = session.filter(|name| *name != "-").cloned();
    let found = names::find(&mut context, &SessionArg { session }).ok()?;
    let session = names::open(&context, &found).ok()?;
    Some((context, found, session))
}

/// Returns the sessions whose ids begin with the text or whose titles contain it: of this project, else of all.
fn sessions(words: &[OsString], text: &str) -> Option<Vec<CompletionCandidate>> {
    let (context, _) = typed(words)?;
    let locator = Locator::new(&context.config, &context.project);
    let lower = text.to_lowercase();
    let fitting = |all: Vec<Located>| {
        let fitting = all.into_iter().filter_map(|found| {
            let by_id = found.id.to_lowercase().starts_with(&lower);
            let overview = glance(&found.path).ok()?;
            let title = overview.name();
            let by_title = || lower.len() > 2 && title.raw().to_lowercase().contains(&lower);
            if !overview.has_messages || !(by_id || by_title()) {
                return None;
            }
            // A typed id is completed as far as it goes.
            let short = found.id.chars().take(lower.chars().count().max(8));
            let age = age(found.modified, context.now);
            let help = format!("{}, {age}", fit(&context.words(title), WIDEST - 12));
            Some(candidate(&short.collect::<String>(), &help))
        });
        fitting.take(MOST).collect::<Vec<_>>()
    };
    let here = fitting(locator.here().ok()?);
    if !here.is_empty() {
        return Some(here);
    }
    Some(fitting(locator.all().ok()?))
}

/// Returns the turns of the session, the newest first.
fn turns(words: &[OsString]) -> Option<Vec<CompletionCandidate>> {
    let (context, found, session) = typed_session(words)?;
    let list = TurnList::of(&session, &found.id, found.path.clone());
    let rows = list.turn_rows.iter().rev().filter(|row| row.turn > 0);
    let turns = rows.map(|row| candidate(&row.turn.to_string(), &context.words(&row.prompt)));
    Some(turns.take(MOST).collect())
}

/// Returns the messages of the live path, the newest first.
fn messages(words: &[OsString]) -> Option<Vec<CompletionCandidate>> {
    let (context, _, session) = typed_session(words)?;
    let path = session.graph().path().iter().rev();
    let entries = path.map(|&i| session.entry(i));
    let messages = entries.filter(|e| e.is_message()).filter_map(|e| {
        let id: String = session.uuid(e)?.chars().take(8).collect();
        let (what, gist) = entry_summary(&session, e);
        let help = format!("{}: {}", context.words(what), context.words(gist));
        Some(candidate(&id, &help))
    });
    Some(messages.take(MOST).collect())
}

/// Returns the tools that the session calls, the most used first.
fn tools(words: &[OsString]) -> Option<Vec<CompletionCandidate>> {
    let (context, found, session) = typed_session(words)?;
    let list = TurnList::of(&session, &found.id, found.path.clone());
    let mut counts: Vec<(String, u32)> = Vec::new();
    for call in list.turn_rows.iter().flat_map(|row| &row.calls) {
        let tool = context.words(&call.tool);
        match counts.iter_mut().find(|(name, _)| *name == tool) {
            Some((_, count)) => *count += call.count,
            None => counts.push((tool, call.count)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let calls = |n: u32| {
        if n == 1 {
            "1 call".to_owned()
        } else {
            format!("{n} calls")
        }
    };
    let tools = counts.iter().map(|(name, n)| candidate(name, &calls(*n)));
    Some(tools.collect())
}

/// Returns the plans of the settings, and files with plans.
fn plans(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_string_lossy();
    let settings = Settings::of_user().unwrap_or_default();
    let names = settings
        .plan_names()
        .filter(|name| name.starts_with(&*text));
    let mut plans: Vec<CompletionCandidate> = names
        .map(|name| candidate(name, "a plan of your config file"))
        .collect();
    plans.extend(files(current, "toml"));
    plans
}

/// Returns the files with this ending, and folders.
fn files(current: &OsStr, ending: &'static str) -> Vec<CompletionCandidate> {
    let fits = move |path: &Path| path.is_dir() || path.extension().is_some_and(|e| e == ending);
    PathCompleter::any().filter(fits).complete(current)
}
