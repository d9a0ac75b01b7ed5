//! Outputs that later calls made outdated.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::json::{decode, lookup};
use crate::ops::drop_tools::tool_name;
use crate::session::{Call, Session};
use crate::transcript::{BlockKind, EntryIx, Id};

/// What newer clients answer to a read of a file that did not change: it refers to the earlier output.
const UNCHANGED: &str = "File unchanged since last read";

/// The most lines that a read returns if it does not ask for a number of lines.
const LINES: usize = 2000;

/// Calls whose output is outdated or a duplicate.
#[derive(Debug, Default)]
pub(super) struct Superseded {
    /// Reads of files that were edited later, or of which the same part or all was read again.
    pub(super) reads: FxHashSet<Id>,
    /// Runs of commands and searches that ran again later.
    pub(super) runs: FxHashSet<Id>,
}

/// What later calls did with a file.
#[derive(Default)]
struct Later {
    edited: bool,
    read_whole: bool,
    /// The parts that were read.
    parts: FxHashSet<String>,
}

impl Superseded {
    /// Looks at the calls of a session that the model is shown, from the newest to the oldest.
    pub(super) fn of(session: &Session) -> Self {
        let mut out = Self::default();
        let mut files: FxHashMap<String, Later> = FxHashMap::default();
        let mut runs: FxHashSet<(String, Vec<u8>)> = FxHashSet::default();
        let calls: Vec<&Call> = session.calls().iter().collect();
        for call in calls.into_iter().rev() {
            let Some(facts) = Answered::of(session, call) else {
                continue;
            };
            let name = tool_name(session, call);
            match &*name {
                "Read" => out.add_read(call, &facts, &mut files),
                "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => {
                    let path = facts.field("file_path");
                    if let Some(path) = path.or_else(|| facts.field("notebook_path")) {
                        files.entry(path).or_default().edited = true;
                    }
                }
                "Bash" | "Grep" | "Glob" | "LS" | "TaskList" | "TaskGet" | "TodoRead" => {
                    let asked = match lookup(facts.input, &["command"]) {
                        Some(command) => command.of(facts.input),
                        None => facts.input,
                    };
                    if !runs.insert((name.into_owned(), asked.to_vec())) {
                        out.runs.insert(call.id);
                    }
                }
                _ => {}
            }
        }
        out
    }

    fn add_read(
        &mut self,
        call: &Call,
        facts: &Answered<'_>,
        files: &mut FxHashMap<String, Later>,
    ) {
        // Only a short output is the client's answer: a file may contain these words too.
        if facts.content.len() < 400 && facts.has(UNCHANGED) {
            return;
        }
        let Some(path) = facts.field("file_path") else {
            return;
        };
        let part: String = ["offset", "limit", "pages"]
            .iter()
            .filter_map(|k| facts.field(k).map(|v| format!("{k}={v} ")))
            .collect();
        let later = files.entry(path).or_default();
        if later.edited || later.read_whole || later.parts.contains(&part) {
            self.reads.insert(call.id);
        }
        let lines = memchr::memmem::find_iter(facts.content, br"\n").count() + 1;
        later.read_whole |= part.is_empty() && lines < LINES;
        later.parts.insert(part);
    }
}

/// A call that succeeded, with its input and output as JSON.
struct Answered<'a> {
    input: &'a [u8],
    content: &'a [u8],
}

impl<'a> Answered<'a> {
    /// Returns nothing for a call that failed, or that the model is not shown.
    fn of(session: &'a Session, call: &Call) -> Option<Self> {
        let (made, answered) = (call.uses.first()?, call.results.last()?);
        let is_shown = |entry: EntryIx| session.graph().is_shown(entry);
        let block = session.block(answered.block);
        if !is_shown(made.entry)
            || !is_shown(answered.entry)
            || block.kind != BlockKind::ToolResult
            || call.failed(session)
        {
            return None;
        }
        let text = session.text(session.entry(made.entry));
        let inner = session.block(made.block).span.of(text);
        let text = session.text(session.entry(answered.entry));
        Some(Self {
            input: lookup(inner, &["input"])?.of(inner),
            content: block.content(text)?.of(text),
        })
    }

    /// Returns a field of the input as text.
    fn field(&self, key: &str) -> Option<String> {
        let value = lookup(self.input, &[key])?.of(self.input);
        Some(decode(value).into_owned())
    }

    fn has(&self, words: &str) -> bool {
        memchr::memmem::find(self.content, words.as_bytes()).is_some()
    }
}
