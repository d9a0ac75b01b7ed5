//! A plan: the lines that are removed, edited, inserted and hidden, as data that can be shown, checked and applied.

use std::collections::BTreeMap;

use crate::document::{Document, LineIx, LineMap};
use crate::json::{Edit, Edits, OverlapError, Span};
use crate::session::Session;
use crate::transcript::{Entry, EntryIx, Id};

use super::change::{Action, Change, Name};
use super::change_kind::ChangeKind;
use super::copies::{drop_copies, edit_copies};
use super::excerpt::Excerpt;
use super::fates::{Fate, Fates, TakenFate};
use super::reparent::reparent;
use super::transform::Detail;
use super::verify::Faults;

/// Where a line is inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InsertAt {
    /// Before this line.
    Before(LineIx),
    /// After the last line.
    End,
}

/// The number of changes from which on changes of one kind are joined, if `detail` allows it.
const MANY: usize = 1000;

/// The number of the last changes among which one of the same kind is searched.
const RECENT: usize = 32;

/// The fate of each line, with a description of every change.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    fates: Fates,
    say: Detail,
    inserts: BTreeMap<InsertAt, Vec<Vec<u8>>>,
    hidden: Vec<LineIx>,
    /// Inserted entries that the model will be shown, with the position of the live path that they are shown before.
    arrivals: Vec<(u32, Vec<Id>)>,
    /// The faults that inserted lines have already.
    brought: Faults,
    /// Parents that were requested, by entry.
    parents: BTreeMap<EntryIx, Option<String>>,
    /// Whether lines of one entry may have different fates. Otherwise all share that of the last one, by which clients know
    /// the entry.
    pub(crate) tells_copies_apart: bool,
    /// Every change, described.
    pub changes: Vec<Change>,
    /// Warnings that a person should read before agreeing.
    pub warnings: Vec<String>,
    /// Subagents whose transcripts are no longer part of the session, by their ids.
    pub dropped_agents: Vec<String>,
    /// Whether files that only the removed part of the session needed are removed too: its outputs, versions of files for
    /// rewinding, and the transcripts of its subagents.
    pub takes_files: bool,
    /// Bytes that are not a record and are removed from the transcript, by the line that they were in,
    /// from 1. They are kept beside the journal.
    pub quarantine: Vec<(u32, Vec<u8>)>,
}

/// A plan that contradicts itself. This is a bug, and nothing is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {source}; this is a bug in ccsurgery, and nothing was written")]
pub struct PlanError {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong with its edits.
    pub source: OverlapError,
}

impl Plan {
    /// Whether the plan changes nothing.
    pub fn is_empty(&self) -> bool {
        self.fates.is_empty() && self.inserts.is_empty() && self.parents.is_empty()
    }

    /// Returns what happens to a line; `None` if it is kept.
    pub fn fate(&self, line: LineIx) -> Option<Fate<'_>> {
        self.fates.get(line)
    }

    /// Whether a line is removed.
    pub fn drops(&self, line: LineIx) -> bool {
        self.fates.drops(line)
    }

    /// Whether a line is removed, or an edit of it touches these bytes.
    pub fn touches(&self, line: LineIx, span: Span) -> bool {
        self.fate(line).is_some_and(|fate| match fate {
            Fate::Drop => true,
            Fate::Edit(edits) => edits
                .iter()
                .any(|e| e.span.start < span.end && span.start < e.span.end),
        })
    }

    /// Removes a line. Edits of it are discarded.
    pub fn drop_line(&mut self, line: LineIx) {
        self.fates.drop(line);
    }

    /// Edits a line. A line that is removed stays removed.
    pub fn edit_line(&mut self, line: LineIx, edits: impl IntoIterator<Item = Edit>) {
        self.fates.edit(line, edits);
    }

    /// Edits a line in this way and no other.
    pub(super) fn set_edits(&mut self, line: LineIx, edits: impl IntoIterator<Item = Edit>) {
        self.fates.set_edits(line, edits.into_iter().collect());
    }

    /// States that a line stays in the file, but is no longer shown to the model.
    pub fn hide_line(&mut self, line: LineIx) {
        self.hidden.push(line);
    }

    /// The lines that stay in the file without being shown any longer.
    pub fn hidden(&self) -> impl Iterator<Item = LineIx> + '_ {
        self.hidden.iter().copied()
    }

    /// States that the model will be shown inserted entries, in this order, before what is now at a position of the live
    /// path. The verifier rejects a result that does not show them there.
    pub fn expect_shown(&mut self, position: u32, uuids: Vec<Id>) {
        self.arrivals.push((position, uuids));
    }

    /// The inserted entries that the model will be shown; see [`Plan::expect_shown`].
    pub(super) fn arrivals(&self) -> impl Iterator<Item = (u32, &[Id])> {
        self.arrivals.iter().map(|(at, uuids)| (*at, &uuids[..]))
    }

    /// States that inserted lines come from a session with these faults, which the result may have too.
    pub fn bring_faults(&mut self, faults: Faults) {
        self.brought = faults;
    }

    /// Hands over the faults that inserted lines have already.
    pub(super) fn take_brought(&mut self) -> Faults {
        std::mem::take(&mut self.brought)
    }

    /// Removes an entry that the model is not shown, and records that.
    pub fn drop_entry(&mut self, session: &Session, entry: &Entry, what: ChangeKind) {
        let bytes = session.text(entry).len() as i64 + 1;
        self.note(session, entry, Action::Drop, what, -bytes, 0, "");
        self.drop_line(entry.line);
    }

    /// Edits a part of an entry that the model is not shown, and records that.
    pub fn edit_entry(
        &mut self,
        session: &Session,
        entry: &Entry,
        what: ChangeKind,
        edits: impl IntoIterator<Item = Edit>,
    ) {
        let edits: Edits = edits.into_iter().collect();
        let bytes = edits.iter().map(Edit::growth).sum();
        self.note(session, entry, Action::Edit, what, bytes, 0, "");
        self.edit_line(entry.line, edits);
    }

    /// Requests a parent for an entry; `None` makes it a root. The first request counts.
    ///
    /// The parent is written when the plan is carried out, and takes precedence over the one that the resolver would choose.
    pub fn set_parent(&mut self, child: EntryIx, parent: Option<&str>) {
        let parent = || parent.map(str::to_owned);
        self.parents.entry(child).or_insert_with(parent);
    }

    /// Hands over the requested parents.
    pub(super) fn take_parents(&mut self) -> BTreeMap<EntryIx, Option<String>> {
        std::mem::take(&mut self.parents)
    }

    /// Inserts a line.
    pub fn insert_line(&mut self, place: InsertAt, text: impl Into<Vec<u8>>) {
        self.inserts.entry(place).or_default().push(text.into());
    }

    /// Makes an empty plan that describes its changes in this detail.
    #[must_use]
    pub fn with_detail(say: Detail) -> Self {
        Self {
            say,
            ..Self::default()
        }
    }

    /// Whether changes need not be described.
    pub fn wants_no_changes(&self) -> bool {
        self.say == Detail::None
    }

    /// Describes what is done to an entry.
    pub fn note(
        &mut self,
        session: &Session,
        entry: &Entry,
        action: Action,
        what: impl Into<ChangeKind>,
        bytes: i64,
        shown: i64,
        gist: impl Into<Excerpt>,
    ) {
        if self.wants_no_changes() {
            return;
        }
        let graph = session.graph();
        let at = session.lines()[entry.line].entry();
        let change = Change {
            line: session.document().origin(entry.line).map(LineIx::from_one),
            uuid: match entry.uuid.uuid() {
                Some(uuid) => Some(Name::Uuid(uuid)),
                None => session.uuid(entry).map(Name::from),
            },
            action,
            what: what.into(),
            bytes,
            turn: at.and_then(|at| session.turns().of(graph, at)),
            gist: gist.into(),
            shown,
            count: 1,
        };
        self.say(change, session.document().source());
    }

    fn say(&mut self, mut change: Change, source: &[u8]) {
        if self.say == Detail::Grouped && self.changes.len() >= MANY {
            // Only the text shows whether the change is empty.
            if change.shown == 0 {
                change.silence_if_empty(source);
            }
            let mut recent = self.changes[MANY..].iter_mut().rev().take(RECENT);
            if let Some(other) = recent.find(|c| c.is_like(&change)) {
                other.bytes += change.bytes;
                other.shown += change.shown;
                other.count += change.count;
                return;
            }
            // This change stands for others, so an empty excerpt must not hide theirs.
            if change.gist.may_be_empty() {
                change.silence_if_empty(source);
            }
        }
        self.changes.push(change);
    }

    /// Describes a line that is inserted.
    pub fn note_insert(
        &mut self,
        what: impl Into<ChangeKind>,
        bytes: usize,
        shown: usize,
        gist: impl Into<Excerpt>,
    ) {
        self.changes.push(Change {
            line: None,
            uuid: None,
            action: Action::Insert,
            what: what.into(),
            bytes: bytes as i64,
            turn: None,
            gist: gist.into(),
            shown: shown as i64,
            count: 1,
        });
    }

    /// The lines that are removed or edited, with their fates.
    pub fn fates(&self) -> impl Iterator<Item = (LineIx, Fate<'_>)> + '_ {
        let all = self.fates.lines();
        all.filter_map(|line| Some((line, self.fates.get(line)?)))
    }

    /// The inserted lines, with their places.
    pub fn inserts(&self) -> impl Iterator<Item = (InsertAt, &[u8])> + '_ {
        let each = |(&place, texts)| {
            let texts: &Vec<Vec<u8>> = texts;
            texts.iter().map(move |text| (place, text.as_slice()))
        };
        self.inserts.iter().flat_map(each)
    }

    /// The lines that are removed.
    pub fn dropped(&self) -> impl Iterator<Item = LineIx> + '_ {
        let all = self.fates.lines();
        all.filter(|&line| self.drops(line))
    }

    /// Lets the other lines of entries that are in the file more than once share the fate of the line that clients know.
    pub(crate) fn settle_copies(&mut self, session: &Session) {
        if !self.tells_copies_apart {
            drop_copies(session, self);
            edit_copies(session, self);
        }
    }

    /// Repairs every reference to a removed line, then builds the result: a document that shares the
    /// original's bytes wherever nothing was touched, and a map of where each of its lines came from. Afterwards the plan has no
    /// fates any more, but keeps the descriptions.
    pub fn apply(&mut self, session: &Session) -> Result<(Document, LineMap), PlanError> {
        if !self.tells_copies_apart {
            drop_copies(session, self);
        }
        reparent(session, self);
        if !self.tells_copies_apart {
            edit_copies(session, self);
        }
        let document = session.document();
        let mut fates = std::mem::take(&mut self.fates);
        let mut inserts = std::mem::take(&mut self.inserts);
        let mut next = document.derived();
        next.reserve(fates.edited() + inserts.len());
        for line in document.numbers() {
            if !inserts.is_empty() {
                let texts = inserts.remove(&InsertAt::Before(line));
                texts.iter().flatten().for_each(|text| next.insert(text));
            }
            match fates.take(line) {
                TakenFate::Keep => next.keep(line),
                TakenFate::Drop => {}
                TakenFate::Edit(edits) => {
                    let edited = next.edit(line, edits);
                    edited.map_err(|source| PlanError {
                        line: line.from_one(),
                        source,
                    })?;
                }
            }
        }
        // Before a line that does not exist means after the last one.
        let rest = inserts.values().flatten();
        rest.for_each(|text| next.insert(text));
        Ok(next.finish())
    }
}
