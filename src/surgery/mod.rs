//! How a session changes: plans, the resolver of parents, renaming for a copy, the finishing touches, and the verifier.

mod change_kind;
mod excerpt;
mod figures;
mod finish;
mod forecast;
mod new_entry;
mod plan;
mod refusal;
mod rename;
mod reparent;
mod verify;

pub use change_kind::ChangeKind;
pub use excerpt::{Excerpt, Words};
pub use figures::Figures;
pub use finish::{Finish, title_for};
pub use forecast::Forecast;
pub(crate) use new_entry::common_fields;
pub use plan::{Action, Change, Detail, Fate, InsertAt, Name, Plan, PlanError, Transform};
pub use refusal::{Refusal, RefusalKind, Remedy, Why};
pub use rename::{NotAsMeant, Renaming, emit, emitted_len, least_emitted};
pub use reparent::{Relinked, reparent};
pub use verify::{Fault, Faults, verify};
