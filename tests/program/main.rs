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
mod completions;
mod demo;
mod doctor;
mod errors;
mod fixtures;
mod grep;
mod help;
mod hostile;
mod in_place;
mod json_schema;
mod network;
mod regressions;
mod repair;
mod see;
mod settings;
mod transforms;
mod trim;
mod trim_protection;
