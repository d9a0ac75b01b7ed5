//! Texts and pictures inside messages, edited where they stand.

use std::rc::Rc;

use crate::doctor::checks::calls::tool_reference;
use crate::doctor::checks::content::escapes::{Bad, bad_escapes};
use crate::doctor::checks::content::media::{self, Ill, Medium};
use crate::doctor::checks::content::{
    bad_document, large_image, lone_surrogate, not_an_image, nul_in_text, string_answer,
};
use crate::json::{Edit, Span, encode};
use crate::session::{Session, Standing};
use crate::surgery::{Action, Detail, Plan, Refusal, Transform};

use super::RepairOptions;
use super::images::shrink;

pub(crate) struct Text(pub(crate) Rc<RepairOptions>);

impl Transform for Text {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        if self.0.wants(&string_answer::CHECK) {
            for i in string_answer::entries(session) {
                let e = &session.entries()[i];
                let (start, end) = (e.content.start, e.content.end);
                plan.edit_line(
                    e.line,
                    [
                        Edit::new(Span { start, end: start }, r#"[{"type":"text","text":"#),
                        Edit::new(Span { start: end, end }, "}]"),
                    ],
                );
                plan.note(session, e, Action::Edit, "answer wrapped", 0, 0, "");
            }
        }
        if self.0.drop_references && self.0.wants(&tool_reference::CHECK) {
            for reference in tool_reference::references(session) {
                let note = format!("[Reference to the tool {} removed.]", reference.tool);
                put_note(
                    session,
                    &mut plan,
                    reference.entry,
                    reference.block,
                    "reference to a tool",
                    &note,
                );
            }
        }
        self.escapes(session, &mut plan);
        self.media(session, &mut plan);
        Ok(plan)
    }
}

impl Text {
    fn escapes(&self, session: &Session, plan: &mut Plan) {
        let (surrogates, nuls) = (
            self.0.wants(&lone_surrogate::CHECK),
            self.0.wants(&nul_in_text::CHECK),
        );
        for (i, e) in session.entries().iter().enumerate() {
            if !e.is_message()
                || !matches!(
                    session.graph().place(i),
                    Standing::Path(_) | Standing::Beside(_)
                )
            {
                continue;
            }
            let mut edits = Vec::new();
            for (at, bad) in bad_escapes(e.content.of(session.text(e))) {
                let span = Span::new(at, at + 6).shift(e.content.start);
                match bad {
                    Bad::Surrogate if surrogates => edits.push(Edit::new(span, "\\ufffd")),
                    Bad::Nul if nuls => edits.push(Edit::new(span, "")),
                    _ => {}
                }
            }
            if !edits.is_empty() {
                let grown: i64 = edits.iter().map(|e| e.with.len() as i64 - 6).sum();
                plan.note(
                    session,
                    e,
                    Action::Edit,
                    "characters that no text may hold",
                    grown,
                    0,
                    "",
                );
                plan.edit_line(e.line, edits);
            }
        }
    }

    fn media(&self, session: &Session, plan: &mut Plan) {
        for (medium, ill) in media::ill_images(session) {
            let check = if matches!(ill, Ill::NoImage | Ill::OtherKind(_)) {
                &not_an_image::CHECK
            } else {
                &large_image::CHECK
            };
            if self.0.wants(check) {
                mend_image(session, plan, &medium, &ill);
            }
        }
        if self.0.wants(&bad_document::CHECK) {
            for (medium, why) in media::ill_documents(session) {
                note_instead(
                    session,
                    plan,
                    &medium,
                    &format!("[Document removed: {why}.]"),
                );
            }
        }
    }
}

fn mend_image(session: &Session, plan: &mut Plan, medium: &Medium, ill: &Ill) {
    let e = &session.entries()[medium.entry];
    let text = session.text(e);
    let made = match ill {
        Ill::NoImage => None,
        Ill::OtherKind(mime) => {
            let edits: Vec<Edit> = medium
                .media_type
                .map(|span| Edit::new(span, encode(mime)))
                .into_iter()
                .collect();
            plan.edit_line(e.line, edits);
            plan.note(session, e, Action::Edit, "kind of a picture", 0, 0, "");
            return;
        }
        // Small enough also for a session with many pictures.
        Ill::Bytes(_) | Ill::Pixels(..) => media::bytes(text, medium)
            .and_then(|raw| shrink(&raw, media::MOST_PIXELS_OF_MANY, media::MOST_BYTES)),
    };
    let Some((data, mime)) = made else {
        note_instead(
            session,
            plan,
            medium,
            "[Image removed: it could not be read.]",
        );
        return;
    };
    let grown = data.len() as i64 + 2 - medium.data.len() as i64;
    let mut edits = vec![Edit::new(medium.data, format!("\"{data}\""))];
    edits.extend(medium.media_type.map(|span| Edit::new(span, encode(mime))));
    plan.edit_line(e.line, edits);
    plan.note(
        session,
        e,
        Action::Edit,
        "picture made smaller",
        grown,
        0,
        "",
    );
}

fn note_instead(session: &Session, plan: &mut Plan, medium: &Medium, note: &str) {
    let what = "picture or document";
    put_note(session, plan, medium.entry, medium.block, what, note);
}

/// Puts a text in the place of a block.
fn put_note(session: &Session, plan: &mut Plan, entry: usize, block: Span, what: &str, note: &str) {
    let e = &session.entries()[entry];
    let text = format!(r#"{{"type":"text","text":{}}}"#, encode(note));
    let grown = text.len() as i64 - block.len() as i64;
    plan.edit_line(e.line, [Edit::new(block, text)]);
    plan.note(
        session,
        e,
        Action::Edit,
        what.to_owned(),
        grown,
        grown,
        note,
    );
}
