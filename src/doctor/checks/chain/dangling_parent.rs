//! An entry whose parent is not in the file.

use crate::session::{Session, Standing};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "dangling-parent",
    family: "chain",
    severity: Severity::LosesHistory,
    symptom: "resume shows only the last few messages",
    suffers: Versions::Before(Version(2, 1, 156)),
    healed_by: "2.1.156 and newer, if an entry at most five seconds older is there to go on from",
    repair: Some("it is hung on the entry that was before it, if the history shows which"),
    gate: Gate::Judged,
    run,
};

/// Entries whose parent is named but not there. What a summary lacks is its boundary, which is another matter.
pub(crate) fn entries(session: &Session) -> impl Iterator<Item = usize> + '_ {
    let all = session.heads().iter().enumerate();
    all.filter(|(i, tag)| {
        session.graph().parent(*i).is_none()
            && tag.is_chained()
            && !tag.flags.compact_summary()
            && session.entries()[*i].parent.is_some()
    })
    .map(|(i, _)| i)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for i in entries(survey.session) {
        let mut finding = survey.at(
            &CHECK,
            i,
            "its parent is not in the file: the model is shown only what follows",
        );
        match survey.session.graph().place(i) {
            // The newest clients find nothing to bridge the gap with.
            Standing::Path(0) => finding.suffers = Versions::All,
            Standing::Path(_) => {}
            _ => {
                finding.severity = Severity::Harmless;
                finding.message = String::from(
                    "its parent is not in the file; it is not part of the conversation",
                );
            }
        }
        findings.push(finding);
    }
}
