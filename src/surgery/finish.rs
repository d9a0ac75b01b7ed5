//! What every result needs at its end: the leaf named once more, the title where the picker looks for it, and a last
//! record of the window that is true.

use rustc_hash::FxHashSet;

use super::copy_names::CopyNames;
use super::move_paths::move_paths;
use super::plan::{Action, Detail, InsertAt, Plan, Transform};
use super::refusal::Refusal;
use crate::human::tokens;
use crate::json::{Edit, encode, lookup};
use crate::session::Session;
use crate::transcript::{Entry, Id, Kind, PromptKind, format_timestamp};
use crate::view::Overview;
use crate::window::{Overstated, lower_usage};

/// Ends a transcript as clients of all versions need it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Finish {
    /// A title to give it.
    pub title: Option<String>,
    /// Whether the leaf is named even where no `last-prompt` is left: the original had one.
    pub name_leaf: bool,
    /// The leaf of the original; where the result has another, that must be the newest too.
    pub leaf_was: Option<Id>,
    /// Whether the newest entry of the original was its leaf or followed it: then the result is like that too.
    pub led_in_time: bool,
    /// The last record of the window, where it is of more than is left.
    pub overstated: Option<Overstated>,
    /// The names of the copy that the result becomes, if it is one.
    pub copy: Option<CopyNames>,
}

impl Finish {
    /// Whether the result gets something even if no transform changes the session.
    pub(super) fn is_asked_for(&self) -> bool {
        self.title.is_some() || self.copy.is_some()
    }
}

impl Transform for Finish {
    fn name(&self) -> &'static str {
        "finish"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        drop_offsets(session, &mut plan);
        let id = session_id(session);
        let leaf = session.graph().leaf();
        if leaf.map(|i| session.entries()[i].uuid) != self.leaf_was {
            let adopted = adopt(session, &mut plan);
            lead_in_time(session, &adopted, &mut plan);
        } else if self.led_in_time {
            lead_in_time(session, &[], &mut plan);
        }
        name_leaf(session, &id, self.name_leaf, &mut plan);
        if let Some(overstated) = self.overstated {
            restate(session, overstated, &mut plan);
        }
        if let Some(title) = &self.title {
            let line = format!(
                r#"{{"type":"custom-title","customTitle":{},"sessionId":{}}}"#,
                encode(title),
                encode(&id)
            );
            plan.note_insert("title", line.len() + 1, 0, title.clone());
            plan.insert_line(InsertAt::End, line);
        }
        if let Some(names) = &self.copy {
            move_paths(session, names, &mut plan);
        }
        Ok(plan)
    }
}

/// The session id as most entries spell it.
pub(crate) fn session_id(session: &Session) -> String {
    let id = session.session_id();
    session
        .entries()
        .iter()
        .find(|e| e.session.is_some() && Some(e.session) == id)
        .and_then(|e| session.string(e, &["sessionId"]))
        .unwrap_or_default()
}

/// Lines that vouch for byte offsets into the transcript fit no other bytes.
fn drop_offsets(session: &Session, plan: &mut Plan) {
    if !session.may_have(Kind::ResumeHeadVouch) {
        return;
    }
    let vouch = |e: &&Entry| e.kind == Kind::ResumeHeadVouch;
    for e in session.entries().iter().filter(vouch) {
        plan.drop_line(e.line);
        plan.note(
            session,
            e,
            Action::Drop,
            "offsets",
            -(session.text(e).len() as i64 + 1),
            0,
            "",
        );
    }
}

/// Hangs on the leaf what stands behind it and has lost its parent, where the newest clients do so by its time.
///
/// Once the leaf's own time changes, they would hang it elsewhere; and where it is the file's last entry, they would
/// go up from there, and pass the leaf over.
fn adopt(session: &Session, plan: &mut Plan) -> Vec<usize> {
    let (entries, graph) = (session.entries(), session.graph());
    let Some(leaf) = graph.leaf() else {
        return Vec::new();
    };
    let lost = |&i: &usize| {
        let e = &entries[i];
        e.is_chained() && !e.is_message() && e.parent.is_some() && graph.parent(i).is_none()
    };
    let on_leaf = |&i: &usize| {
        let within = entries[i].time.saturating_sub(5000)..entries[i].time;
        let older = entries.iter().enumerate().filter(|(_, c)| {
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
    let found: Vec<usize> = (leaf + 1..entries.len())
        .filter(lost)
        .filter(on_leaf)
        .collect();
    for &i in &found {
        plan.set_parent(i, Some(&uuid));
    }
    found
}

/// Where the last of the `last-prompt` entries does not lead to the leaf, a new one does.
///
/// Only sessions that have such entries get one: for others, the last entry is the leaf.
fn name_leaf(session: &Session, id: &str, always: bool, plan: &mut Plan) {
    let Some(leaf) = session.graph().leaf() else {
        return;
    };
    let leaf_entry = &session.entries()[leaf];
    let mut heads = session.heads().iter();
    let last = heads.rposition(|t| t.kind == Kind::LastPrompt);
    match last.map(|i| &session.entries()[i]) {
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
        .map(|t| &session.entries()[t.prompt as usize])
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
fn leads_to(session: &Session, named: usize, leaf: usize) -> bool {
    let graph = session.graph();
    if graph.descends(leaf, named) {
        return true;
    }
    let steps = 0..session.entries().len();
    let mut above = steps.scan(Some(named), |at, _| {
        let i = (*at)?;
        *at = graph.parent(i);
        Some(i)
    });
    above.find(|&i| session.heads()[i].is_message()) == Some(leaf)
}

/// Makes the leaf newer than all that does not follow it. What was adopted follows it.
///
/// Clients up to 2.1.45 take the newest entry for the end of the conversation, the first of equals, and lines of one
/// message can share a millisecond. Behind such a line, a cut would cost the last one.
fn lead_in_time(session: &Session, adopted: &[usize], plan: &mut Plan) {
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
pub(super) fn leads_in_time(session: &Session) -> bool {
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
    fn of(session: &Session, leaf: usize, adopted: &[usize]) -> Self {
        let entries = session.entries();
        let mut after = FxHashSet::default();
        let mut stack = [&[leaf], adopted].concat();
        while let Some(i) = stack.pop() {
            if after.insert(i) {
                stack.extend(session.graph().children(i));
            }
        }
        let newest = |following: bool| {
            let times = entries.iter().enumerate().filter(|(i, e)| {
                // Some clients ignore progress, so it does not lead them to the leaf.
                let leads = !following || e.kind != Kind::Progress;
                // Another copy of the leaf's line is the leaf too.
                let follows = after.contains(i) || e.uuid == entries[leaf].uuid;
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

/// Makes the last answer's usage say what its request would take now, and by which measure that was estimated.
///
/// Clients add it to what they estimate of the rest, and compact where that comes near the window's end: with
/// the old numbers they would summarise away, at the first prompt, what was just made to fit. Answers before it
/// are asked for their costs alone, and keep them.
fn restate(session: &Session, overstated: Overstated, plan: &mut Plan) {
    let first = &session.entries()[overstated.entry as usize];
    let of_answer = |e: &Entry| e.message_id.is_some() && e.message_id == first.message_id;
    let all = session.heads().iter().zip(session.entries());
    // No others have records.
    let answers = all.filter(|(tag, _)| tag.kind == Kind::Assistant);
    let own = answers.filter(|(_, e)| e.line == first.line || of_answer(e));
    for (_, e) in own {
        let edits = lower_usage(session, e, &overstated);
        if !edits.is_empty() {
            let grown = |e: &Edit| e.with.len() as i64 - e.span.len() as i64;
            let bytes = edits.iter().map(grown).sum();
            plan.note(session, e, Action::Edit, "usage", bytes, 0, "");
            plan.edit_line(e.line, edits);
        }
    }
    plan.warnings.push(format!(
        "the recorded context size is lowered to ~{}, so that Claude Code does not compact at once",
        tokens(overstated.window)
    ));
}

/// The title of a result: the old one, or the first prompt, with the operation's name after it.
pub fn title_for(glance: &Overview, operation: &str) -> String {
    // Masked before it is cut: half a key would not be recognised afterwards.
    let name = crate::secrets::mask(glance.name().raw())
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    // "x (clone)" becomes "x (clone 2)", not "x (clone) (clone)".
    if let Some((base, rest)) = name.rsplit_once(&format!(" ({operation}"))
        && let Some(count) = rest.strip_suffix(')')
        && (count.is_empty() || count.trim().parse::<u32>().is_ok())
    {
        let next = count.trim().parse::<u32>().unwrap_or(1) + 1;
        return format!("{} ({operation} {next})", short_title(base));
    }
    format!("{} ({operation})", short_title(&name))
}

/// Cuts a title after a word, so that there is room for the name of an operation in lists.
fn short_title(title: &str) -> String {
    const MOST: usize = 48;
    let Some((end, _)) = title.char_indices().nth(MOST) else {
        return title.to_owned();
    };
    let start = &title[..end];
    // A title without blanks, or in a script that has none, is cut anywhere.
    let words = start
        .rsplit_once(' ')
        .filter(|(words, _)| words.len() > end / 2);
    let words = words.map_or(start, |(words, _)| words);
    format!("{}…", words.trim_end_matches([' ', '…']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

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
            .string(&after.entries()[leaf], &["timestamp"])
            .expect("a time")[20..]
            .to_owned()
    }

    #[test]
    fn a_leaf_that_is_new_is_newest() {
        assert_eq!(leaf_time(&answered(200, 300), "x"), "300Z");
        assert_eq!(leaf_time(&answered(300, 300), "x"), "301Z");
        assert_eq!(leaf_time(&answered(400, 300), "x"), "401Z");
    }

    #[test]
    fn a_new_leaf_is_newest_also_without_the_progress_that_follows_it() {
        let whole = answered(300, 200);
        let progress = r#"{"parentUuid":"b","type":"progress","data":{},"uuid":"x","timestamp":"2026-01-02T03:04:05.400Z"}"#;
        let bytes = [whole.document().to_vec(), progress.as_bytes().to_vec()].concat();
        let session = Session::new(Document::from_bytes(bytes));
        assert_eq!(leaf_time(&session, "x"), "301Z");
    }

    #[test]
    fn a_leaf_is_not_passed_over_for_what_has_lost_its_parent() {
        let lost = |uuid: &str, time: u32| {
            format!(
                r#"{{"parentUuid":"nowhere","type":"attachment","attachment":{{}},"uuid":"{uuid}","timestamp":"2026-01-02T03:04:05.{time}Z"}}"#
            ) + "\n"
        };
        let whole = answered(200, 300);
        let mut bytes = Vec::new();
        whole
            .document()
            .write(0, whole.document().lines().len(), &mut bytes)
            .expect("bytes");
        let bytes = [bytes, lost("x", 400).into_bytes()].concat();
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
    fn a_leaf_that_was_one_keeps_its_time() {
        assert_eq!(leaf_time(&answered(300, 300), "b"), "300Z");
    }

    /// Returns the title of a clone of a session that is called `title`.
    fn named(title: &str) -> String {
        let overview = Overview {
            title: Some(title.into()),
            ..Overview::default()
        };
        title_for(&overview, "clone")
    }

    #[test]
    fn titles_count_up() {
        assert_eq!(named("Fix it"), "Fix it (clone)");
        assert_eq!(named("Fix it (clone)"), "Fix it (clone 2)");
        assert_eq!(named("Fix it (clone 2)"), "Fix it (clone 3)");
        assert_eq!(named("a\n b"), "a b (clone)");
    }

    #[test]
    fn long_titles_are_cut_after_a_word_and_still_count_up() {
        let long = "Implement the following plan: always show all checkboxes in the list";
        let once = "Implement the following plan: always show all… (clone)";
        assert_eq!(named(long), once);
        let twice = "Implement the following plan: always show all… (clone 2)";
        assert_eq!(named(once), twice);
        assert_eq!(
            named(&"語".repeat(60)),
            format!("{}… (clone)", "語".repeat(48))
        );
    }
}
