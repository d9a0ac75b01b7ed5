//! What can be wrong with a session.

mod checks;
mod finding;

pub use checks::examine;
pub use finding::{Finding, Severity};
