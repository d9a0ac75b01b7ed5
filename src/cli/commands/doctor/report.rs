//! The JSON document of `doctor`.

use serde::Serialize;

use crate::doctor::{Finding, Severity};

use super::super::super::report::SCHEMA;
use super::Examined;

/// What `--json` prints.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    schema: u32,
    sessions: Vec<SessionReport<'a>>,
    totals: Totals,
    /// What could not be read, and why.
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct SessionReport<'a> {
    session_id: &'a str,
    path: String,
    /// The version of Claude Code that the session is judged for.
    judged_for: String,
    findings: &'a [Finding],
    healed: &'a [Finding],
    repair: Option<String>,
}

#[derive(Serialize, Default)]
struct Totals {
    stops_resume: usize,
    loses_history: usize,
    refused_by_the_api: usize,
    harmless: usize,
}

impl<'a> Report<'a> {
    pub(super) fn of(examined: &'a [Examined], warnings: Vec<String>) -> Self {
        let mut totals = Totals::default();
        for finding in examined.iter().flat_map(|e| &e.findings) {
            *match finding.severity {
                Severity::StopsResume => &mut totals.stops_resume,
                Severity::LosesHistory => &mut totals.loses_history,
                Severity::RefusedByTheApi => &mut totals.refused_by_the_api,
                Severity::Harmless => &mut totals.harmless,
            } += 1;
        }
        let sessions = examined.iter().map(|e| SessionReport {
            session_id: &e.found.id,
            path: e.found.path.to_string_lossy().into_owned(),
            judged_for: e.judgement.client.to_string(),
            findings: &e.findings,
            healed: &e.healed,
            repair: e.repair(),
        });
        Self {
            schema: SCHEMA,
            sessions: sessions.collect(),
            totals,
            warnings,
        }
    }
}
