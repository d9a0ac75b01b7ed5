//! Keeps some of the messages that a compaction preserves.

use crate::session::Session;
use crate::surgery::{Plan, Refusal};

/// Refuses to delete all that a compaction preserves, or all that follows it.
pub(super) fn keep_preserved(session: &Session, plan: &Plan) -> Result<(), Refusal> {
    if !session.flags_of_any().boundary() {
        return Ok(());
    }
    let (entries, graph) = (session.entries(), session.graph());
    let mut boundary = None;
    let mut group = Group::default();
    for i in graph.path().iter().copied() {
        if entries[i].is_boundary() {
            group.refuse_if_emptied()?;
            (boundary, group) = (Some(i), Group::default());
            continue;
        }
        // Preserved messages stand before their boundary in the file.
        let is_preserved = boundary.is_some_and(|boundary| i < boundary);
        let is_own = boundary.is_some() && !is_preserved && entries[i].is_message();
        if plan.drops(entries[i].line) {
            group.removed |= is_preserved;
            group.own_removed |= is_own;
            continue;
        }
        group.kept |= is_preserved;
        group.own_kept |= is_own && !entries[i].flags.compact_summary();
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
