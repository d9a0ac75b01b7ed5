//! The program as a person runs it: each test starts the built binary in a home of its own.
#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

#[path = "../harness/mod.rs"]
mod harness;
#[path = "../support/mod.rs"]
mod support;

mod archives;
mod browser;
mod bundles;
mod change;
mod clone;
mod completions;
mod delete_files;
mod demo;
mod doctor;
mod errors;
mod every_command;
mod export;
mod file_types;
mod fixtures;
mod graft;
mod grep;
mod help;
mod hostile;
mod hostile_bundles;
mod in_place;
mod journal;
mod json_schema;
mod keep;
mod network;
mod not_utf8;
mod places;
mod redact;
mod regressions;
mod repair;
mod see;
mod selectors;
mod settings;
mod streams;
mod terminal;
mod transforms;
mod trim;
mod trim_protection;
mod ui;
mod windows_transcript;
