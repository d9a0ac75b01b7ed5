//! Runs that are killed, that fail and that are disturbed, at every step and at random moments.
//!
//! `cargo test --test faults` ends a run at each of its steps, and some at random. To look for more:
//! `CCSURGERY_KILLS=5000 cargo test --test faults -- --nocapture`, which tells what it did.
#![allow(
    clippy::print_stderr,
    reason = "a long run tells what it did, and a test that is skipped says so"
)]

#[path = "../harness/mod.rs"]
mod harness;

mod broken;
mod bundle;
#[cfg(target_os = "linux")]
mod calls;
mod cases;
#[cfg(target_os = "linux")]
mod device;
#[cfg(unix)]
mod disk;
mod graft;
mod halted;
#[cfg(target_os = "linux")]
mod kernel;
mod kills;
mod redact;
mod world;
mod writer;
