//! What can be wrong with a session. Each check has its own file, with all that is known about it.
//!
//! The repairs are in `ops/repair`, in the same folders.

mod check;
pub(crate) mod checks;
mod finding;
mod judgement;
mod version;

pub use check::{Check, Gate, Survey};
pub use checks::{CHECKS, Surroundings, all_checks, diagnose, examine, find_check, look_around};
pub use finding::{Finding, Remedy, Severity};
pub use judgement::{Judgement, Reason};
pub use version::{NoVersion, Version, Versions};
