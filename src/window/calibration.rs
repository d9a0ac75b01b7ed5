//! How many tokens of the model's window a session takes.
//!
//! Each answer's usage is the true size of the window at its request. Measured against the bytes that
//! were shown by then, it tells how many bytes of this session make a token, and what the system prompt
//! and the tools take besides.

use super::image::{Picture, heavy};
use super::usage::recorded_window;
use super::weights::{EntryWeights, Point, Samples, entry_weight};
use crate::session::Session;

/// Bytes a token, where the session's own record does not tell: text, code and JSON mixed.
const BYTES_PER_TOKEN: f64 = 3.6;

/// Ratios that text can have; a fit outside of them has measured something else.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 2.0..=8.0;

/// What something weighs in the window.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weight {
    /// Bytes of text, images left out.
    pub bytes: f64,
    /// Tokens of images and documents, which go by other measures.
    pub images: f64,
}

impl std::ops::Add for Weight {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            images: self.images + other.images,
        }
    }
}

impl std::ops::Sub for Weight {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            bytes: self.bytes - other.bytes,
            images: self.images - other.images,
        }
    }
}

impl std::ops::AddAssign for Weight {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Weight {
    /// The weight of a block, as JSON.
    pub fn of(raw: &[u8]) -> Self {
        let mut out = Self {
            bytes: raw.len() as f64,
            images: 0.0,
        };
        for image in heavy(raw) {
            out.bytes -= image.len() as f64;
            out.images += Picture::of(image).tokens() as f64;
        }
        out
    }
}

/// What a session's own record says of its tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Bytes that make a token.
    pub bytes_per_token: f64,
    /// Whether that was measured on this session, rather than assumed.
    pub measured: bool,
    /// What the system prompt, the tools and all else that is not in the file take.
    pub constant: f64,
    /// How many answers say how large the window was.
    pub records: usize,
    /// The window at the last of them, as recorded.
    pub recorded: Option<u64>,
    /// The same, as it would be estimated; `None` if there is nothing else to estimate it by.
    pub estimated: Option<u64>,
    /// What was shown since that request was made.
    since: Weight,
    /// What is shown altogether.
    shown: Weight,
    /// What of that the client makes anew where it is no longer shown.
    announced: Weight,
    /// All records, and whether the last one is of the window as it is.
    points: Vec<Point>,
    fresh: bool,
}

/// A record that says more than there is, and what it ought to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overstated {
    /// An entry of the answer whose record it is.
    pub entry: u32,
    /// The window at its request, as it is now.
    pub window: u64,
}

impl Calibration {
    /// Measures a session.
    pub fn of(session: &Session) -> Self {
        Self::by(session, &EntryWeights::of(session))
    }

    /// The window as the last record and what came since make it, without measuring how many bytes make a token;
    /// `None` where no answer that is shown has a record.
    pub fn recorded_at_a_glance(session: &Session) -> Option<u64> {
        let (entries, graph) = (session.entries(), session.graph());
        let path = &graph.path()[graph.window_start() as usize..];
        let entry = |i: &u32| &entries[*i as usize];
        let boundary = path.first().filter(|i| entry(i).is_boundary()).copied();
        let (last, window) = path.iter().enumerate().rev().find_map(|(position, i)| {
            // A preserved message recorded the window before the compaction.
            let preserved = boundary.is_some_and(|b| *i < b);
            let window = recorded_window(session, entry(i)).filter(|_| !preserved);
            window.map(|window| (position, window))
        })?;
        // An answer's lines share its record, and none of them was shown when it was asked for.
        let message = entry(&path[last]).message_id;
        let of_it = |i: &&u32| entry(i).message_id == message;
        let lines = path[..=last].iter().rev().take_while(of_it).count();
        let since: Weight = path[last + 1 - lines.max(1)..]
            .iter()
            .map(|i| entry_weight(session, entry(i)))
            .fold(Weight::default(), |sum, weight| sum + weight);
        Some(window + (since.bytes / BYTES_PER_TOKEN + since.images) as u64)
    }

    /// Measures a session whose entries were weighed already.
    pub fn by(session: &Session, ledger: &EntryWeights) -> Self {
        let samples = Samples::of(session, ledger);
        // What was measured since the last compaction fits best; the rest is better than nothing.
        let recent = &samples.points[samples.since..];
        let valid = unbroken(recent);
        let line = fit(valid).filter(|_| span(valid) >= span(recent) / 2.0);
        let ratio = line
            .map(|f| f.0)
            .or_else(|| fit_steps(recent))
            .or_else(|| fit_steps(&samples.points));
        let bytes_per_token = ratio.unwrap_or(BYTES_PER_TOKEN);
        let basis = if recent.is_empty() {
            unbroken(&samples.points)
        } else {
            valid
        };
        let constant = line.map_or_else(|| constant(basis, bytes_per_token), |f| f.1);
        let last = samples.points.last().filter(|_| samples.fresh);
        let at_last = last.map(|p| p.shown).unwrap_or_default();
        Self {
            bytes_per_token,
            measured: ratio.is_some(),
            constant,
            records: samples.points.len(),
            recorded: last.map(|p| p.tokens as u64),
            estimated: last
                .filter(|_| valid.len() > 1)
                .map(|p| (constant + p.shown.bytes / bytes_per_token + p.shown.images) as u64),
            since: samples.shown - at_last,
            shown: samples.shown,
            announced: samples.announced,
            fresh: samples.fresh,
            points: samples.points,
        }
    }

    /// The tokens that something takes.
    pub fn tokens(&self, weight: Weight) -> f64 {
        weight.bytes / self.bytes_per_token + weight.images
    }

    /// The tokens in the window if the session went on now: what the last record says, and what was
    /// shown since; without a record, an estimate of it all.
    pub fn window(&self) -> u64 {
        let tokens = match self.recorded {
            Some(recorded) => recorded as f64 + self.tokens(self.since),
            None => self.constant + self.tokens(self.shown),
        };
        tokens.max(0.0) as u64
    }

    /// The tokens in the window of what was made of the session whose measure this is.
    ///
    /// The result's last record counts if all that was shown then is shown still. Else it is of what
    /// the session was, and what was lost and gained is taken off and added by this measure. What the
    /// client told of itself and its surroundings is not lost: it will tell it again.
    pub fn window_of(&self, result: &Calibration) -> u64 {
        if result.last().is_some_and(|last| self.holds(last)) {
            return result.window();
        }
        let told_again = (self.announced.bytes - result.announced.bytes).max(0.0);
        let change = result.shown - self.shown
            + Weight {
                bytes: told_again,
                images: 0.0,
            };
        (self.window() as f64 + self.tokens(change)).max(0.0) as u64
    }

    /// The last record of a result, where it says clearly more than the window is: clients go by it when they
    /// decide whether to compact.
    pub fn overstated(&self, result: &Calibration) -> Option<Overstated> {
        let last = result.last().filter(|last| !self.holds(last))?;
        let since = self.tokens(result.since);
        let window = (self.window_of(result) as f64 - since).max(1.0);
        (window <= last.tokens * CLEARLY).then_some(Overstated {
            entry: last.entry,
            window: window as u64,
        })
    }

    /// The last record, if it is of the window as it is.
    fn last(&self) -> Option<&Point> {
        self.points.last().filter(|_| self.fresh)
    }

    /// Whether a record of a result is one of this session's, of just what was shown then, and true.
    fn holds(&self, record: &Point) -> bool {
        let Some(at) = self.points.iter().rposition(|p| p.same(record)) else {
            return false;
        };
        let own = &self.points[at];
        let later = &self.points[at + 1..];
        let fell = later
            .iter()
            .take_while(|p| p.segment == own.segment)
            .any(|p| p.tokens < own.tokens * FALLEN);
        !fell
    }

    /// How far the estimate is from the record, as a part of the record: 0.02 is two percent too much.
    pub fn error(&self) -> Option<f64> {
        let (recorded, estimated) = (self.recorded?, self.estimated?);
        (recorded > 0).then(|| (estimated as f64 - recorded as f64) / recorded as f64)
    }
}

/// What an estimate is of a record at most for the record to be clearly too large.
const CLEARLY: f64 = 0.99;

/// What a later record is of an earlier one at most for the earlier one to be of what is no longer there,
/// with no compaction between them.
const FALLEN: f64 = 0.75;

/// The records behind the last one that fell though more was shown: what is before was measured on a
/// session that has been cut since.
fn unbroken(points: &[Point]) -> &[Point] {
    let falls =
        |p: &[Point]| p[1].tokens < p[0].tokens * 0.95 && p[1].shown.bytes >= p[0].shown.bytes;
    let from = points.windows(2).rposition(falls).map_or(0, |i| i + 1);
    &points[from..]
}

/// How many bytes lie between the first record and the last.
fn span(points: &[Point]) -> f64 {
    match points {
        [first, .., last] => last.shown.bytes - first.shown.bytes,
        _ => 0.0,
    }
}

/// The constant part at a given ratio: what the points have in common besides their bytes.
fn constant(points: &[Point], bytes_per_token: f64) -> f64 {
    let besides = |p: &Point| p.tokens - p.shown.images - p.shown.bytes / bytes_per_token;
    let sum: f64 = points.iter().map(besides).sum();
    (sum / points.len().max(1) as f64).max(0.0)
}

/// Bytes a token and the constant part, by least squares; nothing if the points do not tell.
fn fit(points: &[Point]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let pairs = || {
        points
            .iter()
            .map(|p| (p.shown.bytes, p.tokens - p.shown.images))
    };
    let mean_x = pairs().map(|(x, _)| x).sum::<f64>() / n;
    let mean_y = pairs().map(|(_, y)| y).sum::<f64>() / n;
    let xx: f64 = pairs().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let xy: f64 = pairs().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let ratio = xx / xy;
    let constant = mean_y - mean_x / ratio;
    if xx > 0.0 && PLAUSIBLE.contains(&ratio) && constant >= 0.0 {
        return Some((ratio, constant));
    }
    // Nothing takes less than nothing: the best line through the origin, if the points are on one.
    let through =
        pairs().map(|(x, _)| x * x).sum::<f64>() / pairs().map(|(x, y)| x * y).sum::<f64>();
    let near = |(x, y): (f64, f64)| (x / through - y).abs() <= y * 0.1;
    (constant < 0.0 && xx > 0.0 && PLAUSIBLE.contains(&through) && pairs().all(near))
        .then_some((through, 0.0))
}

/// Bytes a token, by what came in between two requests; nothing if that does not tell.
///
/// Records of what has been cut since are too large, but what lies between two of them is as it was where
/// nothing was cut. The middle of all steps, by their bytes, is one of these unless most was cut; the steps
/// that are like it then tell together.
fn fit_steps(points: &[Point]) -> Option<f64> {
    let mut steps: Vec<(f64, f64, f64)> = points
        .windows(2)
        .filter(|p| p[0].segment == p[1].segment)
        .map(|p| (p[1].shown - p[0].shown, p[1].tokens - p[0].tokens))
        .map(|(shown, tokens)| (shown.bytes, tokens - shown.images))
        .map(|(bytes, tokens)| (bytes / tokens, bytes, tokens))
        .filter(|(ratio, bytes, _)| *bytes > 0.0 && PLAUSIBLE.contains(ratio))
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
    let alike = |s: &&(f64, f64, f64)| (0.7..=1.4).contains(&(s.0 / middle.0));
    let sum = |of: fn(&(f64, f64, f64)) -> f64| steps.iter().filter(alike).map(of).sum::<f64>();
    Some(sum(|s| s.1) / sum(|s| s.2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use std::fmt::Write as _;

    fn session(windows: &[(usize, u64)]) -> Session {
        let mut out = String::new();
        let mut parent = "null".to_owned();
        for (i, &(bytes, tokens)) in windows.iter().enumerate() {
            let words = "x".repeat(bytes);
            let _ = writeln!(
                out,
                "{{\"type\":\"user\",\"uuid\":\"u{i}\",\"parentUuid\":{parent},\"message\":{{\"content\":\"{words}\"}}}}"
            );
            for part in 0..2 {
                let above = if part == 0 {
                    format!("u{i}")
                } else {
                    format!("a{i}0")
                };
                let _ = writeln!(
                    out,
                    "{{\"type\":\"assistant\",\"uuid\":\"a{i}{part}\",\"parentUuid\":\"{above}\",\"message\":{{\"id\":\"m{i}\",\"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":9}},\"content\":[]}}}}"
                );
            }
            parent = format!("\"a{i}1\"");
        }
        Session::new(Document::from_bytes(out))
    }

    #[test]
    fn measures_the_session_itself() {
        let c = Calibration::of(&session(&[(3_996, 2_000), (3_994, 3_000), (7_994, 5_000)]));
        assert!(c.measured && c.records == 3, "{c:?}");
        assert!(
            (c.bytes_per_token - 4.0).abs() < 0.01 && (c.constant - 1_000.0).abs() < 5.0,
            "{c:?}"
        );
        assert!(c.error().unwrap().abs() < 0.01);
    }

    #[test]
    fn lines_of_one_message_count_once_and_absurd_fits_not_at_all() {
        let c = Calibration::of(&session(&[(100, 500), (100, 400), (100, 300)]));
        assert!(!c.measured);
        assert_eq!((c.records, c.recorded, c.window()), (3, Some(300), 301));
    }

    #[test]
    fn records_of_what_was_cut_since_do_not_count() {
        // Between the second request and the third 400 kB were cut, and the last record was set right.
        let c = Calibration::of(&session(&[
            (3_996, 2_000),
            (3_994, 3_000),
            (3_994, 104_000),
            (7_994, 106_000),
            (3_994, 7_000),
        ]));
        assert!(
            c.measured && (c.bytes_per_token - 4.0).abs() < 0.01,
            "{c:?}"
        );
        assert!((c.constant - 1_000.0).abs() < 5.0, "{c:?}");
        assert_eq!((c.window(), c.estimated), (7_001, None));
    }

    #[test]
    fn without_a_record_all_is_estimated() {
        let c = Calibration::of(&session(&[(3_596, 0)]));
        assert_eq!((c.recorded, c.error()), (None, None));
        assert_eq!(c.window(), 1_000);
    }
}
