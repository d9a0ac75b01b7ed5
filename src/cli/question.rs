//! Questions that a person must answer with yes before something is changed.

use super::context::Context;
use super::error::CliError;

/// A question before a change.
pub(super) struct Question<'a> {
    /// Whether `--yes` answered it already.
    pub(super) yes: bool,
    /// Why it is asked, for a run without a terminal.
    pub(super) reason: &'a str,
    /// What can be done instead of `--yes`, for a run without a terminal.
    pub(super) otherwise: &'a str,
    /// The question itself.
    pub(super) text: &'a str,
}

impl Question<'_> {
    /// Asks on a terminal. Fails unless the answer is yes; without a terminal, unless `--yes` was given.
    pub(super) fn ask(&self, context: &mut Context) -> Result<(), CliError> {
        if self.yes {
            return Ok(());
        }
        if !context.interactive {
            return Err(CliError::refused(
                "not-confirmed",
                format!("{}, and there is no terminal to ask on", self.reason),
                format!("give --yes to go ahead, or {}", self.otherwise),
            ));
        }
        if context.confirm(self.text)? {
            return Ok(());
        }
        Err(CliError::refused(
            "not-confirmed",
            "you did not confirm it; nothing was changed",
            "",
        ))
    }
}

/// What a person answers to one of several questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    /// Yes to this and to all that follow.
    All,
    /// No to this and to all that follow.
    Nothing,
}

impl Answer {
    /// Asks one of several questions. If the input has ended, the others are not asked.
    pub(super) fn ask(context: &mut Context, question: &str) -> Result<Self, CliError> {
        let answer = context.answer(&format!("{question} [y/N/all/none] "))?;
        Ok(match answer.as_deref() {
            Some("y" | "yes") => Self::Yes,
            Some("a" | "all") => Self::All,
            Some("none" | "q" | "quit") | None => Self::Nothing,
            Some(_) => Self::No,
        })
    }
}

/// Asks before a command that always changes or removes something.
pub(super) fn confirm(
    context: &mut Context,
    yes: bool,
    command: &str,
    question: &str,
) -> Result<(), CliError> {
    let question = Question {
        yes,
        reason: &format!("`{command}` asks before it changes anything"),
        otherwise: "-n to see what would happen",
        text: question,
    };
    question.ask(context)
}

/// Asks before secrets are written into a file that is made to be shared.
pub(super) fn confirm_secrets(context: &mut Context, yes: bool) -> Result<(), CliError> {
    if !context.show_secrets {
        return Ok(());
    }
    let question = Question {
        yes,
        reason: "--show-secrets writes keys and passwords as they are",
        otherwise: "leave out --show-secrets",
        text: "Write keys, tokens and passwords as they are?",
    };
    question.ask(context)
}
