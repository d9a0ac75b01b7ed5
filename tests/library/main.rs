//! The library as an embedder uses it, its promises on made-up sessions, and a little fuzzing.

#[path = "../harness/mod.rs"]
mod harness;

mod fixtures;
mod fuzz;
mod generated;
mod pipeline;
mod properties;
