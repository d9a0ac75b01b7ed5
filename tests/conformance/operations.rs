//! The operations of the matrix: how each is called, and what it makes of the view of the untouched session.

use anyhow::Result;

use crate::case::Case;
use crate::expect;
use crate::view::Shown;

/// The summary that the suite gives to `compact`.
pub(crate) const SUMMARY: &str = "What came before was settled; only the last matter is open.";

pub(crate) struct Operation {
    pub(crate) name: &'static str,
    /// The words of the command line, without the session; nothing where the session gives no occasion.
    pub(crate) args: fn(&Case) -> Option<Vec<String>>,
    /// What the model should be shown afterwards.
    pub(crate) expect: fn(&Case) -> Result<Vec<Shown>>,
    pub(crate) reminders: Reminders,
    /// Whether there is a form of it that rewrites the session itself.
    pub(crate) in_place: bool,
}

/// What may become of the client's own reminders; it counts entries and calls to decide on them.
pub(crate) enum Reminders {
    /// All as they were.
    Same,
    /// Those that come with the next prompt may be others.
    NewOnes,
    /// Any may be others.
    Vary,
}

pub(crate) const OPERATIONS: &[Operation] = &[
    Operation {
        name: "untouched",
        args: |_| Some(Vec::new()),
        expect: expect::same,
        reminders: Reminders::Same,
        in_place: false,
    },
    Operation {
        name: "clone",
        args: |_| words(&["clone"]),
        expect: expect::same,
        reminders: Reminders::Same,
        in_place: false,
    },
    Operation {
        name: "clone-at",
        args: |case| cut(case, "clone"),
        expect: expect::truncated,
        reminders: Reminders::Vary,
        in_place: false,
    },
    Operation {
        name: "clone-to-project",
        args: |case| {
            words(&[
                "clone",
                "--to-project",
                &case.recording.file("other").to_string_lossy(),
            ])
        },
        expect: expect::same,
        reminders: Reminders::Vary,
        in_place: false,
    },
    Operation {
        name: "strip-thinking",
        args: |_| words(&["strip-thinking"]),
        expect: expect::stripped,
        reminders: Reminders::NewOnes,
        in_place: true,
    },
    Operation {
        name: "drop-tools",
        args: |case| (!case.calls.is_empty()).then(|| words(&["drop-tools"]))?,
        expect: |case| {
            Ok(expect::dropped(case, &case.untouched.shown, |id, _| {
                is_settled(case, id)
            }))
        },
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "drop-tools-by-name",
        args: |case| {
            let any = case.calls.iter().flatten().any(|(_, name)| name == "Bash");
            any.then(|| words(&["drop-tools", "--tool", "Bash"]))?
        },
        expect: |case| {
            Ok(expect::dropped(case, &case.untouched.shown, |id, name| {
                name == "Bash" && is_settled(case, id)
            }))
        },
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "drop-tools-one",
        args: |case| words(&["drop-tools", "--id", expect::one_of_two(case)?]),
        expect: |case| {
            Ok(expect::dropped(case, &case.untouched.shown, |id, _| {
                Some(id) == expect::one_of_two(case)
            }))
        },
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "drop-tools-other",
        args: |case| words(&["drop-tools", "--id", expect::other_of_two(case)?]),
        expect: |case| {
            Ok(expect::dropped(case, &case.untouched.shown, |id, _| {
                Some(id) == expect::other_of_two(case)
            }))
        },
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "drop-tools-stub",
        args: |case| expect::any_long_output(case).then(|| words(&["drop-tools", "--stub"]))?,
        expect: expect::stubbed,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "truncate",
        args: |case| cut(case, "truncate"),
        expect: expect::truncated,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "truncate-early",
        args: |case| (case.compacted > 1).then(|| words(&["truncate", "--at", "1"]))?,
        expect: expect::before_boundary,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "compact",
        args: |case| {
            (case.prompts.len() > 1)
                .then(|| words(&["compact", "--keep-last", "1", "--summary", SUMMARY]))?
        },
        expect: expect::compacted,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "compact-drop-history",
        args: |case| {
            let args = [
                "compact",
                "--keep-last",
                "1",
                "--summary",
                SUMMARY,
                "--drop-history",
            ];
            (case.prompts.len() > 1).then(|| words(&args))?
        },
        expect: expect::compacted,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "run",
        args: |case| {
            cut(case, "truncate")?;
            words(&["run", &case.plan_path().to_string_lossy()])
        },
        expect: expect::planned,
        reminders: Reminders::Vary,
        in_place: true,
    },
];

/// Calls of an unfinished last turn are left alone unless they are named.
fn is_settled(case: &Case, id: &str) -> bool {
    case.awaited.iter().all(|awaited| awaited != id)
}

/// The plan of three that `run` is given.
pub(crate) fn plan(case: &Case) -> String {
    format!(
        "[[step]]\nop = \"strip-thinking\"\n\n[[step]]\nop = \"drop-tools\"\ntool = [\"Bash\"]\n\n\
         [[step]]\nop = \"truncate\"\nat = \"{}\"\n",
        last_kept(case)
    )
}

/// The turn at which the suite cuts: the last but one.
pub(crate) fn last_kept(case: &Case) -> usize {
    case.prompts.len() - 1
}

fn cut(case: &Case, command: &str) -> Option<Vec<String>> {
    let after_boundary = case.prompts.len() > 1 && last_kept(case) > case.compacted;
    after_boundary.then(|| words(&[command, "--at", &last_kept(case).to_string()]))?
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "it is the last word of functions that may say no"
)]
fn words(words: &[&str]) -> Option<Vec<String>> {
    Some(words.iter().map(|w| (*w).to_owned()).collect())
}
