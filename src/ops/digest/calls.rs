//! Reads calls and their results.

use crate::json::{decode, elements, lookup};
use crate::session::Session;
use crate::transcript::{Block, Entry};
use crate::view::{CallSummary, result_words, words_of};

use super::account::Account;
use super::failures::{Failure, error_lines, looks_failed, reported_errors};
use super::notes::remarks;
use super::person::{Words, typed_meanwhile};
use super::plan::plan_of;
use super::text::{one_line, shorten, without_client_tags, without_colours};
use super::work::{command_key, commit_of, definitions, file_names, only_looks};

/// How many of the last calls are kept.
const LAST_CALLS: usize = 7;

/// The tools that change the list of tasks.
const TASK_TOOLS: [&str; 3] = ["TodoWrite", "TaskCreate", "TaskUpdate"];

/// How many hits of a search are listed in its line.
const SEARCH_HITS: usize = 16;

/// How many definitions are listed of what a call read.
const DEFINITIONS_READ: usize = 6;

/// The most names of files that are counted in searches and commands.
const FOUND: usize = 1_000;

/// A call with what is needed of it.
pub(super) struct Made<'a> {
    pub(super) tool: &'a str,
    pub(super) raw: &'a [u8],
    pub(super) turn: u32,
    /// The text of its result; `None` if there is no result.
    result: Option<String>,
    failed: bool,
    /// The client's own copy of the result, as JSON; empty if there is none.
    details: &'a [u8],
}

/// One of the last calls, which are reported in more detail.
pub(super) struct LastCall {
    tool: String,
    raw: Vec<u8>,
    result: Option<String>,
    failed: bool,
    /// The client's own copy of an edit's result, as JSON; empty for other calls.
    details: Vec<u8>,
}

/// Returns a string of a call's input.
fn input_of(call: &[u8], key: &str) -> Option<String> {
    let value = lookup(call, &["input", key])?.of(call);
    value.starts_with(b"\"").then(|| decode(value).into_owned())
}

fn is_edit(tool: &str) -> bool {
    matches!(tool, "Write" | "Edit")
}

impl Made<'_> {
    pub(super) fn input(&self, key: &str) -> Option<String> {
        input_of(self.raw, key)
    }

    /// The options of the questions that it asks: the question, the label and the description of each.
    pub(super) fn options(&self) -> Vec<(String, String, String)> {
        let list = |inner: &[u8], key: &str| -> Vec<Vec<u8>> {
            let all = lookup(inner, &[key]).map_or(&[][..], |s| s.of(inner));
            let parts = elements(all).unwrap_or_default();
            parts.iter().map(|s| s.of(all).to_vec()).collect()
        };
        let input = lookup(self.raw, &["input"]).map_or(&[][..], |s| s.of(self.raw));
        let mut out = Vec::new();
        for question in list(input, "questions") {
            for option in list(&question, "options") {
                out.push((
                    words_of(&question, "question"),
                    words_of(&option, "label"),
                    words_of(&option, "description"),
                ));
            }
        }
        out
    }

    pub(super) fn result(&self) -> &str {
        self.result.as_deref().unwrap_or_default()
    }
}

impl Account {
    /// Adds a call and its result.
    pub(super) fn add_call(&mut self, session: &Session, e: &Entry, block: &Block, turn: u32) {
        let tool = session.tool_name(e, block);
        let call = session.calls().of(block);
        let result_at = call.and_then(|c| c.results.first());
        let result = result_at.map(|at| {
            let line = session.text(session.entry(at.entry));
            let text = result_words(session.block(at.block).span.of(line));
            for typed in typed_meanwhile(&text) {
                self.say(turn, Words::Queued(typed.to_owned()));
            }
            without_client_tags(without_colours(text))
        });
        let details = result_at.map_or(&[][..], |at| {
            let answer = session.entry(at.entry);
            answer.result.of(session.text(answer))
        });
        let made = Made {
            tool: &tool,
            raw: block.span.of(session.text(e)),
            turn,
            result,
            failed: call.is_some_and(|c| c.failed(session)),
            details,
        };
        if self.add_refusal(&made) {
            return;
        }
        match made.tool {
            "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => self.add_edit(&made),
            "Read" => self.add_read(&made),
            "Bash" => self.add_command(&made),
            tool if TASK_TOOLS.contains(&tool) => {
                self.tasks.take(made.tool, made.raw, made.result());
                return;
            }
            "AskUserQuestion" => return self.add_answers(&made),
            "ExitPlanMode" => {
                if let Some(plan) = plan_of(&made) {
                    let approved = made.result.is_some() && !made.failed;
                    self.add_plan(turn, plan, approved);
                }
            }
            "Task" | "Agent" => {
                let about = made.input("description").unwrap_or_default();
                self.reports.push((turn, about, made.result().to_owned()));
            }
            "Grep" | "Glob" => {
                self.find_files(&made.input("path").unwrap_or_default());
                self.find_files(made.result());
                self.add_other(&made);
            }
            _ => self.add_other(&made),
        }
        let last = LastCall {
            raw: made.raw.to_vec(),
            result: made.result,
            failed: made.failed,
            details: if is_edit(&tool) {
                made.details.to_vec()
            } else {
                Vec::new()
            },
            tool: tool.into_owned(),
        };
        if self.last_calls.len() == LAST_CALLS {
            self.last_calls.pop_front();
        }
        self.last_calls.push_back(last);
    }

    /// Adds what an answer did with the list of tasks, which outlives a compaction.
    pub(super) fn add_tasks(&mut self, session: &Session, e: &Entry) {
        for block in session.blocks(e).iter().filter(|b| b.kind.is_call()) {
            let tool = session.tool_name(e, block);
            if TASK_TOOLS.contains(&&*tool) {
                let call = session.calls().of(block);
                let result = call.and_then(|c| c.results.first()).map(|at| {
                    let line = session.text(session.entry(at.entry));
                    result_words(session.block(at.block).span.of(line))
                });
                let raw = block.span.of(session.text(e));
                self.tasks.take(&tool, raw, &result.unwrap_or_default());
            }
        }
    }

    /// A call on one line, with the end of its result.
    pub(super) fn line(&self, made: &LastCall) -> String {
        let gist = CallSummary::of(&made.raw).gist.into_raw();
        let gist = one_line(&self.relative(&gist), 160);
        let outcome = match &made.result {
            None => " → no result yet".to_owned(),
            Some(_) if is_edit(&made.tool) && !made.failed => edited_part(made),
            Some(text) if made.tool == "Read" && !made.failed => part_read(made, text),
            Some(text) if made.tool == "Grep" && !made.failed => {
                format!(" → {}", hits(&self.relative(text)))
            }
            Some(text) => {
                let mut lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
                lines.dedup();
                let end = lines[lines.len().saturating_sub(12)..].join(" / ");
                let state = if made.failed { "failed: " } else { "" };
                format!(" → {state}{}", shorten(&self.relative(&end), 700))
            }
        };
        format!("{} {gist}{outcome}", made.tool)
    }

    fn add_edit(&mut self, made: &Made<'_>) {
        let Some(path) = made
            .input("file_path")
            .or_else(|| made.input("notebook_path"))
        else {
            return;
        };
        let path = self.relative(&path);
        if made.failed {
            return self.fail(made, format!("{} {path}", made.tool));
        }
        self.failures.passed(&format!("{} {path}", made.tool));
        let old = made.input("old_string").unwrap_or_default();
        let new = made
            .input("new_string")
            .or_else(|| made.input("content"))
            .unwrap_or_default();
        let changed = if old.is_empty() {
            String::new()
        } else {
            changed_line(&old, &new)
        };
        let fresh = remarks(&new).filter(|r| !old.contains(r));
        self.remarks
            .extend(fresh.map(|r| (made.turn, r.to_owned())));
        self.failures.followed_by_edit(&path, &changed);
        let file = self.files.entry(path).or_default();
        if made.tool == "Write" && file.edits == 0 && file.reads == 0 {
            file.created = true;
        } else {
            file.edits += 1;
        }
        file.define(&old, &new);
        if !changed.is_empty() {
            file.changed = changed;
        }
    }

    fn add_read(&mut self, made: &Made<'_>) {
        if let Some(path) = made.input("file_path").filter(|_| !made.failed) {
            let path = self.relative(&path);
            self.files.entry(path).or_default().reads += 1;
        }
    }

    fn add_command(&mut self, made: &Made<'_>) {
        let command = self.relative(&made.input("command").unwrap_or_default());
        let key = command_key(&command);
        let result = made.result();
        let failed = self.has_failed(made, &command, &key);
        let commit = commit_of(&command, result, failed);
        self.find_files(&command);
        self.find_files(result);
        if failed {
            self.fail(made, key.clone());
        } else if made.result.is_some() {
            self.passed(&key);
        }
        if let Some(commit) = commit {
            self.add_commit(commit);
        } else if !only_looks(&key) {
            let used = self.commands.shift_remove(&key).unwrap_or_default();
            // The last run comes last.
            self.commands.insert(key, used.again(failed));
        }
    }

    /// Records that a command succeeded, and with it each command that it consists of.
    fn passed(&mut self, key: &str) {
        self.failures.passed(key);
        for part in key.split("&&").filter(|part| part.len() < key.len()) {
            let part = command_key(part);
            self.failures.passed(&part);
            if let Some(used) = self.commands.get_mut(&part) {
                *used = used.again(false);
            }
        }
    }

    /// Whether a command failed. One that only looks ends with a failure too if it finds nothing.
    fn has_failed(&self, made: &Made<'_>, command: &str, key: &str) -> bool {
        if made.failed && only_looks(key) {
            return !reported_errors(&self.relative(made.result())).is_empty();
        }
        made.failed || looks_failed(command, made.result())
    }

    /// Counts the names of files in the output of a search or in a command.
    fn find_files(&mut self, text: &str) {
        for name in file_names(text) {
            if let Some(count) = self.found.get_mut(name) {
                *count += 1;
            } else if self.found.len() < FOUND {
                self.found.insert(name.to_owned(), 1);
            }
        }
    }

    fn add_other(&mut self, made: &Made<'_>) {
        let gist = CallSummary::of(made.raw).gist.into_raw();
        let key = format!("{} {}", made.tool, one_line(&self.relative(&gist), 100));
        if made.failed {
            self.fail(made, key);
        } else {
            self.failures.passed(&key);
        }
    }

    fn fail(&mut self, made: &Made<'_>, key: String) {
        let lines = error_lines(&self.relative(made.result()));
        if !lines.is_empty() {
            self.failures.add(Failure::new(made.turn, key, lines));
        }
    }
}

/// Returns which lines an edit changed, and the definitions that it touched.
fn edited_part(made: &LastCall) -> String {
    let hunks = lookup(&made.details, &["structuredPatch"]);
    let hunks = hunks.map_or(&[][..], |s| s.of(&made.details));
    let hunk = elements(hunks).ok().and_then(|all| all.first().copied());
    let number = |hunk: &[u8], key: &str| {
        let text = lookup(hunk, &[key])?.of(hunk);
        std::str::from_utf8(text).ok()?.parse::<u64>().ok()
    };
    let range = hunk.and_then(|h| {
        let hunk = h.of(hunks);
        Some((number(hunk, "newStart")?, number(hunk, "newLines")?))
    });
    let lines = range.map(|(start, count)| line_range(start, count));
    let original = lookup(&made.details, &["originalFile"]).map(|s| decode(s.of(&made.details)));
    let enclosing = range.zip(original).and_then(|((start, _), file)| {
        // A hunk begins with three lines of context.
        let before = file.lines().take(start as usize + 2);
        let name = before.filter_map(|l| definitions(l).next()).last()?;
        Some(name.to_owned())
    });
    let new = input_of(&made.raw, "new_string").unwrap_or_default();
    let mut names: Vec<String> = enclosing.into_iter().collect();
    names.extend(definitions(&new).take(4).map(str::to_owned));
    names.dedup();
    in_parentheses(lines.into_iter().chain(names))
}

fn in_parentheses(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(" ({})", parts.join(", "))
    }
}

/// Returns which lines a call read, and what they define.
fn part_read(made: &LastCall, text: &str) -> String {
    // The client numbers the lines: a number, an arrow or a tab, and the line itself.
    let numbered = |line: &str| -> Option<(u64, usize)> {
        let at = line.find(['→', '\t'])?;
        let number = line[..at].trim().parse().ok()?;
        Some((number, at + line[at..].chars().next()?.len_utf8()))
    };
    let first = text.lines().find_map(|l| Some(numbered(l)?.0));
    let last = text.lines().rev().find_map(|l| Some(numbered(l)?.0));
    let whole = lookup(&made.raw, &["input", "offset"]).is_none()
        && lookup(&made.raw, &["input", "limit"]).is_none();
    let lines = first
        .zip(last)
        .filter(|_| !whole)
        .map(|(first, last)| line_range(first, last.saturating_sub(first) + 1));
    let code = text
        .lines()
        .filter_map(|l| Some(l[numbered(l)?.1..].trim_start()));
    let names = code.flat_map(definitions).take(DEFINITIONS_READ);
    in_parentheses(lines.into_iter().chain(names.map(str::to_owned)))
}

fn line_range(start: u64, count: u64) -> String {
    match count {
        0 | 1 => format!("line {start}"),
        _ => format!("lines {start} to {}", start.saturating_add(count - 1)),
    }
}

/// Returns the hits of a search without the lines of context around them; the name of a file is written once.
fn hits(output: &str) -> String {
    let mut listed = Vec::new();
    let mut file = "";
    for line in output.lines() {
        let mut parts = line.splitn(3, ':');
        let (name, number) = (parts.next().unwrap_or_default(), parts.next());
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let hit = match (number, parts.next()) {
            // `file:12:text`
            (Some(number), Some(text)) if is_number(number) => {
                let text = one_line(text, 90);
                let known = std::mem::replace(&mut file, name) == name;
                if known {
                    format!("{number}: {text}")
                } else {
                    format!("{name} {number}: {text}")
                }
            }
            // `12:text`, and the names of files alone.
            (Some(_), _) if is_number(name) => one_line(line, 90),
            (None, _) if name.contains('/') && !name.contains(char::is_whitespace) => {
                name.to_owned()
            }
            _ => continue,
        };
        listed.push(hit);
        if listed.len() == SEARCH_HITS {
            break;
        }
    }
    listed.join(" / ")
}

/// Returns the first lines of an edit that are new.
fn changed_line(old: &str, new: &str) -> String {
    let known = |line: &&str| !old.contains(line.trim());
    let fresh = new
        .lines()
        .map(str::trim)
        .filter(|l| l.len() > 3)
        .filter(known);
    shorten(&fresh.take(2).collect::<Vec<_>>().join(" "), 160)
}
