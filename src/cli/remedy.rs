//! Words remedies as flags of the command line.

use crate::render::tokens;
use crate::surgery::Remedy;

/// Returns a hint that names the flags for these remedies.
pub(super) fn hint(remedies: &[Remedy]) -> String {
    let mut out: Vec<String> = Vec::new();
    let turns = remedies.iter().filter_map(|r| match r {
        Remedy::At(turn) => Some(format!("--at {turn}")),
        _ => None,
    });
    let turns: Vec<String> = turns.collect();
    if !turns.is_empty() {
        out.push(format!("nearest turns that work: {}", turns.join(" or ")));
    }
    out.extend(remedies.iter().filter_map(|remedy| {
        Some(match remedy {
            Remedy::At(_) => return None,
            Remedy::KeepLast(1) => "keep the last turn as it is: --keep-last 1".to_owned(),
            Remedy::KeepLast(n) => format!("keep the last {n} turns as they are: --keep-last {n}"),
            Remedy::MaxTokens(n) => format!("leave room for the summary: --max-tokens {n}"),
            Remedy::Budget(n) => format!("allow more: --to {}k", n.div_ceil(1_000)),
            Remedy::ProtectTokens {
                tokens: kept,
                window,
            } => {
                format!(
                    "protect less: --keep-tokens {kept} gets it to about {}",
                    tokens(*window)
                )
            }
            Remedy::ProtectTurns { turns, window } => {
                format!(
                    "protect fewer turns: --keep-last {turns} gets it to about {}",
                    tokens(*window)
                )
            }
            Remedy::ShortenWords { window } => {
                format!(
                    "let a digest shorten what you wrote: --shorten-words gets it to about {}",
                    tokens(*window)
                )
            }
            Remedy::ListCalls => {
                "ids of calls look like toolu_…; see them with: ccsurgery show --turns N".to_owned()
            }
            Remedy::NameOpenCalls => "name the calls without results too, with --id".to_owned(),
            Remedy::Advice(words) => words.clone(),
        })
    }));
    out.join("; ")
}
