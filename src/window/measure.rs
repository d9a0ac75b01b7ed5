//! The measure of a session, kept beside a record that was lowered.
//!
//! Once content is removed, the other records of a session are of more than is left, and no longer show how many tokens
//! its content takes. A record that is lowered therefore keeps the measure of the original.

use crate::json::{Edit, Span, insert_field, lookup};
use crate::session::Session;
use crate::transcript::{Entry, Kind, MEASURE, WindowUse};

/// How many tokens the content of a session takes, as far as that is measured by its records.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Measure {
    /// Tokens per unit of weight; `None` if the records do not show it.
    pub(crate) scale: Option<f64>,
    /// The tokens of the system prompt, the tools and whatever else is not in the file.
    pub(crate) constant: f64,
    /// Whether thinking is dropped at the beginning of each turn.
    pub(crate) drops_thinking: bool,
}

/// Scales that content can have; another has measured something else.
pub(super) const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.4..=2.5;

impl Measure {
    /// Returns the measure that an answer keeps beside its record.
    pub(super) fn kept_with(session: &Session, e: &Entry) -> Option<Self> {
        if e.kind != Kind::Assistant || e.window_use() != WindowUse::NeedsFullParse {
            return None;
        }
        let text = session.text(e);
        let kept = session.lookup(e, &["message", "usage", MEASURE])?;
        let kept = kept.of(text);
        let value = |key: &str| lookup(kept, &[key]).map(|span| span.of(kept));
        let number = |key: &str| {
            let digits = std::str::from_utf8(value(key)?).ok()?;
            digits.parse::<f64>().ok().filter(|n| n.is_finite())
        };
        Some(Self {
            scale: number("scale").filter(|scale| PLAUSIBLE.contains(scale)),
            constant: number("constant").filter(|n| *n >= 0.0)?,
            drops_thinking: value("drops_thinking").is_some_and(|v| v == b"true"),
        })
    }

    /// Returns the edit that keeps it in a usage.
    pub(super) fn keep(self, text: &[u8], usage: Span) -> Edit {
        let mut kept = serde_json::Map::new();
        if let Some(scale) = self.scale {
            kept.insert("scale".to_owned(), ((scale * 1e4).round() / 1e4).into());
        }
        kept.insert("constant".to_owned(), (self.constant.round() as u64).into());
        if self.drops_thinking {
            kept.insert("drops_thinking".to_owned(), true.into());
        }
        let kept = serde_json::Value::from(kept).to_string();
        match lookup(usage.of(text), &[MEASURE]) {
            Some(old) => Edit::new(old.shift(usage.start), kept),
            None => insert_field(text, usage, MEASURE, kept.as_bytes()),
        }
    }
}
