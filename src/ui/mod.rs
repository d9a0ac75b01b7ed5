//! The terminal interface: a session as a tree in which one marks what is to change.
//!
//! [`App`] is the whole state. [`App::update`] takes an [`Event`] and returns [`Effect`]s, and [`App::draw`] draws; neither
//! reads a file, a clock or a terminal. [`Runner`] does that: it carries effects out on threads, through a [`Host`], and
//! hands the answers back as events. The marks are a [`Plan`] of the same steps as plan files; nothing else changes a
//! session.

mod ansi;
mod answers;
mod app;
mod content;
mod dialog_keys;
mod draw;
mod filter;
mod host;
mod label;
mod list;
mod look;
mod marking_keys;
mod marks;
mod mouse;
mod runner;
mod step;
mod table;
mod table_keys;
mod terminal;
#[cfg(test)]
mod tests;
mod totals;
mod tree;
mod update;

pub use app::{App, Dialog, Effect, Event, Made, Message, Opening, Preview, Purpose, View};
pub use content::{content, last_turns};
pub use draw::KEYS;
pub use filter::Filter;
pub use host::{Host, carry_out};
pub use list::SessionPicker;
pub use look::Look;
pub use marks::{Compaction, Fate, Marks, Stub};
pub use runner::{Ending, Runner};
pub use step::{OptionValue, Plan, Step, shell_line};
pub use table::Table;
pub use totals::Totals;
pub use tree::{Node, NodeKey, NodeKind, Tree};
