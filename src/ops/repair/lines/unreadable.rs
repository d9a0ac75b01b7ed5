//! Keeps the complete records of a line that is not one record, and quarantines the rest.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::doctor::Check;
use crate::doctor::checks::lines::bad_escape::{self, Escaped};
use crate::doctor::checks::lines::recover::{Piece, pieces};
use crate::doctor::checks::lines::{byte_order_mark, glued_records, nul_run, torn_line};
use crate::document::LineIx;
use crate::human;
use crate::json::{Edit, Span, apply_edits, decode, lookup};
use crate::session::Session;
use crate::surgery::{Action, Change, Excerpt, InsertAt, Plan, Reach, parent_edit};
use crate::transcript::{Id, LineState};

use super::super::RepairOptions;
use super::super::pass::Repair;
use super::{torn_prompt, torn_result};

pub(crate) static REPAIR: Repair = Repair {
    checks: &[
        &glued_records::CHECK,
        &torn_line::CHECK,
        &bad_escape::CHECK,
        &nul_run::CHECK,
        &byte_order_mark::CHECK,
    ],
    reach: Reach::Reveals,
    plan,
};

fn plan(session: &Session, options: &RepairOptions, plan: &mut Plan) {
    let mut unreadable: Vec<(LineIx, Parts<'_>)> = Vec::new();
    for (line, state) in session.numbered_lines() {
        let text = session.document().text(line);
        if state != LineState::Opaque || text.len() > u32::MAX as usize {
            continue;
        }
        if let Some(escaped) = bad_escape::escaped(text) {
            if options.wants(&bad_escape::CHECK) {
                escape(session, line, &escaped, plan);
            }
            continue;
        }
        let parts = Parts::of(text);
        if options.wants(parts.check(text)) {
            unreadable.push((line, parts));
        }
    }
    let places = Places::of(session, unreadable.iter().flat_map(|(_, p)| &p.records));
    for (line, parts) in unreadable {
        recover(session, options, line, &parts, &places, plan);
    }
}

/// Replaces a line by the record that it is once its characters are escaped. The old bytes are in the journal.
fn escape(session: &Session, line: LineIx, escaped: &Escaped, plan: &mut Plan) {
    let text = session.document().text(line);
    let whole = Span::new(0, text.len());
    plan.edit_line(line, [Edit::new(whole, escaped.line.as_slice())]);
    plan.changes.push(Change {
        line: session.document().origin(line).map(LineIx::from_one),
        uuid: None,
        action: Action::Edit,
        what: "record with a bad escape".into(),
        bytes: escaped.line.len() as i64 - text.len() as i64,
        turn: None,
        gist: Excerpt::None,
        shown: 0,
        count: 1,
    });
}

/// What an unreadable line consists of.
struct Parts<'a> {
    records: Vec<&'a [u8]>,
    fragments: Vec<&'a [u8]>,
}

impl<'a> Parts<'a> {
    fn of(text: &'a [u8]) -> Self {
        let (mut records, mut fragments) = (Vec::new(), Vec::new());
        for piece in pieces(text) {
            match piece {
                Piece::Record(range) => records.push(&text[range]),
                Piece::Fragment(range) => fragments.push(&text[range]),
                Piece::Padding(_) => {}
            }
        }
        Self { records, fragments }
    }

    /// The check that reports such a line.
    fn check(&self, text: &[u8]) -> &'static Check {
        match (self.fragments.is_empty(), self.records.len()) {
            (false, _) => &torn_line::CHECK,
            (true, 1) if text.starts_with(byte_order_mark::MARK) => &byte_order_mark::CHECK,
            (true, 0 | 1) => &nul_run::CHECK,
            (true, _) => &glued_records::CHECK,
        }
    }
}

/// The parents of recovered records that have lost their own.
///
/// Without the record, clients continue above its child with an older entry. The record takes its place between the two:
/// otherwise that entry would no longer be part of the conversation.
struct Places(FxHashMap<Id, String>);

impl Places {
    fn of<'r>(session: &Session, records: impl Iterator<Item = &'r &'r [u8]>) -> Self {
        let id = |record: &[u8], key: &str| {
            let raw = lookup(record, &[key])?.of(record);
            raw.starts_with(b"\"")
                .then(|| Id::of(decode(raw).as_bytes()))
        };
        let recovered = records.filter_map(|r| Some((id(r, "uuid")?, id(r, "parentUuid")?)));
        let recovered: FxHashMap<Id, Id> = recovered.collect();
        let mut places = FxHashMap::default();
        if recovered.is_empty() {
            return Self(places);
        }
        for pair in session.graph().path().windows(2) {
            let (above, child) = (session.entry(pair[0]), session.entry(pair[1]));
            if session.graph().parent(pair[1]).is_some() {
                continue;
            }
            let mut top = child.parent;
            for _ in 0..recovered.len() {
                top = recovered
                    .get(&top)
                    .copied()
                    .filter(|p| recovered.contains_key(p))
                    .unwrap_or(top);
            }
            let is_lost = recovered
                .get(&top)
                .is_some_and(|&p| session.find(p).is_none());
            if let (true, Some(uuid)) = (is_lost, session.uuid(above)) {
                places.insert(top, uuid);
            }
        }
        Self(places)
    }

    /// Returns a record with its new parent.
    fn placed<'r>(&self, record: &'r [u8]) -> Cow<'r, [u8]> {
        let uuid = lookup(record, &["uuid"]).map(|raw| Id::of(decode(raw.of(record)).as_bytes()));
        let parent = uuid.and_then(|id| self.0.get(&id));
        let edited = parent.map(|p| apply_edits(record, &[parent_edit(record, Some(p))]));
        edited
            .and_then(Result::ok)
            .map_or(Cow::Borrowed(record), Cow::Owned)
    }
}

fn recover(
    session: &Session,
    options: &RepairOptions,
    line: LineIx,
    parts: &Parts<'_>,
    places: &Places,
    plan: &mut Plan,
) {
    let text = session.document().text(line);
    let number = session.document().origin(line).map_or(0, LineIx::from_one);
    let restored = match (&parts.records[..], &parts.fragments[..]) {
        ([], [fragment]) => torn_prompt::restore(session, options, line, fragment)
            .or_else(|| torn_result::restore(session, options, line, fragment)),
        _ => None,
    };
    let restored_line = restored.as_ref().map(|r| Cow::Borrowed(r.line.as_bytes()));
    let records = parts.records.iter().map(|record| places.placed(record));
    let records: Vec<Cow<'_, [u8]>> = records.chain(restored_line).collect();
    match records.split_first() {
        Some((first, rest)) => {
            plan.edit_line(line, [Edit::new(Span::new(0, text.len()), &**first)]);
            for record in rest {
                plan.insert_line(InsertAt::Before(line.plus(1)), &**record);
            }
        }
        None => plan.drop_line(line),
    }
    let left: usize = parts.fragments.iter().map(|f| f.len()).sum();
    if left > 0 {
        plan.quarantine.push((number, parts.fragments.concat()));
        plan.warnings.push(format!(
            "line {number}: {} cannot be read and are moved to quarantine",
            human::bytes(left as u64)
        ));
    }
    if let Some(restored) = &restored {
        plan.warnings.push(format!(
            "line {number}: the words of the torn {} were restored from {}",
            restored.kind, restored.source
        ));
    }
    let kept: usize = records.iter().map(|r| r.len() + 1).sum();
    let (action, what) = match (&restored, parts.records.len()) {
        (Some(restored), _) => (Action::Edit, format!("{} restored", restored.kind).into()),
        (None, 0) => (Action::Drop, parts.check(text).name.into()),
        (None, 1) => (Action::Edit, "record recovered".into()),
        (None, n) => (Action::Edit, format!("{n} records recovered").into()),
    };
    plan.changes.push(Change {
        line: Some(number),
        uuid: None,
        action,
        what,
        bytes: kept as i64 - text.len() as i64 - 1,
        turn: None,
        gist: restored.map_or(Excerpt::None, |r| r.words.as_str().into()),
        shown: 0,
        count: 1,
    });
}
