//! Makes one file of a conversation, to read and share: a page of HTML, or Markdown.
//!
//! Knows how a page is built. Must not know files, terminals or commands. Text of a session is hostile and private:
//! everything passes through a [`Redactor`], and HTML is only written by templates that escape it.

mod ansi;
mod chart;
mod cut;
mod html_diff;
mod html_items;
mod html_markdown;
mod index_page;
mod markdown_file;
mod operation_page;
mod page;
mod private_names;
mod redact_conversation;
mod redactor;

use crate::session::Session;
use crate::view::Conversation;

pub use index_page::{IndexRow, index_page};
pub use markdown_file::markdown_file;
pub use operation_page::{OperationPage, OperationSide, TurnFill, operation_page, text_page};
pub use page::html_page;
pub use private_names::PrivateNames;
pub use redactor::Redactor;

/// How much of a conversation is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ExportDetail {
    /// Only what the person wrote.
    Prompts,
    /// Prompts, answers, and one line for each call.
    Brief,
    /// Everything; long outputs are cut to their beginning and end.
    #[default]
    Normal,
    /// Everything, uncut.
    Full,
}

/// What is exported, and how.
#[derive(Debug, Clone, Copy)]
pub struct ExportOptions {
    /// How much is exported.
    pub detail: ExportDetail,
    /// Whether thinking is exported.
    pub thinking: bool,
}

/// A conversation with what a page needs beside it.
#[derive(Debug)]
pub struct Exportable<'a> {
    /// The session that holds the conversation; images are read from it.
    pub session: &'a Session,
    /// The turns.
    pub conversation: Conversation,
    /// The conversations of subagents, each with the session that holds it.
    pub subagents: Vec<(&'a Session, Conversation)>,
    /// Abandoned branches.
    pub branches: Vec<Conversation>,
}

impl Exportable<'_> {
    /// Returns the conversation of a subagent.
    fn subagent(&self, id: &str) -> Option<(&Session, &Conversation)> {
        let has_id = |c: &Conversation| c.agent_id.as_deref() == Some(id);
        let found = self.subagents.iter().find(|(_, c)| has_id(c))?;
        Some((found.0, &found.1))
    }
}
