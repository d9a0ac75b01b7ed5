//! A summary made from the transcript itself, without a model, the same every time.
//!
//! One pass over the entries collects an [`Account`]; each section is a list of items made from it; [`layout`] gives
//! every section its room and fills the whole budget.

mod account;
mod calls;
mod earlier;
mod failures;
mod layout;
mod notes;
mod person;
mod plan;
mod state;
mod summarizer_text;
mod tasks;
mod text;
mod work;

#[cfg(test)]
mod tests;

use crate::session::Session;

use super::compact::Cut;

pub use summarizer_text::summarised_text;

use account::Account;
use layout::lay_out;

/// Bytes a token, on average, of the English and code in a digest.
pub(in crate::ops) const BYTES_PER_TOKEN: usize = 4;

/// Budgets in bytes below which the introduction is one line, and only the most important sections are kept.
const SMALL: usize = 2_400;

/// How the introduction of every digest begins, so that a digest is known when it is summarised again.
const MADE_HERE: &str = "This session is being continued from earlier turns";

/// How large a digest may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DigestSize {
    /// The size in tokens of the whole digest, or of what is beside the words of the person.
    pub tokens: usize,
    /// Whether the words of the person are there in full, whatever their size: prompts, answers, reasons for refusals, and
    /// the plans that they approved. Otherwise, what is too long is shortened in its middle.
    pub whole_words: bool,
}

/// Summarises what comes before a cut: what the person said, what was found and decided, failures, files, commands, tasks,
/// and where the work stands. The words of a person are quoted, never reworded.
pub fn digest(session: &Session, cut: Cut, size: DigestSize) -> String {
    let account = Account::of(session, cut);
    let room = size.tokens.saturating_mul(BYTES_PER_TOKEN);
    let small = room < SMALL;
    let whole = size.whole_words;
    let mut sections = vec![
        earlier::section(&account),
        person::section(&account, whole),
        plan::section(&account, whole),
        notes::section(&account),
        failures::section(&account),
        work::files(&account),
        work::commits(&account),
        work::commands(&account),
        tasks::section(&account),
        state::section(&account),
    ];
    if whole {
        sections.insert(2, plan::approved(&account));
    }
    sections.retain(|s| !s.items.is_empty() && (s.essential || s.whole || !small));
    let introduction = introduction(session, &account, cut, small);
    lay_out(&introduction, &sections, room)
}

/// Returns the bytes that a digest quotes in full of what stands at each position of the live path before a cut.
pub(in crate::ops) fn quote_sizes(session: &Session, cut: Cut) -> Vec<(u32, usize)> {
    Account::of(session, cut).quote_sizes
}

/// Tells the model what the text is, that the work continues after it, and where the rest is.
fn introduction(session: &Session, account: &Account, cut: Cut, small: bool) -> String {
    let turns = turns_in_words(account.first_turn(), cut);
    if small {
        return format!("{MADE_HERE} ({turns}).\n");
    }
    let before = if account.earlier.is_some() {
        ", after an earlier summary that is included"
    } else {
        ""
    };
    let place = session.session_id_text().map_or_else(
        || "the session's transcript".to_owned(),
        |id| {
            format!("the transcript {id}.jsonl, in this project's folder below ~/.claude/projects")
        },
    );
    let continues = if cut.is_inside_turn() {
        format!(
            "Turn {} is not over: the messages after this account are its latest steps, and you continue with it",
            cut.turn()
        )
    } else if account.running {
        format!("Turn {} is not over: you continue with it", cut.turn())
    } else {
        "The work continues after it".to_owned()
    };
    format!(
        "{MADE_HERE} that are no longer in the context window. This is an account of {turns}{before}, \
         taken from the transcript itself: the user's words are quoted, \"[…]\" marks what was left out. {continues}. \
         For exact code, output or wording, read {place}.\n"
    )
}

fn turns_in_words(first: u32, cut: Cut) -> String {
    let (last, part) = if cut.is_inside_turn() {
        let part = format!("the first part of turn {}", cut.turn());
        (cut.turn() - 1, part)
    } else {
        (cut.turn(), String::new())
    };
    let whole = match last {
        last if first > last => return part,
        last if first == last => format!("turn {last}"),
        last => format!("turns {first} to {last}"),
    };
    if part.is_empty() {
        return whole;
    }
    format!("{whole} and {part}")
}
