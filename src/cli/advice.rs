//! Suggestions in words, with the commands that carry them out.

use crate::ops::{self, Suggestion};
use crate::session::Session;
use crate::window::{Calibration, Category, EntryWeights};

/// An operation, and what it would save.
pub(super) struct Advice {
    /// The words after the program's name.
    pub(super) command: String,
    /// What it does to the conversation.
    pub(super) what: String,
    /// Tokens that leave the context window.
    pub(super) tokens: u64,
    /// Bytes that leave the file; negative if it grows.
    pub(super) bytes: i64,
}

/// An operation that was tried on a session with this name.
pub(super) struct Tried<'a> {
    id: &'a str,
    tried: ops::Tried,
}

impl Tried<'_> {
    /// Returns the operation in words, if it would save something.
    pub(super) fn advice(self, calibration: &Calibration) -> Option<Advice> {
        let saving = self.tried.saving(calibration)?;
        let (command, what) = words(&self.tried.suggestion, self.id);
        Some(Advice {
            command,
            what,
            tokens: saving.tokens,
            bytes: saving.bytes,
        })
    }
}

/// Returns the command of a suggestion, and what it does.
fn words(suggestion: &Suggestion, id: &str) -> (String, String) {
    match suggestion {
        Suggestion::StripThinking => (
            format!("strip-thinking {id}"),
            "remove all thinking".to_owned(),
        ),
        Suggestion::StubLargeOutputs {
            larger_than,
            keep_last,
        } => (
            format!(
                "drop-tools {id} --stub --larger-than {}k --keep-last {keep_last}",
                larger_than / 1000
            ),
            "replace large outputs of old turns by notes".to_owned(),
        ),
        Suggestion::DropImages => (
            format!("drop-images {id}"),
            "replace images and documents by notes".to_owned(),
        ),
        Suggestion::DropHidden => (
            format!("drop-hidden {id}"),
            "remove what the model is not shown, for good".to_owned(),
        ),
        Suggestion::DropFailedCalls => (
            format!("drop-tools {id} --errors"),
            "remove calls that failed".to_owned(),
        ),
        Suggestion::DropTool { tool, keep_last } => (
            format!("drop-tools {id} --tool {tool} --keep-last {keep_last}"),
            format!("remove calls of {tool} in old turns"),
        ),
        Suggestion::Compact { keep_last, .. } => (
            format!("compact {id} --keep-last {keep_last}"),
            "replace old turns by a summary".to_owned(),
        ),
    }
}

/// Plans operations to find out what they would save.
#[derive(Clone, Copy)]
pub(super) struct Advisor<'a> {
    pub(super) session: &'a Session,
    /// The session's name on the command line.
    pub(super) id: &'a str,
    pub(super) ledger: &'a EntryWeights,
}

impl<'a> Advisor<'a> {
    /// Tries operations that keep the words of the conversation, the least harmful first.
    pub(super) fn on_bulk(&self) -> Vec<Tried<'a>> {
        let tried = self.inner().on_bulk().into_iter();
        tried.map(|t| self.named(t)).collect()
    }

    /// Tries to remove the calls of the tool whose results are largest.
    pub(super) fn on_largest(&self, parts: &[(Category, u64)]) -> Option<Tried<'a>> {
        self.inner().on_largest(parts).map(|t| self.named(t))
    }

    /// Tries a summary of old turns, where the context window takes `window` tokens.
    pub(super) fn on_old_turns(&self, window: u64) -> Option<Tried<'a>> {
        self.inner().on_old_turns(window).map(|t| self.named(t))
    }

    /// Tries to remove what the model is not shown.
    pub(super) fn on_hidden(&self) -> Option<Tried<'a>> {
        self.inner().on_hidden().map(|t| self.named(t))
    }

    fn inner(&self) -> ops::Advisor<'a> {
        ops::Advisor {
            session: self.session,
            weights: self.ledger,
        }
    }

    fn named(&self, tried: ops::Tried) -> Tried<'a> {
        Tried { id: self.id, tried }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_commands_do_what_was_tried() {
        let suggestions = [
            Suggestion::StripThinking,
            Suggestion::StubLargeOutputs {
                larger_than: 10_000,
                keep_last: 3,
            },
            Suggestion::DropImages,
            Suggestion::DropHidden,
            Suggestion::DropFailedCalls,
            Suggestion::DropTool {
                tool: "Bash".to_owned(),
                keep_last: 3,
            },
            Suggestion::Compact {
                keep_last: 3,
                window: 0,
            },
        ];
        for suggestion in suggestions {
            let (command, _) = words(&suggestion, "3d73");
            let name = command.split(' ').next();
            assert_eq!(name, Some(suggestion.transform().name()));
        }
        let stub = Suggestion::StubLargeOutputs {
            larger_than: 10_000,
            keep_last: 3,
        };
        let command = "drop-tools 3d73 --stub --larger-than 10k --keep-last 3";
        assert_eq!(words(&stub, "3d73").0, command);
    }
}
