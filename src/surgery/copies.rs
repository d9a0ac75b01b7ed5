//! Lines that are in the file more than once.
//!
//! Some clients write an entry twice. Clients know it by its last line, and so do plans; the other lines must share its
//! fate. Otherwise clients would show the one that stays of a removed entry, or two lines with one uuid would differ.

use crate::doctor::checks::chain::duplicate_uuid::{Copy, compare};
use crate::session::Session;
use crate::transcript::EntryIx;

use super::change::Action;
use super::change_kind::ChangeKind;
use super::fates::Fate;
use super::plan::Plan;

/// The entries that are known by another line, as pairs: the entry, and the one that it is known as.
fn copies(session: &Session) -> Vec<(EntryIx, EntryIx)> {
    let (entries, graph) = (session.entries(), session.graph());
    if graph.is_distinct() {
        return Vec::new();
    }
    let chained = session.numbered().filter(|(_, e)| e.is_chained());
    let pairs = chained.map(|(i, _)| (i, graph.known_as(entries, i)));
    pairs.filter(|(i, known)| i != known).collect()
}

/// Removes the other lines of the entries that a plan removes.
pub(super) fn drop_copies(session: &Session, plan: &mut Plan) {
    for (i, known) in copies(session) {
        let (e, known) = (session.entry(i), session.entry(known));
        if plan.drops(known.line) && !plan.drops(e.line) {
            plan.drop_entry(session, e, ChangeKind::Related);
        }
    }
}

/// Edits the other lines of the entries that a plan edits in the same way. A line that is not quite the same is removed: it
/// is not shown, and what it has of its own is not part of the conversation.
pub(super) fn edit_copies(session: &Session, plan: &mut Plan) {
    for (i, known) in copies(session) {
        let (e, known) = (session.entry(i), session.entry(known));
        if plan.drops(e.line) {
            continue;
        }
        match plan.fate(known.line) {
            Some(Fate::Edit(edits)) if compare(session, e, known) == Copy::Identical => {
                let edits = edits.to_vec();
                if plan.fate(e.line).is_none() {
                    let bytes = edits.iter().map(crate::json::Edit::growth).sum();
                    plan.note(session, e, Action::Edit, ChangeKind::Related, bytes, 0, "");
                }
                plan.set_edits(e.line, edits);
            }
            Some(Fate::Edit(_)) if compare(session, e, known) == Copy::SameContent => {
                plan.drop_entry(session, e, ChangeKind::Related);
            }
            _ => {}
        }
    }
}
