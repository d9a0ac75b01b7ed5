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
mod view;
mod worker;

use std::path::Path;

use anyhow::{Context as _, Result};

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
        ["probe", version, name] => probe(version, name),
        ["record-fixtures"] => fixtures::write(),
        ["check-fixtures"] => fixtures::check(),
        _ => {
            println!(
                "conformance: clients are asked only where CCSURGERY_CONFORMANCE is `slice` or `all`; skipped"
            );
            fixtures::check()
        }
    }
}

/// Shows what a client makes of a session as it recorded it.
fn probe(version: &str, name: &str) -> Result<()> {
    let scenario = scenarios::scenario(name).with_context(|| format!("no scenario {name}"))?;
    let recording = record::recording(version, scenario)?;
    recording.restore()?;
    let prompt = "what now?";
    let turn = script::turn(prompt, vec![vec![script::text("Noted.")]]);
    let outcome = recording.resume(version, &recording.session, &recording.work(), &turn)?;
    let body = view::request(&outcome, prompt)
        .with_context(|| format!("no request: {}", outcome.output))?;
    for shown in view::of(
        body,
        &view::names(&recording, &recording.session, &recording.work()),
    ) {
        println!("{}", shown.line());
    }
    for fault in outcome.faults() {
        println!("refused: {fault}");
    }
    Ok(())
}
