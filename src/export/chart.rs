//! The growth of the context window as an inline chart.

use maud::{Markup, html};

use crate::human::tokens;
use crate::view::{Conversation, ItemContent};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 120.0;

/// The widest bar, with the gap after it.
const WIDEST: f64 = 24.0;

/// A bar of the chart.
struct Bar {
    turn: u32,
    tokens: u64,
    compacted: bool,
}

/// Returns a chart of the recorded context window after each turn, with compactions marked; nothing if there are fewer
/// than two records.
pub(super) fn window_chart(conversation: &Conversation) -> Markup {
    let bars: Vec<Bar> = conversation
        .turn_contents
        .iter()
        .filter_map(|content| {
            let is_compaction = |item: &crate::view::TurnItem| {
                matches!(item.content, ItemContent::Compaction { .. })
            };
            Some(Bar {
                turn: content.turn,
                tokens: content.window_tokens?,
                compacted: content.items.iter().any(is_compaction),
            })
        })
        .collect();
    let largest = bars.iter().map(|b| b.tokens).max().unwrap_or(0);
    if bars.len() < 2 || largest == 0 {
        return html! {};
    }
    let step = (WIDTH / bars.len() as f64).min(WIDEST);
    let compacted = bars.iter().any(|b| b.compacted);
    let label = format!(
        "The context window after each turn. The largest is {} tokens.",
        tokens(largest)
    );
    html! {
        figure.chart {
            svg viewBox={"0 0 " (WIDTH) " " (HEIGHT + 4.0)} role="group" aria-label=(label) preserveAspectRatio="none" {
                @for (i, bar) in bars.iter().enumerate() {
                    @let height = (HEIGHT * bar.tokens as f64 / largest as f64).max(1.0);
                    a href={"#turn-" (bar.turn)} aria-label={"Turn " (bar.turn) ": " (tokens(bar.tokens)) " tokens"} {
                        rect class=[bar.compacted.then_some("compacted")]
                            x=(format!("{:.1}", i as f64 * step)) y=(format!("{:.1}", HEIGHT - height))
                            width=(format!("{:.1}", (step - 1.0).max(0.6))) height=(format!("{height:.1}")) {
                            title {
                                "Turn " (bar.turn) ": " (tokens(bar.tokens)) " tokens"
                                @if bar.compacted { ", compacted" }
                            }
                        }
                    }
                }
            }
            figcaption { "Context window after each turn, up to " (tokens(largest)) " tokens" @if compacted { "; compactions are orange" } }
        }
    }
}
