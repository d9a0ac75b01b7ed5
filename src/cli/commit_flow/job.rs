//! What a command asks for, and where the result goes.

use std::path::PathBuf;

use crate::cli::args::{InPlaceArgs, SessionArg, WriteArgs};
use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::names;
use crate::ops::ChosenStep;
use crate::session::Session;
use crate::store::{BroughtFile, CopyTarget, Located, Stamp, SubagentWork};
use crate::surgery::Transform;
use crate::view::Overview;

/// One operation on one session, as a command asks for it.
pub(in crate::cli) struct Job<'a> {
    /// The operation's name.
    pub(in crate::cli) operation: &'static str,
    /// The session's file.
    pub(in crate::cli) found: Located,
    /// The transforms, in order.
    pub(in crate::cli) transforms: Vec<Box<dyn Transform + 'a>>,
    /// What is done to the transcripts of subagents.
    pub(in crate::cli) for_subagents: Option<SubagentWork<'a>>,
    /// Where the result goes.
    pub(in crate::cli) write: WriteArgs,
    /// Whether it replaces the original.
    pub(in crate::cli) in_place: InPlaceArgs,
    /// Another project for the result.
    pub(in crate::cli) to_project: Option<PathBuf>,
    /// Files that come along with inserted turns.
    pub(in crate::cli) brought: Vec<BroughtFile>,
    /// How the transforms were chosen, if the program chose them.
    pub(in crate::cli) steps: Vec<ChosenStep>,
    /// Why there may be nothing to do, if the command knows.
    pub(in crate::cli) idle: Option<String>,
    /// The state of the file when it was read.
    pub(super) stamp: Stamp,
    /// The session.
    pub(in crate::cli) session: Session,
}

impl<'a> Job<'a> {
    /// Finds and reads the session that a command names.
    pub(in crate::cli) fn new(
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
    pub(in crate::cli) fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Adds files that come along with inserted turns. Turns that are inserted twice need them once.
    pub(in crate::cli) fn bring(&mut self, files: Vec<BroughtFile>) {
        let known: Vec<PathBuf> = self.brought.iter().map(BroughtFile::path).collect();
        let new = files
            .into_iter()
            .filter(|file| !known.contains(&file.path()));
        self.brought.extend(new);
    }

    /// Adds a transform.
    pub(in crate::cli) fn with(mut self, transform: impl Transform + 'a) -> Self {
        self.transforms.push(Box::new(transform));
        self
    }
}

/// Where a result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum Destination {
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
    pub(in crate::cli) fn transcript(&self) -> Option<PathBuf> {
        match self {
            Destination::New(target) => Some(target.transcript()),
            Destination::File(path) => Some(path.clone()),
            Destination::InPlace | Destination::Stdout => None,
        }
    }

    /// What was made, in words.
    pub(in crate::cli) fn words(&self) -> String {
        match self {
            Destination::New(target) => format!("the new session {}", target.id),
            Destination::InPlace => "the session itself was changed".to_owned(),
            Destination::File(path) => format!("the file {}", path.display()),
            Destination::Stdout => "written to standard output".to_owned(),
        }
    }
}

/// What a job made.
pub(in crate::cli) struct Applied {
    /// A sentence about it.
    pub(in crate::cli) sentence: String,
    /// The transcript.
    pub(in crate::cli) path: PathBuf,
    /// The session's id, and the project that it belongs to.
    pub(in crate::cli) id: String,
    pub(in crate::cli) project: Option<PathBuf>,
    /// The command that resumes it.
    pub(in crate::cli) resume: Option<String>,
    /// The name of the operation in the journal.
    pub(in crate::cli) operation: String,
    /// Notes for the person.
    pub(in crate::cli) notes: Vec<String>,
}

/// A job whose session was handed to the surgery.
pub(in crate::cli) struct Task<'a> {
    pub(in crate::cli) operation: &'static str,
    pub(in crate::cli) found: Located,
    pub(in crate::cli) write: WriteArgs,
    pub(in crate::cli) in_place: InPlaceArgs,
    pub(in crate::cli) steps: Vec<ChosenStep>,
    pub(in crate::cli) idle: Option<String>,
    /// The project that the result belongs to, if it is known.
    pub(in crate::cli) project: Option<PathBuf>,
    pub(in crate::cli) overview: Overview,
    pub(in crate::cli) destination: Destination,
    pub(super) subagents: Option<SubagentWork<'a>>,
    pub(super) stamp: Stamp,
}
