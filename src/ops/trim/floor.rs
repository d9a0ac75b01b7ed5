//! Refuses a budget that cannot be reached, and names what can be.

use crate::human::tokens;
use crate::ops::token_count::TokenCount;
use crate::surgery::{Refusal, RefusalKind, Remedy};

use super::Trim;
use super::search::Search;

/// Refuses a budget, with the smallest window that the options allow.
pub(super) fn refuse(trim: &Trim, search: &Search<'_>) -> Refusal {
    let nowhere = Trim {
        to: TokenCount(0),
        ..*trim
    };
    let floor = search.again(nowhere, 0).floor();
    let constant = search.calibration.constant.max(0.0) as u64;
    let budget = trim.to.0;
    let message = if constant > budget {
        format!(
            "the system prompt and the tools alone take about {} tokens, more than the budget of {}; with these options the context window can be brought to about {}",
            tokens(constant),
            tokens(budget),
            tokens(floor)
        )
    } else {
        format!(
            "the context window takes about {} tokens and cannot be brought below {} with these options, {} more than the budget of {}; the system prompt and the tools alone take about {}",
            tokens(search.window()),
            tokens(floor),
            tokens(floor.saturating_sub(budget).max(1)),
            tokens(budget),
            tokens(constant)
        )
    };
    Refusal::with(
        RefusalKind::OverBudget,
        message,
        remedies(nowhere, search, floor),
    )
}

/// Returns what would reach the budget, and the lowest budget that can be reached.
fn remedies(nowhere: Trim, search: &Search<'_>, floor: u64) -> Vec<Remedy> {
    let mut out = Vec::new();
    let kept = nowhere.keep_last.unwrap_or(0);
    let turns = search.original.turns().len() as u32;
    if kept > 0
        && let Some(fewer) = fewer_turns(nowhere, search, kept.min(turns), floor)
    {
        out.push(fewer);
    }
    if nowhere.keep_last.is_none() && nowhere.keep_tokens != Some(TokenCount(0)) {
        let unprotected = Trim {
            keep_tokens: Some(TokenCount(0)),
            ..nowhere
        };
        let window = search.again(unprotected, 0).floor();
        if window < floor {
            out.push(Remedy::ProtectTokens { tokens: 0, window });
        }
    }
    if !nowhere.shorten_words {
        let shortening = Trim {
            shorten_words: true,
            ..nowhere
        };
        let window = search.again(shortening, 0).floor();
        if window < floor && window <= search.trim.to.0 {
            out.push(Remedy::ShortenWords { window });
        }
    }
    // A round number that leaves room for the reserve.
    let enough = (floor + floor / 18).div_ceil(1_000) * 1_000;
    if enough < search.window() {
        out.push(Remedy::Budget(enough));
    }
    out
}

/// Returns how many turns can be kept to reach the budget; if it cannot be reached, what keeping none leads to.
fn fewer_turns(nowhere: Trim, search: &Search<'_>, kept: u32, floor: u64) -> Option<Remedy> {
    let floor_with = |keep_last: u32| {
        let trim = Trim {
            keep_last: Some(keep_last),
            ..nowhere
        };
        search.again(trim, 0).floor()
    };
    let budget = search.target();
    let (mut turns, mut window) = (0, floor_with(0));
    let mut beyond = kept;
    while window <= budget && beyond - turns > 1 {
        let middle = turns.midpoint(beyond);
        match floor_with(middle) {
            reached if reached <= budget => (turns, window) = (middle, reached),
            _ => beyond = middle,
        }
    }
    (window < floor).then_some(Remedy::ProtectTurns { turns, window })
}
