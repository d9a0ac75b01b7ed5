//! Puts a note in the place of a deleted prompt whose answer stays.

use crate::json::{Edit, encode};
use crate::session::Session;
use crate::surgery::{Action, ChangeKind, Plan};
use crate::transcript::{Entry, EntryIx, Kind, PromptKind};

/// The note. The API requires that a conversation begins with a user message.
const PLACEHOLDER: &str = "(this prompt was deleted)";

/// Returns the prompt that has to stay as a note if only some entries of the live path stay, which `stays` decides by
/// position: otherwise an answer would be the first message from position `from` on. Where no prompt of a person comes before
/// that answer, a text that the client added in the user's name takes its place.
pub(super) fn prompt_for(
    session: &Session,
    from: u32,
    stays: impl Fn(u32, &Entry) -> bool,
) -> Option<EntryIx> {
    let path = session.graph().path().iter().enumerate();
    let mut prompt = None;
    for (position, &i) in path.skip(from as usize) {
        let e = session.entry(i);
        if !e.is_message() {
            continue;
        }
        if stays(position as u32, e) {
            let is_answer = e.kind == Kind::Assistant && !e.flags.api_error();
            return prompt.filter(|_| is_answer);
        }
        let is_prompt = e.kind == Kind::User && e.prompt != PromptKind::None;
        let has_words = || !session.blocks(e).iter().any(|b| b.kind.is_result());
        if is_prompt || prompt.is_none() && e.kind == Kind::User && has_words() {
            prompt = Some(i);
        }
    }
    None
}

/// Puts a note in the place of a prompt.
pub(super) fn replace_prompt(session: &Session, entry: EntryIx, plan: &mut Plan) {
    let e = session.entry(entry);
    let note = encode(PLACEHOLDER);
    let grown = note.len() as i64 - e.content.len() as i64;
    let shown = if session.graph().is_shown(entry) {
        grown
    } else {
        0
    };
    let words = crate::view::prompt_text(session, e).unwrap_or_default();
    plan.note(
        session,
        e,
        Action::Edit,
        ChangeKind::Prompt,
        grown,
        shown,
        words,
    );
    plan.edit_line(e.line, [Edit::new(e.content, note)]);
}
