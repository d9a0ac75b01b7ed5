//! How a session changes: plans, the resolver of parents, renaming for a copy, the finishing touches, and the verifier.

mod change_kind;
mod conversation;
mod copy_names;
mod excerpt;
mod figures;
mod finish;
mod forecast;
mod fresh_ids;
mod left_out;
mod move_paths;
mod new_entry;
mod plan;
mod record;
mod refusal;
mod reparent;
mod surgery;
mod verify;

pub use change_kind::ChangeKind;
pub use conversation::BrokenPromise;
pub use copy_names::{CopyNames, fresh_slug};
pub use excerpt::{Excerpt, Words};
pub use figures::Figures;
pub(crate) use finish::session_id;
pub use finish::{Finish, title_for};
pub use forecast::Forecast;
pub use fresh_ids::{FreshIds, NotAsMeant};
pub(crate) use fresh_ids::{emit, emitted_len, least_emitted};
pub(crate) use move_paths::move_project;
pub(crate) use new_entry::{common_fields, leading_entry};
pub use plan::{Action, Change, Detail, Fate, InsertAt, Name, Plan, PlanError, Reach, Transform};
pub use record::Record;
pub use refusal::{Refusal, RefusalKind, Remedy, Why};
pub(crate) use reparent::parent_edit;
pub use reparent::{Relinked, reparent};
pub use surgery::{Operated, Surgery, SurgeryError};
pub use verify::{Fault, Faults, Verified};
