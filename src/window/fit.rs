//! Fits the weights of a session to its records: a scale for its content, and a constant part.

use super::measure::{Measure, PLAUSIBLE};
use super::records::{Record, Records};

/// Below this part of the record before it, a record has fallen: content was cleared.
const FALLEN: f64 = 0.95;

/// The weight of the content for which a usual scale counts beside what was measured.
const USUAL: f64 = 6_000.0;

/// Tokens as `constant + scale × weight`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fit {
    pub(super) scale: f64,
    /// The tokens of the system prompt, the tools and whatever else is not in the file.
    pub(super) constant: f64,
    /// Whether the scale was measured on the session rather than assumed.
    pub(super) measured: bool,
    /// The number of records that still hold.
    pub(super) records: usize,
}

impl Fit {
    /// Fits a session's records. Those since the last compaction fit best; if there are too few, those
    /// before it are used.
    pub(super) fn of(records: &Records) -> Self {
        let mut kept = records.all.iter().enumerate().rev();
        match kept.find_map(|(at, r)| Some((at, r.measure?))) {
            Some((at, kept)) => Self::since(records, at, kept),
            None => Self::measured(records),
        }
    }

    /// Fits the records after one that was lowered. Those up to it are of content that was removed, so a measure that is
    /// kept counts more than they do.
    fn since(records: &Records, at: usize, kept: Measure) -> Self {
        let later = &records.all[at + 1..];
        let recent = &records.all[records.compacted.max(at + 1)..];
        let current = unbroken(recent);
        let usual = kept.scale.or(records.usual_scale);
        let scale = scale_of_steps(recent, usual).or_else(|| scale_of_steps(later, usual));
        let measured = scale.or(kept.scale);
        let scale = measured.or(usual).unwrap_or(1.0);
        Self {
            scale,
            constant: if current.is_empty() {
                kept.constant
            } else {
                mean_constant(current, scale)
            },
            measured: measured.is_some(),
            records: current.len(),
        }
    }

    fn measured(records: &Records) -> Self {
        let recent = records.recent();
        let current = unbroken(recent);
        let usual = records.usual_scale;
        let scale = scale_of_steps(recent, usual).or_else(|| scale_of_steps(&records.all, usual));
        let measured = scale.is_some();
        let scale = scale.or(usual).unwrap_or(1.0);
        let constant = if recent.is_empty() {
            mean_constant(unbroken(&records.all), scale)
        } else {
            mean_constant(current, scale)
        };
        Self {
            scale,
            constant: constant.max(least_constant(&records.all, scale)),
            measured,
            records: current.len(),
        }
    }
}

/// The constant part at the first request: its record without its prompt. Later requests send at least
/// as much. Nothing if a later record is smaller: then the first one is of content that was removed.
fn least_constant(records: &[Record], scale: f64) -> f64 {
    let Some(first) = records.first() else {
        return 0.0;
    };
    let constant = constant_at(first, scale);
    let least = records.iter().map(|r| r.tokens).fold(f64::MAX, f64::min);
    if constant <= least { constant } else { 0.0 }
}

fn constant_at(record: &Record, scale: f64) -> f64 {
    record.tokens - record.shown.images - record.shown.scaled() * scale
}

/// The records after the last one that fell though more was shown. Those before it are of content that
/// was cleared by the client, or removed from the file.
fn unbroken(records: &[Record]) -> &[Record] {
    let falls = |r: &[Record]| {
        r[1].tokens < r[0].tokens * FALLEN && r[1].shown.scaled() >= r[0].shown.scaled()
    };
    let from = records.windows(2).rposition(falls).map_or(0, |i| i + 1);
    &records[from..]
}

/// The constant part at a given scale, on average.
fn mean_constant(records: &[Record], scale: f64) -> f64 {
    let sum: f64 = records.iter().map(|r| constant_at(r, scale)).sum();
    (sum / records.len().max(1) as f64).max(0.0)
}

/// The scale by what was added between two requests; `None` if that does not show it.
///
/// Records of content that was removed since are too large, but the difference between two of them is
/// right where nothing was removed. The median of all steps, by their weight, is one of these unless
/// most was removed; the steps near it then determine the scale together. Few steps say little, so a scale that is usual for
/// the model counts as if it was measured on some content.
fn scale_of_steps(records: &[Record], usual: Option<f64>) -> Option<f64> {
    let mut steps: Vec<(f64, f64, f64)> = records
        .windows(2)
        .filter(|r| r[0].segment == r[1].segment)
        .map(|r| (r[1].shown - r[0].shown, r[1].tokens - r[0].tokens))
        .map(|(shown, tokens)| (shown.scaled(), tokens - shown.images))
        .map(|(weight, tokens)| (tokens / weight, weight, tokens))
        .filter(|(scale, weight, _)| *weight > 0.0 && PLAUSIBLE.contains(scale))
        .collect();
    if steps.len() < 2 {
        return None;
    }
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = steps.iter().map(|s| s.1).sum::<f64>() / 2.0;
    let mut passed = 0.0;
    let middle = steps.iter().find(|s| {
        passed += s.1;
        passed >= half
    })?;
    let near = |s: &&(f64, f64, f64)| (0.7..=1.4).contains(&(s.0 / middle.0));
    let sum = |of: fn(&(f64, f64, f64)) -> f64| steps.iter().filter(near).map(of).sum::<f64>();
    let (usual, known) = usual.map_or((0.0, 0.0), |scale| (scale * USUAL, USUAL));
    Some((sum(|s| s.2) + usual) / (sum(|s| s.1) + known))
}
