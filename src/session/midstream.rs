//! Prompts that arrived while the model wrote a message or waited for results.
//!
//! Clients show such a prompt after the whole message and the results of its calls, although the rest of the message
//! hangs on the prompt. The live path has them in the same order, so that a turn is one stretch of it.

use super::turns::is_queued_prompt;
use crate::transcript::{Entry, EntryHead, Kind, PromptKind};

/// A stretch of the live path that is not in the order of parents: from its first moved entry up to, but not including,
/// the entry that follows the moved ones.
pub(crate) type Stretch = (u32, u32);

/// Moves prompts that stand between the lines of a message, or before results of its calls, after both.
/// Returns the stretches that changed, in order.
pub(crate) fn move_prompts(
    entries: &[Entry],
    heads: &[EntryHead],
    path: &mut [u32],
) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut answer = None;
    let mut at = 0;
    while at < path.len() {
        let head = heads[path[at] as usize];
        if head.kind == Kind::Assistant {
            answer = Some(path[at] as usize);
        } else if head.is_boundary() {
            answer = None;
        } else if is_prompt(head)
            && let Some(answer) = answer
            && let Some(end) = end_of_message(entries, heads, &path[at..], answer)
        {
            let end = at + end;
            path[at..end].sort_by_key(|&i| !belongs(entries, heads, i as usize, answer));
            stretches.push((at as u32, end as u32));
            at = end;
            continue;
        }
        at += 1;
    }
    stretches
}

/// Whether an entry is a prompt that a person sent, possibly while the model worked.
fn is_prompt(head: EntryHead) -> bool {
    matches!(head.prompt, PromptKind::Words | PromptKind::Command) || is_queued_prompt(head)
}

/// Whether an entry is a line of this message, or the result of a call that was made before the prompt.
fn belongs(entries: &[Entry], heads: &[EntryHead], entry: usize, answer: usize) -> bool {
    match heads[entry].kind {
        Kind::Assistant => {
            let id = entries[entry].message_id;
            id.is_some() && id == entries[answer].message_id
        }
        Kind::User => heads[entry].prompt == PromptKind::None,
        _ => false,
    }
}

/// Returns the length of the stretch from a prompt to the last entry that belongs to the message before it; `None` if no
/// such entry follows.
fn end_of_message(
    entries: &[Entry],
    heads: &[EntryHead],
    path: &[u32],
    answer: usize,
) -> Option<usize> {
    let is_over = |&&i: &&u32| {
        let i = i as usize;
        heads[i].is_boundary()
            || heads[i].kind == Kind::Assistant && !belongs(entries, heads, i, answer)
    };
    let rest = path.iter().position(|i| is_over(&i)).unwrap_or(path.len());
    let last = path[..rest]
        .iter()
        .rposition(|&i| belongs(entries, heads, i as usize, answer))?;
    Some(last + 1)
}

#[cfg(test)]
mod tests {
    use crate::document::Document;
    use crate::session::Session;

    fn line(kind: &str, uuid: &str, parent: &str, message: &str) -> String {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":"{parent}","message":{{{message}}}}}"#
        ) + "\n"
    }

    fn answer(uuid: &str, parent: &str, id: &str, block: &str) -> String {
        let message = format!(r#""id":"{id}","content":[{{{block}}}]"#);
        line("assistant", uuid, parent, &message)
    }

    const CALL: &str = r#""type":"tool_use","id":"t","name":"Bash","input":{}"#;
    const RESULT: &str = r#""content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#;
    const TEXT: &str = r#""type":"text","text":"words""#;

    fn path(lines: &[String]) -> (String, usize) {
        let session = Session::new(Document::from_bytes(lines.concat().into_bytes()));
        let entries = session.graph().path().iter();
        let uuids = entries.map(|&i| session.uuid(&session.entries()[i as usize]));
        let uuids: Vec<String> = uuids.map(|u| u.expect("a uuid")).collect();
        (uuids.join(" "), session.turns().len())
    }

    #[test]
    fn live_path_has_a_prompt_after_the_message_that_it_arrived_in() {
        let lines = [
            line("user", "p1", "", r#""content":"go""#),
            answer("a1", "p1", "m", TEXT),
            line("user", "p2", "a1", r#""content":"wait""#),
            answer("a2", "p2", "m", CALL),
            line("user", "r", "a2", RESULT),
            answer("b", "r", "n", TEXT),
        ];
        assert_eq!(path(&lines), ("p1 a1 a2 r p2 b".to_owned(), 2));
    }

    #[test]
    fn live_path_has_a_prompt_after_the_results_that_it_arrived_before() {
        let lines = [
            line("user", "p1", "", r#""content":"go""#),
            answer("a", "p1", "m", CALL),
            line("user", "p2", "a", r#""content":"wait""#),
            line("user", "r", "p2", RESULT),
            answer("b", "r", "n", TEXT),
        ];
        assert_eq!(path(&lines), ("p1 a r p2 b".to_owned(), 2));
    }

    #[test]
    fn live_path_keeps_the_order_of_prompts_between_messages() {
        let lines = [
            line("user", "p1", "", r#""content":"go""#),
            answer("a", "p1", "m", TEXT),
            line("user", "p2", "a", r#""content":"and""#),
            answer("b", "p2", "n", TEXT),
        ];
        assert_eq!(path(&lines), ("p1 a p2 b".to_owned(), 2));
    }
}
