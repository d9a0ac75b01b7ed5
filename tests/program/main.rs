//! The program as a person runs it: each test starts the built binary in a home of its own.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../support/mod.rs"]
mod support;

mod change;
mod clone;
mod demo;
mod doctor;
mod errors;
mod fixtures;
mod help;
mod hostile;
mod in_place;
mod network;
mod places;
mod regressions;
mod repair;
mod see;
mod transforms;
mod trim;
mod trim_protection;
