use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use clap::{Args, ValueEnum};

use crate::document::Source;
use crate::human::count;
use crate::render::{HitList, Screen, YELLOW, clean, counted_session, paint};
use crate::session::Session;
use crate::store::{Located, Locator, SubagentFinder, SubagentTranscript, glance};
use crate::view::{
    FoundSession, Hit, Overview, Pattern, PatternError, PatternOptions, Search, SearchReport,
    TextKind,
};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::names;

/// Find text in the sessions of this project
///
/// Searches prompts, answers, thinking, the inputs and outputs of tool calls, and what Claude Code added, each
/// line by itself. Subagents, abandoned branches and turns from before a compaction are searched too, and marked.
/// The pattern is a regular expression.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery grep 'flaky test'                    where was that?\n  ccsurgery grep -i 'todo|fixme' @               in the newest session, ignoring case\n  ccsurgery grep --all --in prompts -l auth      sessions of all projects with it in a prompt\n  ccsurgery grep -F 'a[0]' --in calls,results   plain text, only in tool calls\n\nExit status: 0 if something was found, 1 if not.",
    override_usage = "ccsurgery grep [OPTIONS] PATTERN [SESSION]"
)]
pub(crate) struct GrepArgs {
    /// What to look for: a regular expression, or plain text with -F
    #[arg(value_name = "PATTERN")]
    pattern: String,
    /// Search only this session: an id or its first characters, a title or part of one, a path, or `@` for the
    /// newest [default: all sessions of this project]
    #[arg(value_name = "SESSION", conflicts_with = "all")]
    session: Option<String>,
    /// Search the sessions of all projects
    #[arg(long)]
    all: bool,
    /// Search only these texts, separated by commas [default: all of them]
    #[arg(long = "in", value_name = "TEXTS", value_delimiter = ',')]
    kinds: Vec<Texts>,
    /// Ignore the difference between upper and lower case
    #[arg(short, long)]
    ignore_case: bool,
    /// Take the pattern as plain text
    #[arg(short = 'F', long)]
    fixed_strings: bool,
    /// Match whole words only
    #[arg(short, long)]
    word: bool,
    /// Show at most this many lines of each session
    #[arg(short = 'm', long, value_name = "N")]
    limit: Option<usize>,
    /// List only the sessions in which something was found
    #[arg(short = 'l', long)]
    list: bool,
    /// Show only how many lines match in each session
    #[arg(short, long, conflicts_with = "list")]
    count: bool,
}

/// Texts that can be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Texts {
    /// What you asked
    Prompts,
    /// What the model answered
    Answers,
    /// What it thought
    Thinking,
    /// The inputs of tool calls
    Calls,
    /// The outputs of tool calls
    Results,
    /// Summaries, reminders, and output of commands
    Notes,
}

impl Texts {
    fn kind(self) -> TextKind {
        match self {
            Texts::Prompts => TextKind::Prompt,
            Texts::Answers => TextKind::Answer,
            Texts::Thinking => TextKind::Thinking,
            Texts::Calls => TextKind::Call,
            Texts::Results => TextKind::Result,
            Texts::Notes => TextKind::Note,
        }
    }
}

/// A session to search.
struct Searched {
    found: Located,
    agents: Vec<SubagentTranscript>,
}

pub(crate) fn run(args: &GrepArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let search = search(args)?;
    let sessions = sessions(args, context)?;
    let searched = sessions.len() as u64;
    let mut found: Vec<FoundSession> = Vec::new();
    let (mut with_matches, mut lines) = (0_u64, 0_u64);
    let (home, zone) = (context.home.clone(), context.zone.clone());
    let Screen {
        presenter,
        columns,
        table_columns,
        now,
        colours,
        links,
        is_pipe,
        ..
    } = context.screen();
    // What is borrowed is a copy, so that the context can print while other threads search.
    let screen = Screen {
        presenter,
        columns,
        table_columns,
        home: home.as_deref(),
        now,
        zone: Some(&zone),
        colours,
        links,
        is_pipe,
    };
    let (json, quiet) = (context.json, context.quiet);
    let work = |session: &Searched| {
        let found = look(session, &search, args, json)?;
        // The text is made here, on all cores.
        Ok(found.map(|found| {
            let text = if json {
                String::new()
            } else {
                text(screen, args, &search.pattern, &found, quiet)
            };
            (found, text)
        }))
    };
    each_in_order(&sessions, work, |session, looked: io::Result<_>| {
        match looked {
            Ok(None) => {}
            Ok(Some((session, text))) => {
                with_matches += 1;
                lines += session.matches;
                if json {
                    found.push(session);
                } else {
                    let gap = with_matches > 1 && !args.list && !args.count;
                    context.out.write_all(if gap { b"\n" } else { b"" })?;
                    context.out.write_all(text.as_bytes())?;
                    context.out.flush()?;
                }
            }
            Err(error) => {
                let path = clean(&session.found.path.to_string_lossy());
                let note = paint(YELLOW, "warning:");
                context.tell(&format!("{note} cannot search `{path}`: {error}"));
            }
        }
        Ok(())
    })?;
    if context.json {
        let report = SearchReport::new(&args.pattern, searched, found);
        let document = context.presenter().json(&report);
        // The exit code says whether something was found, also to a reader that closed the pipe.
        let printed = context.print_json(&document);
        match printed.and_then(|()| context.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => context.is_done = true,
            printed => printed?,
        }
    } else {
        context.out.flush()?;
        summarize(context, args, (lines, with_matches, searched));
    }
    Ok(ExitCode::from(u8::from(with_matches == 0)))
}

/// Reads the pattern and the kinds of texts.
fn search(args: &GrepArgs) -> Result<Search, CliError> {
    let options = PatternOptions {
        ignore_case: args.ignore_case,
        fixed: args.fixed_strings,
        word: args.word,
    };
    let pattern = Pattern::new(&args.pattern, options).map_err(|error| {
        let hint = match error {
            PatternError::Invalid { .. } => "to search for plain text, add -F",
            PatternError::LineBreak => "search for one of the lines",
            _ => "use a shorter pattern",
        };
        CliError::usage(ErrorKind::BadPattern, error.to_string(), hint)
    })?;
    let kinds = if args.kinds.is_empty() {
        Texts::value_variants()
    } else {
        &args.kinds
    };
    Ok(Search {
        pattern,
        kinds: kinds.iter().map(|k| k.kind()).collect(),
        with_text: !args.list && !args.count,
    })
}

/// Returns the sessions to search, newest first.
fn sessions(args: &GrepArgs, context: &mut Context) -> Result<Vec<Searched>, CliError> {
    let found = if args.session.is_some() {
        let session = SessionArg {
            session: args.session.clone(),
        };
        vec![names::find(context, &session)?]
    } else {
        names::require_data(context)?;
        let locator = Locator::new(&context.config, &context.project);
        let found = if args.all {
            locator.all()
        } else {
            locator.here()
        };
        found.map_err(|e| names::explain(context, e))?
    };
    let mut finders: BTreeMap<PathBuf, SubagentFinder> = BTreeMap::new();
    let mut agents = |found: &Located| {
        let folder = found.folder();
        let finder = finders
            .entry(folder.to_owned())
            .or_insert_with(|| SubagentFinder::new(folder));
        finder.of(&found.path)
    };
    let searched = found.into_iter().map(|found| Searched {
        agents: agents(&found),
        found,
    });
    Ok(searched.collect())
}

/// Searches a session and its subagents. `None` if nothing was found.
fn look(
    session: &Searched,
    search: &Search,
    args: &GrepArgs,
    json: bool,
) -> io::Result<Option<FoundSession>> {
    let wanted = match (args.list, args.count) {
        // The document has the number of matches.
        (true, _) if json => Wanted::Count,
        (true, _) => Wanted::Any,
        (_, true) => Wanted::Count,
        _ => Wanted::Hits,
    };
    let path = &session.found.path;
    let own = find_in(path, search, None, wanted)?;
    let mut overview = own.overview;
    let (mut matches, mut hits) = (own.matches, own.hits);
    for agent in &session.agents {
        // A subagent's transcript may vanish, or be unreadable, without any harm to the session.
        if wanted == Wanted::Any && matches > 0 {
            break;
        }
        if let Ok(more) = find_in(&agent.path, search, Some(&agent.agent_id), wanted) {
            matches += more.matches;
            hits.extend(more.hits);
        }
    }
    if matches == 0 {
        return Ok(None);
    }
    hits.truncate(args.limit.unwrap_or(usize::MAX));
    let overview = match overview.take() {
        Some(overview) => overview,
        None => glance(path)?,
    };
    Ok(Some(FoundSession {
        session_id: session.found.id.clone(),
        path: path.clone(),
        title: overview.name(),
        project: overview.cwd,
        matches,
        hits,
    }))
}

/// How much is asked about the matches of a transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Whether there are any.
    Any,
    /// How many there are.
    Count,
    /// All of them.
    Hits,
}

/// What was found in one transcript.
struct FoundIn {
    matches: u64,
    hits: Vec<Hit>,
    /// If the transcript was read.
    overview: Option<Overview>,
}

/// Searches one transcript. It is read as a session only if something was found.
fn find_in(
    path: &Path,
    search: &Search,
    agent: Option<&str>,
    wanted: Wanted,
) -> io::Result<FoundIn> {
    let source = Source::open(path)?;
    let counted = |matches: u64| FoundIn {
        matches,
        hits: Vec::new(),
        overview: None,
    };
    let lines = match wanted {
        Wanted::Any => return Ok(counted(u64::from(search.is_in(source.bytes())))),
        Wanted::Count => return Ok(counted(search.transcript(source.bytes()).len() as u64)),
        Wanted::Hits => search.lines(source.bytes()),
    };
    if lines.is_empty() {
        return Ok(counted(0));
    }
    let session = Session::read(source);
    let hits = search.hits(&session, &lines, agent);
    Ok(FoundIn {
        matches: hits.len() as u64,
        hits,
        overview: agent.is_none().then(|| Overview::of(&session)),
    })
}

/// Does `work` for each item on all cores, and passes the results to `take` in order, each as soon as those before it are
/// there. Ends early if `take` fails.
fn each_in_order<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut take: impl FnMut(&T, R) -> io::Result<()>,
) -> io::Result<()> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (send, results) = channel();
    let worker = |send: std::sync::mpsc::Sender<(usize, R)>| {
        while !stopped.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else {
                break;
            };
            if send.send((number, work(item))).is_err() {
                break;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(items.len()) {
            let send = send.clone();
            scope.spawn(|| worker(send));
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut wanted = 0;
        for (number, result) in results {
            waiting.insert(number, result);
            while let Some(result) = waiting.remove(&wanted) {
                if let Err(error) = take(&items[wanted], result) {
                    stopped.store(true, Ordering::Relaxed);
                    return Err(error);
                }
                wanted += 1;
            }
        }
        Ok(())
    })
}

/// Returns what was found in a session, as people see it.
fn text(
    screen: Screen<'_>,
    args: &GrepArgs,
    pattern: &Pattern,
    found: &FoundSession,
    quiet: bool,
) -> String {
    if args.list {
        let title = if quiet {
            String::new()
        } else {
            format!("  {}", screen.line(&found.title))
        };
        format!("{}{title}\n", clean(&found.session_id))
    } else if args.count {
        counted_session(&screen, found)
    } else {
        let list = HitList {
            screen,
            pattern,
            with_project: args.all,
        };
        list.session(found)
    }
}

/// Reports how much was found, or where else to look.
fn summarize(context: &mut Context, args: &GrepArgs, totals: (u64, u64, u64)) {
    let (lines, found, searched) = totals;
    let plural = |n: u64, word: &str| {
        let s = if n == 1 { "" } else { "s" };
        format!("{} {word}{s}", count(n))
    };
    if found > 0 {
        if !args.list && context.on_screen {
            let lines = plural(lines, "line");
            let sessions = plural(searched, "session");
            context.tell(&format!("\n{lines} in {} of {sessions}", count(found)));
        }
        return;
    }
    let text = match (&args.session, args.all, searched) {
        (Some(_), ..) => "Nothing found in this session.".to_owned(),
        (None, false, 0) => {
            "This project has no sessions; --all searches those of all projects.".to_owned()
        }
        (None, false, n) => format!(
            "Nothing found in {} of this project; --all searches all projects.",
            plural(n, "session")
        ),
        (None, true, n) => format!("Nothing found in {}.", plural(n, "session")),
    };
    context.tell(&text);
}
