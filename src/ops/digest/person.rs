//! What the person said: prompts, answers to questions, refusals, messages typed while the model worked.

use super::account::Account;
use super::layout::{Item, Section};

/// Words of the person's, as they wrote them.
pub(super) enum Words {
    Prompt(String),
    /// Typed while the model worked.
    Queued(String),
    /// Questions of the model with the person's answers.
    Answers(String),
    /// A call that the person refused, and what they said to it.
    Refusal {
        call: String,
        words: String,
    },
}

impl Words {
    /// The words themselves.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Prompt(text) | Self::Queued(text) | Self::Answers(text) => text,
            Self::Refusal { words, .. } => words,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text().trim().is_empty() && !matches!(self, Self::Refusal { .. })
    }
}

/// The person's words, in order. The first and the last ones get the most room.
pub(super) fn section(account: &Account) -> Section {
    let count = account.words.len();
    let item = |(i, (turn, words)): (usize, &(u32, Words))| {
        let text = match words {
            Words::Prompt(text) => format!("Turn {turn}: {text}"),
            Words::Queued(text) => format!("Turn {turn}, while you worked: {text}"),
            Words::Answers(text) => format!("Turn {turn}, answering questions: {text}"),
            Words::Refusal { call, words } if words.is_empty() => {
                format!("Turn {turn}: refused {call}, without giving a reason")
            }
            Words::Refusal { call, words } => format!("Turn {turn}, refusing {call}: {words}"),
        };
        let recent = match count - i {
            1 => 4,
            2..=4 => 3,
            _ if i == 0 => 3,
            _ => 2,
        };
        // A list of answers stands for many things that the person said.
        let weight = match words {
            Words::Answers(text) => recent * (1 + text.lines().count() / 2),
            _ => recent * 2,
        };
        let rank = if i == 0 { count - 1 } else { i };
        Item::new(text, weight, rank as i64 * 2 + i64::from(i > 0))
    };
    Section {
        heading: "What the user asked for",
        share: 36,
        floor: 30,
        cut_ends: false,
        essential: true,
        items: account.words.iter().enumerate().map(item).collect(),
    }
}
