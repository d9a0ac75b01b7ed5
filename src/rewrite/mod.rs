//! How a session changes: plans that are data, the one place that computes a parent, and the judge.

mod gist;
mod plan;
mod rename;
mod reparent;
mod report;
mod verify;
mod what;

pub use gist::{Gist, Words};
pub use plan::{Action, Change, Fate, Name, Place, Plan, PlanError, Refusal, Say, Transform, Why};
pub use rename::{NotAsMeant, Renames, emit, emitted_len, least_emitted};
pub use reparent::{Mended, reparent};
pub use report::Measure;
pub use verify::{Fault, Faults, verify};
pub use what::What;
