//! Collects what a digest can report, in one pass over the entries.

use std::collections::VecDeque;

use indexmap::{IndexMap, IndexSet};

use crate::document::LineIx;
use crate::json::{decode, fields, lookup};
use crate::session::{Session, Standing};
use crate::transcript::project_path::is_windows;
use crate::transcript::{BlockKind, Entry, EntryIx, Kind, PromptKind, Subtype, attached};
use crate::view::{prompt_as_typed, words_of};

use crate::ops::compact::Cut;

use super::calls::LastCall;
use super::earlier::take_quotes;
use super::failures::Failures;
use super::person::Words;
use super::plan::PlanShown;
use super::tasks::Tasks;
use super::text::{find, without_client_tags};
use super::work::{CommandUse, Commit, FileUse};

/// Everything that a digest could report, in the order of the conversation.
#[derive(Default)]
pub(super) struct Account {
    /// The project's folder, with a slash at its end; empty if it is not known.
    pub(super) project: String,
    /// The summary of a compaction before these turns, as it is in the transcript.
    pub(super) earlier: Option<String>,
    /// What the person said, with the number of its turn.
    pub(super) words: Vec<(u32, Words)>,
    /// What the model wrote.
    pub(super) texts: Vec<Statement>,
    pub(super) failures: Failures,
    pub(super) files: IndexMap<String, FileUse>,
    /// Files that the client recorded as changed, also by calls whose records are lost.
    pub(super) tracked: IndexSet<String>,
    /// Names of files that searches and commands printed or named, and how often.
    pub(super) found: IndexMap<String, u32>,
    pub(super) commits: Vec<Commit>,
    pub(super) commands: IndexMap<String, CommandUse>,
    pub(super) tasks: Tasks,
    /// The plans that were shown to the person.
    pub(super) plans: Vec<PlanShown>,
    /// Approved plans that an earlier digest quotes, as they are there.
    pub(super) earlier_plans: Vec<String>,
    /// The last calls.
    pub(super) last_calls: VecDeque<LastCall>,
    /// Reports of subagents: what was asked for, and what they reported.
    pub(super) reports: Vec<(u32, String, String)>,
    /// Comments in new code that give a reason, with the number of their turn.
    pub(super) remarks: Vec<(u32, String)>,
    /// Whether the person interrupted the model last.
    pub(super) interrupted: bool,
    /// Whether the last turn is not over: it continues after the digest.
    pub(super) running: bool,
    /// The bytes of the person's words so far.
    said: usize,
    /// The bytes of the person's words and approved plans at each position of the live path that has some.
    pub(super) quote_sizes: Vec<(u32, usize)>,
    first_turn: u32,
}

/// A text of the model.
pub(super) struct Statement {
    pub(super) turn: u32,
    pub(super) text: String,
    /// Whether it is thinking, which the person was not shown as an answer.
    pub(super) thinking: bool,
    /// Whether it is the last of its turn.
    pub(super) last: bool,
}

impl Account {
    /// Reads what comes before a cut; of a compacted conversation, what follows the last summary.
    pub(super) fn of(session: &Session, cut: Cut) -> Self {
        let (graph, turns) = (session.graph(), session.turns());
        let end = cut.position();
        let mut members: Vec<(u32, EntryIx)> = Vec::new();
        let mut summary = None;
        for (i, head) in session.numbers().zip(session.heads()) {
            if let Standing::Path(p) | Standing::Beside(p) = graph.place(i)
                && p < end
            {
                members.push((p, i));
                if head.flags.compact_summary() {
                    summary = summary.max(Some((p, i)));
                }
            }
        }
        members.sort_unstable();
        let begins = summary.map_or(0, |summary| members.partition_point(|m| *m < summary));
        let compacted: Vec<_> = members.drain(..begins).collect();
        let entry = |i: EntryIx| session.entry(i);
        let folder = members
            .iter()
            .find_map(|&(_, i)| session.string(entry(i), &["cwd"]));
        let mut account = Self {
            project: folder.map_or_else(String::new, |f| beginning_of_files(&f)),
            running: cut.is_inside_turn() || session.unfinished_turn() == Some(cut.turn()),
            first_turn: members.first().map_or(0, |m| turns.at_position(m.0)).max(1),
            ..Self::default()
        };
        for &(_, i) in &compacted {
            account.add_tasks(session, entry(i));
        }
        account.add_running_prompt(session, cut.turn(), &members);
        for &(position, i) in &members {
            let known = account.quoted();
            account.add(session, i, turns.at_position(position));
            if account.quoted() > known {
                let size = account.quoted() - known;
                account.quote_sizes.push((position, size));
            }
        }
        if let (Some(first), Some(last)) = (members.first(), members.last()) {
            account.add_queued(session, entry(first.1).line, entry(last.1).line);
            account.add_tracked(session, entry(last.1).line);
        }
        account.mark_last_texts();
        account
    }

    /// The bytes of the words and plans that are quoted in full so far.
    fn quoted(&self) -> usize {
        self.said + self.plans.iter().map(PlanShown::quoted).sum::<usize>()
    }

    /// The number of the first turn that is reported.
    pub(super) fn first_turn(&self) -> u32 {
        self.first_turn
    }

    /// Returns a text with the paths of the project's files relative to its folder.
    pub(super) fn relative(&self, text: &str) -> String {
        if self.project.len() < 3 || find(text, &self.project).is_none() {
            return text.to_owned();
        }
        text.replace(&self.project, "")
    }

    fn add(&mut self, session: &Session, i: EntryIx, turn: u32) {
        let e = session.entry(i);
        match e.kind {
            Kind::User if e.flags.compact_summary() => {
                let (summary, words, plans) = take_quotes(&own_text(session, e));
                self.earlier = Some(summary);
                self.earlier_plans = plans;
                for item in words {
                    self.say(turn, Words::Digested(item));
                }
            }
            Kind::User if e.prompt == PromptKind::Machine => {
                self.interrupted |= own_text(session, e).starts_with("[Request interrupted");
            }
            Kind::User if matches!(e.prompt, PromptKind::Words | PromptKind::Command) => {
                let begins = session.turns().get(turn).is_some_and(|t| t.prompt == i);
                let words = prompt_as_typed(&without_client_tags(own_text(session, e)));
                if (begins || e.prompt == PromptKind::Words) && !words.starts_with("/compact") {
                    self.say(turn, Words::Prompt(words));
                }
            }
            Kind::Attachment if e.subtype == Subtype::QueuedCommand && !e.flags.not_by_person() => {
                let found = attached(session.text(e), e)
                    .map(|a| a.texts)
                    .unwrap_or_default();
                let texts: Vec<_> = found.iter().map(|t| decode(t)).collect();
                self.say(turn, Words::Prompt(without_client_tags(texts.join("\n"))));
            }
            Kind::Assistant if !e.flags.synthetic() && !e.flags.api_error() => {
                self.add_answer(session, e, turn);
            }
            _ => {}
        }
    }

    /// Adds the prompt of a turn that is not over, if it stands before an earlier summary: what it asks for is still to be done.
    fn add_running_prompt(&mut self, session: &Session, turn: u32, members: &[(u32, EntryIx)]) {
        let Some(turn) = session.turns().get(turn).filter(|_| self.running) else {
            return;
        };
        if members.first().is_some_and(|first| turn.path.0 < first.0) {
            self.add(session, turn.prompt, turn.number);
        }
    }

    /// Adds words of the person's.
    pub(super) fn say(&mut self, turn: u32, words: Words) {
        self.interrupted = false;
        self.said += words.quoted();
        match (self.words.last_mut(), words) {
            (_, words) if words.is_empty() => {}
            // A talk by questions and answers is one item.
            (Some((last, Words::Answers(known))), Words::Answers(more)) if *last == turn => {
                known.push('\n');
                known.push_str(&more);
            }
            (_, words) => self.words.push((turn, words)),
        }
    }

    fn add_answer(&mut self, session: &Session, e: &Entry, turn: u32) {
        self.interrupted = false;
        let line = session.text(e);
        for block in session.blocks(e) {
            let raw = block.span.of(line);
            match block.kind {
                BlockKind::Text => self.add_text(turn, words_of(raw, "text"), false),
                BlockKind::Thinking => self.add_text(turn, words_of(raw, "thinking"), true),
                BlockKind::ToolUse => self.add_call(session, e, block, turn),
                _ => {}
            }
        }
    }

    fn add_text(&mut self, turn: u32, text: String, thinking: bool) {
        if text.trim().is_empty() {
            return;
        }
        if !thinking {
            self.failures.followed_by_text(&text);
        }
        self.texts.push(Statement {
            turn,
            text,
            thinking,
            last: false,
        });
    }

    /// Adds what the person typed while the model worked. Older clients keep it only in the records of their queue.
    fn add_queued(&mut self, session: &Session, first: LineIx, last: LineIx) {
        let known: IndexSet<String> = self
            .words
            .iter()
            .map(|(_, w)| w.text().trim().to_owned())
            .collect();
        let mut added = Vec::new();
        for (_, e) in session.entries_of(Kind::QueueOperation) {
            let text = session.string(e, &["content"]).unwrap_or_default();
            let text = text.trim();
            let by_machine = text.is_empty() || text.starts_with(['<', '{', '/']);
            if by_machine || e.line < first || e.line > last || known.contains(text) {
                continue;
            }
            let before = |t: &&crate::session::Turn| session.entry(t.prompt).line < e.line;
            let turn = session.turns().all().partition_point(|t| before(&t));
            added.push((turn as u32, Words::Queued(text.to_owned())));
        }
        if !added.is_empty() {
            self.words.extend(added);
            self.words.sort_by_key(|(turn, _)| *turn);
        }
    }

    /// Adds the files of which the client kept the bytes before it changed them.
    fn add_tracked(&mut self, session: &Session, last: LineIx) {
        for (_, e) in session.entries_of(Kind::FileHistorySnapshot) {
            let line = session.text(e);
            let Some(backups) = lookup(line, &["snapshot", "trackedFileBackups"]) else {
                continue;
            };
            let backups = backups.of(line);
            for file in fields(backups).unwrap_or_default() {
                if e.line <= last {
                    let path = self.relative(&decode(file.key.of(backups)));
                    self.tracked.insert(path);
                }
            }
        }
    }

    fn mark_last_texts(&mut self) {
        let mut following = None;
        for text in self.texts.iter_mut().rev().filter(|t| !t.thinking) {
            text.last = following != Some(text.turn);
            following = Some(text.turn);
        }
    }
}

/// Returns the texts of an entry, except for what the editor and the client put beside a person's words.
fn own_text(session: &Session, e: &Entry) -> String {
    let line = session.text(e);
    if e.flags.string_content() {
        return decode(e.content.of(line)).into_owned();
    }
    let blocks = session
        .blocks(e)
        .iter()
        .filter(|b| b.kind == BlockKind::Text);
    let texts = blocks.map(|b| words_of(b.span.of(line), "text"));
    texts.collect::<Vec<_>>().join("\n")
}

/// Returns what the paths of a folder's files begin with.
fn beginning_of_files(folder: &str) -> String {
    if is_windows(folder) {
        return folder.trim_end_matches(['/', '\\']).to_owned() + "\\";
    }
    folder.trim_end_matches('/').to_owned() + "/"
}
