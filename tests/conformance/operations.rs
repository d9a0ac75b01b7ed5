//! The operations of the matrix: how each is called, and what it makes of the view of the untouched session.

use anyhow::Result;

use crate::case::Case;
use crate::client::VERSIONS;
use crate::expect;
use crate::joins;
use crate::view::PayloadBlock;

/// The summary that the suite gives to `compact`.
pub(crate) const SUMMARY: &str = "What came before was settled; only the last matter is open.";

pub(crate) struct Operation {
    pub(crate) name: &'static str,
    /// The words of the command line, without the session; nothing where the session gives no occasion.
    pub(crate) args: fn(&Case) -> Option<Vec<String>>,
    /// What the model should be shown afterwards.
    pub(crate) expect: fn(&Case) -> Result<Vec<PayloadBlock>>,
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

impl Reminders {
    /// Leaves out of a view what may differ.
    pub(crate) fn forget(&self, shown: &mut Vec<PayloadBlock>) {
        match self {
            Self::Same => {}
            Self::NewOnes => {
                let probe = Case::probe_at(shown);
                let mut at = 0..;
                shown.retain(|s| at.next() < Some(probe) || !s.is_reminder());
            }
            Self::Vary => {
                shown.retain(|s| !s.is_reminder());
                for s in shown {
                    *s = s.without_reminder();
                }
            }
        }
    }
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
        name: "payload",
        args: |case| (case.by == VERSIONS[VERSIONS.len() - 1]).then(|| words(&["payload"]))?,
        expect: expect::same,
        reminders: Reminders::Vary,
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
        name: "move",
        args: |_| words(&["move"]),
        expect: expect::same,
        reminders: Reminders::Vary,
        in_place: false,
    },
    Operation {
        name: "move-from-windows",
        args: |_| words(&["move"]),
        expect: expect::same,
        reminders: Reminders::Vary,
        in_place: false,
    },
    Operation {
        name: "import",
        args: |_| words(&["import"]),
        expect: expect::same,
        reminders: Reminders::Vary,
        in_place: false,
    },
    Operation {
        name: "restore",
        args: |_| words(&["restore"]),
        expect: expect::same,
        reminders: Reminders::Same,
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
        expect: |case| Ok(dropped(case, "drop-tools")),
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "drop-tools-by-name",
        args: |case| {
            let any = case.calls.iter().flatten().any(|(_, name)| name == "Bash");
            any.then(|| words(&["drop-tools", "--tool", "Bash"]))?
        },
        expect: |case| Ok(dropped(case, "drop-tools-by-name")),
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "drop-tools-one",
        args: |case| words(&["drop-tools", "--id", expect::one_of_two(case)?]),
        expect: |case| Ok(dropped(case, "drop-tools-one")),
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "drop-tools-other",
        args: |case| words(&["drop-tools", "--id", expect::other_of_two(case)?]),
        expect: |case| Ok(dropped(case, "drop-tools-other")),
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
        name: "delete",
        args: |case| {
            cut(case, "truncate")?;
            words(&["delete", "--turns", "-1"])
        },
        expect: expect::truncated,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "extract",
        args: |case| {
            let (_, last) = joins::turns(case)?;
            words(&["extract", "--turns", &last.to_string()])
        },
        expect: joins::extracted,
        reminders: Reminders::Vary,
        in_place: false,
    },
    Operation {
        name: "graft",
        args: |case| joins::insertion(case).and_then(|_| words(&["graft"])),
        expect: joins::joined,
        reminders: Reminders::Vary,
        in_place: false,
    },
    Operation {
        name: "graft-again",
        args: |case| joins::turns(case).and_then(|_| words(&["graft"])),
        expect: joins::repeated,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "graft-at",
        args: |case| {
            let turn = joins::insertion(case)?;
            words(&["graft", "--at", &turn.to_string()])
        },
        expect: joins::inserted,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "edit",
        args: joins::edit_prompt,
        expect: joins::with_edited_prompt,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "edit-answer",
        args: joins::edit_answer,
        expect: joins::with_edited_answer,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "uncompact",
        args: |case| joins::shows_what_follows(case).then(|| words(&["uncompact"]))?,
        expect: joins::uncompacted,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "uncompact-own",
        args: |case| joins::turns(case).and_then(|_| words(&["uncompact"])),
        expect: expect::same,
        reminders: Reminders::Vary,
        in_place: false,
    },
    Operation {
        name: "restore-branch",
        args: joins::restore_branch,
        expect: joins::left,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "title",
        args: |_| words(&["title", TITLE]),
        expect: expect::same,
        reminders: Reminders::Same,
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
        name: "compact-in-turn",
        args: joins::compact_in_turn,
        expect: expect::compacted_in_turn,
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
    Operation {
        name: "redact",
        args: |case| {
            let secret = case.prompts.last()?;
            words(&["redact", "--literal", secret, "--keep-undo"])
        },
        expect: expect::redacted,
        reminders: Reminders::Vary,
        in_place: true,
    },
    Operation {
        name: "sdk-clone",
        args: |case| titled(case, words(&["clone"])),
        expect: expect::same,
        reminders: Reminders::Same,
        in_place: false,
    },
    Operation {
        name: "sdk-clone-at",
        args: |case| titled(case, cut(case, "clone")),
        expect: expect::truncated,
        reminders: Reminders::Same,
        in_place: false,
    },
];

/// How many turns the Agent SDK should read of a result; nothing where an operation is not for it.
pub(crate) fn turns_for_sdk(operation: &str, case: &Case) -> Option<usize> {
    match operation {
        "sdk-clone" => Some(case.prompts.len()),
        "sdk-clone-at" => Some(last_kept(case)),
        _ => None,
    }
}

/// The title that the suite gives to results that the Agent SDK is to list.
pub(crate) const TITLE: &str = "Found again";

/// Adds the title; sessions are read by the Agent SDK alike, whichever client resumes them.
fn titled(case: &Case, args: Option<Vec<String>>) -> Option<Vec<String>> {
    let mut args = args.filter(|_| case.by == case.recording.version)?;
    args.extend(["--title".to_owned(), TITLE.to_owned()]);
    Some(args)
}

/// Whether an operation takes this call out. Calls of an unfinished last turn are left alone unless they are named.
pub(crate) fn takes(operation: &str, case: &Case, id: &str, tool: &str) -> bool {
    let settled = case.awaited.iter().all(|awaited| awaited != id);
    match operation {
        "drop-tools" => settled,
        "drop-tools-by-name" | "run" => settled && tool == "Bash",
        "drop-tools-one" => Some(id) == expect::one_of_two(case),
        "drop-tools-other" => Some(id) == expect::other_of_two(case),
        _ => false,
    }
}

fn dropped(case: &Case, operation: &str) -> Vec<PayloadBlock> {
    expect::dropped(case, &case.untouched.shown, |id, tool| {
        takes(operation, case, id, tool)
    })
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
