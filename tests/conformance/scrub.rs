//! Takes out of a recording all that is the client's own text or this machine's, and leaves what our script said.
//!
//! It works from what is known to be ours: every other piece of prose becomes a note of its length.

use serde_json::{Map, Value, json};

/// Short phrases of the client's that are marks of the format, and that readers of it must know.
const MARKS: &[&str] = &[
    "Conversation compacted",
    "No response requested.",
    "Continue from where you left off.",
    "[Request interrupted by user]",
    "[Request interrupted by user for tool use]",
];

/// What the system's own programs say in the scenarios.
const OUTPUTS: &[&str] = &[
    "cat: missing.txt: No such file or directory",
    "half",
    "quick",
];

/// Lists of the client's inventory, of which one note shows as much as all entries.
const LISTS: &[&str] = &[
    "addedNames",
    "addedLines",
    "addedTypes",
    "agents",
    "betas",
    "builtInTypes",
    "digests",
    "names",
    "skills",
    "systemPrompt",
    "tools",
];

/// Fields that say in a few words what the client or the machine is.
const LABELS: &[&str] = &[
    "osVersion",
    "marketingName",
    "knowledgeCutoff",
    "commit",
    "pr",
];

/// How the tags begin that give texts their form.
const TAGS: &[&str] = &[
    "system-reminder",
    "command-",
    "local-command-",
    "persisted-output",
    "tool_use_error",
    "tools-used",
    "task-",
    "usage",
];

pub(crate) struct Scrub {
    /// What our scripts say, longest first.
    ours: Vec<String>,
    /// What stands for what: paths, then ids.
    pub(crate) renames: Vec<(String, String)>,
}

impl Scrub {
    pub(crate) fn new(mut ours: Vec<String>, renames: Vec<(String, String)>) -> Self {
        ours.extend(MARKS.iter().chain(OUTPUTS).map(|s| (*s).to_owned()));
        ours.retain(|s| !s.trim().is_empty());
        ours.sort_by_key(|s| (std::cmp::Reverse(s.len()), s.clone()));
        ours.dedup();
        Self { ours, renames }
    }

    pub(crate) fn rename(&self, text: &str) -> String {
        self.renames
            .iter()
            .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    }

    pub(crate) fn value(&self, key: &str, value: &Value) -> Value {
        match value {
            Value::String(text) if LABELS.contains(&key) => json!(note(text)),
            Value::String(text) => json!(self.text(&self.rename(text))),
            Value::Array(list)
                if LISTS.contains(&key) && !list.is_empty() && !self.are_called(list) =>
            {
                json!([note(&value.to_string())])
            }
            Value::Array(list) => list.iter().map(|v| self.value(key, v)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(k, v)| (self.rename(k), self.value(k, v)))
                .collect::<Map<_, _>>()
                .into(),
            Value::Number(number) if number.as_f64().is_some_and(|n| n > 1.6e12) => {
                json!(1_767_323_045_000_u64)
            }
            Value::Number(_) if varies(key) => json!(100),
            other => other.clone(),
        }
    }

    /// Leaves our own words, paths, tags and figures, and a note in place of the rest.
    pub(crate) fn text(&self, text: &str) -> String {
        if !is_prose(text) || self.is_ours(text.trim()) {
            return text.to_owned();
        }
        let mut pieces = Vec::new();
        for line in text.split_inclusive('\n') {
            let numbered = line
                .trim_start()
                .trim_start_matches(|c: char| c.is_ascii_digit());
            let content = numbered.strip_prefix(['→', '\t']).unwrap_or(line).trim();
            if !line.contains(char::is_alphanumeric) {
                pieces.push(Piece::Soft(line));
            } else if !line.contains(char::is_alphabetic)
                || self.is_ours(content)
                || is_exit_code(content)
            {
                pieces.push(Piece::Kept(line));
            } else {
                self.split(line, &mut pieces);
            }
        }
        join(&pieces)
    }

    fn is_ours(&self, text: &str) -> bool {
        self.ours.iter().any(|known| known.trim() == text)
    }

    /// Cuts a line at phrases of ours, then at what is no prose.
    fn split<'a>(&self, text: &'a str, pieces: &mut Vec<Piece<'a>>) {
        let phrases = self
            .ours
            .iter()
            .map(|known| known.trim())
            .filter(|known| known.len() >= 12);
        for phrase in phrases {
            if let Some((before, after)) = text.split_once(phrase) {
                let kept = &text[before.len()..before.len() + phrase.len()];
                self.split(before, pieces);
                pieces.push(Piece::Kept(kept));
                self.split(after, pieces);
                return;
            }
        }
        for word in text.split_inclusive([' ', '\n', '>']) {
            let bare = word.trim();
            let known = self
                .renames
                .iter()
                .any(|(_, to)| to.len() > 7 && bare.contains(to.as_str()));
            let tagged =
                matches!(pieces.last(), Some(Piece::Kept(before)) if before.ends_with('>'));
            let closing = word.find("</").filter(|at| is_tag(&word[*at..]));
            match closing {
                _ if known || is_tag(bare) || bare == "agentId:" => pieces.push(Piece::Kept(word)),
                Some(_) if tagged && word.len() < 50 => pieces.push(Piece::Kept(word)),
                Some(at) => pieces.extend([Piece::Gone(&word[..at]), Piece::Kept(&word[at..])]),
                None => pieces.push(Piece::Gone(word)),
            }
        }
    }

    /// Whether this lists tools that the script has called.
    fn are_called(&self, list: &[Value]) -> bool {
        list.iter().all(|v| {
            v.as_str().is_some_and(|name| {
                self.ours
                    .iter()
                    .any(|known| known.split('|').any(|k| k == name))
            })
        })
    }
}

enum Piece<'a> {
    Kept(&'a str),
    Gone(&'a str),
    /// Goes with what is around it.
    Soft(&'a str),
}

fn join(pieces: &[Piece]) -> String {
    let mut out = String::new();
    let mut gone = String::new();
    for piece in pieces {
        match piece {
            Piece::Gone(text) => gone.push_str(text),
            Piece::Soft(text) if !gone.is_empty() => gone.push_str(text),
            Piece::Soft(text) => out.push_str(text),
            Piece::Kept(text) => {
                flush(&mut out, &mut gone);
                out.push_str(text);
            }
        }
    }
    flush(&mut out, &mut gone);
    out
}

fn flush(out: &mut String, gone: &mut String) {
    let body = gone.trim_end();
    if !body.is_empty() {
        out.push_str(&note(body));
    }
    out.push_str(&gone[body.len()..]);
    gone.clear();
}

fn is_tag(word: &str) -> bool {
    let Some(name) = word
        .trim()
        .strip_prefix('<')
        .and_then(|w| w.strip_suffix('>'))
    else {
        return false;
    };
    TAGS.iter()
        .any(|tag| name.trim_start_matches('/').starts_with(tag))
}

fn note(text: &str) -> String {
    format!("[client text {} bytes]", text.len())
}

/// Measured times differ in every recording and mean nothing.
fn varies(key: &str) -> bool {
    key.ends_with("Ms") || key.to_lowercase().contains("duration")
}

fn is_exit_code(line: &str) -> bool {
    line.trim_start_matches("Error: ")
        .strip_prefix("Exit code ")
        .is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether there are two words in a row.
fn is_prose(text: &str) -> bool {
    let mut before = false;
    text.split_whitespace().any(|word| {
        let is =
            word.chars().filter(|c| c.is_alphabetic()).count() >= 2 && !word.contains(['{', '}']);
        std::mem::replace(&mut before, is) && is
    })
}

/// Prose of more than forty characters that is not ours; the check that nothing was overlooked.
pub(crate) fn foreign(text: &str, ours: &[String]) -> Option<String> {
    let mut rest = text.to_owned();
    for known in ours
        .iter()
        .map(|s| s.trim())
        .chain(MARKS.iter().copied())
        .chain(OUTPUTS.iter().copied())
    {
        if known.len() > 4 {
            rest = rest.replace(known, "\u{1}");
        }
    }
    let mut run = String::new();
    rest = rest.replace("[client text ", "\u{1}");
    for word in rest
        .split([' ', '\n', ']'])
        .filter(|word| !word.starts_with('<'))
    {
        if word.contains(char::is_alphabetic) && !word.contains('\u{1}') && word.len() < 40 {
            run.push_str(word);
            run.push(' ');
        } else if run.len() > 40 {
            break;
        } else if !word.is_empty() {
            run.clear();
        }
    }
    (run.len() > 40).then_some(run)
}
