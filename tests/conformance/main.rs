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

mod agents;
mod api;
mod budget;
mod case;
mod cells;
mod client;
#[path = "../support/corrupt.rs"]
mod corrupt;
mod documents;
mod expect;
mod fixtures;
mod folders;
mod images;
mod interactive;
mod job;
mod joins;
mod ledger;
mod made_up;
mod matrix;
mod meanwhile;
mod operations;
mod process;
mod record;
mod repairs;
mod report;
mod results;
mod rules;
mod rules_check;
mod scenarios;
mod script;
mod scrub;
mod sdk;
mod seen;
mod signature;
mod tasks;
mod travels;
mod view;
mod worker;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[&str]) -> Result<()> {
    match *words {
        ["--worker", job] => worker::main(Path::new(job), false),
        ["--worker-fenced", job] => worker::main(Path::new(job), true),
        ["all", ref only @ ..] => matrix::run(true, &program()?, only),
        ["slice", ref only @ ..] => matrix::run(false, &program()?, only),
        ["cell", version, scenario, operation] => matrix::one(version, scenario, operation),
        ["record", version, scenario] => record(version, scenario),
        ["interactive", version] => matrix::typed(version, &program()?),
        ["report"] => report::write(&program()?),
        ["record-fixtures"] => fixtures::write(),
        _ => by_default(),
    }
}

/// What a plain test run does: nothing slow, unless it is asked for.
fn by_default() -> Result<()> {
    rules_check::check()?;
    fixtures::check()?;
    let wish = std::env::var("CCSURGERY_CONFORMANCE").unwrap_or_default();
    match wish.as_str() {
        "all" => matrix::run(true, &program()?, &[]),
        "slice" => matrix::run(false, &program()?, &[]),
        "" => {
            println!("no client was asked: CCSURGERY_CONFORMANCE is neither `slice` nor `all`");
            println!("0 passed, 0 failed, 0 skipped");
            Ok(())
        }
        other => bail!("CCSURGERY_CONFORMANCE is {other:?}, not `slice` or `all`"),
    }
}

/// Tells builds of the program under test apart.
fn program() -> Result<String> {
    let bytes = fs_err::read(cells::program())?;
    Ok(Sha256::digest(bytes)
        .iter()
        .take(6)
        .fold(String::new(), |hex, byte| format!("{hex}{byte:02x}")))
}

fn record(version: &str, name: &str) -> Result<()> {
    let scenario = scenarios::scenario(name).with_context(|| format!("no scenario {name}"))?;
    println!(
        "{}",
        record::recording(version, scenario)?.transcript().display()
    );
    Ok(())
}
