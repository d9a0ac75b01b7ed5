//! Lines that are not one record each.

use crate::session::{LineState, Session};

use super::super::finding::{Finding, Severity};
use super::at;

pub(super) fn check(session: &Session, findings: &mut Vec<Finding>) {
    let torn = session
        .lines()
        .iter()
        .enumerate()
        .filter(|(_, state)| **state == LineState::Opaque);
    findings.extend(torn.map(|(i, _)| {
        at(session, i as u32, "torn-line", Severity::LosesHistory, "not one JSON record: the client passes over it, and what hangs on it is lost to older clients")
    }));
}
