//! Asks real clients whether what `ccsurgery` writes resumes. See `README.md` beside this file.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that tells of its progress"
)]
#![allow(
    clippy::unwrap_used,
    reason = "a poisoned lock means that a thread has panicked"
)]

mod api;
mod client;
mod fixtures;
mod folders;
mod images;
mod job;
mod ledger;
mod record;
mod rules;
mod scenarios;
mod script;
mod scrub;
mod signature;
mod worker;

use std::path::Path;

use anyhow::{Context as _, Result, bail};

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words[..] {
        ["--worker", job] => worker::main(Path::new(job), false),
        ["--worker-fenced", job] => worker::main(Path::new(job), true),
        ["record", version, name] => {
            let scenario =
                scenarios::scenario(name).with_context(|| format!("no scenario {name}"))?;
            let recording = record::recording(version, scenario)?;
            println!("{}", recording.transcript().display());
            Ok(())
        }
        ["record-fixtures"] => fixtures::write(),
        ["check-fixtures"] => fixtures::check(),
        _ => bail!("what?"),
    }
}
