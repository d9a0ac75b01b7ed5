//! A summary made of the transcript itself, the same every time.

use std::fmt::Write as _;

use crate::jsonl::{decode, elements, lookup};
use crate::session::{BlockKind, Entry, Kind, Session, Turn, prompt_words};

/// Bytes a token, for keeping a digest under its size.
const BYTES_PER_TOKEN: usize = 3;

/// What is told of one turn.
struct Told {
    number: u32,
    prompt: String,
    answer: String,
}

/// Everything that a digest could say, in the order of the conversation.
#[derive(Default)]
struct Facts {
    earlier: Option<String>,
    turns: Vec<Told>,
    written: Vec<String>,
    edited: Vec<String>,
    read: Vec<String>,
    commands: Vec<(String, bool)>,
    todos: Vec<String>,
}

/// Summarises the turns up to and with `upto` in at most about `max_tokens`: the person's prompts, what
/// each turn came to, files, commands and open todos. Long things are shortened evenly until it fits.
pub fn digest(session: &Session, upto: u32, max_tokens: usize) -> String {
    let mut facts = gather(session, upto);
    let most = max_tokens * BYTES_PER_TOKEN;
    for (words, items) in [
        (4000, 200),
        (2000, 100),
        (1000, 60),
        (500, 40),
        (250, 25),
        (120, 12),
        (60, 6),
        (40, 0),
    ] {
        let text = render(&facts, upto, words, items);
        if text.len() <= most {
            return text;
        }
    }
    // Nothing is left to shorten: what is oldest goes untold.
    facts.todos.truncate(6);
    loop {
        let text = render(&facts, upto, 40, 0);
        if text.len() <= most || facts.turns.len() <= 1 {
            return within(&text, most);
        }
        let over = (text.len() - most) / 100;
        facts.turns.drain(..over.clamp(1, facts.turns.len() - 1));
    }
}

/// The beginning of a text, if it is longer than that many bytes.
fn within(text: &str, most: usize) -> String {
    let end = (0..=most.min(text.len())).rfind(|&at| text.is_char_boundary(at));
    text[..end.unwrap_or(0)].trim_end().to_owned()
}

fn gather(session: &Session, upto: u32) -> Facts {
    let mut facts = Facts::default();
    for turn in session.turns().iter().take_while(|t| t.number <= upto) {
        let prompt =
            prompt_words(session, &session.entries()[turn.prompt as usize]).unwrap_or_default();
        facts.turns.push(Told {
            number: turn.number,
            prompt,
            answer: last_words(session, turn),
        });
    }
    for (i, e) in session.entries().iter().enumerate() {
        let Some(number) = session
            .turns()
            .of(session.graph(), i)
            .filter(|n| *n <= upto)
        else {
            continue;
        };
        if e.flags.compact_summary() && number <= upto {
            facts.earlier = prompt_words(session, e);
        }
        if e.kind == Kind::Assistant {
            calls(session, e, &mut facts);
        }
    }
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

fn calls(session: &Session, e: &Entry, facts: &mut Facts) {
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
        let name = field(&["name"]).unwrap_or_default();
        let file = field(&["input", "file_path"]).or_else(|| field(&["input", "notebook_path"]));
        match (name.as_str(), file) {
            ("Write", Some(file)) => once(&mut facts.written, file),
            ("Edit" | "MultiEdit" | "NotebookEdit", Some(file)) => once(&mut facts.edited, file),
            ("Read", Some(file)) => once(&mut facts.read, file),
            ("Bash", _) => {
                if let Some(command) = field(&["input", "command"]) {
                    facts.commands.push((
                        command,
                        session
                            .calls()
                            .find(block.tool)
                            .is_some_and(|c| c.failed(session)),
                    ));
                }
            }
            ("TodoWrite", _) => {
                if let Some(todos) = lookup(inner, &["input", "todos"]) {
                    facts.todos = open_todos(todos.of(inner));
                }
            }
            _ => {}
        }
    }
}

fn once(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
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

fn render(facts: &Facts, upto: u32, words: usize, items: usize) -> String {
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
    for told in &facts.turns {
        let _ = writeln!(
            out,
            "{}. Asked: {}",
            told.number,
            shorten(&told.prompt, words)
        );
        if !told.answer.is_empty() {
            let _ = writeln!(out, "   Answered: {}", shorten(&told.answer, words));
        }
    }
    list(&mut out, "Files written", &facts.written, items);
    list(&mut out, "Files edited", &facts.edited, items);
    list(&mut out, "Files read", &facts.read, items);
    let commands: Vec<String> = facts
        .commands
        .iter()
        .map(|(c, failed)| {
            format!(
                "{}{}",
                shorten(c, words.min(200)),
                if *failed { " (failed)" } else { "" }
            )
        })
        .collect();
    list(&mut out, "Commands run", &commands, items);
    list(&mut out, "Open todos", &facts.todos, usize::MAX);
    out.trim_end().to_owned()
}

/// A heading and its items; of too many, the last are the ones that matter.
fn list(out: &mut String, heading: &str, all: &[String], most: usize) {
    if all.is_empty() || most == 0 {
        return;
    }
    let _ = write!(out, "\n## {heading}\n");
    if all.len() > most {
        let _ = writeln!(out, "- … {} earlier", all.len() - most);
    }
    for item in &all[all.len().saturating_sub(most)..] {
        let _ = writeln!(out, "- {item}");
    }
}

/// The head and tail of a long text.
fn shorten(text: &str, most: usize) -> String {
    let text = text.trim();
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most * 2 / 3).collect();
    let tail: String = text.chars().skip(count - most / 4).collect();
    format!("{} […] {}", head.trim_end(), tail.trim_start())
}
