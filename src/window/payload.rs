//! Builds the messages that the model would be shown if the session was resumed.

use rustc_hash::FxHashSet;

use crate::json::lookup;

use super::block::{PayloadBlock, made_up_result};
use super::shown_order::shown_order;
use crate::session::{Calls, Session};
use crate::transcript::Role;
use crate::transcript::{Block, BlockIx, BlockKind, Entry, EntryIx, Kind, Subtype, attached};

/// One message of the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message<'a> {
    /// Whose message it is.
    pub role: Role,
    /// Its content.
    pub blocks: Vec<PayloadBlock<'a>>,
}

impl Message<'_> {
    /// Returns the message as JSON. Its blocks are spelt as in the file.
    pub fn json(&self) -> Vec<u8> {
        let mut out = format!(r#"{{"role":"{}","content":["#, self.role.name()).into_bytes();
        for (i, block) in self.blocks.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            out.extend_from_slice(&block.json());
        }
        out.extend_from_slice(b"]}");
        out
    }
}

/// Returns the messages that the newest client makes of a session when it resumes it, from the last compaction of the live
/// path on. With `upto`, returns those of the session as it was at the end of that turn.
///
/// What the client adds together with the next prompt is not included.
pub fn payload(session: &Session, upto: Option<u32>) -> Vec<Message<'_>> {
    let mut messages = Vec::new();
    each_message(session, upto, |message| messages.push(message));
    messages
}

/// Does the same as [`payload`], but hands over one message at a time: all messages of a long session would take as much
/// memory as its index.
pub(crate) fn each_message<'a>(
    session: &'a Session,
    upto: Option<u32>,
    tell: impl FnMut(Message<'a>),
) {
    let rows = shown_order(session, upto);
    let mut out = Messages { last: None, tell };
    Assembly::new(session, &rows).messages(&mut out);
    out.end();
}

/// Hands messages over, one step late: the last one is held back, because what follows may become part of it.
struct Messages<'a, F> {
    last: Option<Message<'a>>,
    tell: F,
}

impl<'a, F: FnMut(Message<'a>)> Messages<'a, F> {
    fn push(&mut self, message: Message<'a>) {
        if let Some(before) = self.last.replace(message) {
            (self.tell)(before);
        }
    }

    fn end(mut self) {
        self.last.take().into_iter().for_each(&mut self.tell);
    }
}

/// Makes messages of entries, which are called rows here: they are in the order in which the client shows them.
struct Assembly<'a, 'r> {
    session: &'a Session,
    rows: &'r [EntryIx],
    firsts: Firsts,
    /// The model in use, as JSON. Thinking of other models is left out.
    model: Option<&'a [u8]>,
    /// Whether all answers are known to be of this model.
    one_model: bool,
    /// Whether clients send attachments to this model as system messages.
    has_system_messages: bool,
    /// Calls at the very end, for which the client invents results.
    open_end: FxHashSet<EntryIx>,
}

/// The beginnings of the names of models to which 2.1.325 sends attachments as reminders in user messages. To other models
/// it sends them as system messages after the prompt.
const WITHOUT_SYSTEM_MESSAGES: [&[u8]; 6] = [
    b"\"claude-opus-4-5",
    b"\"claude-opus-4-6",
    b"\"claude-opus-4-7",
    b"\"claude-sonnet-4",
    b"\"claude-sonnet-5",
    b"\"claude-haiku-4",
];

fn takes_system_messages(model: &[u8]) -> bool {
    let mut others = WITHOUT_SYSTEM_MESSAGES.iter();
    !others.any(|name| model.starts_with(name))
}

/// The first block among the rows that makes each call, and the first that answers it.
struct Firsts {
    /// By the number of the call; the last element is for blocks without an id.
    blocks: Vec<(Option<BlockIx>, Option<BlockIx>)>,
}

impl Firsts {
    fn new(calls: &Calls) -> Self {
        Self {
            blocks: vec![(None, None); calls.len() + 1],
        }
    }

    fn place(&self, block: &Block) -> usize {
        (block.call as usize).min(self.blocks.len() - 1)
    }

    fn of(&mut self, block: &Block) -> &mut (Option<BlockIx>, Option<BlockIx>) {
        let place = self.place(block);
        &mut self.blocks[place]
    }

    fn call(&self, block: &Block) -> Option<BlockIx> {
        self.blocks[self.place(block)].0
    }

    fn result(&self, block: &Block) -> Option<BlockIx> {
        self.blocks[self.place(block)].1
    }
}

/// What is collected between two answers of the model, and becomes one user message.
#[derive(Default)]
struct UserTurn<'a> {
    results: Vec<Vec<PayloadBlock<'a>>>,
    reminders: Vec<Vec<PayloadBlock<'a>>>,
    texts: Vec<Vec<PayloadBlock<'a>>>,
    system: Vec<(EntryIx, &'a [u8])>,
}

impl<'a, 'r> Assembly<'a, 'r> {
    fn new(session: &'a Session, rows: &'r [EntryIx]) -> Self {
        let entries = session.entries();
        let mut firsts = Firsts::new(session.calls());
        for &row in rows {
            let e = &entries[row];
            for number in e.blocks.numbers() {
                let block = session.block(number);
                match block.kind {
                    BlockKind::ToolUse if e.kind == Kind::Assistant => {
                        firsts.of(block).0.get_or_insert(number);
                    }
                    BlockKind::ToolResult if e.kind == Kind::User => {
                        firsts.of(block).1.get_or_insert(number);
                    }
                    _ => {}
                }
            }
        }
        let model = rows
            .iter()
            .rev()
            .map(|&r| &entries[r])
            .find(|e| e.kind == Kind::Assistant && !e.flags.synthetic());
        let model = model.and_then(|e| e.model(session.text(e)));
        let last = rows.iter().rposition(|&r| entries[r].is_message());
        let open_end = match last.map(|l| &entries[rows[l]]) {
            Some(e) if e.kind == Kind::Assistant => {
                // The lines of one answer follow each other.
                let last = last.unwrap_or(0);
                let above = rows[..last].iter().rev().copied().take_while(|&r| {
                    e.message_id.is_some() && entries[r].message_id == e.message_id
                });
                above.chain([rows[last]]).collect()
            }
            _ => FxHashSet::default(),
        };
        Self {
            session,
            rows,
            firsts,
            model,
            one_model: model.is_some_and(|m| session.is_all_by(m)),
            has_system_messages: model.is_none_or(takes_system_messages),
            open_end,
        }
    }

    fn messages(&self, out: &mut Messages<'a, impl FnMut(Message<'a>)>) {
        let entries = self.session.entries();
        let mut user = UserTurn::default();
        let mut at = 0;
        while at < self.rows.len() {
            let row = self.rows[at];
            let e = &entries[row];
            if e.kind != Kind::Assistant {
                self.take(row, e, &mut user);
                at += 1;
                continue;
            }
            let mut end = at + 1;
            while end < self.rows.len()
                && e.message_id.is_some()
                && entries[self.rows[end]].message_id == e.message_id
            {
                end += 1;
            }
            let (blocks, made_up) = self.answer(&self.rows[at..end]);
            at = end;
            if blocks.is_empty() {
                continue;
            }
            std::mem::take(&mut user).close(out);
            out.push(Message {
                role: Role::Assistant,
                blocks,
            });
            user.results
                .extend((!made_up.is_empty()).then_some(made_up));
        }
        user.close(out);
    }

    /// Returns the blocks of one answer, and the results that the client invents for its calls.
    fn answer(&self, lines: &[EntryIx]) -> (Vec<PayloadBlock<'a>>, Vec<PayloadBlock<'a>>) {
        let session = self.session;
        let (mut blocks, mut made_up) = (Vec::new(), Vec::new());
        for &row in lines {
            let e = session.entry(row);
            if e.flags.api_error() {
                continue;
            }
            let text = session.text(e);
            if e.flags.string_content() {
                blocks.push(PayloadBlock::words(row, e.content.of(text)));
                continue;
            }
            let numbers = e.blocks.numbers();
            let is_call = |n: &BlockIx| session.block(*n).kind == BlockKind::ToolUse;
            let answered = |n: BlockIx| self.firsts.result(session.block(n)).is_some();
            let unanswered = numbers.clone().filter(is_call).all(|n| !answered(n))
                && numbers.clone().any(|n| is_call(&n));
            if unanswered && !self.open_end.contains(&row) {
                continue;
            }
            let foreign = || match self.model {
                Some(_) if self.one_model => e.flags.synthetic() || !e.flags.modelled(),
                Some(model) => e.model(text) != Some(model),
                None => false,
            };
            for n in numbers {
                let block = session.block(n);
                if block.kind == BlockKind::Thinking && foreign() {
                    continue;
                }
                if block.kind == BlockKind::ToolUse {
                    if self.firsts.call(block) != Some(n) {
                        continue;
                    }
                    if !answered(n) {
                        made_up.extend(made_up_result(row, block, text));
                    }
                }
                blocks.push(PayloadBlock::block(row, block, text));
            }
        }
        blocks.retain(|b| !b.is_blank());
        if blocks.iter().all(|b| b.kind.is_thinking()) {
            blocks.clear();
        }
        (blocks, made_up)
    }

    /// Adds the content of a row that is not an answer.
    fn take(&self, row: EntryIx, e: &Entry, user: &mut UserTurn<'a>) {
        let text = self.session.text(e);
        match e.kind {
            Kind::User if e.flags.string_content() => {
                user.texts
                    .push(vec![PayloadBlock::words(row, e.content.of(text))]);
            }
            Kind::User => {
                let mut blocks = Vec::new();
                let mut answers = false;
                for n in e.blocks.numbers() {
                    let block = self.session.block(n);
                    if block.kind == BlockKind::ToolResult {
                        if self.firsts.result(block) != Some(n) || self.firsts.call(block).is_none()
                        {
                            continue;
                        }
                        answers = true;
                    }
                    blocks.push(PayloadBlock::block(row, block, text));
                }
                if answers {
                    user.results.push(blocks);
                } else {
                    user.texts.push(blocks);
                }
            }
            Kind::System if e.subtype == Subtype::LocalCommand => {
                let content = lookup(text, &["content"])
                    .map(|s| s.of(text))
                    .filter(|c| c.starts_with(b"\""));
                user.texts
                    .extend(content.map(|c| vec![PayloadBlock::words(row, c)]));
            }
            Kind::Attachment => {
                let Some(found) = attached(text, e) else {
                    return;
                };
                let by_system = self.has_system_messages && found.media.is_empty();
                let by_system = found.role.map_or(by_system, |role| role == Role::System);
                let media = found.media.into_iter();
                let media = media.map(|m| PayloadBlock::attached(row, m));
                if by_system {
                    let texts = found.texts.into_iter();
                    user.system.extend(texts.map(|t| (row, t)));
                    user.reminders.push(media.collect());
                } else {
                    let texts = found.texts.into_iter();
                    let texts = texts.map(|t| PayloadBlock::words(row, t));
                    user.reminders.push(texts.chain(media).collect());
                }
            }
            _ => {}
        }
    }
}

impl<'a> UserTurn<'a> {
    /// Ends the user message: results come first, then reminders, then text. System messages follow it.
    fn close(self, out: &mut Messages<'a, impl FnMut(Message<'a>)>) {
        let mut parts: Vec<Vec<PayloadBlock<'a>>> = self
            .results
            .into_iter()
            .chain(self.reminders)
            .chain(self.texts)
            .collect();
        for part in &mut parts {
            part.retain(|b| !b.is_blank());
        }
        parts.retain(|p| !p.is_empty());
        for i in 1..parts.len() {
            let texts = |p: &[PayloadBlock<'_>]| p.iter().any(|b| b.kind == BlockKind::Text);
            if texts(&parts[i])
                && let Some(last) = parts[i - 1]
                    .last_mut()
                    .filter(|b| b.kind == BlockKind::Text)
            {
                last.newline = true;
            }
        }
        let blocks: Vec<PayloadBlock<'a>> = parts.into_iter().flatten().collect();
        if !blocks.is_empty() {
            match out.last.as_mut().filter(|m| m.role == Role::User) {
                Some(message) => message.blocks.extend(blocks),
                None => out.push(Message {
                    role: Role::User,
                    blocks,
                }),
            }
        }
        if let Some(&(entry, _)) = self.system.first() {
            let texts = self.system.into_iter().map(|(_, t)| t).collect();
            let block = PayloadBlock::reminders(entry, texts);
            out.push(Message {
                role: Role::System,
                blocks: vec![block],
            });
        }
    }
}
