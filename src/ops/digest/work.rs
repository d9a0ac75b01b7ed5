//! Files, commits and commands.

use super::account::Account;
use super::layout::{Item, Section};
use super::text::one_line;

/// What was done with a file.
#[derive(Default)]
pub(super) struct FileUse {
    pub(super) created: bool,
    pub(super) edits: u32,
    pub(super) reads: u32,
    /// The first new lines of its last edit.
    pub(super) changed: String,
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
const LOOKING: [&str; 22] = [
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
    "sed -n",
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
        let rank = 1000 + i64::from(file.edits) * 8 + i as i64;
        items.push(Item::new(
            format!("{path} ({}){changed}", done.join(", ")),
            1,
            rank,
        ));
    }
    if !read.is_empty() {
        items.push(Item::new(format!("only read: {}", read.join(", ")), 6, 900));
    }
    Section {
        heading: "Files",
        share: 14,
        floor: 70,
        essential: false,
        items,
    }
}

/// The commits that were made.
pub(super) fn commits(account: &Account) -> Section {
    let item = |(i, commit): (usize, &String)| Item::new(commit.clone(), 1, i as i64);
    Section {
        heading: "Commits",
        share: 4,
        floor: 60,
        essential: false,
        items: account.commits.iter().enumerate().map(item).collect(),
    }
}

/// The commands that do something, with how often they ran and how they ended last.
pub(super) fn commands(account: &Account) -> Section {
    let item = |(i, (command, used)): (usize, (&String, &CommandUse))| {
        let mut text = format!("`{}`", one_line(command, 140));
        if used.runs > 1 {
            text += &format!(", {} times", used.runs);
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
        share: 6,
        floor: 60,
        essential: false,
        items: account.commands.iter().enumerate().map(item).collect(),
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
    let is = |look: &str| {
        let rest = command.strip_prefix(look);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    command.is_empty() || LOOKING.into_iter().any(is)
}

/// Returns the hash and subject of the commit that a command made, from the output of git: `[main 1a2b3c4] Subject`.
pub(super) fn commit_of(command: &str, output: &str) -> Option<String> {
    if !command.contains("git") || !command.contains("commit") {
        return None;
    }
    output.lines().find_map(|line| {
        let (inside, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
        let hash = inside.rsplit(' ').next()?;
        let is_hash = hash.len() >= 7 && hash.bytes().all(|b| b.is_ascii_hexdigit());
        is_hash.then(|| format!("{hash} {}", one_line(subject, 160)))
    })
}
