//! The operations that are judged.

use fastrand::Rng;
use serde_json::{Value, json};

use super::conversation::Conversation;
use super::entry::{content, str_of};
use super::recipe::TOOLS;

/// One command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    Clone,
    CloneAt(usize),
    StripThinking {
        keep_last: Option<usize>,
    },
    DropTools(Choice),
    Stub {
        tool: Option<usize>,
        head: usize,
    },
    DropImages {
        keep_last: Option<usize>,
    },
    DropHidden {
        keep_last: Option<usize>,
    },
    Truncate(usize),
    Compact {
        keep_last: usize,
        drop_history: bool,
    },
    /// Compacts what comes before a step of a turn, counted from the first step.
    CompactInTurn {
        number: usize,
        drop_history: bool,
    },
    Trim {
        keep_last: usize,
    },
    Repair,
    Plan,
    /// Deletes these turns.
    DeleteTurns(usize, usize),
    /// Deletes the calls of one tool.
    DeleteTool(usize),
    /// Deletes one message, counted from the first that the model is shown.
    DeleteMessage(usize),
    /// Deletes the text of one message.
    DeleteMatch(usize),
    /// Replaces the text of one message.
    Edit(usize),
    /// Keeps only these turns.
    Extract(usize, usize),
    Uncompact,
    /// Restores the branch of an abandoned entry, counted from the first.
    RestoreBranch(usize),
    Title,
    /// Inserts a turn that no session has, after a turn or at the end.
    Graft {
        number: u16,
        at: Option<usize>,
    },
    /// Redacts a word of one message, or of one thinking block.
    Redact {
        number: usize,
        thinking: bool,
    },
}

/// Which calls are dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    All,
    Tool(usize),
    /// One call, counted from the first.
    Number(usize),
    Errors,
    KeepLast(usize),
}

/// The text that edits write.
pub(crate) const EDITED: &str = "words of another kind";

impl Operation {
    /// Chooses an operation for a session with this many turns and calls.
    pub(crate) fn new(rng: &mut Rng, turns: usize, calls: usize) -> Self {
        let at = 1 + rng.usize(..turns.max(1));
        let to = at + rng.usize(..=turns.max(at) - at);
        let some = |rng: &mut Rng| rng.bool().then(|| rng.usize(1..3));
        match rng.u8(..38) {
            0 => Self::Clone,
            1 | 2 => Self::CloneAt(at),
            3 | 4 => Self::StripThinking {
                keep_last: some(rng),
            },
            5 => Self::DropTools(Choice::All),
            6 => Self::DropTools(Choice::Tool(rng.usize(..TOOLS.len()))),
            7 | 8 if calls > 0 => Self::DropTools(Choice::Number(rng.usize(..calls))),
            9 => Self::DropTools(Choice::Errors),
            10 => Self::DropTools(Choice::KeepLast(rng.usize(1..3))),
            11 => Self::Stub {
                tool: rng.bool().then(|| rng.usize(..TOOLS.len())),
                head: rng.usize(..2),
            },
            12 => Self::DropImages {
                keep_last: some(rng),
            },
            13 => Self::DropHidden {
                keep_last: some(rng),
            },
            14 | 15 => Self::Truncate(at),
            16 => Self::Compact {
                keep_last: rng.usize(1..3),
                drop_history: rng.bool(),
            },
            17 => Self::Trim {
                keep_last: rng.usize(1..3),
            },
            18 => Self::Plan,
            19 | 20 => Self::DeleteTurns(at, to),
            21 => Self::DeleteTool(rng.usize(..TOOLS.len())),
            22 => Self::DeleteMessage(rng.usize(..12)),
            23 | 24 => Self::DeleteMatch(rng.usize(..12)),
            25 => Self::Edit(rng.usize(..12)),
            26 | 27 => Self::Extract(at, to),
            28 => Self::Uncompact,
            29 => Self::RestoreBranch(rng.usize(..8)),
            30 => Self::Title,
            31 | 32 => Self::Graft {
                number: rng.u16(1000..10_000),
                at: rng.bool().then_some(at),
            },
            33 | 34 => Self::Redact {
                number: rng.usize(..12),
                thinking: rng.u8(..3) == 0,
            },
            35 | 36 => Self::CompactInTurn {
                number: rng.usize(..6),
                drop_history: rng.bool(),
            },
            _ => Self::Repair,
        }
    }

    /// The name of the command.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Clone | Self::CloneAt(_) => "clone",
            Self::StripThinking { .. } => "strip-thinking",
            Self::DropTools(_) | Self::Stub { .. } => "drop-tools",
            Self::DropImages { .. } => "drop-images",
            Self::DropHidden { .. } => "drop-hidden",
            Self::Truncate(_) => "truncate",
            Self::Compact { .. } | Self::CompactInTurn { .. } => "compact",
            Self::Trim { .. } => "trim",
            Self::Repair => "repair",
            Self::Plan => "run",
            Self::DeleteTurns(..)
            | Self::DeleteTool(_)
            | Self::DeleteMessage(_)
            | Self::DeleteMatch(_) => "delete",
            Self::Edit(_) => "edit",
            Self::Extract(..) => "extract",
            Self::Uncompact => "uncompact",
            Self::RestoreBranch(_) => "restore-branch",
            Self::Title => "title",
            Self::Graft { .. } => "graft",
            Self::Redact { .. } => "redact",
        }
    }

    /// The command line, without the session.
    pub(crate) fn arguments(&self, before: &Conversation) -> Vec<String> {
        let mut out = vec![self.name().to_owned()];
        let mut add = |words: &[&str]| out.extend(words.iter().map(|&w| w.to_owned()));
        match self {
            Self::Clone | Self::Repair | Self::Uncompact | Self::DropTools(Choice::All) => {}
            Self::CloneAt(n) | Self::Truncate(n) => add(&["--at", &n.to_string()]),
            Self::StripThinking { keep_last }
            | Self::DropImages { keep_last }
            | Self::DropHidden { keep_last } => {
                if let Some(n) = keep_last {
                    add(&["--keep-last", &n.to_string()]);
                }
            }
            Self::DropTools(Choice::Tool(n)) | Self::DeleteTool(n) => {
                add(&["--tool", TOOLS[*n]]);
            }
            Self::DropTools(Choice::Number(n)) => {
                let calls = before.calls();
                add(&["--id", calls.get(*n).map_or("toolu_none", |c| &c.id)]);
            }
            Self::DropTools(Choice::Errors) => add(&["--errors"]),
            Self::DropTools(Choice::KeepLast(n)) => add(&["--keep-last", &n.to_string()]),
            Self::Stub { tool, head } => {
                add(&["--stub", "--head", &head.to_string()]);
                if let Some(n) = tool {
                    add(&["--tool", TOOLS[*n]]);
                }
            }
            Self::Compact {
                keep_last,
                drop_history,
            } => {
                add(&[
                    "--keep-last",
                    &keep_last.to_string(),
                    "--summary",
                    "in short",
                ]);
                if *drop_history {
                    add(&["--drop-history"]);
                }
            }
            Self::CompactInTurn { drop_history, .. } => {
                add(&["--before", &self.message(before).0, "--summary", "in short"]);
                if *drop_history {
                    add(&["--drop-history"]);
                }
            }
            Self::Trim { keep_last } => add(&["--to", "1k", "--keep-last", &keep_last.to_string()]),
            Self::Plan => add(&["plan.toml"]),
            Self::DeleteTurns(from, to) | Self::Extract(from, to) => {
                add(&["--turns", &format!("{from}..{to}")]);
            }
            Self::DeleteMessage(_) => add(&["--message", &self.message(before).0]),
            Self::DeleteMatch(_) => add(&["--match", &self.message(before).1]),
            Self::Edit(_) => {
                let (uuid, _) = self.message(before);
                add(&[&uuid, "--text", EDITED]);
            }
            Self::RestoreBranch(_) => add(&[&self.message(before).0]),
            Self::Title => add(&[EDITED]),
            Self::Graft { at, .. } => {
                if let Some(n) = at {
                    add(&["--at", &n.to_string()]);
                }
            }
            Self::Redact { .. } => add(&["--literal", &self.secret(before), "--keep-undo"]),
        }
        out
    }

    /// The transcript of the turn that [`Operation::Graft`] inserts.
    pub(crate) fn donor(number: u16) -> String {
        let uuid = |n: u8| format!("d0000000-{number}-4bbb-8ccc-0123456789{n:02}");
        let entry = |n: u8, kind: &str, content: Value| {
            let mut message = json!({"role": kind, "content": content});
            if kind == "assistant" {
                message["id"] = json!(format!("msg_d{number}-{n}"));
                message["usage"] = json!({"input_tokens": 900, "output_tokens": 9});
            }
            let parent = (n > 1).then(|| uuid(n - 1));
            let time = format!("2026-03-04T06:00:{n:02}.000Z");
            json!({"parentUuid": parent, "isSidechain": false, "type": kind, "message": message,
                "uuid": uuid(n), "timestamp": time, "sessionId": uuid(99), "cwd": "/work",
                "userType": "external", "version": "2.1.325"})
        };
        let id = format!("toolu_d{number}");
        let call = json!({"type": "tool_use", "id": id, "name": TOOLS[0], "input": {}});
        let result = json!({"type": "tool_result", "tool_use_id": id, "content": format!("output-d{number}")});
        let lines = [
            entry(1, "user", json!(format!("grafted-{number}"))),
            entry(2, "assistant", json!([call])),
            entry(3, "user", json!([result])),
            entry(
                4,
                "assistant",
                json!([{"type": "text", "text": format!("graft-{number}")}]),
            ),
        ];
        lines.map(|line| line.to_string() + "\n").concat()
    }

    /// The word that is redacted; empty if the session has none.
    pub(crate) fn secret(&self, before: &Conversation) -> String {
        match self {
            Self::Redact {
                number,
                thinking: true,
            } => {
                let blocks = before.blocks().into_iter();
                let words = blocks.map(|b| str_of(&b.json, "thinking").to_owned());
                let mut words = words.filter(|w| !w.is_empty());
                words.nth(*number % 4).unwrap_or_default()
            }
            _ => self.message(before).1,
        }
    }

    /// The uuid of the message that it names, and a text that only this message has.
    pub(crate) fn message(&self, before: &Conversation) -> (String, String) {
        let index = match self {
            Self::DeleteMessage(n)
            | Self::DeleteMatch(n)
            | Self::Edit(n)
            | Self::Redact { number: n, .. } => before.shown_messages().get(*n).copied(),
            Self::CompactInTurn { number, .. } => before.steps().get(*number).copied(),
            Self::RestoreBranch(n) => {
                let uuid = before.abandoned().get(*n).cloned();
                return (uuid.unwrap_or_default(), String::new());
            }
            _ => None,
        };
        let Some(index) = index else {
            return Default::default();
        };
        let e = &before.entries[index];
        let words = content(e).into_iter();
        let words = words.map(|b| str_of(&b, "text").to_owned());
        let words: Vec<String> = words.collect();
        let is_word = |w: &&str| {
            let number = w.rsplit('-').next().unwrap_or_default();
            number.len() == 4 && number.bytes().all(|b| b.is_ascii_digit())
        };
        let joined = words.join(" ");
        let mut all = joined.split(|c: char| !c.is_alphanumeric() && c != '-');
        let word = all.find(|w| is_word(w)).unwrap_or_default();
        (str_of(e, "uuid").to_owned(), word.to_owned())
    }

    /// The steps of [`Operation::Plan`].
    pub(crate) const PLAN: &'static str = "[[step]]\nop = \"strip-thinking\"\n\n[[step]]\nop = \"drop-images\"\n\n[[step]]\nop = \"drop-hidden\"\n";

    /// Whether it depends on where turns begin.
    fn counts_turns(&self) -> bool {
        match self {
            Self::CloneAt(_)
            | Self::Truncate(_)
            | Self::Compact { .. }
            | Self::CompactInTurn { .. }
            | Self::Trim { .. }
            | Self::DeleteTurns(..)
            | Self::Extract(..)
            | Self::Graft { .. } => true,
            Self::DropTools(choice) => matches!(choice, Choice::KeepLast(_)),
            Self::StripThinking { keep_last }
            | Self::DropImages { keep_last }
            | Self::DropHidden { keep_last } => keep_last.is_some(),
            _ => false,
        }
    }

    /// Whether it is a matter of taste what it does to a session, so that only its soundness is judged.
    pub(crate) fn is_unclear(&self, before: &Conversation) -> bool {
        before.has_words_beside_results()
            && (self.counts_turns() || before.unfinished_turn().is_some())
    }

    /// Whether the session has the turn, the call or the message that it names.
    pub(crate) fn applies(&self, before: &Conversation) -> bool {
        match self {
            Self::CloneAt(n) | Self::Truncate(n) | Self::Graft { at: Some(n), .. } => {
                *n <= before.turns()
            }
            Self::DeleteTurns(_, to) | Self::Extract(_, to) => *to <= before.turns(),
            Self::DropTools(Choice::Number(n)) => *n < before.calls().len(),
            Self::DeleteMessage(_)
            | Self::Edit(_)
            | Self::RestoreBranch(_)
            | Self::CompactInTurn { .. } => !self.message(before).0.is_empty(),
            Self::DeleteMatch(_) => !self.message(before).1.is_empty(),
            Self::Redact { .. } => !self.secret(before).is_empty(),
            _ => true,
        }
    }

    /// Whether a second run has nothing left to do.
    pub(crate) fn settles(&self) -> bool {
        !matches!(
            self,
            Self::Clone
                | Self::CloneAt(_)
                | Self::DropTools(Choice::Number(_))
                | Self::CompactInTurn { .. }
                | Self::Trim { .. }
                | Self::DeleteTurns(..)
                | Self::DeleteMessage(_)
                | Self::DeleteMatch(_)
                | Self::Edit(_)
                | Self::Extract(..)
                | Self::Uncompact
                | Self::RestoreBranch(_)
                | Self::Graft { .. }
                | Self::Redact { .. }
        )
    }

    /// Whether the result keeps the ids of the original.
    pub(crate) fn keeps_ids(&self) -> bool {
        !matches!(self, Self::Clone | Self::CloneAt(_))
    }
}
