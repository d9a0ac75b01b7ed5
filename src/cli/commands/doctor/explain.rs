//! `doctor --explain`.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use serde::Serialize;

use crate::doctor::checks::{all_checks, find_check};
use crate::doctor::{Check, Severity, Versions};
use crate::render::{BOLD, paint, wrap};

use super::super::super::context::Context;
use super::super::super::error::CliError;
use super::super::super::report::SCHEMA;
use super::to_json;

/// The width before the words of a row.
const INDENT: usize = 16;

const NO_REPAIR: &str =
    "`ccsurgery repair` does not change this; `ccsurgery doctor SESSION` names what can be done";

/// What `--explain --json` prints.
#[derive(Serialize)]
struct Explanation {
    schema: u32,
    check: &'static str,
    family: &'static str,
    finds: &'static str,
    severity: Severity,
    symptom: &'static str,
    suffers: Versions,
    healed_by: Option<&'static str>,
    repair: Option<&'static str>,
}

impl Explanation {
    fn of(check: &Check) -> Self {
        Self {
            schema: SCHEMA,
            check: check.name,
            family: check.family,
            finds: check.finds,
            severity: check.severity,
            symptom: check.symptom,
            suffers: check.suffers,
            healed_by: Some(check.healed_by).filter(|h| !h.is_empty()),
            repair: check.repair,
        }
    }
}

pub(super) fn explain(context: &mut Context, name: &str) -> Result<ExitCode, CliError> {
    let Some(check) = find_check(name) else {
        let names: Vec<&str> = all_checks().map(|c| c.name).collect();
        return Err(CliError::usage(
            "no-such-check",
            format!("there is no check `{name}`"),
            format!("the checks are: {}", names.join(", ")),
        ));
    };
    let explanation = Explanation::of(check);
    if context.json {
        let document = to_json(&explanation)?;
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows = [
        ("Finds", explanation.finds.to_owned()),
        ("Severity", explanation.severity.to_string()),
        ("What you see", explanation.symptom.to_owned()),
        ("Affected", check.suffers.to_string()),
        (
            "Not affected",
            explanation.healed_by.unwrap_or_default().to_owned(),
        ),
        ("Repair", explanation.repair.unwrap_or(NO_REPAIR).to_owned()),
    ];
    let mut text = format!("{}\n", paint(BOLD, check.name));
    for (label, words) in rows.iter().filter(|(_, words)| !words.is_empty()) {
        let lines = wrap(words, context.columns.saturating_sub(INDENT).max(20));
        for (n, line) in lines.iter().enumerate() {
            let label = if n == 0 { label } else { "" };
            let _ = writeln!(text, "  {label:<14}{line}");
        }
    }
    context.out.write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
