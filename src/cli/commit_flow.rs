//! The flow of every command that writes: operate, verify, preview, ask, publish, report.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use uuid::Uuid;

use crate::ops::ChosenStep;
use crate::render::{YELLOW, clean, fit, paint};
use crate::session::Session;
use crate::store::{
    self, BroughtFile, ChangedSubagent, CopyPlan, CopySource, CopyTarget, Located, Provenance,
    Published, Sessions, SidecarChanges, Stamp, SubagentWork, changed_subagents,
};
use crate::surgery::{
    CopyNames, Detail, FreshIds, Surgery, Transform, Verified, emitted_len, title_for,
};
use crate::view::Overview;

use super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::context::Context;
use super::destination;
use super::error::CliError;
use super::names;
use super::progress::Progress;
use super::question::Question;
use super::report::{self, Report};
use super::report_page;

/// How many bytes are collected before they are written to standard output.
const STREAM_BUFFER: usize = 1 << 20;

/// One operation on one session, as a command asks for it.
pub(super) struct Job<'a> {
    /// The operation's name.
    pub(super) operation: &'static str,
    /// The session's file.
    pub(super) found: Located,
    /// The transforms, in order.
    pub(super) transforms: Vec<Box<dyn Transform + 'a>>,
    /// What is done to the transcripts of subagents.
    pub(super) for_subagents: Option<SubagentWork<'a>>,
    /// Where the result goes.
    pub(super) write: WriteArgs,
    /// Whether it replaces the original.
    pub(super) in_place: InPlaceArgs,
    /// Another project for the result.
    pub(super) to_project: Option<PathBuf>,
    /// Files that come along with inserted turns.
    pub(super) brought: Vec<BroughtFile>,
    /// How the transforms were chosen, if the program chose them.
    pub(super) steps: Vec<ChosenStep>,
    /// Why there may be nothing to do, if the command knows.
    pub(super) idle: Option<String>,
    /// The state of the file when it was read.
    stamp: Stamp,
    /// The session.
    pub(super) session: Session,
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
        let session = names::open(context, &found)?;
        Ok(Self {
            operation,
            found,
            transforms: Vec::new(),
            for_subagents: None,
            write,
            in_place,
            to_project: None,
            brought: Vec::new(),
            steps: Vec::new(),
            idle: None,
            stamp,
            session,
        })
    }

    /// The state of the file when it was read.
    pub(super) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Adds files that come along with inserted turns. Turns that are inserted twice need them once.
    pub(super) fn bring(&mut self, files: Vec<BroughtFile>) {
        let known: Vec<PathBuf> = self.brought.iter().map(BroughtFile::path).collect();
        let new = files
            .into_iter()
            .filter(|file| !known.contains(&file.path()));
        self.brought.extend(new);
    }

    /// Adds a transform.
    pub(super) fn with(mut self, transform: impl Transform + 'a) -> Self {
        self.transforms.push(Box::new(transform));
        self
    }
}

/// Where a result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Destination {
    /// A new session.
    New(CopyTarget),
    /// The session itself.
    InPlace,
    /// A file of the user's choice.
    File(PathBuf),
    /// Standard output.
    Stdout,
}

impl Destination {
    /// The file that the transcript becomes, if that is a new one.
    pub(super) fn transcript(&self) -> Option<PathBuf> {
        match self {
            Destination::New(target) => Some(target.transcript()),
            Destination::File(path) => Some(path.clone()),
            Destination::InPlace | Destination::Stdout => None,
        }
    }

    /// What was made, in words.
    pub(super) fn words(&self) -> String {
        match self {
            Destination::New(target) => format!("the new session {}", target.id),
            Destination::InPlace => "the session itself was changed".to_owned(),
            Destination::File(path) => format!("the file {}", path.display()),
            Destination::Stdout => "written to standard output".to_owned(),
        }
    }
}

/// What a job made.
pub(super) struct Applied {
    /// A sentence about it.
    pub(super) sentence: String,
    /// The transcript.
    pub(super) path: PathBuf,
    /// The session's id, and the project that it belongs to.
    pub(super) id: String,
    pub(super) project: Option<PathBuf>,
    /// The command that resumes it.
    pub(super) resume: Option<String>,
    /// The name of the operation in the journal.
    pub(super) operation: String,
    /// Notes for the person.
    pub(super) notes: Vec<String>,
}

/// A job whose session was handed to the surgery.
pub(super) struct Task<'a> {
    pub(super) operation: &'static str,
    pub(super) found: Located,
    pub(super) write: WriteArgs,
    pub(super) in_place: InPlaceArgs,
    pub(super) steps: Vec<ChosenStep>,
    pub(super) idle: Option<String>,
    /// The project that the result belongs to, if it is known.
    pub(super) project: Option<PathBuf>,
    pub(super) overview: Overview,
    pub(super) destination: Destination,
    subagents: Option<SubagentWork<'a>>,
    stamp: Stamp,
}

/// Runs a job to its end.
pub(super) fn run(context: &mut Context, job: Job<'_>) -> Result<ExitCode, CliError> {
    with_outcome(context, job, |context, task, verified, outcome| {
        if outcome.is_idle(task) {
            return nothing_to_do(context, task, verified);
        }
        let mut report = Report::new(task, verified, outcome);
        tolerate_closed_pipe(report.show_preview(context))?;
        if task.write.dry_run {
            report.write_page(context)?;
            tolerate_closed_pipe(report.show_dry_run(context))?;
            return Ok(ExitCode::SUCCESS);
        }
        if task.destination == Destination::InPlace {
            confirm(context, task)?;
        }
        let progress = Progress::start(context.progress, "writing");
        progress.watch(verified.written(), report.written_len());
        let published = publish(context, task, verified, outcome)?;
        progress.done();
        if let Some(metadata) = task
            .destination
            .transcript()
            .and_then(|p| p.metadata().ok())
        {
            report.set_written(metadata.len());
        }
        for note in notes_of(published.as_ref()) {
            context.tell(&note);
        }
        // The session is written: a report that cannot be must not look like a failure of that.
        if let Err(error) = report.write_page(context) {
            let note = paint(YELLOW, "note:");
            context.tell(&format!(
                "{note} the report was not written: {}",
                error.message
            ));
        }
        let printed = report.show_done(context);
        context.end_report(printed);
        Ok(ExitCode::SUCCESS)
    })
}

/// Returns what a job would do, as a dry run shows it, and whether that is nothing.
pub(super) fn preview(context: &mut Context, job: Job<'_>) -> Result<(String, bool), CliError> {
    with_outcome(context, job, |context, task, verified, outcome| {
        if outcome.is_idle(task) {
            return Ok((idle_text(context, task, verified), true));
        }
        let report = Report::new(task, verified, outcome);
        Ok((report.text(context), false))
    })
}

/// Carries a job out without a word, and returns what was made; `None` if there was nothing to do.
pub(super) fn apply(context: &mut Context, job: Job<'_>) -> Result<Option<Applied>, CliError> {
    with_outcome(context, job, |context, task, verified, outcome| {
        if outcome.is_idle(task) {
            return Ok(None);
        }
        let report = Report::new(task, verified, outcome);
        let published = publish(context, task, verified, outcome)?;
        let notes = notes_of(published.as_ref());
        let operation = published.map(|p| p.operation.id).unwrap_or_default();
        Ok(Some(report.applied(context, operation, notes)))
    })
}

/// Operates and verifies, and hands over what came of it.
fn with_outcome<T>(
    context: &mut Context,
    mut job: Job<'_>,
    then: impl FnOnce(&mut Context, &Task<'_>, &Verified, &Outcome<'_>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let brought = std::mem::take(&mut job.brought);
    let progress = Progress::start(context.progress, "planning");
    let (task, surgery, copy) = prepare(context, job)?;
    let operated = surgery.operate()?;
    progress.phase("checking");
    let verified = operated.verify()?;
    let outcome = Outcome::new(context, &task, &verified, copy, brought)?;
    progress.done();
    then(context, &task, &verified, &outcome)
}

/// A reader that closed the pipe does not stop the work that was asked for.
fn tolerate_closed_pipe(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// How a result becomes a copy.
enum Copying {
    /// A session of its own, with files of its own.
    Session(CopySource),
    /// A transcript alone, written to a file or a stream.
    Transcript(CopyNames),
}

impl Copying {
    fn names(&self) -> &CopyNames {
        match self {
            Copying::Session(source) => source.names(),
            Copying::Transcript(names) => names,
        }
    }
}

/// Decides where the result goes, and prepares the surgery.
fn prepare<'a>(
    context: &Context,
    mut job: Job<'a>,
) -> Result<(Task<'a>, Surgery<'a>, Option<Copying>), CliError> {
    let held_in = names::project_of(&job.session, job.found.folder());
    let destination = destination::choose(context, &mut job)?;
    refuse_live(context, &job)?;
    refuse_target(&destination)?;
    report_page::refuse_existing(job.write.report.as_deref())?;
    let copy = copying(context, &job, &destination)?;
    let task = Task {
        operation: job.operation,
        overview: Overview::of(&job.session),
        project: job.to_project.or(held_in),
        found: job.found,
        write: job.write,
        in_place: job.in_place,
        steps: job.steps,
        idle: job.idle,
        subagents: job.for_subagents,
        stamp: job.stamp,
        destination,
    };
    let mut surgery = Surgery::on(job.session)
        .then_all(job.transforms)
        .recording(detail(context, &task));
    if let Some(copy) = &copy {
        surgery = surgery.as_copy(copy.names().clone());
    }
    let given = task.write.title.clone();
    let made_up = || {
        copy.is_some()
            .then(|| title_for(&task.overview, task.operation))
    };
    if let Some(title) = given.or_else(made_up) {
        surgery = surgery.titled(title);
    }
    if task.write.diff.is_some() || task.write.report.is_some() {
        surgery = surgery.keeping_original();
    }
    Ok((task, surgery, copy))
}

/// How much of what happens somebody will read.
fn detail(context: &Context, task: &Task<'_>) -> Detail {
    if context.json || context.verbose {
        Detail::Full
    } else if is_unseen(context, task) && task.write.report.is_none() {
        Detail::None
    } else {
        Detail::Grouped
    }
}

/// Whether nobody is shown what would happen.
pub(super) fn is_unseen(context: &Context, task: &Task<'_>) -> bool {
    context.json || context.quiet && !task.write.dry_run
}

fn copying(
    context: &Context,
    job: &Job<'_>,
    destination: &Destination,
) -> Result<Option<Copying>, CliError> {
    match destination {
        Destination::New(target) => {
            let target = target.clone();
            let source = CopySource::gather(
                &context.config,
                &job.found,
                &job.session,
                target,
                Uuid::new_v4,
            )?;
            Ok(Some(Copying::Session(source)))
        }
        Destination::File(_) | Destination::Stdout if job.operation == "clone" => {
            let folder = job.found.folder().file_name().unwrap_or_default();
            let folder = folder.to_string_lossy().into_owned();
            Ok(Some(Copying::Transcript(CopyNames {
                old_id: job.found.id.clone(),
                new_id: Uuid::new_v4(),
                folders: (folder.clone(), folder),
                ..CopyNames::default()
            })))
        }
        _ => Ok(None),
    }
}

/// Refuses at once, and in a preview too, what would fail at the end.
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
    use io::ErrorKind::{NotADirectory, NotFound};
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

/// Refuses to rewrite a session that a running client has open: it would write on as if nothing had happened.
fn refuse_live(context: &Context, job: &Job<'_>) -> Result<(), CliError> {
    if !job.in_place.in_place || job.in_place.allow_live || job.write.dry_run {
        return Ok(());
    }
    match store::live(&context.config, &job.found.id) {
        Some(live) => Err(CliError::refused(
            "live",
            format!(
                "session {} is open in Claude Code (process {})",
                job.found.id, live.pid
            ),
            "leave Claude Code first, or leave out --in-place to write a new session; --allow-live overrides",
        )),
        None => Ok(()),
    }
}

/// What will be written, apart from the transcript that was verified.
pub(super) struct Outcome<'v> {
    copy: Option<CopyPlan<'v>>,
    /// The ids of a copy that is a transcript alone.
    ids: Option<FreshIds<'v>>,
    subagents: Vec<ChangedSubagent>,
    /// Links and other special files beside a transcript that is rewritten in place.
    skipped: Vec<PathBuf>,
    /// Files that are made or removed beside a session that is rewritten.
    beside: SidecarChanges,
    transformed: bool,
}

impl<'v> Outcome<'v> {
    fn new(
        context: &Context,
        task: &Task<'_>,
        verified: &'v Verified,
        copying: Option<Copying>,
        brought: Vec<BroughtFile>,
    ) -> Result<Self, CliError> {
        let mut outcome = Self {
            copy: None,
            ids: None,
            subagents: Vec::new(),
            skipped: Vec::new(),
            beside: SidecarChanges::default(),
            transformed: verified.operated().is_transformed(),
        };
        match (copying, &task.subagents) {
            (Some(Copying::Session(source)), work) => {
                outcome.copy =
                    Some(source.plan_with(&context.config, verified, work.as_ref(), brought)?);
            }
            (Some(Copying::Transcript(names)), _) => {
                outcome.ids = Some(FreshIds::for_copy(&names, verified.session()));
            }
            (None, work) if task.destination == Destination::InPlace => {
                let unneeded = store::unneeded_files(&context.config, &task.found, verified)?;
                outcome.beside = SidecarChanges::new(brought)?.removing(unneeded)?;
                if let Some(work) = work {
                    let (changed, skipped) = changed_subagents(&context.config, &task.found, work)?;
                    outcome.subagents = changed;
                    let is_removed = |agent: &ChangedSubagent| outcome.beside.removes(&agent.path);
                    outcome.subagents.retain(|agent| !is_removed(agent));
                    outcome.skipped = skipped;
                }
            }
            (None, _) => {}
        }
        Ok(outcome)
    }

    /// Whether there is nothing to write.
    fn is_idle(&self, task: &Task<'_>) -> bool {
        let titled = task.write.title.is_some() && !matches!(task.destination, Destination::New(_));
        !(self.transformed
            || titled
            || task.operation == "clone"
            || self.subagent_changes().next().is_some())
    }

    /// What was done to the transcripts of subagents.
    pub(super) fn subagent_changes(&self) -> impl Iterator<Item = &crate::surgery::Change> {
        let copied = self.copy.iter().flat_map(CopyPlan::subagent_changes);
        copied.chain(self.subagents.iter().map(|agent| &agent.change))
    }

    /// Warns of each file of the session that is left out because it is not a regular file.
    pub(super) fn warnings(&self) -> impl Iterator<Item = String> {
        let copied = self.copy.iter().flat_map(CopyPlan::skipped);
        let not_copied = copied.map(|path| ("copied", path));
        let not_changed = self.skipped.iter().map(|path| ("changed", path));
        not_copied.chain(not_changed).map(|(what, path)| {
            let kind = store::kind_of_file(path);
            format!("not {what}: `{}` is {kind}", path.display())
        })
    }

    /// The ids of the copy, if the result is one.
    pub(super) fn ids(&self) -> Option<&FreshIds<'_>> {
        self.copy.as_ref().map(CopyPlan::ids).or(self.ids.as_ref())
    }

    /// The copy, if the result is a session of its own.
    pub(super) fn copy(&self) -> Option<&CopyPlan<'v>> {
        self.copy.as_ref()
    }

    /// The files that are made or removed beside a session that is rewritten.
    pub(super) fn beside(&self) -> &SidecarChanges {
        &self.beside
    }

    /// The size of the transcript that will be written.
    pub(super) fn transcript_len(&self, verified: &Verified) -> u64 {
        emitted_len(verified.session(), self.ids())
    }
}

fn confirm(context: &mut Context, task: &Task<'_>) -> Result<(), CliError> {
    let text = format!(
        "Rewrite {} in place? The old bytes are kept for `ccsurgery undo`.",
        clean(&task.found.id)
    );
    let question = Question {
        yes: task.in_place.yes,
        reason: "--in-place rewrites the session",
        otherwise: "leave out --in-place to write a new session",
        text: &text,
    };
    question.ask(context)
}

fn publish(
    context: &mut Context,
    task: &Task<'_>,
    verified: &Verified,
    outcome: &Outcome<'_>,
) -> Result<Option<Published>, CliError> {
    let provenance = Provenance {
        operation: task.operation.to_owned(),
        command: context.command_line.clone(),
        now: context.now,
        random: Uuid::new_v4(),
    };
    if matches!(task.destination, Destination::New(_) | Destination::InPlace) {
        context.recover()?;
    }
    let sessions = Sessions::new(&context.journal);
    match (&task.destination, &outcome.copy) {
        (Destination::Stdout, _) => {
            let mut out = BufWriter::with_capacity(STREAM_BUFFER, io::stdout());
            store::write_stream(&mut out, verified, outcome.ids())?;
            out.flush()?;
            Ok(None)
        }
        (Destination::File(path), _) => {
            store::write_file(path, verified, outcome.ids())?;
            Ok(None)
        }
        (Destination::New(_), Some(copy)) => {
            let project = task.project.as_deref().unwrap_or(&context.project);
            Ok(Some(sessions.create(
                &task.found,
                copy,
                project,
                &provenance,
            )?))
        }
        (Destination::InPlace | Destination::New(_), _) => Ok(Some(sessions.replace_with(
            &task.found,
            task.stamp,
            verified,
            &outcome.subagents,
            &outcome.beside,
            &provenance,
        )?)),
    }
}

/// Returns what a person should know of what was published.
fn notes_of(published: Option<&Published>) -> Vec<String> {
    let Some(published) = published else {
        return Vec::new();
    };
    let kept = published.quarantine.as_ref().map(|path| {
        format!(
            "what could not be read is kept in {}",
            clean(&path.to_string_lossy())
        )
    });
    let listed = published.not_in_index.as_ref().map(|why| {
        format!(
            "{} the new session is not in sessions-index.json yet: {}",
            paint(YELLOW, "note:"),
            clean(why)
        )
    });
    kept.into_iter().chain(listed).collect()
}

/// Reports that there is nothing to do, and why if that is known. The transcript still goes to the file or the
/// stream that was asked for.
fn nothing_to_do(
    context: &mut Context,
    task: &Task<'_>,
    verified: &Verified,
) -> Result<ExitCode, CliError> {
    let to_stdout = task.destination == Destination::Stdout && !task.write.dry_run;
    if let (Destination::File(path), false) = (&task.destination, task.write.dry_run) {
        store::write_file(path, verified, None)?;
    }
    if to_stdout {
        context
            .err
            .write_all(idle_text(context, task, verified).as_bytes())?;
        let mut out = BufWriter::with_capacity(STREAM_BUFFER, io::stdout());
        store::write_stream(&mut out, verified, None)?;
        out.flush()?;
    } else if context.json {
        report::print_idle(context, task, verified)?;
    } else {
        context
            .out
            .write_all(idle_text(context, task, verified).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn idle_text(context: &Context, task: &Task<'_>, verified: &Verified) -> String {
    let title = fit(&context.words(task.overview.name()), 60);
    let id = clean(&task.found.id);
    let why = match &task.idle {
        Some(idle) => format!("in {id} “{title}” {idle}"),
        None => format!(
            "{} finds nothing to change in {id} “{title}”",
            task.operation
        ),
    };
    let written = match &task.destination {
        Destination::File(path) if !task.write.dry_run => {
            format!("{} is an unchanged copy", clean(&path.to_string_lossy()))
        }
        _ => "Nothing was written".to_owned(),
    };
    let mut text = format!("Nothing to do: {why}. {written}.\n");
    for reason in &verified.operated().record().warnings {
        let note = paint(YELLOW, "note:");
        let _ = writeln!(text, "{note} {}", clean(reason));
    }
    text
}
