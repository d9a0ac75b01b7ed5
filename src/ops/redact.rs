//! Replaces secrets by placeholders.

use std::borrow::Borrow;

use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::document::LineIx;
use crate::json::{Edit, Span, elements, lookup, remove_elements};
use crate::secrets::{Finding, Ledger, Scanner};
use crate::session::{At, Session};
use crate::surgery::{Action, ChangeKind, Detail, Excerpt, Plan, Refusal, Transform};
use crate::transcript::{BlockKind, Entry, EntryHead, EntryIx, Id, Kind, LineState};

use super::redact_scope::RedactScope;
use super::removals::{BlockRemovals, content_lists};
use super::selector::Selector;

/// Replaces every secret in a transcript by its placeholder, in whatever line and field it is.
///
/// Thinking is signed, and the API refuses a session in which it was edited: thinking that contains a secret is removed.
#[derive(Debug, Clone)]
pub struct Redact<S, L> {
    /// Finds the secrets.
    pub scanner: S,
    /// Gives each its placeholder.
    pub ledger: L,
    /// The content to which this is limited; an empty selector means the whole file.
    pub only: Selector,
}

impl<S: Borrow<Scanner> + Sync, L: Borrow<Ledger>> Transform for Redact<S, L> {
    fn name(&self) -> &'static str {
        "redact"
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::with_detail(detail);
        let mut doomed = BlockRemovals::default();
        let mut changed_answers: FxHashSet<Id> = FxHashSet::default();
        let scope = RedactScope::new(&self.only, session)?;
        let mut outside = 0;
        for (line, mut found) in secrets_by_line(self.scanner.borrow(), session) {
            let all = found.len();
            found.retain(|f| scope.holds(session, line, f.range.start));
            outside += all - found.len();
            if found.is_empty() {
                continue;
            }
            match session.lines()[line] {
                LineState::Entry(i) => {
                    let rest = doom_thinking(session, i, found, &mut doomed);
                    let e = session.entry(i);
                    if e.kind == Kind::Assistant && rest.iter().any(|f| is_in_content(e, f)) {
                        changed_answers.insert(e.message_id);
                    }
                    self.edit_entry(session, i, rest, &mut plan);
                }
                LineState::Opaque => {
                    plan.edit_line(line, self.edits(&found));
                }
                LineState::Blank => {}
            }
        }
        if outside > 0 {
            let stay = if outside == 1 {
                "1 secret stays in the transcript: it is".to_owned()
            } else {
                format!("{outside} secrets stay in the transcript: they are")
            };
            plan.warnings
                .push(format!("{stay} outside of the content that you selected"));
        }
        let unfinished = session.unfinished_turn();
        let losers = doomed.plan(session, &mut plan, |_, _| {
            (ChangeKind::Thinking, Excerpt::None)
        });
        if !losers.is_empty() {
            plan.warnings.push(
                "thinking that contains a secret is removed: its signature does not allow changes"
                    .to_owned(),
            );
        }
        let turn = |&i: &EntryIx| session.turns().of(session.graph(), i);
        if let Some(turn) = unfinished.filter(|u| losers.iter().any(|i| turn(i) == Some(*u))) {
            plan.warnings.push(format!("turn {turn} is unfinished and loses thinking: the API accepts a new prompt, but does not continue that turn"));
        }
        let has_thinking = |(i, head): (EntryIx, &EntryHead)| {
            head.flags.thinking() && changed_answers.contains(&session.entry(i).message_id)
        };
        if session.numbers().zip(session.heads()).any(has_thinking) {
            plan.warnings.push(
                "answers with thinking have changed: the API may leave out that thinking"
                    .to_owned(),
            );
        }
        Ok(plan)
    }
}

impl<S, L: Borrow<Ledger>> Redact<S, L> {
    fn edits(&self, found: &[Finding]) -> Vec<Edit> {
        let edit = |f: &Finding| {
            let span = Span::new(f.range.start, f.range.end);
            Edit::new(span, f.replacement(&self.ledger.borrow().secret(f)))
        };
        found.iter().map(edit).collect()
    }

    /// Replaces the secrets of an entry. Copies of thinking in the client's own records are removed.
    fn edit_entry(&self, session: &Session, i: EntryIx, found: Vec<Finding>, plan: &mut Plan) {
        if found.is_empty() {
            return;
        }
        let e = session.entry(i);
        let mut removed = Vec::new();
        let mut emptied = false;
        if !matches!(e.kind, Kind::User | Kind::Assistant) {
            (removed, emptied) = copied_thinking(session.text(e), &found);
        }
        if emptied && e.kind == Kind::ApiRequestBlob {
            plan.drop_entry(session, e, ChangeKind::DuplicateOutput);
            return;
        }
        let is_left = |f: &Finding| {
            let inside = |edit: &Edit| {
                edit.span.start as usize <= f.range.start && f.range.end <= edit.span.end as usize
            };
            !removed.iter().any(inside)
        };
        let found: Vec<Finding> = found.into_iter().filter(is_left).collect();
        for finding in &found {
            let words = finding.replacement(&self.ledger.borrow().secret(finding));
            let growth = words.len() as i64 - finding.range.len() as i64;
            let shown = is_in_content(e, finding) && session.graph().is_shown(i);
            let shown = if shown { growth } else { 0 };
            plan.note(
                session,
                e,
                Action::Edit,
                ChangeKind::Secret,
                growth,
                shown,
                words,
            );
        }
        removed.extend(self.edits(&found));
        plan.edit_line(e.line, removed);
    }
}

/// Returns the lines that contain secrets beyond doubt, with these.
fn secrets_by_line(scanner: &Scanner, session: &Session) -> Vec<(LineIx, Vec<Finding>)> {
    let document = session.document();
    let lines = (0..document.lines().len()).into_par_iter().map(LineIx::new);
    let found = lines.filter_map(|line| {
        let text = document.text(line);
        if !scanner.may_hold(text) {
            return None;
        }
        let mut found = match session.lines()[line] {
            LineState::Entry(_) => scanner.scan_json(text),
            LineState::Opaque => scanner.scan_record(text),
            LineState::Blank => return None,
        };
        found.retain(|f| !f.is_suggestion());
        (!found.is_empty()).then_some((line, found))
    });
    found.collect()
}

/// Marks the thinking blocks of an entry that contain a secret, and returns the findings outside of them.
fn doom_thinking(
    session: &Session,
    i: EntryIx,
    found: Vec<Finding>,
    doomed: &mut BlockRemovals,
) -> Vec<Finding> {
    let e = session.entry(i);
    let first = e.blocks.start();
    let blocks = session.blocks(e);
    let mut rest = Vec::new();
    for finding in found {
        let within = blocks.iter().position(|b| {
            b.kind == BlockKind::Thinking && b.span.range().contains(&finding.range.start)
        });
        match within {
            Some(block) => doomed.add(At {
                entry: i,
                block: first.plus(block),
            }),
            None => rest.push(finding),
        }
    }
    rest
}

fn is_in_content(e: &Entry, finding: &Finding) -> bool {
    e.content.range().contains(&finding.range.start)
}

/// Returns edits that remove signed thinking with secrets from the lists of blocks in a line, and whether a list is
/// empty then.
fn copied_thinking(text: &[u8], found: &[Finding]) -> (Vec<Edit>, bool) {
    let mut edits = Vec::new();
    let mut emptied = false;
    if memchr::memmem::find(text, b"\"thinking\"").is_none() {
        return (edits, emptied);
    }
    for list in content_lists(text) {
        let inner = list.of(text);
        let Ok(all) = elements(inner) else { continue };
        let is_gone = |span: &Span| {
            let block = span.of(inner);
            let range = span.shift(list.start).range();
            found.iter().any(|f| range.contains(&f.range.start))
                && lookup(block, &["type"]).is_some_and(|t| t.of(block) == b"\"thinking\"")
        };
        let gone: Vec<usize> = (0..all.len()).filter(|&n| is_gone(&all[n])).collect();
        emptied |= !all.is_empty() && gone.len() == all.len();
        let removed = remove_elements(&all, &gone).into_iter();
        edits.extend(removed.map(|e| Edit::new(e.span.shift(list.start), e.with)));
    }
    (edits, emptied)
}
