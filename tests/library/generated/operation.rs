//! The operations that are judged.

use fastrand::Rng;

use super::conversation::Conversation;
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
    Trim {
        keep_last: usize,
    },
    Repair,
    Plan,
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

impl Operation {
    /// Chooses an operation for a session with this many turns and calls.
    pub(crate) fn new(rng: &mut Rng, turns: usize, calls: usize) -> Self {
        let at = 1 + rng.usize(..turns.max(1));
        let some = |rng: &mut Rng| rng.bool().then(|| rng.usize(1..3));
        match rng.u8(..20) {
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
            Self::Compact { .. } => "compact",
            Self::Trim { .. } => "trim",
            Self::Repair => "repair",
            Self::Plan => "run",
        }
    }

    /// The command line, without the session.
    pub(crate) fn arguments(&self, before: &Conversation) -> Vec<String> {
        let mut out = vec![self.name().to_owned()];
        let mut add = |words: &[&str]| out.extend(words.iter().map(|&w| w.to_owned()));
        match self {
            Self::Clone | Self::Repair | Self::DropTools(Choice::All) => {}
            Self::CloneAt(n) | Self::Truncate(n) => add(&["--at", &n.to_string()]),
            Self::StripThinking { keep_last }
            | Self::DropImages { keep_last }
            | Self::DropHidden { keep_last } => {
                if let Some(n) = keep_last {
                    add(&["--keep-last", &n.to_string()]);
                }
            }
            Self::DropTools(Choice::Tool(n)) => add(&["--tool", TOOLS[*n]]),
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
            Self::Trim { keep_last } => add(&["--to", "1k", "--keep-last", &keep_last.to_string()]),
            Self::Plan => add(&["plan.toml"]),
        }
        out
    }

    /// The steps of [`Operation::Plan`].
    pub(crate) const PLAN: &'static str = "[[step]]\nop = \"strip-thinking\"\n\n[[step]]\nop = \"drop-images\"\n\n[[step]]\nop = \"drop-hidden\"\n";

    /// Whether it depends on where turns begin.
    fn counts_turns(&self) -> bool {
        match self {
            Self::CloneAt(_) | Self::Truncate(_) | Self::Compact { .. } | Self::Trim { .. } => true,
            Self::DropTools(choice) => matches!(choice, Choice::KeepLast(_)),
            Self::StripThinking { keep_last }
            | Self::DropImages { keep_last }
            | Self::DropHidden { keep_last } => keep_last.is_some(),
            _ => false,
        }
    }

    /// Whether the session has the turn or the call that it names.
    pub(crate) fn applies(&self, before: &Conversation) -> bool {
        match self {
            _ if before.has_unclear_turns()
                && (self.counts_turns() || before.unfinished_turn().is_some()) =>
            {
                false
            }
            Self::CloneAt(n) | Self::Truncate(n) => *n <= before.turns(),
            Self::DropTools(Choice::Number(n)) => *n < before.calls().len(),
            _ => true,
        }
    }

    /// Whether a second run has nothing left to do.
    pub(crate) fn settles(&self) -> bool {
        !matches!(
            self,
            Self::Clone | Self::CloneAt(_) | Self::DropTools(Choice::Number(_)) | Self::Trim { .. }
        )
    }

    /// Whether the result keeps the ids of the original.
    pub(crate) fn keeps_ids(&self) -> bool {
        !matches!(self, Self::Clone | Self::CloneAt(_))
    }
}
