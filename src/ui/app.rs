//! The state of the terminal interface, what happens to it, and what it asks for.

use std::path::PathBuf;
use std::sync::Arc;

use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use ratatui::text::Line;

use crate::ops::Trimmed;
use crate::transcript::EntryIx;
use crate::view::{Conversation, SessionRow};

use super::list::SessionPicker;
use super::look::Look;
use super::step::{Plan, Step};
use super::table::Table;
use super::totals::Totals;
use super::tree::{NodeKey, Tree};

/// What is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum View {
    /// The list of sessions.
    #[default]
    Sessions,
    /// The operating table.
    Table,
    /// What the marks would do.
    Preview,
    /// What was made.
    Made,
}

/// Something that is open above the screen, and gets the keys.
#[derive(Debug, Clone)]
pub enum Dialog {
    /// All keys.
    Help {
        /// The first line that is shown.
        scroll: usize,
    },
    /// A line that is typed.
    Input {
        /// What it is for.
        purpose: Purpose,
        /// What was typed.
        text: String,
    },
    /// The digest of a compaction.
    Digest {
        /// The last turn that is summarised.
        at: u32,
        /// The text; `None` while it is made.
        text: Option<String>,
        /// Whether a person changed it.
        edited: bool,
        /// The first line that is shown.
        scroll: usize,
    },
    /// A question, which `y` answers with yes.
    Confirm {
        /// The question.
        question: String,
        /// What yes does.
        effect: Box<Effect>,
    },
}

/// What a typed line is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A text to look for.
    Search,
    /// A filter.
    Filter,
    /// A budget of tokens.
    Budget,
    /// A command.
    Command,
}

impl Purpose {
    /// Returns what stands before the line.
    pub fn prompt(self) -> &'static str {
        match self {
            Purpose::Search => "search: ",
            Purpose::Filter => "filter (tool:NAME >TOKENS error TEXT): ",
            Purpose::Budget => "trim to how many tokens, such as 100k: ",
            Purpose::Command => ":",
        }
    }
}

/// A message below the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The text, safe to draw.
    pub text: String,
    /// Whether something failed.
    pub is_error: bool,
}

/// What a preview shows.
#[derive(Debug, Clone, Default)]
pub struct Preview {
    /// The plan.
    pub plan: Plan,
    /// The lines; empty while it is made.
    pub lines: Vec<Line<'static>>,
    /// Whether the plan changes nothing.
    pub is_idle: bool,
    /// The first line that is shown.
    pub scroll: usize,
    /// Whether it is being made or carried out.
    pub busy: Option<&'static str>,
}

/// What an operation made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Made {
    /// A sentence about it.
    pub sentence: String,
    /// The session's transcript.
    pub path: PathBuf,
    /// The command that resumes it, for a shell.
    pub resume: Option<String>,
    /// The session's id, and the folder in which it is resumed.
    pub target: (String, Option<PathBuf>),
    /// The name of the operation in the journal.
    pub operation: String,
    /// The command line that does the same.
    pub command: String,
    /// Notes for the person.
    pub notes: Vec<String>,
    /// Whether it was undone.
    pub undone: bool,
}

/// Everything that the terminal interface knows.
#[derive(Debug, Clone)]
pub struct App {
    /// How it looks.
    pub look: Look,
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// What is on the screen.
    pub view: View,
    /// The list of sessions.
    pub list: SessionPicker,
    /// The session on the operating table.
    pub table: Option<Box<Table>>,
    /// What is being read, if a session is.
    pub opening: Option<Opening>,
    /// What is open above the screen.
    pub dialog: Option<Dialog>,
    /// A message.
    pub message: Option<Message>,
    /// What the marks would do.
    pub preview: Preview,
    /// What was made last.
    pub made: Option<Made>,
    /// How often the clock ticked, for what moves.
    pub ticks: u64,
    /// What is looked for at the moment.
    pub(super) typed: String,
    /// The session whose last turns were asked for, and for how many columns.
    pub(super) asked: Option<(PathBuf, usize)>,
}

/// A session that is being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// Its transcript.
    pub path: PathBuf,
    /// Its title, safe to draw.
    pub title: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// How many of them are read.
    pub read: u64,
}

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was used.
    Mouse(MouseEvent),
    /// A text was pasted.
    Paste(String),
    /// The terminal has another size.
    Resize(u16, u16),
    /// A quarter of a second passed.
    Tick,
    /// So many bytes of the session that is being read are read.
    Progress(u64),
    /// The sessions were listed.
    Sessions(Result<Vec<SessionRow>, String>),
    /// The last turns of a session were read.
    Glimpse(PathBuf, usize, Vec<Line<'static>>),
    /// A session was read.
    Opened(Result<Arc<Tree>, String>),
    /// The content of a row was laid out for so many columns.
    Content(NodeKey, usize, Vec<Line<'static>>),
    /// The conversation of a branch or a subagent was read.
    Unfolded(NodeKey, Result<Conversation, String>),
    /// The plan with this number was tried.
    Forecast(u64, Result<Totals, String>),
    /// The rows were found that fit what was typed.
    Found(Purpose, Result<Vec<u32>, String>),
    /// Steps were found that bring the session under a budget.
    Trimmed(Result<Trimmed, String>),
    /// The digest of the turns up to this one was made.
    Digest(u32, Result<String, String>),
    /// A person edited the digest.
    DigestEdited(Result<String, String>),
    /// A person edited the text of an entry.
    Edited(EntryIx, Result<String, String>),
    /// A command was read as a step.
    Parsed(Result<Step, String>),
    /// The plan was written to a file.
    Saved(Result<String, String>),
    /// The preview was made: the text, and whether there is nothing to do.
    Previewed(Result<(String, bool), String>),
    /// The plan was carried out.
    Applied(Result<Made, String>),
    /// An operation was undone.
    Undone(Result<String, String>),
    /// The session on the table was written by somebody else.
    Grew,
}

/// Something that is asked of the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// List the sessions, of all projects or of this one.
    List(bool),
    /// Lay out the last turns of a session.
    Glimpse(PathBuf, usize),
    /// Read a session.
    Open(PathBuf),
    /// Lay out the content of a row.
    Read(NodeKey, usize),
    /// Read the conversation of a branch or a subagent.
    Unfold(NodeKey),
    /// Try a plan.
    Forecast(u64, Plan),
    /// Find rows.
    Find(Purpose, String),
    /// Find steps that bring the session under a budget.
    Trim(String),
    /// Make the digest of the turns up to this one.
    Digest(u32),
    /// Edit a digest.
    EditDigest(String),
    /// Edit the text of an entry.
    Edit(EntryIx),
    /// Read a command as a step.
    Parse(String),
    /// Write a plan to a file.
    Save(String, Plan),
    /// Show what a plan would do.
    Preview(Plan, usize),
    /// Carry a plan out, in place or as a new session.
    Apply(Plan, bool),
    /// Undo an operation.
    Undo(String),
    /// Look whether the session on the table was written since.
    Watch,
    /// End, and resume the session that was made.
    Resume(Box<Made>),
    /// Stop until the shell continues the program.
    Suspend,
    /// End.
    Quit,
}

impl App {
    /// Makes the state for a terminal of this size.
    pub fn new(look: Look, size: (u16, u16)) -> Self {
        Self {
            look,
            size,
            view: View::Sessions,
            list: SessionPicker::default(),
            table: None,
            opening: None,
            dialog: None,
            message: None,
            preview: Preview::default(),
            made: None,
            ticks: 0,
            typed: String::new(),
            asked: None,
        }
    }

    /// Shows a message.
    pub fn say(&mut self, text: &str) {
        self.message = Some(Message {
            text: self.look.presenter.line(text),
            is_error: false,
        });
    }

    /// Shows a failure.
    pub fn fail(&mut self, text: &str) {
        self.message = Some(Message {
            text: self.look.presenter.line(text),
            is_error: true,
        });
    }

    /// Begins to read a session.
    pub fn open(&mut self, path: PathBuf, title: &str, bytes: u64) -> Vec<Effect> {
        self.opening = Some(Opening {
            path: path.clone(),
            title: self.look.presenter.line(title),
            bytes,
            read: 0,
        });
        self.view = View::Table;
        vec![Effect::Open(path)]
    }
}
