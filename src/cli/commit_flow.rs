//! From a plan to its result: check, preview, ask, publish, report. The only caller of what writes.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use uuid::Uuid;

use crate::document::{Document, LineMap};
use crate::ops::Taken;
use crate::render::{YELLOW, paint};
use crate::session::Session;
use crate::store::{self, Located, Operation, Stamp, State};
use crate::surgery::{
    Action, Change, Detail, Faults, Figures, Finish, Plan, Transform, emit, emitted_len, title_for,
    verify,
};
use crate::threads::joined;
use crate::transcript::Kind;
use crate::view::Overview;
use crate::window::{Calibration, Overstated};

use super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::context::Context;
use super::copy_set::CopySet;
use super::error::CliError;
use super::names;
use super::progress::Progress;
use super::report::{Report, show_preview};

/// One operation on one session.
pub(super) struct Job<'a> {
    /// The operation's name.
    pub(super) operation: &'static str,
    /// The session.
    pub(super) found: Located,
    /// The transforms, in order.
    pub(super) transforms: Vec<Box<dyn Transform + 'a>>,
    /// What is done to the transcripts of subagents, by their ids.
    pub(super) for_subagents: Option<SubagentWork<'a>>,
    /// Where the result goes.
    pub(super) write: WriteArgs,
    /// Whether it may go where the original is.
    pub(super) in_place: InPlaceArgs,
    /// Another project for the result.
    pub(super) to_project: Option<PathBuf>,
    /// How the transforms were chosen, where the program did that.
    pub(super) steps: Vec<Taken>,
    /// Why there may be nothing to do, where that can be said.
    pub(super) idle: Option<String>,
    /// The file was stamped before it was read.
    pub(super) stamp: Stamp,
    /// It was read into this.
    pub(super) session: Session,
}

/// A transform for subagents' transcripts.
pub(super) struct SubagentWork<'a> {
    /// What is done to each.
    pub(super) transform: Box<dyn Transform + 'a>,
    /// Which ones; all if `None`.
    pub(super) only: Option<Vec<String>>,
}

/// Where a result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    /// A new session.
    New { id: Uuid, folder: PathBuf },
    /// The session itself.
    InPlace,
    /// A file of the user's choice.
    File(PathBuf),
    /// Standard output.
    Stdout,
}

impl Destination {
    /// The file that the transcript becomes, where that is a new one.
    pub(super) fn transcript(&self) -> Option<PathBuf> {
        match self {
            Destination::New { id, folder } => Some(folder.join(format!("{id}.jsonl"))),
            Destination::File(path) => Some(path.clone()),
            Destination::InPlace | Destination::Stdout => None,
        }
    }
}

/// What the transforms made of a session, not yet written.
pub(super) struct Outcome {
    /// The result.
    pub(super) after: Session,
    /// What was done.
    pub(super) changes: Vec<Change>,
    /// What a person should know.
    pub(super) warnings: Vec<String>,
    /// Subagents that are no longer part of it.
    pub(super) dropped_agents: Vec<String>,
    /// Transcripts of subagents that were changed: where they are, what they were, what they become.
    pub(super) subagents: Vec<(PathBuf, Stamp, Session)>,
    /// Bytes that leave the transcript and are kept beside the journal, by line.
    quarantine: Vec<(u32, Vec<u8>)>,
    /// The faults that the session had.
    faults_before: Faults,
    /// The figures of the session before.
    measured: Figures,
    /// The project that the session was held in.
    pub(super) project: Option<PathBuf>,
    /// The tokens in the window before and after.
    windows: (u64, u64),
    /// Whether a transform made something else of the transcript. It may not have said what.
    transformed: bool,
    /// Whether anything was done at all.
    touched: bool,
}

impl Outcome {
    /// Whether nothing was done but to put lines in that no client shows: a title, the last prompt.
    fn only_adds_metadata(&self) -> bool {
        let mut changes = self.changes.iter();
        !self.transformed && changes.all(|c| c.action == Action::Insert && c.shown == 0)
    }
}

impl<'a> Job<'a> {
    /// Finds and reads the session that a command names.
    pub(super) fn new(
        context: &mut Context,
        session: &SessionArg,
        operation: &'static str,
        write: WriteArgs,
        in_place: InPlaceArgs,
    ) -> Result<Self, CliError> {
        let found = names::find(context, session)?;
        let stamp = Stamp::of(&found.path)?;
        let session = names::open(&found)?;
        Ok(Self {
            operation,
            found,
            transforms: Vec::new(),
            for_subagents: None,
            write,
            in_place,
            to_project: None,
            steps: Vec::new(),
            idle: None,
            stamp,
            session,
        })
    }

    /// Adds a transform.
    pub(super) fn with(mut self, transform: impl Transform + 'a) -> Self {
        self.transforms.push(Box::new(transform));
        self
    }
}

/// Runs the job to its end.
pub(super) fn run(context: &mut Context, mut job: Job<'_>) -> Result<ExitCode, CliError> {
    let progress = Progress::start(context.progress, "planning");
    let destination = destination(context, &job);
    refuse_live(context, &job)?;
    refuse_target(&destination)?;
    let glance = Overview::of(&job.session);
    let result = plan(context, &mut job, &destination, &glance)?;
    let is_clone = job.operation == "clone";
    if !result.touched && !is_clone {
        progress.done();
        return nothing_to_do(context, &job, &glance, &destination, &result.warnings);
    }
    progress.phase("checking");
    let renaming = matches!(destination, Destination::New { .. }) || is_clone;
    let (verdict, copy) = std::thread::scope(|scope| {
        // Where only metadata was added, the conversation is the same entry for entry, and so are its faults.
        let judge = || result.faults_before.judge(&result.after);
        let judge = (!result.only_adds_metadata()).then(|| scope.spawn(judge));
        let copy = renaming.then(|| CopySet::new(context, &job, &destination, &result));
        (judge.map(joined).transpose(), copy.transpose())
    });
    verdict?;
    let copy = copy?;
    let mut figures = (
        result.measured,
        Figures::of(&result.after, result.windows.1),
    );
    figures.1.bytes = emitted_len(&result.after, copy.as_ref().map(|c| &c.renames));
    let files = copy
        .as_ref()
        .map(|c| c.rows(figures.1.bytes, &destination))
        .unwrap_or_default();
    progress.done();

    let mut report = Report {
        job: &job,
        glance: &glance,
        result: &result,
        figures,
        files: &files,
        destination: &destination,
        renamed: copy.as_ref().map_or(0, |c| c.renames.len()),
    };
    show_preview(context, &report)?;
    if job.write.dry_run {
        return report.finish(context, None);
    }
    if destination == Destination::InPlace {
        confirm(context, &job)?;
    }
    let progress = Progress::start(context.progress, "writing");
    publish(context, &job, &destination, &result, copy.as_ref())?;
    progress.done();
    // It is done; a size that cannot be asked for any more is the planned one.
    if let Some(metadata) = destination.transcript().and_then(|p| p.metadata().ok()) {
        report.figures.1.bytes = metadata.len();
    }
    report.finish(context, Some(&destination))
}

fn destination(context: &Context, job: &Job<'_>) -> Destination {
    match &job.write.output {
        Some(path) if path.as_os_str() == "-" => Destination::Stdout,
        Some(path) => Destination::File(path.clone()),
        None if job.in_place.in_place => Destination::InPlace,
        None => {
            let folder = match &job.to_project {
                Some(dir) => context.config.project(dir),
                None if job.found.path.starts_with(context.config.projects()) => {
                    job.found.folder().to_owned()
                }
                // A transcript from elsewhere becomes a session of the project that it was held in, or of this one.
                None => {
                    let dir = names::project_of(&job.session, job.found.folder())
                        .filter(|d| d.is_dir())
                        .unwrap_or_else(|| context.project.clone());
                    context.config.project(&dir)
                }
            };
            Destination::New {
                id: Uuid::new_v4(),
                folder,
            }
        }
    }
}

/// What is seen to fail at the end fails at once, and in a preview, too.
fn refuse_target(destination: &Destination) -> Result<(), CliError> {
    let Destination::File(path) = destination else {
        return Ok(());
    };
    if path.symlink_metadata().is_ok() {
        return Err(store::PublishError::Exists { path: path.clone() }.into());
    }
    let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) else {
        return Ok(());
    };
    use std::io::ErrorKind::{NotADirectory, NotFound};
    match fs_err::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Err(e) if !matches!(e.kind(), NotFound | NotADirectory) => Err(e.into()),
        _ => Err(CliError::failed(
            "no-such-folder",
            format!("there is no folder `{}`", folder.display()),
            "create it first, or choose another",
        )),
    }
}

/// A running client would write on as if nothing had happened.
fn refuse_live(context: &Context, job: &Job<'_>) -> Result<(), CliError> {
    if !job.in_place.in_place || job.in_place.allow_live || job.write.dry_run {
        return Ok(());
    }
    match store::live(&context.config, &job.found.id) {
        Some(live) => Err(CliError::refused(
            "live",
            format!(
                "session {} is open in a running client (process {})",
                job.found.id, live.pid
            ),
            "leave that client first, or drop --in-place to write a new session; --allow-live overrides",
        )),
        None => Ok(()),
    }
}

/// Folds the transforms, and ends the result as clients need it.
fn plan(
    context: &Context,
    job: &mut Job<'_>,
    destination: &Destination,
    glance: &Overview,
) -> Result<Outcome, CliError> {
    let mut said = Plan::default();
    let mut heads = job.session.heads().iter();
    let name_leaf = heads.any(|t| t.kind == Kind::LastPrompt);
    let leaf = job.session.graph().leaf();
    let leaf_was = leaf.map(|i| job.session.entries()[i].uuid);
    let project = names::project_of(&job.session, job.found.folder());
    let Folded {
        current,
        revealed,
        before,
        faults,
        measured,
    } = fold(context, job, &mut said)?;
    let transformed = current.is_some();
    let mut touched = transformed;
    let faults_before = match &revealed {
        Some(revealed) => faults.revealed(revealed),
        None => faults,
    };
    let subagents = operate_on_subagents(context, job, &mut said)?;
    touched |= !subagents.is_empty();
    let fresh = matches!(destination, Destination::New { .. }) || job.operation == "clone";
    let title = match &job.write.title {
        Some(title) => Some(title.clone()),
        None => fresh.then(|| title_for(glance, job.operation)),
    };
    touched |= title.is_some() && *destination == Destination::InPlace;
    let (windows, overstated) = weigh(&before, current.as_ref());
    let finish = Finish {
        title,
        name_leaf,
        leaf_was,
        overstated,
    };
    let session = current.as_ref().unwrap_or(&job.session);
    let finish = finish.plan(session, Detail::Full)?;
    let (document, lines) = carried(session, finish, &mut said)?;
    let after = match current {
        Some(current) => current.derive(document, &lines),
        None if job.operation == "clone" && !is_looked_at_again(job) => {
            std::mem::take(&mut job.session).derive(document, &lines)
        }
        None => job.session.derived(document, &lines),
    };
    Ok(Outcome {
        after,
        measured,
        project,
        changes: said.changes,
        warnings: said.warnings,
        dropped_agents: said.dropped_agents,
        subagents,
        quarantine: said.quarantine,
        faults_before,
        windows,
        transformed,
        touched,
    })
}

/// Whether the session is compared with what was made of it. Where it is not, only one of them is held.
fn is_looked_at_again(job: &Job<'_>) -> bool {
    job.write.diff.is_some()
}

/// Whether nobody is shown what would happen.
pub(super) fn is_unseen(context: &Context, job: &Job<'_>) -> bool {
    context.json || context.quiet && !job.write.dry_run
}

/// What the transforms make of a session, and what it was.
struct Folded {
    /// The result, where one of them did something.
    current: Option<Session>,
    /// The session as it was when what had been hidden in it came to light.
    revealed: Option<Session>,
    /// What the session weighed, and what was wrong with it.
    before: Calibration,
    faults: Faults,
    measured: Figures,
}

/// Carries out one transform after the other.
fn fold(context: &Context, job: &mut Job<'_>, said: &mut Plan) -> Result<Folded, CliError> {
    let say = match (context.json || context.verbose, is_unseen(context, job)) {
        (true, _) => Detail::Full,
        (false, true) => Detail::None,
        (false, false) => Detail::Grouped,
    };
    let keeps = is_looked_at_again(job);
    let mut transforms = job.transforms.iter();
    // What the session weighs and what is wrong with it is found out while the first one is at work.
    let (first, before, faults) = std::thread::scope(|scope| {
        let session = &job.session;
        let weighed = scope.spawn(|| Calibration::of(session));
        let mut faults = None;
        let first = next_made(session, &mut transforms, (say, said), || {
            faults = Some(scope.spawn(|| Faults::of(session)));
        });
        let faults = faults.map(joined).unwrap_or_default();
        (first, joined(weighed), faults)
    });
    let measured = Figures::of(&job.session, before.window());
    let mut revealed = None;
    let mut current: Option<Session> = None;
    let mut made = first?;
    while let Some(step) = made {
        let (document, lines) = step.result;
        let next = match current.take() {
            Some(session) => session.derive(document, &lines),
            None if keeps => job.session.derived(document, &lines),
            None => std::mem::take(&mut job.session).derive(document, &lines),
        };
        // Where a boundary went, what it hid is shown again, faults and all.
        if step.reveals || next.graph().window_start() < step.window {
            revealed = Some(next.clone());
        }
        made = next_made(&next, &mut transforms, (say, said), || ())?;
        current = Some(next);
    }
    Ok(Folded {
        current,
        revealed,
        before,
        faults,
        measured,
    })
}

/// What a transform made of a session.
struct Made {
    result: (Document, LineMap),
    /// Whether it brought to light what was hidden.
    reveals: bool,
    /// The position of the path from which on the session was shown before.
    window: u32,
}

/// Carries out the next of the transforms that has something to do; `begins` is called where there is one.
fn next_made<'t, 'a: 't>(
    session: &Session,
    transforms: &mut impl Iterator<Item = &'t Box<dyn Transform + 'a>>,
    (say, said): (Detail, &mut Plan),
    begins: impl FnOnce(),
) -> Result<Option<Made>, CliError> {
    for transform in transforms {
        let mut plan = transform.plan(session, say)?;
        if plan.is_empty() {
            said.warnings.append(&mut plan.warnings);
            continue;
        }
        begins();
        return Ok(Some(Made {
            result: carried(session, plan, said)?,
            reveals: transform.reveals(),
            window: session.graph().window_start(),
        }));
    }
    Ok(None)
}

/// The windows of a session and of what was made of it, and the result's last record if it is of too much.
fn weigh(before: &Calibration, after: Option<&Session>) -> ((u64, u64), Option<Overstated>) {
    let Some(after) = after else {
        return ((before.window(), before.window()), None);
    };
    let after = Calibration::of(after);
    let windows = (before.window(), before.window_of(&after));
    (windows, before.overstated(&after))
}

/// Runs the transform for subagents on those of the session that it is for.
fn operate_on_subagents(
    context: &Context,
    job: &Job<'_>,
    said: &mut Plan,
) -> Result<Vec<(PathBuf, Stamp, Session)>, CliError> {
    let Some(work) = &job.for_subagents else {
        return Ok(Vec::new());
    };
    let mut changed = Vec::new();
    for sidecar in store::sidecars(&context.config, job.found.folder(), &job.found.id, &[])? {
        let name = sidecar
            .path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let agent = name.trim_start_matches("agent-").trim_end_matches(".jsonl");
        let is_transcript = matches!(
            sidecar.kind,
            store::SidecarKind::Subagent | store::SidecarKind::OldSubagent
        );
        if !is_transcript
            || work
                .only
                .as_ref()
                .is_some_and(|only| !only.iter().any(|a| a == agent))
        {
            continue;
        }
        let stamp = Stamp::of(&sidecar.path)?;
        let session = Session::open(&sidecar.path)?;
        let mut plan = work.transform.plan(&session, Detail::Full)?;
        if plan.is_empty() {
            continue;
        }
        let (document, lines) = plan.apply(&session)?;
        let after = session.derived(document, &lines);
        verify(&session, &after)?;
        let saved: i64 = plan.changes.iter().map(|c| c.bytes).sum();
        said.changes.push(Change {
            line: None,
            uuid: None,
            action: Action::Edit,
            what: "subagent".into(),
            bytes: saved,
            turn: None,
            gist: agent.into(),
            shown: 0,
            count: 1,
        });
        changed.push((sidecar.path, stamp, after));
    }
    Ok(changed)
}

/// The document that a plan makes of a session, and where its lines came from; what the plan says is gathered.
fn carried(
    session: &Session,
    mut plan: Plan,
    said: &mut Plan,
) -> Result<(Document, LineMap), CliError> {
    let result = plan.apply(session)?;
    said.changes.append(&mut plan.changes);
    said.warnings.append(&mut plan.warnings);
    said.dropped_agents.append(&mut plan.dropped_agents);
    said.quarantine.append(&mut plan.quarantine);
    Ok(result)
}

/// Says that nothing is to be done, and why where a transform gave a reason. Whoever asked for the
/// transcript on standard output gets it all the same.
fn nothing_to_do(
    context: &mut Context,
    job: &Job<'_>,
    glance: &Overview,
    destination: &Destination,
    reasons: &[String],
) -> Result<ExitCode, CliError> {
    let to_stdout = *destination == Destination::Stdout && !job.write.dry_run;
    if context.json && !to_stdout {
        let measure = Figures::of(&job.session, Calibration::of(&job.session).window());
        let said = [job.idle.as_deref().unwrap_or("nothing to do")].into_iter();
        let warnings: Vec<&str> = said.chain(reasons.iter().map(String::as_str)).collect();
        let document = json!({
            "operation": job.operation, "dry_run": job.write.dry_run,
            "source": {"session_id": job.found.id, "path": job.found.path},
            "target": null, "resume": null, "before": measure, "after": measure, "changes": [], "files": [], "warnings": warnings,
        });
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    let title = crate::render::fit(&crate::render::clean(glance.name()), 60);
    let id = crate::render::clean(&job.found.id);
    let why = match &job.idle {
        Some(idle) => format!("in {id} “{title}” {idle}"),
        None => format!(
            "{} finds nothing to change in {id} “{title}”",
            job.operation
        ),
    };
    let mut text = format!(
        "Nothing to do: {why}. Nothing was written.
"
    );
    for reason in reasons {
        let note = paint(YELLOW, "note:");
        let _ = writeln!(text, "{note} {}", crate::render::clean(reason));
    }
    if to_stdout {
        context.err.write_all(text.as_bytes())?;
        let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout());
        emit(&job.session, None, &mut out)?;
        out.flush()?;
    } else {
        context.out.write_all(text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn confirm(context: &mut Context, job: &Job<'_>) -> Result<(), CliError> {
    if job.in_place.yes {
        return Ok(());
    }
    if !context.interactive {
        return Err(CliError::refused(
            "not-confirmed",
            "--in-place rewrites the session, and there is no terminal to ask on",
            "give --yes to go ahead, or leave out --in-place to write a new session",
        ));
    }
    if context.confirm(&format!(
        "Rewrite {} in place? The old bytes are kept for `ccsurgery undo`.",
        crate::render::clean(&job.found.id)
    ))? {
        Ok(())
    } else {
        Err(CliError::refused(
            "not-confirmed",
            "not confirmed; nothing was written",
            "",
        ))
    }
}

fn publish(
    context: &mut Context,
    job: &Job<'_>,
    destination: &Destination,
    result: &Outcome,
    copy: Option<&CopySet<'_>>,
) -> Result<(), CliError> {
    let renames = copy.map(|c| &c.renames);
    match destination {
        Destination::Stdout => {
            let mut out = std::io::BufWriter::with_capacity(1 << 20, std::io::stdout());
            emit(&result.after, renames, &mut out)?;
            Ok(out.flush()?)
        }
        Destination::File(path) => Ok(store::export(path, &result.after, renames)?),
        Destination::InPlace => {
            context.recover()?;
            let operation = operation(context, job, &job.found.path, &job.found.id);
            let main = store::Replacement {
                path: &job.found.path,
                stamp: job.stamp,
                after: &result.after,
            };
            let agents = result
                .subagents
                .iter()
                .map(|(path, stamp, after)| store::Replacement {
                    path,
                    stamp: *stamp,
                    after,
                });
            let done = store::replace(
                &context.journal,
                operation,
                &agents.chain([main]).collect::<Vec<_>>(),
                &result.quarantine,
            )?;
            tell_of_quarantine(context, &done, result);
            let _ = fs_err::remove_file(
                job.found
                    .folder()
                    .join(&job.found.id)
                    .join("resume-head.jsonl"),
            );
            Ok(())
        }
        Destination::New { id, .. } => {
            context.recover()?;
            let (Some(copy), Some(target)) = (copy, destination.transcript()) else {
                return Ok(());
            };
            let operation = Operation {
                renamed: copy.renames.len(),
                ..operation(context, job, &target, &id.to_string())
            };
            let project = index_project(context, job, result, &target);
            let mut entered = Ok(());
            let done = store::create(
                &context.journal,
                operation,
                &store::NewSession {
                    files: &copy.files(&result.after, target.clone()),
                    renames: &copy.renames,
                    quarantine: &result.quarantine,
                },
                || entered = enter_in_index(&result.after, &target, project.as_deref()),
            )?;
            tell_of_quarantine(context, &done, result);
            if let Err(error) = entered {
                context.tell(&format!(
                    "{} the new session is not in sessions-index.json yet: {}",
                    paint(YELLOW, "note:"),
                    crate::render::clean(&error)
                ));
            }
            Ok(())
        }
    }
}

/// The project under which the new session is listed, where its folder has a list.
fn index_project(
    context: &Context,
    job: &Job<'_>,
    result: &Outcome,
    target: &Path,
) -> Option<PathBuf> {
    store::index_file(target.parent()?)?;
    let project = job.to_project.clone();
    let project = project.or_else(|| result.project.clone());
    Some(project.unwrap_or_else(|| context.project.clone()))
}

/// Enters a new session in the list that clients of one time keep; a list that cannot be written is no
/// failure, for those clients find the session by themselves.
fn enter_in_index(after: &Session, target: &Path, project: Option<&Path>) -> Result<(), String> {
    let (Some(project), Some(folder)) = (project, target.parent()) else {
        return Ok(());
    };
    let entry = store::IndexEntry::new(after, target, project).map_err(|e| e.to_string())?;
    store::add_to_index(folder, &entry)
        .map(drop)
        .map_err(|e| e.to_string())
}

/// Says where that is kept which leaves the transcript.
fn tell_of_quarantine(context: &mut Context, operation: &Operation, result: &Outcome) {
    if !result.quarantine.is_empty() {
        let path = context.journal.quarantine(&operation.id);
        context.tell(&format!(
            "what could not be read is kept in {}",
            crate::render::clean(&path.to_string_lossy())
        ));
    }
}

fn operation(context: &Context, job: &Job<'_>, target: &Path, target_id: &str) -> Operation {
    let (id, time) = Operation::name(context.now);
    Operation {
        id,
        time,
        operation: job.operation.to_owned(),
        command: context.command_line.clone(),
        source: job.found.path.clone(),
        source_id: job.found.id.clone(),
        target: target.to_owned(),
        target_id: target_id.to_owned(),
        state: State::Prepared,
        pid: 0,
        pid_start: None,
        created: Vec::new(),
        created_dirs: Vec::new(),
        created_states: Vec::new(),
        replaced: Vec::new(),
        changed: String::new(),
        renamed: 0,
    }
}
