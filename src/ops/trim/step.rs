//! The steps of a trim: each is a transform, a part of a plan file, and words.

use std::fmt::{self, Write as _};

use crate::ops::compact::Compact;
use crate::ops::drop_hidden::DropHidden;
use crate::ops::drop_images::DropImages;
use crate::ops::drop_tools::DropTools;
use crate::ops::known::Known;
use crate::ops::strip_thinking::StripThinking;
use crate::session::Session;
use crate::surgery::{Detail, Plan, Refusal, Transform};

/// The first and last turn of a step, and how many turns at the end it leaves alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnSpan {
    /// The first turn.
    pub first: u32,
    /// The last turn.
    pub last: u32,
    /// How many turns at the session's end are left alone.
    pub keep_last: u32,
}

impl fmt::Display for TurnSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(f, "turn {}", self.first)
        } else {
            write!(f, "turns {} to {}", self.first, self.last)
        }
    }
}

/// Why an output is shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputKind {
    /// The file was edited or read again later.
    StaleRead,
    /// The same command ran again later.
    Repeated,
    /// It only confirms an edit or a change of the task list.
    Routine,
    /// It is large.
    Large,
    /// The other reasons do not apply.
    Other,
    /// It is the report of a subagent or an error text, which is shortened late.
    Report,
}

impl OutputKind {
    /// Returns how many lines stay at the head and at the tail.
    pub fn ends(self) -> (usize, usize) {
        match self {
            OutputKind::Large => (10, 10),
            OutputKind::Report => (6, 6),
            OutputKind::StaleRead
            | OutputKind::Repeated
            | OutputKind::Routine
            | OutputKind::Other => (0, 0),
        }
    }

    /// Whether lines that matter stay, such as failures.
    pub fn keeps_key_lines(self) -> bool {
        matches!(
            self,
            OutputKind::Large | OutputKind::Other | OutputKind::Report
        )
    }
}

/// One step of a trim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Removes data that the model is not shown.
    Hidden {
        /// How many turns at the end are left alone.
        keep_last: u32,
    },
    /// Shortens the outputs of calls, or replaces them by notes.
    Outputs {
        /// Why.
        kind: OutputKind,
        /// The ids of the calls.
        ids: Vec<String>,
    },
    /// Replaces images and documents by notes.
    Images(TurnSpan),
    /// Removes thinking.
    Thinking(TurnSpan),
    /// Removes calls with their results.
    Calls {
        /// The ids of the calls.
        ids: Vec<String>,
    },
    /// Replaces turns by a digest.
    Compact {
        /// The first turn that was shown.
        first: u32,
        /// The last turn.
        at: u32,
        /// The uuid of the first message that is kept, if only a part of the last turn is replaced.
        before: Option<String>,
        /// The size of the digest, or of what is beside the words of the person.
        max_tokens: usize,
        /// Whether the digest quotes everything that the person wrote in full.
        whole_words: bool,
    },
}

impl Step {
    /// Returns the operation that carries it out.
    pub fn transform(&self) -> Box<dyn Transform> {
        match self {
            Step::Hidden { keep_last } => Box::new(DropHidden {
                keep_last: Some(*keep_last),
            }),
            Step::Outputs { kind, ids } => Box::new(stubs(*kind, ids)),
            Step::Images(span) => Box::new(DropImages {
                turns: Some((span.first, span.last).into()),
                keep_last: Some(span.keep_last),
            }),
            Step::Thinking(span) => Box::new(StripThinking {
                turns: Some((span.first, span.last).into()),
                keep_last: Some(span.keep_last),
                ..StripThinking::default()
            }),
            Step::Calls { ids } => Box::new(removal(ids)),
            Step::Compact { .. } => Box::new(self.compaction().unwrap_or_default()),
        }
    }

    /// Returns the compaction that the step is, if it is one.
    pub(super) fn compaction(&self) -> Option<Compact> {
        let Step::Compact {
            at,
            before,
            max_tokens,
            whole_words,
            ..
        } = self
        else {
            return None;
        };
        Some(Compact {
            at: before.is_none().then(|| (*at).into()),
            before: before.clone(),
            max_tokens: Some(*max_tokens),
            whole_words: *whole_words,
            ..Compact::default()
        })
    }

    /// Plans what [`Step::transform`] plans, without finding out again what is known.
    pub(super) fn plan(
        &self,
        session: &Session,
        say: Detail,
        known: &Known<'_>,
    ) -> Result<Plan, Refusal> {
        match self {
            Step::Outputs { kind, ids } => stubs(*kind, ids).plan_with(session, say, Some(known)),
            Step::Calls { ids } => removal(ids).plan_with(session, say, Some(known)),
            _ => self.transform().plan(session, say),
        }
    }

    /// Returns the step as a part of a plan file.
    pub fn toml(&self) -> String {
        let mut out = format!("[[step]]\nop = \"{}\"\n", self.transform().name());
        match self {
            Step::Hidden { keep_last } => {
                let _ = writeln!(out, "keep-last = {keep_last}");
            }
            Step::Outputs { kind, ids } => {
                push_ids(&mut out, ids);
                out.push_str("stub = true\n");
                let (head, tail) = kind.ends();
                if head + tail > 0 {
                    let _ = writeln!(out, "head = {head}\ntail = {tail}");
                }
                if kind.keeps_key_lines() {
                    out.push_str("key-lines = true\n");
                }
            }
            Step::Images(span) | Step::Thinking(span) => {
                let TurnSpan {
                    first,
                    last,
                    keep_last,
                } = span;
                let _ = writeln!(out, "turns = \"{first}..{last}\"\nkeep-last = {keep_last}");
            }
            Step::Calls { ids } => push_ids(&mut out, ids),
            Step::Compact {
                at,
                before,
                max_tokens,
                whole_words,
                ..
            } => {
                let _ = match before {
                    Some(uuid) => writeln!(out, "before = {}", toml::Value::from(uuid.as_str())),
                    None => writeln!(out, "at = {at}"),
                };
                let _ = writeln!(out, "max-tokens = {max_tokens}");
                if *whole_words {
                    out.push_str("whole-words = true\n");
                }
            }
        }
        out
    }

    /// Returns what the step does, in words.
    pub fn words(&self) -> String {
        match self {
            Step::Hidden { .. } => "data that the model is not shown: removed".to_owned(),
            Step::Outputs { kind, ids } => output_words(*kind, ids.len()),
            Step::Images(span) => format!("images and documents of {span}: replaced by notes"),
            Step::Thinking(span) => format!("thinking of {span}: removed"),
            Step::Calls { ids } if ids.len() == 1 => "1 call: removed with its result".to_owned(),
            Step::Calls { ids } => format!("{} calls: removed with their results", ids.len()),
            Step::Compact {
                first,
                at,
                before,
                whole_words,
                ..
            } => format!(
                "{}: replaced by a digest{}",
                digested_words(*first, *at, before.is_some()),
                if *whole_words {
                    ""
                } else {
                    ", which shortens what you wrote"
                }
            ),
        }
    }
}

/// Returns what a digest replaces, in words.
fn digested_words(first: u32, at: u32, in_part: bool) -> String {
    let span = |last| TurnSpan {
        first,
        last,
        keep_last: 0,
    };
    match (in_part, first < at) {
        (false, _) => span(at).to_string(),
        (true, true) => format!("{} and the first part of turn {at}", span(at - 1)),
        (true, false) => format!("the first part of turn {at}"),
    }
}

fn stubs(kind: OutputKind, ids: &[String]) -> DropTools {
    let (head, tail) = kind.ends();
    DropTools {
        id: ids.to_vec(),
        stub: true,
        head,
        tail,
        key_lines: kind.keeps_key_lines(),
        ..DropTools::default()
    }
}

fn removal(ids: &[String]) -> DropTools {
    DropTools {
        id: ids.to_vec(),
        ..DropTools::default()
    }
}

fn output_words(kind: OutputKind, count: usize) -> String {
    let one = match kind {
        OutputKind::StaleRead => {
            "1 read of a file that was edited or read again later: replaced by a note"
        }
        OutputKind::Repeated => "1 output of a command that ran again later: replaced by a note",
        OutputKind::Routine => "1 result of an edit or a task list: replaced by a note",
        OutputKind::Large => {
            "1 large output: shortened to the first, last and most important lines"
        }
        OutputKind::Other => "1 other output: shortened to the most important lines",
        OutputKind::Report => "1 subagent report or error text: shortened",
    };
    let many = match kind {
        OutputKind::StaleRead => {
            "reads of files that were edited or read again later: replaced by notes"
        }
        OutputKind::Repeated => "outputs of commands that ran again later: replaced by notes",
        OutputKind::Routine => "results of edits and task lists: replaced by notes",
        OutputKind::Large => "large outputs: shortened to the first, last and most important lines",
        OutputKind::Other => "other outputs: shortened to the most important lines",
        OutputKind::Report => "subagent reports and error texts: shortened",
    };
    match count {
        1 => one.to_owned(),
        count => format!("{count} {many}"),
    }
}

fn push_ids(out: &mut String, ids: &[String]) {
    out.push_str("id = [\n");
    for id in ids {
        let _ = writeln!(out, "  {},", toml::Value::from(id.as_str()));
    }
    out.push_str("]\n");
}
