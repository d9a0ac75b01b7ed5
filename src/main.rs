//! The `ccsurgery` program.
fn main() {}
