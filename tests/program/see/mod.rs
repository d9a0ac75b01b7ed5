//! The commands that look and do not touch, run as a person would.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod diff;
mod inspect;
mod ls;
mod payload;
mod recorded;
mod show;
mod widths;
