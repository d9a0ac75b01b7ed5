//! Keeps the messages that a compaction preserves connected when some of them are deleted.

use crate::session::Session;
use crate::surgery::{Plan, Refusal};
use crate::transcript::EntryIx;

/// Requests parents for preserved messages next to deleted ones, and refuses to delete all that a compaction preserves.
///
/// On the live path, preserved messages follow the summary. Their lines are those of the history, and a boundary names
/// them by the way up from the last to the first, so their parents must stay in the history too.
pub(super) fn keep_preserved(session: &Session, plan: &mut Plan) -> Result<(), Refusal> {
    if !session.flags_of_any().boundary() {
        return Ok(());
    }
    let (entries, graph) = (session.entries(), session.graph());
    let is_gone = |i: EntryIx, plan: &Plan| plan.drops(entries[i].line);
    let mut boundary = None;
    let mut group = Group::default();
    let mut after_gone = false;
    for i in graph.path().iter().copied() {
        if entries[i].is_boundary() {
            group.refuse_if_emptied()?;
            (boundary, group, after_gone) = (Some(i), Group::default(), false);
            continue;
        }
        // Preserved messages stand before their boundary in the file.
        let is_preserved = boundary.is_some_and(|boundary| i < boundary);
        let is_own = boundary.is_some() && !is_preserved && entries[i].is_message();
        if is_gone(i, plan) {
            group.removed |= is_preserved;
            group.own_removed |= is_own;
            after_gone |= is_preserved;
            continue;
        }
        group.kept |= is_preserved;
        group.own_kept |= is_own && !entries[i].flags.compact_summary();
        if std::mem::take(&mut after_gone) {
            let mut parent = graph.parent(i);
            let mut steps = entries.len();
            while let Some(p) = parent.filter(|&p| is_gone(p, plan) && steps > 0) {
                parent = graph.parent(p);
                steps -= 1;
            }
            if parent != graph.parent(i) || parent.is_some() {
                let uuid = parent.and_then(|p| session.uuid(&entries[p]));
                plan.set_parent(i, uuid.as_deref());
            }
        }
    }
    group.refuse_if_emptied()?;
    group.refuse_if_only_preserved()
}

/// What follows one compaction.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools)]
struct Group {
    /// Whether messages that it preserves stay, and whether some are deleted.
    kept: bool,
    removed: bool,
    /// The same for messages that came after it.
    own_kept: bool,
    own_removed: bool,
}

impl Group {
    fn refuse_if_emptied(&self) -> Result<(), Refusal> {
        if self.kept || !self.removed {
            return Ok(());
        }
        Err(Refusal::new(
            "compaction",
            "these are all the messages that a compaction preserved, and its boundary needs one of them",
            "keep one of them, or take the compaction back first with: ccsurgery uncompact",
        ))
    }

    fn refuse_if_only_preserved(&self) -> Result<(), Refusal> {
        if self.own_kept || !self.own_removed || !self.kept {
            return Ok(());
        }
        Err(Refusal::new(
            "compaction",
            "nothing would follow the last compaction but messages that it preserved, which Claude Code cannot continue from",
            "keep a turn after it, or take the compaction back first with: ccsurgery uncompact",
        ))
    }
}
