//! Lines that are not one record: what is complete in them is kept, the rest goes to quarantine.

use std::rc::Rc;

use crate::doctor::checks::lines::recover::{Piece, pieces};
use crate::doctor::checks::lines::{
    byte_order_mark, glued_records, invalid_utf8, nul_run, open_end, torn_line,
};
use crate::document::Ending;
use crate::json::{Edit, Span};
use crate::session::Session;
use crate::surgery::{Action, Change, Detail, Excerpt, InsertAt, Plan, Refusal, Transform};
use crate::transcript::LineState;

use super::RepairOptions;

pub(crate) struct Lines(pub(crate) Rc<RepairOptions>);

impl Transform for Lines {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn reveals(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        for (i, state) in session.lines().iter().enumerate() {
            match state {
                LineState::Opaque => self.recover(session, i, &mut plan),
                LineState::Entry(entry) => {
                    let e = &session.entries()[*entry as usize];
                    let mark = byte_order_mark::MARK;
                    if session.text(e).starts_with(mark) && self.0.wants(&byte_order_mark::CHECK) {
                        plan.edit_line(i as u32, [Edit::new(Span::new(0, mark.len()), "")]);
                        let grown = -(mark.len() as i64);
                        plan.note(session, e, Action::Edit, "byte order mark", grown, 0, "");
                    }
                    if e.flags.not_utf8() && self.0.wants(&invalid_utf8::CHECK) {
                        plan.edit_line(i as u32, replacements(session.text(e)));
                        plan.note(
                            session,
                            e,
                            Action::Edit,
                            "bytes that are not UTF-8",
                            0,
                            0,
                            "",
                        );
                    }
                }
                LineState::Blank => {}
            }
        }
        self.end(session, &mut plan);
        Ok(plan)
    }
}

impl Lines {
    fn recover(&self, session: &Session, line: usize, plan: &mut Plan) {
        let text = session.document().text(line);
        let all = pieces(text);
        let records: Vec<&[u8]> = all
            .iter()
            .filter_map(|p| {
                if let Piece::Record(r) = p {
                    Some(&text[r.clone()])
                } else {
                    None
                }
            })
            .collect();
        let fragments: Vec<&[u8]> = all
            .iter()
            .filter_map(|p| {
                if let Piece::Fragment(r) = p {
                    Some(&text[r.clone()])
                } else {
                    None
                }
            })
            .collect();
        let check = match (fragments.is_empty(), records.len()) {
            (false, _) => &torn_line::CHECK,
            (true, 1) if text.starts_with(byte_order_mark::MARK) => &byte_order_mark::CHECK,
            (true, 0 | 1) => &nul_run::CHECK,
            (true, _) => &glued_records::CHECK,
        };
        if !self.0.wants(check) || text.len() > u32::MAX as usize {
            return;
        }
        let number = session.document().origin(line).map_or(0, |l| l as u32 + 1);
        match records.split_first() {
            Some((first, rest)) => {
                plan.edit_line(line as u32, [Edit::new(Span::new(0, text.len()), *first)]);
                for record in rest {
                    plan.insert_line(InsertAt::Before(line as u32 + 1), *record);
                }
            }
            None => plan.drop_line(line as u32),
        }
        let left: usize = fragments.iter().map(|f| f.len()).sum();
        if left > 0 {
            plan.quarantine.push((number, fragments.concat()));
            plan.warnings.push(format!(
                "line {number}: {left} bytes are no whole record and go to quarantine"
            ));
        }
        let kept: usize = records.iter().map(|r| r.len() + 1).sum();
        plan.changes.push(Change {
            line: Some(number),
            uuid: None,
            action: if records.is_empty() {
                Action::Drop
            } else {
                Action::Edit
            },
            what: match records.len() {
                0 => check.name.into(),
                1 => "record recovered".into(),
                n => format!("{n} records recovered").into(),
            },
            bytes: kept as i64 - text.len() as i64 - 1,
            turn: None,
            gist: Excerpt::None,
            shown: 0,
            count: 1,
        });
    }

    /// Every plan ends the last line; one is needed where nothing else is done.
    fn end(&self, session: &Session, plan: &mut Plan) {
        let open = session
            .document()
            .lines()
            .last()
            .is_some_and(|l| l.ending() == Ending::None);
        if let (true, Some(LineState::Entry(entry))) = (
            open && self.0.wants(&open_end::CHECK),
            session.lines().last(),
        ) {
            let e = &session.entries()[*entry as usize];
            plan.edit_line(e.line, []);
            plan.note(session, e, Action::Edit, "end of the last line", 1, 0, "");
        }
    }
}

/// Edits that put U+FFFD where bytes are not UTF-8.
fn replacements(text: &[u8]) -> Vec<Edit> {
    let mut out = Vec::new();
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            out.push(Edit::new(
                Span::new(at, at + chunk.invalid().len()),
                "\u{fffd}",
            ));
            at += chunk.invalid().len();
        }
    }
    out
}
