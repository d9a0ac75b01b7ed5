//! Removes an entry that was written twice, and gives another entry with its uuid one of its own.

use crate::doctor::checks::chain::duplicate_uuid::{CHECK, Copy, entries};
use crate::json::encode;
use crate::session::Session;
use crate::surgery::{Plan, Reach};
use crate::transcript::EntryIx;

use super::super::RepairOptions;
use super::super::edit::{drop_entry, made_uuid, note_edit, set_field, uuid};
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    // Old entries that were written again at the end of the file made them the end of the conversation.
    reach: Reach::Rearranges,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    plan.tells_copies_apart = true;
    for (again, first, copy) in entries(session) {
        match copy {
            Copy::Identical => {
                drop_entry(session, plan, session.entry(again), "copy of an entry");
            }
            // Boundaries name it, and clients show it once: removing either line gains nothing.
            Copy::SameContent => {}
            Copy::Other => rename(session, plan, again, first),
        }
    }
}

/// Renames one of two entries with the same uuid.
///
/// Two entries with one parent are the same place of the conversation: clients show the later, so the
/// earlier is renamed. Otherwise the later is another entry, and what was written after it is
/// attached to its new uuid.
fn rename(session: &Session, plan: &mut Plan, again: EntryIx, first: EntryIx) {
    let entries = session.entries();
    let Some(old) = uuid(session, again) else {
        return;
    };
    let same_place = entries[again].parent == entries[first].parent;
    let renamed = &entries[if same_place { first } else { again }];
    let text = String::from_utf8_lossy(session.text(renamed));
    let fresh = made_uuid(&[&old, &text]);
    set_field(session, plan, renamed, "uuid", encode(&fresh).as_bytes());
    note_edit(session, plan, renamed, "uuid");
    if same_place {
        return;
    }
    let children = session
        .numbers()
        .skip(again.index() + 1)
        .filter(|&c| entries[c].parent == entries[again].uuid && entries[c].is_chained());
    for child in children {
        plan.set_parent(child, Some(&fresh));
    }
}
