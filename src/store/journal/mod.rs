//! The journal: what each operation replaced and created, and how it is undone, redone and recovered.
//!
//! Works on files as bytes. Knows nothing of transforms, and never writes a transcript that it did not keep itself. A
//! record is checked before it is acted on: nothing outside the places of sessions is ever removed.

mod error;
mod gc;
mod journal;
mod kept;
mod now;
mod record;
mod recover;
mod redo;
mod shared_edit;
mod undo;
mod validate;

pub use error::UndoError;
pub use journal::{Journal, JournalError, Records, UnusableRecord};
pub(crate) use kept::before_name;
pub(crate) use now::Now;
pub use record::{Operation, Removed, Replaced, State};
pub(crate) use recover::{is_as, remove_folders, remove_left_folders};
pub use redo::{check_redo, redo};
pub use shared_edit::{LineChange, SharedEdit};
pub(crate) use shared_edit::{apply_all, revert_all};
pub(crate) use undo::remove_resume_cache;
pub use undo::{Step, check_undo, undo};
pub use validate::RecordFault;
