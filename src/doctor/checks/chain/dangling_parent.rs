//! Finds entries whose parent is not in the file.

use crate::session::{Session, Standing};
use crate::transcript::EntryIx;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "dangling-parent",
    family: "chain",
    finds: "entries whose parent is not in the file",
    severity: Severity::LosesHistory,
    symptom: "resume shows only the last few messages",
    suffers: Versions::Before(Version(2, 1, 156)),
    healed_by: "2.1.156 and newer continue from an entry that is at most five seconds older",
    repair: Some("it is attached to the entry before it, if the history shows which"),
    gate: Gate::Judged,
    run,
};

/// Returns entries whose parent is missing. A summary without its boundary is another check's finding.
pub(crate) fn entries(session: &Session) -> impl Iterator<Item = EntryIx> + '_ {
    let all = session.numbers().zip(session.heads());
    all.filter(|(i, tag)| {
        session.graph().parent(*i).is_none()
            && tag.is_chained()
            && !tag.flags.compact_summary()
            && session.entry(*i).parent.is_some()
    })
    .map(|(i, _)| i)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    let mut messages = survey.session.numbered();
    let first = messages.find(|(_, e)| e.is_chained() && e.is_message());
    for i in entries(survey.session) {
        let mut finding = survey.at(
            &CHECK,
            i,
            "names a parent that is not in the file: the model is shown only what follows",
        );
        match survey.session.graph().place(i) {
            _ if first.is_none_or(|(first, _)| i <= first) => {
                finding.severity = Severity::Harmless;
                finding.message = String::from(
                    "names a parent that is not in the file; no message comes before it, so nothing is lost",
                );
            }
            // Newer clients find no entry from which they could continue.
            Standing::Path(0) => finding.suffers = Versions::All,
            Standing::Path(_) => {}
            _ => {
                finding.severity = Severity::Harmless;
                finding.message = String::from(
                    "names a parent that is not in the file; it is not part of the conversation",
                );
            }
        }
        findings.push(finding);
    }
}
