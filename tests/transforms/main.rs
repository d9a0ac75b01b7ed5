//! The transforms: what each promises, held on made-up sessions, on recorded ones, and as a person meets it.

#[path = "../common/mod.rs"]
mod common;

mod generate;
mod judge;
mod properties;
mod recorded;
