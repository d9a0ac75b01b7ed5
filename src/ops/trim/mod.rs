//! Brings a session under a token budget by the least harmful steps.

mod call_facts;
mod compaction;
mod floor;
mod immovable;
mod ladder;
mod protection;
mod search;
mod step;
mod superseded;

use crate::human::tokens;
use crate::session::Session;
use crate::surgery::Refusal;

use super::token_count::TokenCount;
use floor::refuse;
use search::{SHARES, Search};

pub(crate) use protection::newest_from;

pub use step::{OutputKind, Step, TurnSpan};

/// Finds the steps that bring a session under a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trim {
    /// The tokens that the context window may take.
    pub to: TokenCount,
    /// How many of the newest tokens stay as they are. `None` is up to 30 % of what the budget leaves for the
    /// conversation, or nothing if turns are kept.
    pub keep_tokens: Option<TokenCount>,
    /// How many turns at the end stay as they are.
    pub keep_last: Option<u32>,
    /// Whether data that the model is not shown is removed too.
    pub disk: bool,
    /// Whether a digest may shorten the words of the person. Otherwise it quotes them in full.
    pub shorten_words: bool,
}

/// One step that was chosen, and what it saves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenStep {
    /// The step.
    pub step: Step,
    /// The context window before and after it, in tokens.
    pub window: (u64, u64),
    /// The file before and after it, in bytes.
    pub bytes: (u64, u64),
}

/// The steps that were found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trimmed {
    /// The steps, in the order in which they are carried out; empty if there is nothing to do.
    pub steps: Vec<ChosenStep>,
    /// The context window as it is, in tokens.
    pub before: u64,
    /// The context window after the steps.
    pub after: u64,
    /// How many of the newest tokens stay as they are.
    pub kept_tokens: u64,
    /// The part of the budget that is not used, because the sizes are estimates.
    pub reserve: u64,
}

impl Trimmed {
    /// Returns the steps as the text of a plan file.
    pub fn plan_file(&self) -> String {
        let steps = self.steps.iter().map(|chosen| {
            let (words, after) = (chosen.step.words(), tokens(chosen.window.1));
            format!("# {words} (window ~{after})\n{}", chosen.step.toml())
        });
        steps.collect::<Vec<_>>().join("\n")
    }
}

impl Trim {
    /// Finds the steps; refuses if no steps reach the budget.
    pub fn find(&self, session: &Session) -> Result<Trimmed, Refusal> {
        let first = Search::new(*self, session);
        let mut found = first.find()?.map(|steps| (steps, first.kept_tokens));
        if self.protects_by_default() {
            for share in &SHARES[1..] {
                if found.is_none() {
                    let search = first.again(*self, *share);
                    found = search.find()?.map(|steps| (steps, search.kept_tokens));
                }
            }
        }
        let (candidate, kept_tokens) = found.ok_or_else(|| refuse(self, &first))?;
        Ok(Trimmed {
            steps: candidate.steps,
            before: first.window(),
            after: candidate.window,
            kept_tokens,
            reserve: first.reserve(),
        })
    }

    /// Whether the part that is protected is not chosen by the options.
    fn protects_by_default(&self) -> bool {
        self.keep_tokens.is_none() && self.keep_last.is_none()
    }
}
