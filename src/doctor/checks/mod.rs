//! One file a family of checks.

mod calls;
mod chain;
mod content;
mod lines;
mod thinking;

use crate::session::Session;

use super::finding::{Finding, Severity};

/// Runs every check.
pub fn examine(session: &Session) -> Vec<Finding> {
    let mut findings = Vec::new();
    lines::check(session, &mut findings);
    chain::check(session, &mut findings);
    calls::check(session, &mut findings);
    thinking::check(session, &mut findings);
    content::check(session, &mut findings);
    findings.sort_by_key(|f| (f.line, f.check));
    findings
}

/// A finding at an entry's line.
fn at(
    session: &Session,
    line: u32,
    check: &'static str,
    severity: Severity,
    message: impl Into<String>,
) -> Finding {
    let line = session
        .document()
        .origin(line as usize)
        .unwrap_or(line as usize);
    Finding {
        check,
        severity,
        line: line as u32 + 1,
        message: message.into(),
    }
}
