//! What the person said: prompts, answers to questions, refusals, messages typed while the model worked.

use crate::view::CallSummary;

use super::account::Account;
use super::calls::Made;
use super::layout::{Item, Section};
use super::text::one_line;

/// The beginnings of results of calls that the person refused.
const REFUSED: [&str; 2] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
];

/// What comes before the person's words in a refusal, in newer and in older clients.
const SAID: [&str; 2] = ["the user said:", "reason for the rejection:"];

/// What comes before words that the person typed while a call ran, in its result.
const TYPED: &str = "<system-reminder>\nThe user sent ";

/// How the result begins of questions that the person answered, in older and in newer clients.
const ANSWERED: [&str; 2] = ["User has answered your question", "Your question"];

/// The heading above the person's words.
pub(super) const HEADING: &str = "What the user asked for";

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
    /// An item of an earlier digest, as it is there.
    Digested(String),
}

impl Words {
    /// The words themselves.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Prompt(text)
            | Self::Queued(text)
            | Self::Answers(text)
            | Self::Digested(text) => text,
            Self::Refusal { words, .. } => words,
        }
    }

    /// The bytes that they take about in a digest that quotes them in full.
    pub(super) fn quoted(&self) -> usize {
        self.text().len() + self.text().lines().count() * 2 + 20
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text().trim().is_empty() && !matches!(self, Self::Refusal { .. })
    }
}

/// The person's words, in order, in full or shortened. The first and the last ones get the most room.
pub(super) fn section(account: &Account, whole: bool) -> Section {
    let count = account.words.len();
    let item = |(i, (turn, words)): (usize, &(u32, Words))| {
        let text = match words {
            Words::Prompt(text) => format!("Turn {turn}: {text}"),
            Words::Queued(text) => format!("Turn {turn}, while you worked: {text}"),
            Words::Digested(text) => text.clone(),
            Words::Answers(text) => format!("Turn {turn}, answering questions: {text}"),
            Words::Refusal { call, words } if words.is_empty() => {
                format!("Turn {turn}: refused {call}, without giving a reason")
            }
            Words::Refusal { call, words } => format!("Turn {turn}, refusing {call}: {words}"),
        };
        let recent = match count - i {
            1 if account.running => 8,
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
        heading: HEADING,
        share: 36,
        floor: 30,
        essential: true,
        whole,
        items: account.words.iter().enumerate().map(item).collect(),
        ..Section::default()
    }
}

impl Account {
    /// Adds the person's words, if they refused the call. Returns whether they did.
    pub(super) fn add_refusal(&mut self, made: &Made<'_>) -> bool {
        let result = made.result();
        if !REFUSED.iter().any(|r| result.starts_with(r)) {
            return false;
        }
        let said = SAID
            .iter()
            .find_map(|said| Some(result.split_once(said)?.1));
        let mut words = said.unwrap_or_default().trim();
        // The client explains to the model what it means to clarify; the person's part follows.
        if words.starts_with("The user wants to clarify") {
            let asked = words.find("Questions asked:");
            words = asked.map_or(words, |at| &words[at..]);
        }
        if let Some(at) = words.find("\nNote: The user's next message may contain") {
            words = words[..at].trim_end();
        }
        if made.tool == "ExitPlanMode"
            && let Some(plan) = made.input("plan")
        {
            self.add_plan(made.turn, plan, false);
        }
        let call = match made.tool {
            "AskUserQuestion" => "a question".to_owned(),
            "ExitPlanMode" => "the plan".to_owned(),
            tool => {
                let gist = CallSummary::of(made.raw).gist.into_raw();
                format!("{tool} ({})", one_line(&self.relative(&gist), 80))
            }
        };
        self.say(
            made.turn,
            Words::Refusal {
                call,
                words: words.to_owned(),
            },
        );
        true
    }

    /// Adds the questions of the model with the person's answers.
    pub(super) fn add_answers(&mut self, made: &Made<'_>) {
        let text = made.result();
        let is_answer = ANSWERED.iter().any(|a| text.starts_with(a));
        let Some((_, answers)) = text.split_once(": ").filter(|_| is_answer) else {
            return;
        };
        let end = answers
            .rfind(". You can now continue")
            .unwrap_or(answers.len());
        let answers = without_repeated_notes(answers[..end].trim());
        let answers = with_descriptions(answers, made);
        self.say(made.turn, Words::Answers(answers));
    }
}

/// What comes before a person's own words in an answer. They are the answer, too, if no option was chosen.
const NOTES: &str = "\" user notes: ";

/// Leaves out notes that repeat their answer.
fn without_repeated_notes(answers: &str) -> String {
    let mut out = String::with_capacity(answers.len());
    let mut rest = answers;
    while let Some((before, after)) = rest.split_once(NOTES) {
        let answer = before.rsplit_once("=\"").map_or("", |(_, answer)| answer);
        out.push_str(before);
        let repeated = after.strip_prefix(answer).filter(|_| !answer.is_empty());
        match repeated {
            Some(_) => out.push('"'),
            None => out.push_str(NOTES),
        }
        rest = repeated.unwrap_or(after);
    }
    out + rest
}

/// Adds what a chosen option means, as the model described it.
fn with_descriptions(mut answers: String, made: &Made<'_>) -> String {
    for (question, label, description) in made.options() {
        let chosen = format!("\"{question}\"=\"{label}\"");
        let description = one_line(&description, DESCRIPTION);
        if !description.is_empty() {
            answers = answers.replacen(&chosen, &format!("{chosen} ({description})"), 1);
        }
    }
    answers
}

/// The most bytes of an option's description.
const DESCRIPTION: usize = 160;

/// Returns what the person typed while a call ran, from the text of its result.
pub(super) fn typed_meanwhile(result: &str) -> Vec<&str> {
    let reminders = result.match_indices(TYPED);
    let typed = reminders.filter_map(|(at, _)| {
        // "The user sent the following message:" is followed by the message, then by what to do about it.
        let (_, words) = result[at + TYPED.len()..].split_once(":\n")?;
        let end = ["</system-reminder>", "\n\nPlease address this message"];
        let end = end.iter().filter_map(|end| words.find(end)).min();
        Some(words[..end?].trim())
    });
    typed.collect()
}
