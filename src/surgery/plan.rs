//! A plan: the lines that are removed, edited, inserted and hidden, as data that can be shown, checked and applied.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::document::{Document, LineMap};
use crate::json::{Edit, Edits, OverlapError, Span};
use crate::session::Session;
use crate::transcript::{Entry, Id, LineState};

use super::change_kind::ChangeKind;
use super::copies::{drop_copies, edit_copies};
use super::excerpt::Excerpt;
use super::refusal::Refusal;
use super::reparent::reparent;
use super::verify::Faults;

/// An operation: it looks at a session and makes a plan.
pub trait Transform {
    /// The operation's name, as on the command line.
    fn name(&self) -> &'static str;

    /// How far the operation may change what the model is shown, beyond what its plan removes and hides.
    fn reach(&self) -> Reach {
        Reach::Narrows
    }

    /// Decides what is removed and edited. The resolver chooses the parents. `detail` determines how much
    /// of it the plan describes; small plans ignore it and list every change.
    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal>;
}

/// How far a transform may change what the model is shown, beyond what its plan removes and hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Not at all.
    Narrows,
    /// It may show entries that were hidden, including faulty ones.
    Reveals,
    /// It may make another path or another order the conversation, because the present one is broken.
    Rearranges,
}

impl<T: Transform + ?Sized> Transform for &T {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn reach(&self) -> Reach {
        (**self).reach()
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        (**self).plan(session, detail)
    }
}

/// How much a plan describes of what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Every change.
    #[default]
    Full,
    /// What people are shown: if there are many, changes of one kind in a turn are joined.
    Grouped,
    /// Nothing: only the result is needed.
    None,
}

/// What a plan does with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate<'a> {
    /// The line is removed.
    Drop,
    /// Spans of the line are replaced.
    Edit(&'a [Edit]),
}

/// The fate of each line. It is looked up often for every line, so it is one number per line.
#[derive(Debug, Clone, Default)]
struct Fates {
    /// By line, up to the last one that is touched: [`KEPT`], [`GONE`], or the place of its edits, counted from there.
    numbers: Vec<u32>,
    edits: Vec<Edits>,
    touched: usize,
}

const KEPT: u32 = 0;
const GONE: u32 = 1;
const EDITED: u32 = 2;

impl Fates {
    fn get(&self, line: u32) -> Option<Fate<'_>> {
        match self.numbers.get(line as usize) {
            None | Some(&KEPT) => None,
            Some(&GONE) => Some(Fate::Drop),
            Some(&at) => Some(Fate::Edit(&self.edits[(at - EDITED) as usize])),
        }
    }

    fn drops(&self, line: u32) -> bool {
        self.numbers.get(line as usize) == Some(&GONE)
    }

    /// Returns the number of a line, which counts as touched from now on.
    fn touch(&mut self, line: u32) -> &mut u32 {
        let line = line as usize;
        if self.numbers.len() <= line {
            self.numbers.resize(line + 1, KEPT);
        }
        let number = &mut self.numbers[line];
        self.touched += usize::from(*number == KEPT);
        number
    }

    fn edit(&mut self, line: u32, edits: impl IntoIterator<Item = Edit>) {
        let fresh = EDITED + self.edits.len() as u32;
        match self.touch(line) {
            &mut GONE => {}
            number if *number == KEPT => {
                *number = fresh;
                self.edits.push(edits.into_iter().collect());
            }
            number => {
                let at = (*number - EDITED) as usize;
                self.edits[at].extend(edits);
            }
        }
    }

    fn set_edits(&mut self, line: u32, edits: Edits) {
        let fresh = EDITED + self.edits.len() as u32;
        *self.touch(line) = fresh;
        self.edits.push(edits);
    }
}

/// Where a line is inserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InsertAt {
    /// Before this line.
    Before(u32),
    /// After the last line.
    End,
}

/// What is done to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Action {
    Drop,
    Edit,
    Insert,
}

/// The id of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// A UUID, as clients write it.
    Uuid(Uuid),
    /// Any other text.
    Other(Box<str>),
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        match Uuid::try_parse(&text) {
            Ok(uuid) if uuid.to_string() == text => Name::Uuid(uuid),
            _ => Name::Other(text.into()),
        }
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Name::Uuid(uuid) => serializer.collect_str(uuid),
            Name::Other(text) => serializer.serialize_str(text),
        }
    }
}

/// One change that a plan makes, for people and scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The line in the original file, from 1; `None` for an inserted line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The entry's uuid, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<Name>,
    /// What is done.
    pub action: Action,
    /// What it is done to.
    #[serde(flatten)]
    pub what: ChangeKind,
    /// The bytes that the file gains; negative if it shrinks.
    pub bytes: i64,
    /// The turn, where the entry has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// The removed and added text, for the preview.
    #[serde(skip)]
    pub gist: Excerpt,
    /// The bytes that the model is shown in addition; negative if they are fewer.
    #[serde(skip)]
    pub shown: i64,
    /// The number of changes of its kind that it stands for.
    #[serde(skip)]
    pub count: u32,
}

/// The number of changes from which on changes of one kind are joined, if `detail` allows it.
const MANY: usize = 1000;

/// The number of the last changes among which one of the same kind is searched.
const RECENT: usize = 32;

impl Change {
    fn silence_if_empty(&mut self, source: &[u8]) {
        if self.gist.read(source).is_empty() {
            self.gist = Excerpt::None;
        }
    }

    /// Whether people are shown both changes in one row.
    fn is_like(&self, other: &Self) -> bool {
        (self.turn, self.action, self.shown == 0) == (other.turn, other.action, other.shown == 0)
            && self.what == other.what
            && self.gist.is_none() == other.gist.is_none()
    }
}

/// The fate of each line, with a description of every change.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    fates: Fates,
    say: Detail,
    inserts: BTreeMap<InsertAt, Vec<Vec<u8>>>,
    hidden: Vec<u32>,
    /// Inserted entries that the model will be shown, with the position of the live path that they are shown before.
    arrivals: Vec<(u32, Vec<Id>)>,
    /// The faults that inserted lines have already.
    brought: Faults,
    /// Parents that were requested, by entry.
    parents: BTreeMap<u32, Option<String>>,
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
        self.fates.touched == 0 && self.inserts.is_empty() && self.parents.is_empty()
    }

    /// Returns what happens to a line; `None` if it is kept.
    pub fn fate(&self, line: u32) -> Option<Fate<'_>> {
        self.fates.get(line)
    }

    /// Whether a line is removed.
    pub fn drops(&self, line: u32) -> bool {
        self.fates.drops(line)
    }

    /// Whether a line is removed, or an edit of it touches these bytes.
    pub fn touches(&self, line: u32, span: Span) -> bool {
        self.fate(line).is_some_and(|fate| match fate {
            Fate::Drop => true,
            Fate::Edit(edits) => edits
                .iter()
                .any(|e| e.span.start < span.end && span.start < e.span.end),
        })
    }

    /// Removes a line. Edits of it are discarded.
    pub fn drop_line(&mut self, line: u32) {
        *self.fates.touch(line) = GONE;
    }

    /// Edits a line. A line that is removed stays removed.
    pub fn edit_line(&mut self, line: u32, edits: impl IntoIterator<Item = Edit>) {
        self.fates.edit(line, edits);
    }

    /// Edits a line in this way and no other.
    pub(super) fn set_edits(&mut self, line: u32, edits: impl IntoIterator<Item = Edit>) {
        self.fates.set_edits(line, edits.into_iter().collect());
    }

    /// States that a line stays in the file, but is no longer shown to the model.
    pub fn hide_line(&mut self, line: u32) {
        self.hidden.push(line);
    }

    /// The lines that stay in the file without being shown any longer.
    pub fn hidden(&self) -> impl Iterator<Item = u32> + '_ {
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

    /// Requests a parent for an entry, by its index; `None` makes it a root. The first request counts.
    ///
    /// The parent is written when the plan is carried out, and takes precedence over the one that the resolver would choose.
    pub fn set_parent(&mut self, child: usize, parent: Option<&str>) {
        let parent = || parent.map(str::to_owned);
        self.parents.entry(child as u32).or_insert_with(parent);
    }

    /// Hands over the requested parents.
    pub(super) fn take_parents(&mut self) -> BTreeMap<u32, Option<String>> {
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
        let at = match session.lines()[entry.line as usize] {
            LineState::Entry(at) => at as usize,
            LineState::Blank | LineState::Opaque => session.entries().len(),
        };
        let change = Change {
            line: session
                .document()
                .origin(entry.line as usize)
                .map(|l| l as u32 + 1),
            uuid: match entry.uuid.uuid() {
                Some(uuid) => Some(Name::Uuid(uuid)),
                None => session.uuid(entry).map(Name::from),
            },
            action,
            what: what.into(),
            bytes,
            turn: session.turns().of(graph, at),
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
    pub fn fates(&self) -> impl Iterator<Item = (u32, Fate<'_>)> + '_ {
        let all = 0..self.fates.numbers.len() as u32;
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
    pub fn dropped(&self) -> impl Iterator<Item = u32> + '_ {
        let all = 0..self.fates.numbers.len() as u32;
        all.filter(|&line| self.drops(line))
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
        next.reserve(fates.edits.len() + inserts.len());
        for line in 0..document.lines().len() as u32 {
            if !inserts.is_empty() {
                let texts = inserts.remove(&InsertAt::Before(line));
                texts.iter().flatten().for_each(|text| next.insert(text));
            }
            match fates.numbers.get(line as usize) {
                None | Some(&KEPT) => next.keep(line as usize),
                Some(&GONE) => {}
                Some(&at) => {
                    let edits = std::mem::take(&mut fates.edits[(at - EDITED) as usize]);
                    let edited = next.edit(line as usize, edits);
                    edited.map_err(|source| PlanError {
                        line: line + 1,
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
