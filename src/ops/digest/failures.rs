//! Errors: what failed, what was done about it, and whether it was fixed.

use std::fmt::Write as _;

use indexmap::{IndexMap, IndexSet};

use super::account::Account;
use super::layout::{Item, Section};
use super::text::{one_line, sentences};

/// The most lines of one error.
const LINES: usize = 8;

/// The most bytes of such a line.
const LINE: usize = 220;

/// The most bytes of the lines of one error in its item, so that what was done about it has room.
const ERROR: usize = 320;

/// The most edits that are listed as the consequence of an error.
const EDITS: usize = 3;

/// Words in a command that make its output worth searching for failures.
const RUNNERS: [&str; 26] = [
    "test",
    "build",
    "lint",
    "check",
    "tsc",
    "cargo",
    "go ",
    "npm",
    "pnpm",
    "yarn",
    "npx",
    "pytest",
    "make",
    "mise",
    "jest",
    "vitest",
    "playwright",
    "ruff",
    "mypy",
    "eslint",
    "gradle",
    "mvn",
    "dotnet",
    "python",
    "node ",
    "git ",
];

/// Beginnings of lines, in lower case, that report an error.
const BEGINNINGS: [&str; 24] = [
    "error",
    "fail",
    "--- fail",
    "fatal",
    "panic:",
    "traceback",
    "e   ",
    "✗",
    "✖",
    "×",
    "npm err!",
    "make: ***",
    "assert",
    "exception",
    "undefined:",
    "cannot ",
    "typeerror",
    "syntaxerror",
    "importerror",
    "attributeerror",
    "modulenotfounderror",
    "nameerror",
    "valueerror",
    "referenceerror",
];

/// Parts of lines, in lower case, that report an error.
const PARTS: [&str; 22] = [
    ": error",
    " error:",
    "error ts",
    "error[",
    " failed",
    "failed:",
    "--- fail",
    "not found",
    "no such file",
    "cannot ",
    "undefined",
    "unexpected",
    "expected",
    "refused",
    "denied",
    "mismatch",
    "is not ",
    "does not ",
    "declared and not used",
    "unused",
    "timed out",
    "conflict",
];

/// Parts of lines of a log that report no error.
const INFORMING: [&str; 2] = [" INFO ", " DEBUG "];

/// Results that only say how a tool is to be used, and are nothing to remember.
const TRIVIAL: [&str; 7] = [
    "File has not been read yet",
    "File does not exist",
    "exceeds maximum allowed tokens",
    "Sibling tool call errored",
    "String to replace not found",
    "EISDIR",
    "File has been modified since read",
];

/// One failed call.
pub(super) struct Failure {
    turn: u32,
    /// The command, or the tool with its input.
    what: String,
    lines: Vec<String>,
    /// What the model wrote next about it.
    remark: String,
    edits: IndexMap<String, String>,
    /// Whether the same command succeeded later.
    fixed: bool,
    trivial: bool,
    /// Whether something else failed or passed since: what follows is about that.
    closed: bool,
}

impl Failure {
    pub(super) fn new(turn: u32, what: String, lines: Vec<String>) -> Self {
        let trivial = lines.iter().any(|l| TRIVIAL.iter().any(|t| l.contains(t)));
        Self {
            turn,
            what,
            lines,
            remark: String::new(),
            edits: IndexMap::new(),
            fixed: false,
            trivial,
            closed: false,
        }
    }
}

/// The failed calls, in order.
#[derive(Default)]
pub(super) struct Failures {
    all: Vec<Failure>,
    /// The failures of each command that did not succeed since.
    open: IndexMap<String, Vec<usize>>,
    /// Lines that were reported already.
    known: IndexSet<String>,
}

impl Failures {
    pub(super) fn add(&mut self, mut failure: Failure) {
        failure.lines.retain(|l| self.known.insert(l.clone()));
        if failure.lines.is_empty() {
            return;
        }
        if !failure.trivial
            && let Some(last) = self.all.last_mut()
        {
            last.closed = true;
        }
        self.open
            .entry(failure.what.clone())
            .or_default()
            .push(self.all.len());
        self.all.push(failure);
    }

    /// Records that a command succeeded: its failures until then are fixed.
    pub(super) fn passed(&mut self, what: &str) {
        for i in self.open.swap_remove(what).unwrap_or_default() {
            self.all[i].fixed = true;
            self.all[i].closed = true;
        }
    }

    pub(super) fn followed_by_text(&mut self, text: &str) {
        if let Some(last) = self.current().filter(|l| l.remark.is_empty()) {
            last.remark = sentences(text)
                .into_iter()
                .take(2)
                .collect::<Vec<_>>()
                .join(" ");
        }
    }

    pub(super) fn followed_by_edit(&mut self, path: &str, changed: &str) {
        if let Some(last) = self.current().filter(|l| l.edits.len() < EDITS) {
            let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
            last.edits
                .entry(name.to_owned())
                .or_insert_with(|| changed.to_owned());
        }
    }

    /// The failure that the model is dealing with.
    fn current(&mut self) -> Option<&mut Failure> {
        self.all.last_mut().filter(|f| !f.closed)
    }

    /// The last failure that was not fixed.
    pub(super) fn last_open(&self) -> Option<String> {
        let open = self.all.iter().rfind(|f| !f.fixed && !f.trivial)?;
        Some(format!(
            "{}: {}",
            one_line(&open.what, 120),
            open.lines.join(" / ")
        ))
    }
}

/// The failures, newest ranked highest; trivial ones last.
pub(super) fn section(account: &Account) -> Section {
    let item = |(i, failure): (usize, &Failure)| {
        let mut text = format!(
            "Turn {}, `{}`: {}",
            failure.turn,
            one_line(&failure.what, 90),
            one_line(&failure.lines.join(" / "), ERROR)
        );
        if !failure.remark.is_empty() {
            let _ = write!(
                text,
                " → {}",
                account.relative(&one_line(&failure.remark, 200))
            );
        }
        for (name, changed) in &failure.edits {
            let with = if changed.is_empty() {
                String::new()
            } else {
                format!(": `{}`", one_line(changed, 80))
            };
            let _ = write!(text, " → edited {name}{with}");
        }
        text += if failure.fixed {
            " → passed later"
        } else {
            ""
        };
        let dealt_with = failure.fixed || !failure.edits.is_empty();
        let rank =
            i as i64 + if dealt_with { 40 } else { 0 } - if failure.trivial { 1000 } else { 0 };
        Item::new(text, 1 + usize::from(!failure.edits.is_empty()), rank)
    };
    let all = account.failures.all.iter();
    Section {
        heading: "Errors, and what was done about them",
        share: 18,
        floor: 190,
        items: all
            .enumerate()
            .filter(|(_, f)| !f.trivial || f.fixed)
            .map(item)
            .collect(),
        ..Section::default()
    }
}

/// Whether the output of a command reports a failure although the call did not fail: the last command of a pipe succeeded.
pub(super) fn looks_failed(command: &str, output: &str) -> bool {
    if !RUNNERS.iter().any(|r| command.contains(r)) {
        return false;
    }
    output.lines().any(|line| {
        let line = line.trim_start();
        let begins = [
            "FAIL",
            "--- FAIL",
            "FAILED",
            "error:",
            "error[",
            "Error:",
            "fatal:",
            "panic:",
            "Traceback",
            "npm ERR!",
            "make: ***",
            "E   ",
            "✗",
            "✖",
            "TypeError",
            "SyntaxError",
        ];
        begins.iter().any(|b| line.starts_with(b))
            || line.contains("error TS")
            || counts_failures(line)
    })
}

/// Whether a line counts failures, and not zero: `3 failed`, `2 errors`.
fn counts_failures(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let count = pair[0].trim_start_matches(|c: char| !c.is_ascii_digit());
        let named = [
            "failed", "failing", "error", "errors", "failures", "problems", "issues",
        ];
        let what = pair[1].trim_matches(|c: char| !c.is_alphabetic());
        named.contains(&what) && count.parse::<u32>().is_ok_and(|n| n > 0)
    })
}

/// Returns the lines of an output that say what is wrong; if none do, its last lines.
pub(super) fn error_lines(output: &str) -> Vec<String> {
    let found = reported_errors(output);
    if !found.is_empty() {
        return found.into_iter().collect();
    }
    let output = without_error_tags(output);
    let all: Vec<&str> = lines(&output).collect();
    let last = all[all.len().saturating_sub(2)..].iter();
    last.map(|line| one_line(line, LINE)).collect()
}

/// Returns the lines of an output that say what is wrong.
pub(super) fn reported_errors(output: &str) -> IndexSet<String> {
    let reports = |line: &&str| {
        if INFORMING.iter().any(|level| line.contains(level)) {
            return false;
        }
        let lower = line[..crate::view::back_to_boundary(line, 300)].to_lowercase();
        BEGINNINGS.iter().any(|b| lower.starts_with(b))
            || PARTS.iter().any(|p| lower.contains(p))
            || has_place(line)
    };
    let output = without_error_tags(output);
    let found = lines(&output).filter(reports).take(LINES);
    found
        .map(|line| one_line(without_folder(line), LINE))
        .collect()
}

fn without_error_tags(output: &str) -> String {
    output
        .replace("<tool_use_error>", "")
        .replace("</tool_use_error>", "")
}

/// Returns the lines of an output that can say something.
fn lines(output: &str) -> impl Iterator<Item = &str> {
    let lines = output.lines().map(str::trim);
    lines.filter(|line| line.len() > 3 && !is_exit_code(line))
}

fn is_exit_code(line: &str) -> bool {
    line.strip_prefix("Exit code ")
        .is_some_and(|rest| rest.len() <= 3)
}

/// Leaves out the folder of a place in a file: a list of errors repeats it in each line.
fn without_folder(line: &str) -> &str {
    if !has_place(line) {
        return line;
    }
    let file = line.find(':').unwrap_or(line.len());
    let name = line[..file].rfind(['/', '\\']);
    name.map_or(line, |at| &line[at + 1..])
}

/// Whether a line names a place in a file, as compilers and linters do: `a/b.go:12:3: …`.
fn has_place(line: &str) -> bool {
    let mut parts = line.splitn(4, ':');
    let file = parts.next().unwrap_or_default();
    let number = parts.next().unwrap_or_default();
    file.contains('.')
        && !file.contains(' ')
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
        && parts.next().is_some()
}
