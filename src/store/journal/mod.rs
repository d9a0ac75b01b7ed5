//! The journal: what each operation replaced and created, and how it is undone, redone and recovered.
//!
//! Works on files as bytes. Knows nothing of transforms, and never writes a transcript that it did not keep itself.

mod gc;
mod journal;
mod record;
mod recover;
mod undo;

pub use journal::{Journal, JournalError};
pub use record::{Operation, Replaced, State};
pub(crate) use recover::{is_as, put_all_old, remove_folders};
pub use undo::{UndoError, check_undo, redo, undo};
