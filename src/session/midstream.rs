//! Prompts that arrived while calls ran, before their results.
//!
//! Clients show such a prompt after the results, although the results hang on the prompt. The live path has them in the
//! same order, so that a call and its result are in one turn, and a turn is one stretch of the path.

use super::turns::is_queued_prompt;
use crate::transcript::{EntryHead, EntryIx, Kind, PromptKind};

/// A stretch of the live path that is not in the order of parents: from its first moved entry up to, but not including,
/// the entry that follows the moved ones.
pub(crate) type Stretch = (u32, u32);

/// Moves prompts that stand between an answer and results of its calls after these results.
/// Returns the stretches that changed, in order.
pub(crate) fn move_prompts(heads: &[EntryHead], path: &mut [EntryIx]) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut has_answer = false;
    let mut at = 0;
    while at < path.len() {
        let head = heads[path[at]];
        if head.kind == Kind::Assistant {
            has_answer = true;
        } else if head.is_boundary() {
            has_answer = false;
        } else if has_answer
            && is_prompt(head)
            && let Some(length) = up_to_last_result(heads, &path[at..])
        {
            let end = at + length;
            path[at..end].sort_by_key(|&i| !is_result(heads[i]));
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

/// Whether an entry has results of calls.
fn is_result(head: EntryHead) -> bool {
    head.kind == Kind::User && head.prompt == PromptKind::None && !head.flags.meta()
}

/// Returns the length of the stretch from a prompt to the last result before the next answer; `None` if there is none.
fn up_to_last_result(heads: &[EntryHead], path: &[EntryIx]) -> Option<usize> {
    let is_over = |&i: &EntryIx| {
        let head = heads[i];
        head.is_boundary() || head.kind == Kind::Assistant
    };
    let rest = path.iter().position(is_over).unwrap_or(path.len());
    let last = path[..rest].iter().rposition(|&i| is_result(heads[i]))?;
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
        let uuids = entries.map(|&i| session.uuid(session.entry(i)));
        let uuids: Vec<String> = uuids.map(|u| u.expect("a uuid")).collect();
        (uuids.join(" "), session.turns().len())
    }

    #[test]
    fn live_path_keeps_a_prompt_between_the_lines_of_a_message() {
        let lines = [
            line("user", "p1", "", r#""content":"go""#),
            answer("a1", "p1", "m", TEXT),
            line("user", "p2", "a1", r#""content":"wait""#),
            answer("a2", "p2", "m", CALL),
            line("user", "r", "a2", RESULT),
            answer("b", "r", "n", TEXT),
        ];
        assert_eq!(path(&lines), ("p1 a1 p2 a2 r b".to_owned(), 2));
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
