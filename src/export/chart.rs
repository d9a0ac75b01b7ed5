//! The growth of the context window as an inline chart.

use maud::{Markup, html};

use crate::human::tokens;
use crate::view::{Conversation, ItemContent, TurnItem};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 120.0;

/// The widest bar, with the gap after it.
const WIDEST: f64 = 24.0;

/// A bar of a chart.
pub(super) struct Bar {
    pub(super) turn: u32,
    pub(super) tokens: u64,
    pub(super) compacted: bool,
}

/// Returns a chart of the recorded context window after each turn, with compactions marked; nothing if there are fewer
/// than two records.
pub(super) fn window_chart(conversation: &Conversation) -> Markup {
    let bars = conversation.turn_contents.iter().filter_map(|content| {
        let is_compaction =
            |item: &TurnItem| matches!(item.content, ItemContent::Compaction { .. });
        Some(Bar {
            turn: content.turn,
            tokens: content.window_tokens?,
            compacted: content.items.iter().any(is_compaction),
        })
    });
    let bars: Vec<Bar> = bars.collect();
    let largest = bars.iter().map(|b| b.tokens).max().unwrap_or(0);
    if bars.len() < 2 || largest == 0 {
        return html! {};
    }
    let compacted = bars.iter().any(|b| b.compacted);
    let caption = format!(
        "Context window after each turn, up to {} tokens{}",
        tokens(largest),
        if compacted {
            "; compactions are orange"
        } else {
            ""
        }
    );
    bar_chart(&bars, largest, &caption, true)
}

/// Returns a chart with a bar for each turn; with `links`, each leads to its turn.
pub(super) fn bar_chart(bars: &[Bar], largest: u64, caption: &str, links: bool) -> Markup {
    let step = (WIDTH / bars.len().max(1) as f64).min(WIDEST);
    // A picture must not hold links.
    let role = if links { "group" } else { "img" };
    html! {
        figure.chart {
            svg viewBox={"0 0 " (WIDTH) " " (HEIGHT + 4.0)} role=(role) aria-label=(caption) preserveAspectRatio="none" {
                @for (i, bar) in bars.iter().enumerate() {
                    @let rect = rect(bar, i as f64 * step, step, largest);
                    @if links { a href={"#turn-" (bar.turn)} aria-label=(words(bar)) { (rect) } }
                    @else { (rect) }
                }
            }
            figcaption { (caption) }
        }
    }
}

fn rect(bar: &Bar, x: f64, step: f64, largest: u64) -> Markup {
    let height = (HEIGHT * bar.tokens as f64 / largest.max(1) as f64).max(1.0);
    html! {
        rect class=[bar.compacted.then_some("compacted")] x=(format!("{x:.1}")) y=(format!("{:.1}", HEIGHT - height))
            width=(format!("{:.1}", (step - 1.0).max(0.6))) height=(format!("{height:.1}")) {
            title { (words(bar)) }
        }
    }
}

fn words(bar: &Bar) -> String {
    let compacted = if bar.compacted { ", compacted" } else { "" };
    format!(
        "Turn {}: {} tokens{compacted}",
        bar.turn,
        tokens(bar.tokens)
    )
}
