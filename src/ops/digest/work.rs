//! Files, commits and commands.

use std::fmt::Write as _;

use indexmap::IndexSet;

use super::account::Account;
use super::layout::{Item, Section};
use super::text::one_line;
use crate::view::back_to_boundary;

/// What was done with a file.
#[derive(Default)]
pub(super) struct FileUse {
    pub(super) created: bool,
    pub(super) edits: u32,
    pub(super) reads: u32,
    /// The first new lines of its last edit.
    pub(super) changed: String,
    /// Names that were defined in it.
    pub(super) defines: IndexSet<String>,
    /// Names whose definitions were changed.
    pub(super) changes: IndexSet<String>,
}

impl FileUse {
    /// Takes the names that new text of the file defines, and those whose definitions it replaces.
    pub(super) fn define(&mut self, old: &str, new: &str) {
        for name in definitions(new) {
            if !old.contains(name) {
                insert_some(&mut self.defines, name);
            } else if !self.defines.contains(name) {
                insert_some(&mut self.changes, name);
            }
        }
    }
}

/// The most names of one kind that are listed for one file.
const DEFINED: usize = 16;

fn insert_some(names: &mut IndexSet<String>, name: &str) {
    if names.len() < DEFINED {
        names.insert(name.to_owned());
    }
}

/// Returns the names that lines of code define.
pub(super) fn definitions(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| defined(line.trim_start()))
}

/// Words that come before a name that is being defined.
const DEFINING: [&str; 9] = [
    "def ",
    "func ",
    "fn ",
    "class ",
    "struct ",
    "interface ",
    "type ",
    "function ",
    "enum ",
];

/// Words that may come before those.
const QUALIFIERS: [&str; 8] = [
    "pub ",
    "pub(crate) ",
    "export ",
    "default ",
    "async ",
    "abstract ",
    "public ",
    "static ",
];

/// Returns the name that a line of code defines, if it does.
fn defined(mut line: &str) -> Option<&str> {
    while let Some(rest) = QUALIFIERS.iter().find_map(|q| line.strip_prefix(q)) {
        line = rest;
    }
    let mut rest = DEFINING.iter().find_map(|d| line.strip_prefix(d))?;
    // The receiver of a method in Go.
    if rest.starts_with('(') {
        rest = rest.split_once(") ")?.1;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    (name.len() > 2).then_some(name)
}

/// How often a command was run, and how it ended last.
#[derive(Default, Clone, Copy)]
pub(super) struct CommandUse {
    runs: u32,
    failures: u32,
    failed_last: bool,
}

impl CommandUse {
    /// Counts one more run.
    pub(super) fn again(self, failed: bool) -> Self {
        Self {
            runs: self.runs + 1,
            failures: self.failures + u32::from(failed),
            failed_last: failed,
        }
    }
}

/// Commands that look and change nothing.
const LOOKING: [&str; 26] = [
    "ls",
    "cat",
    "head",
    "tail",
    "grep",
    "rg",
    "find",
    "pwd",
    "which",
    "wc",
    "echo",
    "sed",
    "cd",
    "sort",
    "git ls-files",
    "git fsck",
    "sleep",
    "tree",
    "file",
    "stat",
    "git status",
    "git diff",
    "git log",
    "git show",
    "git branch",
    "jq",
];

/// The most files that are listed because searches and commands named them.
const FOUND: usize = 30;

/// The files that were changed, with how often, and those that were only read.
pub(super) fn files(account: &Account) -> Section {
    let mut items = Vec::new();
    let mut read = Vec::new();
    for (i, (path, file)) in account.files.iter().enumerate() {
        let edits = match file.edits {
            0 => None,
            1 => Some("edited once".to_owned()),
            n => Some(format!("edited {n} times")),
        };
        let created = file.created.then(|| "created".to_owned());
        let done: Vec<String> = created.into_iter().chain(edits).collect();
        if done.is_empty() {
            read.push(path.as_str());
            continue;
        }
        let changed = if file.changed.is_empty() {
            String::new()
        } else {
            format!(", last `{}`", one_line(&file.changed, 80))
        };
        let defines = listed("new", &file.defines) + &listed("changed", &file.changes);
        let rank = 1000 + i64::from(file.edits) * 8 + i as i64;
        items.push(Item::new(
            format!("{path} ({}){defines}{changed}", done.join(", ")),
            1,
            rank,
        ));
    }
    let changed_elsewhere: Vec<&str> = account
        .tracked
        .iter()
        .filter(|path| {
            account
                .files
                .get(*path)
                .is_none_or(|f| f.edits == 0 && !f.created)
        })
        .map(String::as_str)
        .collect();
    if !changed_elsewhere.is_empty() {
        let files = changed_elsewhere.join(", ");
        items.push(Item::new(
            format!("also changed in this session: {files}"),
            6,
            950,
        ));
    }
    read.retain(|path| !changed_elsewhere.contains(path));
    if !read.is_empty() {
        items.push(Item::new(format!("only read: {}", read.join(", ")), 6, 900));
    }
    let known: IndexSet<&str> = account
        .files
        .keys()
        .chain(&account.tracked)
        .map(|p| p.rsplit(['/', '\\']).next().unwrap_or(p))
        .collect();
    let mut found: Vec<_> = account
        .found
        .iter()
        .filter(|(name, _)| !known.contains(name.as_str()))
        .collect();
    found.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let found: Vec<&str> = found
        .into_iter()
        .take(FOUND)
        .map(|(name, _)| name.as_str())
        .collect();
    if !found.is_empty() {
        let text = format!("found by searches and commands: {}", found.join(", "));
        items.push(Item::new(text, 4, 800));
    }
    Section {
        heading: "Files",
        cut_ends: true,
        share: 14,
        floor: 70,
        items,
        ..Section::default()
    }
}

/// Returns names for the end of a file's line, after a word that says what was done with them.
fn listed(what: &str, names: &IndexSet<String>) -> String {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match names.as_slice() {
        [] => String::new(),
        names => format!(", {what}: {}", names.join(", ")),
    }
}

/// Returns the names of files at the beginning of a line, as searches print them, or among the words of a command.
pub(super) fn file_names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.lines().take(80).flat_map(|line| {
        let head = &line[..back_to_boundary(line, 200)];
        // Only names with a folder count, and most lines have none.
        let head = Some(head).filter(|head| memchr::memchr(b'/', head.as_bytes()).is_some());
        let words = head.map(|head| head.split([' ', ':', '"', '\'', '=', '(', ')']).take(12));
        words.into_iter().flatten()
    });
    words.filter_map(|word| {
        let (_, name) = word.rsplit_once('/')?;
        let (stem, ending) = name.rsplit_once('.')?;
        let is_name = stem.len() > 2
            && (1..=5).contains(&ending.len())
            && ending.bytes().all(|b| b.is_ascii_lowercase())
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        is_name.then_some(name)
    })
}

/// A commit that was made or tried.
pub(super) struct Commit {
    hash: Option<String>,
    message: String,
    /// Whether it was made; otherwise the command failed.
    made: bool,
}

impl Account {
    /// Adds a commit. It replaces earlier attempts at it.
    pub(super) fn add_commit(&mut self, commit: Commit) {
        self.commits.retain(|known| {
            let is_attempt = !known.made && known.message == commit.message;
            let is_same = known.hash == commit.hash && known.message == commit.message;
            !is_attempt && !is_same
        });
        self.commits.push(commit);
    }
}

/// The commits that were made, and those that failed.
pub(super) fn commits(account: &Account) -> Section {
    let item = |(i, commit): (usize, &Commit)| {
        let state = match (&commit.hash, commit.made) {
            (Some(hash), _) => hash,
            (None, true) => "(no hash seen)",
            (None, false) => "NOT made, the command failed:",
        };
        Item::new(format!("{state} {}", commit.message), 2, i as i64)
    };
    Section {
        heading: "Commits",
        cut_ends: true,
        share: 10,
        floor: 60,
        items: account.commits.iter().enumerate().map(item).collect(),
        ..Section::default()
    }
}

/// The commands that do something, with how often they ran and how they ended last.
pub(super) fn commands(account: &Account) -> Section {
    let item = |(i, (command, used)): (usize, (&String, &CommandUse))| {
        let mut text = format!("`{}`", one_line(command, 140));
        if used.runs > 1 {
            let _ = write!(text, ", {} times", used.runs);
        }
        text += match (used.failed_last, used.failures) {
            (true, _) => ", failed last",
            (false, 0) => "",
            (false, _) => ", failed, then passed",
        };
        Item::new(text, 1, i as i64 + i64::from(used.runs) * 2)
    };
    Section {
        heading: "Commands",
        cut_ends: true,
        share: 6,
        floor: 60,
        items: account.commands.iter().enumerate().map(item).collect(),
        ..Section::default()
    }
}

/// Returns a command without the change of folder before it and the shortening of its output after it.
pub(super) fn command_key(command: &str) -> String {
    let mut command = command.trim().trim_start_matches('\\').trim();
    while let Some(rest) = command.strip_prefix("cd ").and_then(|c| c.split_once("&&")) {
        command = rest.1.trim();
    }
    for filter in ["| tail", "| head", "| grep", "2>&1"] {
        if let Some(at) = command.rfind(filter) {
            command = command[..at].trim_end();
        }
    }
    one_line(command, 300)
}

/// Whether a command only looks at things.
pub(super) fn only_looks(command: &str) -> bool {
    let part_looks = |part: &str| {
        let mut words = part.split_whitespace().skip_while(|w| w.contains('='));
        let mut first = words.next().unwrap_or_default().to_owned();
        if first == "git" {
            let mut rest = words.skip_while(|w| *w == "-C" || w.contains('/'));
            first = format!("git {}", rest.next().unwrap_or_default());
        }
        first.is_empty() || LOOKING.contains(&first.as_str())
    };
    let unquoted = without_quoted(command);
    let parts = unquoted.split(['|', ';', '&']);
    parts.map(str::trim).all(part_looks)
}

/// Leaves out what a command has in quotes: a pattern may have a `|`, which is no pipe.
fn without_quoted(command: &str) -> String {
    let mut quote = None;
    let mut escaped = false;
    let mut out = String::with_capacity(command.len());
    for c in command.chars() {
        let is_plain = !escaped;
        escaped = c == '\\' && is_plain;
        match quote {
            Some(open) if is_plain && c == open => quote = None,
            None if is_plain && matches!(c, '"' | '\'') => quote = Some(c),
            None if is_plain => out.push(c),
            _ => {}
        }
    }
    out
}

/// Returns the commit that a command made: its hash, which git prints as `[main 1a2b3c4] Subject`, and its message.
pub(super) fn commit_of(command: &str, output: &str, failed: bool) -> Option<Commit> {
    let made = command
        .split(['&', ';', '\n'])
        .any(|c| c.trim().starts_with("git ") && c.contains(" commit"));
    if !made {
        return None;
    }
    let message = ["<<'EOF'", "<<EOF", "-m "]
        .iter()
        .find_map(|m| Some(command.split_once(m)?.1));
    let lines = message
        .unwrap_or_default()
        .lines()
        .map(|l| l.trim().trim_matches('"'));
    let message = lines.filter(|l| is_prose(l)).collect::<Vec<_>>().join(" ");
    let hash = output.lines().find_map(|line| {
        let (inside, _) = line.trim().strip_prefix('[')?.split_once("] ")?;
        let hash = inside.rsplit(' ').next()?;
        let is_hash = hash.len() >= 7 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        is_hash.then(|| hash.to_owned())
    });
    let made = hash.is_some() || !failed;
    let message = one_line(&message, 1_600);
    (hash.is_some() || !message.is_empty()).then_some(Commit {
        hash,
        message,
        made,
    })
}

/// Whether a line of a commit's message is prose, not the end of the command or a trailer.
fn is_prose(line: &str) -> bool {
    line.len() > 5
        && !line.starts_with("EOF")
        && !line.to_lowercase().contains("-by: ")
        && !line.contains("Generated with")
}
