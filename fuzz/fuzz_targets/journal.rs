#![no_main]
#![allow(dead_code)]

#[path = "../../tests/library/fuzz/mutate.rs"]
mod mutate;
#[path = "../../tests/library/fuzz/targets.rs"]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| targets::journal(data));

include!("mutator.rs");
