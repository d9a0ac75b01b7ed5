//! Takes a compaction back, so that the model is shown the turns before it again.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::document::LineIx;
use crate::json::{Edit, apply_edits, lookup};
use crate::session::{Session, Standing};
use crate::surgery::{
    Action, ChangeKind, Detail, InsertAt, Plan, Reach, Refusal, RefusalKind, Transform,
};
use crate::transcript::{Entry, EntryIx};
use crate::view::prompt_text;

use super::window_limit::warn_of_window;

/// Shows the turns before a compaction again, together with those after it. The boundary and the summary are removed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Uncompact {
    /// The compaction to take back, counted from 1, or from the end if negative; the last one if `None`. Later ones
    /// are taken back too: they hide the same turns.
    pub boundary: Option<i64>,
    /// Whether summaries stay in the file, apart from the conversation.
    pub keep_summary: bool,
}

impl Transform for Uncompact {
    fn name(&self) -> &'static str {
        "uncompact"
    }

    fn reach(&self) -> Reach {
        Reach::Reveals
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        let from = self.first_position(session)?;
        refuse_without_history(session, from)?;
        let mut plan = Plan::with_detail(detail);
        let lifted = Lifted::new(session, from);
        for &i in &lifted.entries {
            drop_part(session, i, self.keep_summary, &mut plan);
        }
        lifted.relink(session, &mut plan);
        note_revealed(session, from, &mut plan);
        warn_of_window(session, &mut plan);
        Ok(plan)
    }
}

impl Uncompact {
    /// Returns the position of the live path at which the chosen compaction is.
    fn first_position(&self, session: &Session) -> Result<u32, Refusal> {
        let path = session.graph().path().iter().enumerate();
        let boundaries = path.filter(|(_, i)| session.heads()[**i].is_boundary());
        let positions: Vec<u32> = boundaries.map(|(position, _)| position as u32).collect();
        let count = positions.len() as i64;
        if count == 0 {
            return Err(Refusal::new(
                "not-compacted",
                "the session has no compaction: the model is shown all of its turns already",
                "",
            ));
        }
        let number = self.boundary.unwrap_or(-1);
        let index = if number < 0 {
            count + number
        } else {
            number - 1
        };
        let found = usize::try_from(index).ok().and_then(|i| positions.get(i));
        found.copied().ok_or_else(|| {
            let has = if count == 1 {
                "the session has one compaction".to_owned()
            } else {
                format!("the session has compactions 1 to {count}; -1 is the last")
            };
            let message = format!("there is no compaction {number}");
            Refusal::usage(RefusalKind::BadOptions, message, has)
        })
    }
}

/// Refuses if there is nothing to show again.
fn refuse_without_history(session: &Session, from: u32) -> Result<(), Refusal> {
    let history = &session.graph().path()[..from as usize];
    if history.iter().any(|&i| session.heads()[i].is_message()) {
        return Ok(());
    }
    Err(Refusal::new(
        "no-history",
        "nothing of the history before this compaction is left in the file",
        "only its summary is there; `ccsurgery history` shows whether ccsurgery removed the history, which undo can restore",
    ))
}

/// The entries of compactions that are taken back.
struct Lifted {
    /// Boundaries and summaries.
    entries: Vec<EntryIx>,
    set: FxHashSet<EntryIx>,
}

impl Lifted {
    fn new(session: &Session, from: u32) -> Self {
        let graph = session.graph();
        let belongs = |i: EntryIx, e: &Entry| {
            (e.is_boundary() || e.flags.compact_summary())
                && matches!(graph.place(i), Standing::Path(p) | Standing::Beside(p) if p >= from)
        };
        let entries = session.numbered();
        let entries: Vec<EntryIx> = entries
            .filter(|(i, e)| belongs(*i, e))
            .map(|(i, _)| i)
            .collect();
        Self {
            set: entries.iter().copied().collect(),
            entries,
        }
    }

    /// Requests the parents that the entries around the compactions had without them.
    ///
    /// Preserved messages stand after the summary on the live path, but their lines and parents are those of the
    /// history: they keep them.
    fn relink(&self, session: &Session, plan: &mut Plan) {
        let graph = session.graph();
        let mut tails: FxHashMap<EntryIx, Option<EntryIx>> = FxHashMap::default();
        for &i in &self.entries {
            let above = if session.entry(i).is_boundary() {
                before_boundary(session, i)
            } else {
                graph.parent(i)
            };
            tails.insert(i, above);
        }
        // Compactions may follow each other directly; a damaged file may even have them in a circle.
        let tail_of = |from: EntryIx| {
            let mut at = Some(from);
            for _ in 0..=tails.len() {
                match at.and_then(|i| tails.get(&i)) {
                    Some(&above) => at = above,
                    None => break,
                }
            }
            at.filter(|i| !self.set.contains(i))
        };
        for &i in &self.entries {
            for child in graph.children(i).filter(|c| !self.set.contains(c)) {
                // Preserved messages come between the history and what follows.
                let tail = tail_of(i);
                let preserved = self.before(session, child);
                let preserved = preserved.filter(|&p| tail.is_none_or(|t| graph.descends(p, t)));
                let above = preserved.or(tail);
                let uuid = above.and_then(|above| session.uuid(session.entry(above)));
                plan.set_parent(child, uuid.as_deref());
            }
        }
        self.keep_parents_of_preserved(session, plan);
    }

    /// Returns the last entry before another on the live path that stays.
    fn before(&self, session: &Session, entry: EntryIx) -> Option<EntryIx> {
        let Standing::Path(position) = session.graph().place(entry) else {
            return None;
        };
        let before = &session.graph().path()[..position as usize];
        let mut before = before.iter().rev().copied();
        before.find(|i| !self.set.contains(i))
    }

    /// The resolver links entries of the live path in its order. Where a preserved message comes first after a removed
    /// entry, its parent is another.
    fn keep_parents_of_preserved(&self, session: &Session, plan: &mut Plan) {
        let graph = session.graph();
        let mut last = None;
        let mut after_removed = false;
        for i in graph.path().iter().copied() {
            if self.set.contains(&i) {
                after_removed = true;
                continue;
            }
            let parent = graph.parent(i);
            if after_removed && parent != last && parent.is_none_or(|p| !self.set.contains(&p)) {
                let uuid = parent.and_then(|p| session.uuid(session.entry(p)));
                plan.set_parent(i, uuid.as_deref());
            }
            (last, after_removed) = (Some(i), false);
        }
    }
}

/// Returns the entry that a boundary follows: the one that it names, else the last one before it on the live path.
fn before_boundary(session: &Session, boundary: EntryIx) -> Option<EntryIx> {
    let e = session.entry(boundary);
    let named = e.refers_to.some().and_then(|id| session.find(id));
    named.or_else(|| {
        let Standing::Path(position) = session.graph().place(boundary) else {
            return None;
        };
        let before = session.graph().path().get(position as usize - 1)?;
        Some(*before)
    })
}

/// Removes a boundary or a summary.
///
/// A summary that is kept becomes the first line of the file, without a parent: no client takes the first entry for the end
/// of the conversation, and nothing follows it.
fn drop_part(session: &Session, index: EntryIx, keep_summary: bool, plan: &mut Plan) {
    let e = session.entry(index);
    if e.is_boundary() {
        plan.drop_entry(session, e, ChangeKind::Boundary);
        return;
    }
    let bytes = session.text(e).len() as i64 + 1;
    let shown = if session.graph().is_shown(index) {
        -(e.content.len() as i64)
    } else {
        0
    };
    let words = prompt_text(session, e).unwrap_or_default();
    let (action, bytes) = if keep_summary {
        (Action::Edit, 0)
    } else {
        (Action::Drop, -bytes)
    };
    plan.note(session, e, action, ChangeKind::Summary, bytes, shown, words);
    plan.drop_line(e.line);
    if keep_summary {
        plan.insert_line(
            InsertAt::Before(LineIx::default()),
            without_parent(session.text(e)),
        );
    }
}

/// Returns a line whose entry has no parent.
fn without_parent(line: &[u8]) -> Vec<u8> {
    let edits = lookup(line, &["parentUuid"]).map(|span| Edit::new(span, "null"));
    let edits: Vec<Edit> = edits.into_iter().collect();
    apply_edits(line, &edits).unwrap_or_else(|_| line.to_vec())
}

/// Records what the model is shown again, turn by turn.
fn note_revealed(session: &Session, from: u32, plan: &mut Plan) {
    if plan.wants_no_changes() {
        return;
    }
    let graph = session.graph();
    // An earlier compaction that stays still hides what is before it.
    let start = graph.path()[..from as usize]
        .iter()
        .rposition(|&i| session.heads()[i].is_boundary())
        .unwrap_or(0) as u32;
    let window = graph.window_start();
    let mut shown = vec![0; session.turns().len() + 1];
    for (i, e) in session.numbered() {
        if let Standing::Path(p) | Standing::Beside(p) = graph.place(i)
            && e.is_message()
            && (start..window).contains(&p)
            && !e.flags.compact_summary()
        {
            shown[session.turns().at_position(p) as usize] += e.content.len() as i64;
        }
    }
    for turn in session.turns().iter() {
        let bytes = shown[turn.number as usize];
        if bytes > 0 {
            let e = session.entry(turn.prompt);
            let words = prompt_text(session, e).unwrap_or_default();
            plan.note(
                session,
                e,
                Action::Edit,
                ChangeKind::ShownAgain,
                0,
                bytes,
                words,
            );
        }
    }
}
