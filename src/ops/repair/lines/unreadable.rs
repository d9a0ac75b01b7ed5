//! Keeps the complete records of a line that is not one record, and quarantines the rest.

use crate::doctor::Check;
use crate::doctor::checks::lines::bad_escape::{self, Escaped};
use crate::doctor::checks::lines::recover::{Piece, pieces};
use crate::doctor::checks::lines::{byte_order_mark, glued_records, nul_run, torn_line};
use crate::document::LineIx;
use crate::human;
use crate::json::{Edit, Span};
use crate::session::Session;
use crate::surgery::{Action, Change, Excerpt, InsertAt, Plan, Reach};
use crate::transcript::LineState;

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
            recover(session, options, line, &parts, plan);
        }
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

fn recover(
    session: &Session,
    options: &RepairOptions,
    line: LineIx,
    parts: &Parts<'_>,
    plan: &mut Plan,
) {
    let text = session.document().text(line);
    let number = session.document().origin(line).map_or(0, LineIx::from_one);
    let restored = match (&parts.records[..], &parts.fragments[..]) {
        ([], [fragment]) => torn_prompt::restore(session, options, line, fragment)
            .or_else(|| torn_result::restore(session, options, line, fragment)),
        _ => None,
    };
    let restored_line = restored.as_ref().map(|r| r.line.as_bytes());
    let records: Vec<&[u8]> = parts.records.iter().copied().chain(restored_line).collect();
    match records.split_first() {
        Some((first, rest)) => {
            plan.edit_line(line, [Edit::new(Span::new(0, text.len()), *first)]);
            for record in rest {
                plan.insert_line(InsertAt::Before(line.plus(1)), *record);
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
