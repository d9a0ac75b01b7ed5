//! Makes sure that clients of all versions find the leaf of a result.

use rustc_hash::FxHashSet;

use crate::json::{Edit, encode, lookup};
use crate::session::Session;
use crate::surgery::change::Action;
use crate::surgery::plan::{InsertAt, Plan};
use crate::transcript::{EntryIx, Id, Kind, PromptKind, format_timestamp};

/// Makes the leaf the parent of entries after it that have lost theirs, if the newest clients attach them to the leaf by
/// their time. Returns these entries.
///
/// Once the time of the leaf changes, clients would attach such an entry elsewhere. If it is the last entry of the file,
/// they would walk up from it and miss the leaf.
pub(super) fn adopt(session: &Session, plan: &mut Plan) -> Vec<EntryIx> {
    let (entries, graph) = (session.entries(), session.graph());
    let Some(leaf) = graph.leaf() else {
        return Vec::new();
    };
    let lost = |&i: &EntryIx| {
        let e = &entries[i];
        e.is_chained() && !e.is_message() && e.parent.is_some() && graph.parent(i).is_none()
    };
    let on_leaf = |&i: &EntryIx| {
        let within = entries[i].time.saturating_sub(5000)..entries[i].time;
        let older = session.numbered().filter(|(_, c)| {
            c.is_chained()
                && c.flags.sidechain() == entries[i].flags.sidechain()
                && within.contains(&c.time)
        });
        let next = older.max_by_key(|(_, c)| c.time);
        next.is_some_and(|(at, _)| at == leaf)
    };
    let Some(uuid) = session.string(&entries[leaf], &["uuid"]) else {
        return Vec::new();
    };
    let after_leaf = session.numbers().skip(leaf.index() + 1);
    let found: Vec<EntryIx> = after_leaf.filter(lost).filter(on_leaf).collect();
    for &i in &found {
        plan.set_parent(i, Some(&uuid));
    }
    found
}

/// Adds a `last-prompt` entry that names the leaf, if the last one does not lead to it.
///
/// Sessions without such entries get one only if `always` is set: without one, clients take the last entry for the leaf.
pub(super) fn name_leaf(session: &Session, id: &str, always: bool, plan: &mut Plan) {
    let Some(leaf) = session.graph().leaf() else {
        return;
    };
    let leaf_entry = session.entry(leaf);
    let last = session.entries_of(Kind::LastPrompt).last();
    match last.map(|(_, entry)| entry) {
        None if !always => return,
        Some(last)
            if last.refers_to != Id::NONE
                && session
                    .find(last.refers_to)
                    .is_some_and(|n| leads_to(session, n, leaf)) =>
        {
            return;
        }
        _ => {}
    }
    let Some(uuid) = session.uuid(leaf_entry) else {
        return;
    };
    let prompt = session
        .turns()
        .iter()
        .next_back()
        .map(|t| session.entry(t.prompt))
        .filter(|e| e.prompt == PromptKind::Words)
        .and_then(|e| crate::view::prompt_text(session, e))
        .map(|words| {
            format!(
                r#""lastPrompt":{},"#,
                encode(&words.chars().take(200).collect::<String>())
            )
        });
    let line = format!(
        r#"{{"type":"last-prompt",{}"leafUuid":{},"sessionId":{}}}"#,
        prompt.unwrap_or_default(),
        encode(&uuid),
        encode(id)
    );
    plan.note_insert("last prompt", line.len() + 1, 0, "");
    plan.insert_line(InsertAt::End, line);
}

/// Whether clients that find this entry named continue from the leaf: the leaf descends from it, or it follows the leaf
/// without a message in between, as the attachment to which a person went back.
fn leads_to(session: &Session, named: EntryIx, leaf: EntryIx) -> bool {
    let graph = session.graph();
    if graph.descends(leaf, named) {
        return true;
    }
    let steps = session.numbers();
    let mut above = steps.scan(Some(named), |at, _| {
        let i = (*at)?;
        *at = graph.parent(i);
        Some(i)
    });
    above.find(|&i| session.heads()[i].is_message()) == Some(leaf)
}

/// Makes the leaf newer than all entries that do not follow it. The `adopted` entries follow it.
///
/// Clients up to 2.1.45 take the newest entry for the end of the conversation, and the first of several with the same
/// time. Lines of one message can share a millisecond; without this, a cut after such a line would lose it.
pub(super) fn lead_in_time(session: &Session, adopted: &[EntryIx], plan: &mut Plan) {
    let entries = session.entries();
    let Some(leaf) = session.graph().leaf() else {
        return;
    };
    let Newest { following, others } = Newest::of(session, leaf, adopted);
    if others < following || entries[leaf].time == i64::MIN {
        return;
    }
    let time = encode(&format_timestamp(others.saturating_add(1)));
    let copies = entries
        .iter()
        .filter(|e| e.is_chained() && e.uuid == entries[leaf].uuid);
    for e in copies {
        if let Some(span) = lookup(session.text(e), &["timestamp"]) {
            plan.note(session, e, Action::Edit, "time", 0, 0, "");
            plan.edit_line(e.line, [Edit::new(span, time.clone())]);
        }
    }
}

/// Whether the newest entry of a session is the leaf or follows it, so that clients which go by time continue from there.
pub(in crate::surgery) fn leads_in_time(session: &Session) -> bool {
    let leaf = session.graph().leaf();
    leaf.is_some_and(|leaf| {
        let newest = Newest::of(session, leaf, &[]);
        newest.others < newest.following
    })
}

/// The newest times of a session.
struct Newest {
    /// Of the leaf and what follows it.
    following: i64,
    /// Of everything else.
    others: i64,
}

impl Newest {
    fn of(session: &Session, leaf: EntryIx, adopted: &[EntryIx]) -> Self {
        let mut after = FxHashSet::default();
        let mut stack = [&[leaf], adopted].concat();
        while let Some(i) = stack.pop() {
            if after.insert(i) {
                stack.extend(session.graph().children(i));
            }
        }
        let leaf = session.entry(leaf).uuid;
        let newest = |following: bool| {
            let times = session.numbered().filter(|(i, e)| {
                // Some clients ignore progress, so it does not lead them to the leaf.
                let leads = !following || e.kind != Kind::Progress;
                // Another copy of the leaf's line is the leaf too.
                let follows = after.contains(i) || e.uuid == leaf;
                e.is_chained() && !e.flags.sidechain() && follows == following && leads
            });
            times.map(|(_, e)| e.time).max().unwrap_or(i64::MIN)
        };
        Self {
            following: newest(true),
            others: newest(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Finish;
    use super::*;
    use crate::document::Document;
    use crate::surgery::{Detail, Transform};

    /// A prompt at 100 ms, and two lines of an answer at these times.
    fn answered(first: u32, second: u32) -> Session {
        let line = |parent: &str, uuid: &str, kind: &str, time: u32| {
            let content = format!(r#"[{{"type":"text","text":"{uuid}"}}]"#);
            format!(
                r#"{{"parentUuid":{parent},"type":"{kind}","message":{{"id":"m","role":"{kind}","content":{content}}},"uuid":"{uuid}","timestamp":"2026-01-02T03:04:05.{time}Z"}}"#
            ) + "\n"
        };
        let text = line("null", "p", "user", 100)
            + &line("\"p\"", "a", "assistant", first)
            + &line("\"a\"", "b", "assistant", second);
        Session::new(Document::from_bytes(text.into_bytes()))
    }

    fn leaf_time(session: &Session, leaf_was: &str) -> String {
        let finish = Finish {
            leaf_was: Some(Id::of(leaf_was.as_bytes())),
            ..Finish::default()
        };
        let mut plan = finish.plan(session, Detail::Full).expect("a plan");
        let (document, lines) = plan.apply(session).expect("a sound plan");
        let after = session.derived(document, &lines);
        let leaf = after.graph().leaf().expect("a leaf");
        after
            .string(after.entry(leaf), &["timestamp"])
            .expect("a time")[20..]
            .to_owned()
    }

    #[test]
    fn finish_makes_a_new_leaf_the_newest_entry() {
        assert_eq!(leaf_time(&answered(200, 300), "x"), "300Z");
        assert_eq!(leaf_time(&answered(300, 300), "x"), "301Z");
        assert_eq!(leaf_time(&answered(400, 300), "x"), "401Z");
    }

    #[test]
    fn finish_makes_a_new_leaf_newest_even_if_only_progress_follows() {
        let whole = answered(300, 200);
        let progress = r#"{"parentUuid":"b","type":"progress","data":{},"uuid":"x","timestamp":"2026-01-02T03:04:05.400Z"}"#;
        let bytes = [whole.document().to_vec(), progress.as_bytes().to_vec()].concat();
        let session = Session::new(Document::from_bytes(bytes));
        assert_eq!(leaf_time(&session, "x"), "301Z");
    }

    #[test]
    fn finish_attaches_lost_entries_to_the_leaf() {
        let lost = |uuid: &str, time: u32| {
            format!(
                r#"{{"parentUuid":"nowhere","type":"attachment","attachment":{{}},"uuid":"{uuid}","timestamp":"2026-01-02T03:04:05.{time}Z"}}"#
            ) + "\n"
        };
        let whole = answered(200, 300);
        let bytes = [whole.document().to_vec(), lost("x", 400).into_bytes()].concat();
        let session = Session::new(Document::from_bytes(bytes));
        assert_eq!(leaf_time(&session, "b"), "300Z");
        assert_eq!(leaf_time(&session, "z"), "300Z");
        let mut plan = Finish::default()
            .plan(&session, Detail::Full)
            .expect("a plan");
        let (document, lines) = plan.apply(&session).expect("a sound plan");
        let after = session.derived(document, &lines);
        let lost = after.find(Id::of(b"x")).expect("the attachment");
        assert_eq!(after.graph().parent(lost), after.graph().leaf());
    }

    #[test]
    fn finish_keeps_the_time_of_the_old_leaf() {
        assert_eq!(leaf_time(&answered(300, 300), "b"), "300Z");
    }
}
