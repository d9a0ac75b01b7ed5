//! The operations: each an options struct that makes a plan.

mod clone;
mod finish;
mod truncate;

pub use clone::{Clone, fresh_slug};
pub use finish::{Finish, title_for};
pub use truncate::Truncate;
