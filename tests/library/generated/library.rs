//! Carries out operations with the library, in memory: about a hundred times as many as with the program.

use ccsurgery::doctor::Judgement;
use ccsurgery::document::Document;
use ccsurgery::ops::{
    Clone as Copy, Compact, Delete, DonorError, DropHidden, DropImages, DropTools, EditText,
    Extract, Redact, RepairOptions, RestoreBranch, Selector, StripThinking, Title, TokenCount,
    Trim, Truncate, Uncompact, passes,
};
use ccsurgery::secrets::{Ledger, Scanner, Vault, placeholders};
use ccsurgery::session::{Session, TurnRange};
use ccsurgery::surgery::{Detail, Fault, Plan, Refusal, Surgery, SurgeryError, Transform};

use super::compare::{Verdict, api, lines, shown};
use super::conversation::Conversation;
use super::joins::graft;
use super::operation::{Choice, EDITED, Operation};
use super::recipe::TOOLS;

/// Judges one operation of the library on a session. Returns the result, or the session as it was if the operation does not
/// apply or refuses.
pub(crate) fn operation(
    text: &str,
    before: &Conversation,
    operation: &Operation,
) -> Result<String, String> {
    if !operation.applies(before) {
        return Ok(text.to_owned());
    }
    let unclear = operation.is_unclear(before);
    let promise = operation.promise(before);
    let result = match carried_out(text, before, operation) {
        Ok(result) => result,
        Err(Stop::Refused(_)) if promise.may_refuse || unclear => return Ok(text.to_owned()),
        Err(Stop::Refused(refusal)) => return Err(format!("refused: {refusal}")),
        Err(Stop::Fault(fault) | Stop::Damaged(fault)) => return Err(format!("fault: {fault}")),
    };
    let after = Conversation::new(&result);
    if !unclear {
        shown(before, &after, &promise)?;
        lines(text, &result, after.last_message(), &promise)?;
    }
    if !promise.free {
        api(before, &after)?;
    }
    if let Some(left) = promise.gone.iter().find(|g| result.contains(g.as_str())) {
        return Err(format!("copies: {left} is still in the file"));
    }
    if operation.settles() {
        settled(&result, &after, operation)?;
    }
    Ok(result)
}

/// Checks that a second run changes nothing.
fn settled(result: &str, after: &Conversation, operation: &Operation) -> Verdict {
    match carried_out(result, after, operation) {
        Ok(again) if again == result => Ok(()),
        Ok(_) => Err("again: the second run changes something".to_owned()),
        Err(Stop::Refused(_)) => Ok(()),
        Err(Stop::Fault(fault) | Stop::Damaged(fault)) => Err(format!("again: fault: {fault}")),
    }
}

/// Judges operations one after the other, each on what the one before it made.
pub(crate) fn sequence(text: &str, operations: &[Operation]) -> Verdict {
    let mut text = text.to_owned();
    for one in operations {
        text = operation(&text, &Conversation::new(&text), one)?;
    }
    Ok(())
}

/// Why there is no result.
pub(crate) enum Stop {
    Refused(Refusal),
    /// The library found damage in the session, and does not trust the result.
    Damaged(String),
    /// The library found a bug of its own.
    Fault(String),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The transcript that an operation makes, if the library does not reject it.
pub(crate) fn carried_out(
    text: &str,
    before: &Conversation,
    operation: &Operation,
) -> Result<String, Stop> {
    let session = Session::new(Document::from_bytes(text.as_bytes().to_vec()));
    let steps = transforms(&session, before, operation)?;
    let operated = match Surgery::on(session).then_all(steps).operate() {
        Ok(operated) => operated,
        Err(SurgeryError::Refused(refusal)) => return Err(Stop::Refused(refusal)),
        Err(error) => return Err(Stop::Fault(error.to_string())),
    };
    let verified = operated.verify().map_err(|fault| match fault {
        Fault::Damaged { .. } => Stop::Damaged(fault.to_string()),
        fault => Stop::Fault(fault.to_string()),
    });
    let bytes = verified?.to_vec();
    String::from_utf8(bytes).map_err(|e| Stop::Fault(e.to_string()))
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// The transforms of an operation, as the command line chooses them.
fn transforms(
    session: &Session,
    before: &Conversation,
    operation: &Operation,
) -> Result<Vec<Box<dyn Transform>>, Refusal> {
    let strip = |keep_last| StripThinking {
        keep_last,
        ..StripThinking::default()
    };
    let images = |keep_last| DropImages {
        keep_last,
        ..DropImages::default()
    };
    let some = |n: &Option<usize>| n.map(count);
    let one: Box<dyn Transform> = match operation {
        Operation::Clone => Box::new(Copy::default()),
        Operation::CloneAt(n) => Box::new(Copy {
            at: Some(count(*n).into()),
        }),
        Operation::StripThinking { keep_last } => Box::new(strip(some(keep_last))),
        Operation::DropTools(choice) => Box::new(dropped(before, *choice)),
        Operation::Stub { tool, head } => Box::new(DropTools {
            tool: tool.iter().map(|&n| TOOLS[n].to_owned()).collect(),
            stub: true,
            head: *head,
            ..DropTools::default()
        }),
        Operation::DropImages { keep_last } => Box::new(images(some(keep_last))),
        Operation::DropHidden { keep_last } => Box::new(DropHidden {
            keep_last: some(keep_last),
        }),
        Operation::Truncate(n) => Box::new(Truncate {
            at: count(*n).into(),
        }),
        Operation::Compact {
            keep_last,
            drop_history,
        } => Box::new(Compact {
            keep_last: Some(count(*keep_last)),
            summary: Some("in short".to_owned()),
            drop_history: *drop_history,
            ..Compact::default()
        }),
        Operation::CompactInTurn { drop_history, .. } => Box::new(Compact {
            before: Some(operation.message(before).0),
            summary: Some("in short".to_owned()),
            drop_history: *drop_history,
            ..Compact::default()
        }),
        Operation::Trim { keep_last } => {
            let trim = Trim {
                to: TokenCount(1000),
                keep_last: Some(count(*keep_last)),
                keep_tokens: None,
                disk: false,
                shorten_words: false,
            };
            let steps = trim.find(session)?.steps;
            return Ok(steps.iter().map(|s| s.step.transform()).collect());
        }
        Operation::DeleteTurns(from, to) => Box::new(deletion(Selector {
            turns: Some(range(*from, *to)),
            ..Selector::default()
        })),
        Operation::DeleteTool(n) => Box::new(deletion(Selector {
            tool: vec![TOOLS[*n].to_owned()],
            ..Selector::default()
        })),
        Operation::DeleteMessage(_) => Box::new(deletion(Selector {
            message: vec![operation.message(before).0],
            ..Selector::default()
        })),
        Operation::DeleteMatch(_) => Box::new(deletion(Selector {
            matching: Some(operation.message(before).1),
            ..Selector::default()
        })),
        Operation::Edit(_) => Box::new(EditText {
            message: operation.message(before).0,
            text: EDITED.to_owned(),
        }),
        Operation::Extract(from, to) => Box::new(Extract {
            turns: range(*from, *to),
        }),
        Operation::Uncompact => Box::new(Uncompact::default()),
        Operation::RestoreBranch(_) => Box::new(RestoreBranch {
            entry: operation.message(before).0,
        }),
        Operation::Title => Box::new(Title {
            text: EDITED.to_owned(),
        }),
        Operation::Graft { number, at } => {
            let at = at.map(count);
            Box::new(graft(session, &Operation::donor(*number), at).map_err(refusal)?)
        }
        Operation::Redact { .. } => Box::new(RedactWord::new(session, operation.secret(before))),
        Operation::Repair => {
            return Ok(passes(&RepairOptions {
                client: Judgement::of(session).client,
                ..RepairOptions::default()
            }));
        }
        Operation::Plan => {
            return Ok(vec![
                Box::new(strip(None)),
                Box::new(images(None)),
                Box::new(DropHidden::default()),
            ]);
        }
    };
    Ok(vec![one])
}

/// The refusal to take turns from a donor. The donors here have no other faults.
fn refusal(error: DonorError) -> Refusal {
    match error {
        DonorError::Surgery(SurgeryError::Refused(refusal)) => refusal,
        error => panic!("{error}"),
    }
}

/// Redacts one word, as `redact --literal` does.
struct RedactWord {
    scanner: Scanner,
    ledger: Ledger,
}

impl RedactWord {
    fn new(session: &Session, word: String) -> Self {
        let mut vault = Vault::default();
        for (kind, number) in placeholders(session.document().source()) {
            vault.reserve(&kind, number);
        }
        Self {
            scanner: Scanner::new().with_values("literal", [word]),
            ledger: Ledger::new(vault),
        }
    }
}

impl Transform for RedactWord {
    fn name(&self) -> &'static str {
        "redact"
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        let redact = Redact {
            scanner: &self.scanner,
            ledger: &self.ledger,
            only: Selector::default(),
        };
        redact.plan(session, detail)
    }
}

fn deletion(selector: Selector) -> Delete {
    Delete { selector }
}

fn range(from: usize, to: usize) -> TurnRange {
    format!("{from}..{to}").parse().expect("a range of turns")
}

fn dropped(before: &Conversation, choice: Choice) -> DropTools {
    let mut drop = DropTools::default();
    match choice {
        Choice::All => {}
        Choice::Tool(n) => drop.tool.push(TOOLS[n].to_owned()),
        Choice::Number(n) => drop.id.extend(before.calls().get(n).map(|c| c.id.clone())),
        Choice::Errors => drop.errors = true,
        Choice::KeepLast(n) => drop.keep_last = Some(count(n)),
    }
    drop
}
