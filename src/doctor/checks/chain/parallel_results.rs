//! Finds results of parallel calls that are on side branches.

use rustc_hash::FxHashMap;

use crate::session::{Session, Standing};
use crate::transcript::{BlockKind, EntryIx, Id, Kind};

use super::super::super::check::{Check, Gate, Survey, is_live};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "parallel-results",
    family: "chain",
    finds: "results of parallel calls that are on side branches",
    severity: Severity::LosesHistory,
    symptom: "the model has forgotten all but one of several results",
    suffers: Versions::Before(Version(2, 1, 80)),
    healed_by: "2.1.80 and newer collect the results of one message",
    repair: Some("the results are put in one chain"),
    gate: Gate::JudgedForVersion,
    run,
};

/// One message's calls and results that are not all on the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// The message's lines, in the order of the path or the file.
    pub(crate) lines: Vec<EntryIx>,
    /// Its results, in file order.
    pub(crate) results: Vec<EntryIx>,
}

/// Returns the groups that are spread over side branches.
pub(crate) fn groups(session: &Session) -> Vec<Group> {
    let graph = session.graph();
    // Of a line that was written twice, only one copy counts.
    let is_known = |i: EntryIx| is_live(session, i) && graph.known_as(session.entries(), i) == i;
    let mut messages: FxHashMap<Id, usize> = FxHashMap::default();
    let mut groups: Vec<Group> = Vec::new();
    for (i, e) in session.numbered() {
        if e.kind == Kind::Assistant && e.message_id.is_some() && is_known(i) {
            let at = *messages.entry(e.message_id).or_insert_with(|| {
                groups.push(Group {
                    lines: Vec::new(),
                    results: Vec::new(),
                });
                groups.len() - 1
            });
            groups[at].lines.push(i);
        }
    }
    for call in session.calls().iter() {
        let Some(made) = call.uses.iter().find(|u| is_live(session, u.entry)) else {
            continue;
        };
        let Some(&at) = messages.get(&session.entry(made.entry).message_id) else {
            continue;
        };
        let on_path = |entry: EntryIx| matches!(graph.place(entry), Standing::Path(_));
        // Of an answer that was written again, the copy on the path counts.
        let again = call.uses.len() > 1 && call.results.iter().any(|r| on_path(r.entry));
        for result in call.results.iter().filter(|r| {
            session.block(r.block).kind == BlockKind::ToolResult
                && is_known(r.entry)
                && (!again || on_path(r.entry))
        }) {
            if !groups[at].results.contains(&result.entry) {
                groups[at].results.push(result.entry);
            }
        }
    }
    groups.retain_mut(|g| {
        g.results.sort_unstable();
        g.lines
            .iter()
            .chain(&g.results)
            .any(|&i| matches!(graph.place(i), Standing::Beside(_)))
            && g.results.len() > 1
    });
    groups
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for group in groups(survey.session) {
        if let Some(&first) = group.lines.first() {
            findings.push(survey.at(&CHECK, first, "makes parallel calls whose results are on side branches: Claude Code before 2.1.80 shows the model only some of them"));
        }
    }
}
