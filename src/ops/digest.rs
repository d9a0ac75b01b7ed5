//! A summary made of the transcript itself, the same every time.

use std::fmt::Write as _;

use indexmap::IndexSet;

use crate::json::{decode, elements, lookup};
use crate::session::{Call, Session, Standing, Turn};
use crate::transcript::{Block, BlockKind, Entry, Kind};
use crate::view::prompt_text;

/// Bytes a token, for keeping a digest under its size.
const BYTES_PER_TOKEN: usize = 3;

/// Everything that a digest could say, in the order of the conversation. The words of turns are read when they are
/// told: of a long conversation, most are not.
struct Facts<'a> {
    session: &'a Session,
    earlier: Option<String>,
    turns: &'a [Turn],
    written: IndexSet<String>,
    edited: IndexSet<String>,
    read: IndexSet<String>,
    /// The last of them, and whether each failed.
    commands: Vec<(String, bool)>,
    /// How many came before those.
    commands_before: usize,
    todos: Vec<String>,
}

/// The most commands that are ever told.
const COMMANDS: usize = 200;

/// Summarises the turns up to and with `upto` in at most about `max_tokens`: the person's prompts, what
/// each turn came to, files, commands and open todos. Long things are shortened evenly until it fits.
pub fn digest(session: &Session, upto: u32, max_tokens: usize) -> String {
    let mut facts = gather(session, upto);
    let most = max_tokens * BYTES_PER_TOKEN;
    for (words, items) in [
        (4000, COMMANDS),
        (2000, 100),
        (1000, 60),
        (500, 40),
        (250, 25),
        (120, 12),
        (60, 6),
        (40, 0),
    ] {
        if let Some(text) = render(&facts, upto, (words, items), most) {
            return text;
        }
    }
    // Nothing is left to shorten: what is oldest goes untold.
    facts.todos.truncate(6);
    let all = std::mem::take(&mut facts.turns);
    let shortest = |facts: &Facts<'_>| render(facts, upto, (40, 0), usize::MAX);
    let mut len = shortest(&facts).map_or(0, |t| t.len()) + UNTOLD;
    let fits = |turn: &&Turn| {
        len += told(session, turn, 40).len();
        len <= most
    };
    let count = all.iter().rev().take_while(fits).count().max(1);
    facts.turns = &all[all.len().saturating_sub(count)..];
    within(&shortest(&facts).unwrap_or_default(), most)
}

/// What it takes at most to say how much is not told.
const UNTOLD: usize = 24;

/// What is told of one turn, with so many words of each thing.
fn told(session: &Session, turn: &Turn, words: usize) -> String {
    let prompt = prompt_text(session, &session.entries()[turn.prompt as usize]);
    let prompt = shorten(&prompt.unwrap_or_default(), words);
    let mut out = format!("{}. Asked: {prompt}\n", turn.number);
    let answer = last_words(session, turn);
    if !answer.is_empty() {
        let _ = writeln!(out, "   Answered: {}", shorten(&answer, words));
    }
    out
}

/// The beginning of a text, if it is longer than that many bytes.
fn within(text: &str, most: usize) -> String {
    let end = (0..=most.min(text.len())).rfind(|&at| text.is_char_boundary(at));
    text[..end.unwrap_or(0)].trim_end().to_owned()
}

fn gather(session: &Session, upto: u32) -> Facts<'_> {
    let turns = session.turns().all();
    let mut facts = Facts {
        session,
        earlier: None,
        turns: &turns[..turns.len().min(upto as usize)],
        written: IndexSet::new(),
        edited: IndexSet::new(),
        read: IndexSet::new(),
        commands: Vec::new(),
        commands_before: 0,
        todos: Vec::new(),
    };
    let mut commands = Vec::new();
    let behind = session.turns().begin(upto.saturating_add(1));
    for (i, tag) in session.heads().iter().enumerate() {
        let place = session.graph().place(i);
        if !matches!(place, Standing::Path(p) | Standing::Beside(p) if p < behind) {
            continue;
        }
        let e = &session.entries()[i];
        if tag.flags.compact_summary() {
            facts.earlier = prompt_text(session, e);
        }
        if tag.kind == Kind::Assistant {
            calls(session, e, &mut facts, &mut commands);
        }
    }
    let told = commands.len().min(COMMANDS);
    facts.commands_before = commands.len() - told;
    facts.commands = commands
        .split_off(facts.commands_before)
        .into_iter()
        .filter_map(|(e, block)| {
            let inner = block.span.of(session.text(e));
            let raw = lookup(inner, &["input", "command"])?.of(inner);
            let raw = raw.starts_with(b"\"").then_some(raw)?;
            let failed = |call: &Call| call.failed(session);
            let failed = session.calls().of(block).is_some_and(failed);
            Some((decode(raw).into_owned(), failed))
        })
        .collect();
    facts
}

/// The last text of a turn: what it came to.
fn last_words(session: &Session, turn: &Turn) -> String {
    let path = &session.graph().path()[turn.path.0 as usize..turn.path.1 as usize];
    for &i in path.iter().rev() {
        let e = &session.entries()[i as usize];
        if e.kind != Kind::Assistant || e.flags.synthetic() || e.flags.api_error() {
            continue;
        }
        let text = session.text(e);
        if let Some(block) = session
            .blocks(e)
            .iter()
            .rfind(|b| b.kind == BlockKind::Text)
        {
            let inner = block.span.of(text);
            return lookup(inner, &["text"])
                .map(|s| decode(s.of(inner)).into_owned())
                .unwrap_or_default();
        }
    }
    String::new()
}

/// Takes what an answer's calls tell; commands are only noted, as most of them are too many to be told.
fn calls<'a>(
    session: &'a Session,
    e: &'a Entry,
    facts: &mut Facts<'_>,
    commands: &mut Vec<(&'a Entry, &'a Block)>,
) {
    let text = session.text(e);
    for block in session
        .blocks(e)
        .iter()
        .filter(|b| b.kind == BlockKind::ToolUse)
    {
        let inner = block.span.of(text);
        let field = |path: &[&str]| {
            lookup(inner, path)
                .map(|s| s.of(inner))
                .filter(|r| r.starts_with(b"\""))
                .map(|r| decode(r).into_owned())
        };
        let file = || field(&["input", "file_path"]).or_else(|| field(&["input", "notebook_path"]));
        let note = |list: &mut IndexSet<String>| list.extend(file());
        match &*session.tool_name(e, block) {
            "Write" => note(&mut facts.written),
            "Edit" | "MultiEdit" | "NotebookEdit" => note(&mut facts.edited),
            "Read" => note(&mut facts.read),
            "Bash" => commands.push((e, block)),
            "TodoWrite" => {
                if let Some(todos) = lookup(inner, &["input", "todos"]) {
                    facts.todos = open_todos(todos.of(inner));
                }
            }
            _ => {}
        }
    }
}

fn open_todos(list: &[u8]) -> Vec<String> {
    let todos = elements(list).unwrap_or_default();
    todos
        .iter()
        .filter_map(|span| {
            let todo = span.of(list);
            let status = lookup(todo, &["status"])
                .map(|s| decode(s.of(todo)).into_owned())
                .unwrap_or_default();
            let words = lookup(todo, &["content"]).map(|s| decode(s.of(todo)).into_owned())?;
            (status != "completed").then(|| {
                if status == "in_progress" {
                    format!("{words} (in progress)")
                } else {
                    words
                }
            })
        })
        .collect()
}

/// The digest with so many words of each thing, and so many items of each list; nothing if it is longer than `most`.
fn render(
    facts: &Facts<'_>,
    upto: u32,
    (words, items): (usize, usize),
    most: usize,
) -> Option<String> {
    let mut out =
        format!("Summary of this conversation's turns 1 to {upto}, taken from its transcript.\n");
    if let Some(earlier) = &facts.earlier {
        let _ = write!(
            out,
            "\n## Earlier summary\n{}\n",
            shorten(earlier, words * 4)
        );
    }
    out.push_str("\n## Asked and answered\n");
    if let Some(untold) = facts.turns.first().map(|t| t.number - 1).filter(|&n| n > 0) {
        let _ = writeln!(out, "… {untold} earlier");
    }
    for turn in facts.turns {
        if out.len() > most {
            return None;
        }
        out.push_str(&told(facts.session, turn, words));
    }
    for (heading, files) in [
        ("Files written", &facts.written),
        ("Files edited", &facts.edited),
        ("Files read", &facts.read),
    ] {
        list(&mut out, heading, files, 0, items);
    }
    let untold = facts.commands.len().saturating_sub(items);
    let commands: Vec<String> = facts.commands[untold..]
        .iter()
        .map(|(c, failed)| {
            format!(
                "{}{}",
                shorten(c, words.min(200)),
                if *failed { " (failed)" } else { "" }
            )
        })
        .collect();
    let before = facts.commands_before + untold;
    list(&mut out, "Commands run", &commands, before, items);
    list(&mut out, "Open todos", &facts.todos, 0, usize::MAX);
    let text = out.trim_end();
    (text.len() <= most).then(|| text.to_owned())
}

/// A heading and its items; of too many, the last are the ones that matter. `before` are left out already.
fn list<'a, I>(out: &mut String, heading: &str, all: I, before: usize, most: usize)
where
    I: IntoIterator<Item = &'a String, IntoIter: ExactSizeIterator>,
{
    let all = all.into_iter();
    if all.len() == 0 || most == 0 {
        return;
    }
    let _ = write!(out, "\n## {heading}\n");
    let left_out = all.len().saturating_sub(most);
    if before + left_out > 0 {
        let _ = writeln!(out, "- … {} earlier", before + left_out);
    }
    for item in all.skip(left_out) {
        let _ = writeln!(out, "- {item}");
    }
}

/// The head and tail of a long text.
fn shorten(text: &str, most: usize) -> String {
    let text = text.trim();
    if text.len() <= most || text.chars().count() <= most {
        return text.to_owned();
    }
    let cut = |at: Option<(usize, char)>| at.map_or(text.len(), |(at, _)| at);
    let head = &text[..cut(text.char_indices().nth(most * 2 / 3))];
    let tail = match most / 4 {
        0 => "",
        kept => &text[cut(text.char_indices().nth_back(kept - 1))..],
    };
    format!("{} […] {}", head.trim_end(), tail.trim_start())
}
