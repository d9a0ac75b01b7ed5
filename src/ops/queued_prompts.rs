//! Keeps prompts that were typed while the model worked in their place when that work is removed.

use crate::json::{Edit, fields_around, lookup};
use crate::session::{Session, is_queued_prompt};
use crate::surgery::{ChangeKind, Plan};
use crate::transcript::{Entry, Kind, PromptKind};

/// Turns queued prompts into plain ones if, after the plan, nothing stands between them and the prompt before them.
///
/// Clients show a queued prompt as a reminder, and put reminders before the texts of the same user message. Without the
/// calls between the two, the model would be shown the later prompt first.
pub(super) fn keep_in_place(session: &Session, plan: &mut Plan) {
    let (entries, heads) = (session.entries(), session.heads());
    let (mut follows_words, mut lost_work) = (false, false);
    for i in session.graph().path().iter().copied() {
        let (e, head) = (&entries[i], heads[i]);
        let stays = !plan.drops(e.line);
        match head.kind {
            Kind::Assistant if stays => (follows_words, lost_work) = (false, false),
            Kind::Assistant => lost_work = true,
            Kind::User if stays && head.prompt != PromptKind::None => {
                (follows_words, lost_work) = (true, false);
            }
            Kind::Attachment if stays && is_queued_prompt(head) && follows_words && lost_work => {
                if let Some(edits) = as_prompt(session, e) {
                    plan.edit_entry(session, e, ChangeKind::Prompt, edits);
                }
            }
            _ => {}
        }
    }
}

/// Returns the edits that make a queued prompt a plain one.
fn as_prompt(session: &Session, e: &Entry) -> Option<[Edit; 3]> {
    let text = session.text(e);
    let kind = lookup(text, &["type"])?;
    let prompt = lookup(text, &["attachment", "prompt"])?.of(text);
    if !matches!(prompt.first(), Some(b'"' | b'[')) || prompt == b"\"\"" {
        return None;
    }
    let fields = fields_around(text, e.words()).ok()?;
    let attachment = fields.iter().find(|f| f.key.of(text) == b"attachment")?;
    let prompt = String::from_utf8_lossy(prompt);
    Some([
        Edit::new(kind, "\"user\""),
        Edit::new(attachment.key, "message"),
        Edit::new(
            attachment.value,
            format!(r#"{{"role":"user","content":{prompt}}}"#),
        ),
    ])
}

#[cfg(test)]
mod tests {
    use crate::ops::DropTools;
    use crate::session::Session;
    use crate::surgery::Surgery;

    const QUEUED: &str = include_str!("../../fixtures/regressions/queued.jsonl");

    #[test]
    fn drop_tools_keeps_a_queued_prompt_after_the_prompt_before_it() {
        // To this model, clients send what was typed meanwhile in the user's name.
        let text = QUEUED.replace("claude-opus-5-5", "claude-sonnet-4-5");
        let operated = Surgery::on(Session::from_bytes(text))
            .then(DropTools::default())
            .operate();
        let verified = operated.expect("a result").verify().expect("no fault");
        let messages = crate::window::payload(verified.session(), None);
        let first = String::from_utf8(messages[0].json()).expect("UTF-8");
        let (typed, queued) = (first.find("first"), first.find("AND PLEASE"));
        assert!(typed.is_some() && typed < queued, "{first}");
    }

    #[test]
    fn drop_tools_leaves_a_queued_prompt_alone_if_an_answer_stays_before_it() {
        let text = QUEUED.replace(
            r#"[{"type":"tool_use""#,
            r#"[{"type":"text","text":"working"},{"type":"tool_use""#,
        );
        let operated = Surgery::on(Session::from_bytes(text))
            .then(DropTools::default())
            .operate();
        let verified = operated.expect("a result").verify().expect("no fault");
        let result = String::from_utf8(verified.to_vec()).expect("UTF-8");
        assert!(result.contains("queued_command"), "{result}");
    }
}
