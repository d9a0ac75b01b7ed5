//! How many tokens of the model's window a session takes.
//!
//! Each answer's usage is the true size of the window at its request. Measured against the bytes that
//! were shown by then, it tells how many bytes of this session make a token, and what the system prompt
//! and the tools take besides.

use crate::jsonl::lookup;

use super::attachment::{attached, is_announcement};
use super::entry::{BlockKind, Entry, Kind, Subtype};
use super::graph::Place;
use super::id::Id;
use super::image::{Picture, heavy};
use super::index::Session;

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
#[derive(Debug, Clone, Copy, PartialEq)]
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
    /// The same, as it would be estimated.
    pub estimated: Option<u64>,
    /// What was shown since that request was made.
    since: Weight,
    /// What is shown altogether.
    shown: Weight,
    /// What of that the client makes anew where it is no longer shown.
    announced: Weight,
    /// The last record itself.
    last: Option<Point>,
}

impl Calibration {
    /// Measures a session, in one pass.
    pub fn of(session: &Session) -> Self {
        let samples = Samples::of(session);
        // What was measured since the last compaction fits best; the rest is better than nothing.
        let recent = &samples.points[samples.since..];
        let measured = fit(recent);
        let ratio = measured.or_else(|| fit(&samples.points)).map(|f| f.0);
        let bytes_per_token = ratio.unwrap_or(BYTES_PER_TOKEN);
        let basis = if recent.is_empty() {
            &samples.points[..]
        } else {
            recent
        };
        let constant = measured.map_or_else(|| constant(basis, bytes_per_token), |f| f.1);
        let last = samples.points.last().filter(|_| samples.fresh);
        let at_last = last.map(|p| p.shown).unwrap_or_default();
        Self {
            bytes_per_token,
            measured: ratio.is_some(),
            constant,
            records: samples.points.len(),
            recorded: last.map(|p| p.tokens as u64),
            estimated: last
                .map(|p| (constant + p.shown.bytes / bytes_per_token + p.shown.images) as u64),
            since: Weight {
                bytes: samples.shown.bytes - at_last.bytes,
                images: samples.shown.images - at_last.images,
            },
            shown: samples.shown,
            announced: samples.announced,
            last: last.copied(),
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

    /// The tokens in the window of what was made of `session`, whose measure this is.
    ///
    /// The result's last record counts if all that was shown then is shown still. Else it is of what
    /// the session was, and what was lost and gained is taken off and added by this measure. What the
    /// client told of itself and its surroundings is not lost: it will tell it again.
    pub fn window_of(&self, session: &Session, result: &Calibration) -> u64 {
        let holds = |last: Point| Samples::of(session).points.contains(&last);
        if result.last.is_some_and(holds) {
            return result.window();
        }
        let told_again = (self.announced.bytes - result.announced.bytes).max(0.0);
        let change = Weight {
            bytes: result.shown.bytes - self.shown.bytes + told_again,
            images: result.shown.images - self.shown.images,
        };
        (self.window() as f64 + self.tokens(change)).max(0.0) as u64
    }

    /// How far the estimate is from the record, as a part of the record: 0.02 is two percent too much.
    pub fn error(&self) -> Option<f64> {
        let (recorded, estimated) = (self.recorded?, self.estimated?);
        (recorded > 0).then(|| (estimated as f64 - recorded as f64) / recorded as f64)
    }
}

/// The window at one request: what was shown, and how many tokens that made.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    shown: Weight,
    tokens: f64,
}

struct Samples {
    points: Vec<Point>,
    /// What is shown since the last boundary.
    shown: Weight,
    /// What of that the client makes anew where it is no longer shown.
    announced: Weight,
    /// The first point since the last boundary.
    since: usize,
    /// Whether the last point is of the window as it is, not of one that was compacted since.
    fresh: bool,
}

impl Samples {
    fn of(session: &Session) -> Self {
        let (entries, path) = (session.entries(), session.graph().path());
        let mut beside = vec![Weight::default(); path.len()];
        for (i, e) in entries.iter().enumerate() {
            if let Place::Beside(p) = session.graph().place(i)
                && e.is_message()
            {
                beside[p as usize] += entry_weight(session, e);
            }
        }
        let mut out = Self {
            points: Vec::new(),
            shown: Weight::default(),
            announced: Weight::default(),
            since: 0,
            fresh: false,
        };
        let mut last_message = Id::NONE;
        for (position, &i) in path.iter().enumerate() {
            let e = &entries[i as usize];
            if e.is_boundary() {
                out.shown = Weight::default();
                out.announced = Weight::default();
                out.since = out.points.len();
                out.fresh = false;
                continue;
            }
            // The lines of one message all repeat its usage; the first stands for the request.
            let repeated = e.message_id.is_some() && e.message_id == last_message;
            if e.kind == Kind::Assistant {
                if !repeated && let Some(tokens) = recorded_window(session, e) {
                    out.points.push(Point {
                        shown: out.shown,
                        tokens: tokens as f64,
                    });
                    out.fresh = true;
                }
                last_message = e.message_id;
            }
            let weight = entry_weight(session, e);
            out.shown += weight + beside[position];
            if is_announcement(session, e) {
                out.announced += weight;
            }
        }
        out
    }
}

/// What an entry of the path adds to the window.
pub(super) fn entry_weight(session: &Session, e: &Entry) -> Weight {
    let text = session.text(e);
    match e.kind {
        Kind::User | Kind::Assistant if e.flags.api_error() || e.flags.sidechain() => {
            Weight::default()
        }
        Kind::User | Kind::Assistant => {
            let mut weight = Weight {
                bytes: e.content.len() as f64,
                images: 0.0,
            };
            for block in session.blocks(e).iter().filter(|b| {
                matches!(
                    b.kind,
                    BlockKind::Image | BlockKind::Document | BlockKind::ToolResult
                )
            }) {
                let own = Weight::of(block.span.of(text));
                weight += Weight {
                    bytes: own.bytes - block.span.len() as f64,
                    images: own.images,
                };
            }
            weight
        }
        Kind::Attachment => Weight {
            bytes: attached(session, e)
                .map_or(0.0, |a| a.texts.iter().map(|t| t.len() as f64).sum()),
            images: 0.0,
        },
        Kind::System if e.subtype == Subtype::LocalCommand => Weight {
            bytes: lookup(text, &["content"]).map_or(0.0, |s| s.len() as f64),
            images: 0.0,
        },
        _ => Weight::default(),
    }
}

/// The window at the request that an assistant line answers, if it says.
pub(super) fn recorded_window(session: &Session, e: &Entry) -> Option<u64> {
    if e.kind != Kind::Assistant || !e.flags.usage() || e.flags.synthetic() || e.flags.api_error() {
        return None;
    }
    let text = session.text(e);
    let usage = lookup(text, &["message", "usage"])?.of(text);
    let number = |key: &str| {
        let raw = lookup(usage, &[key])
            .map(|s| s.of(usage))
            .unwrap_or_default();
        std::str::from_utf8(raw)
            .ok()
            .and_then(|s| s.parse::<u64>().ok())
            .unwrap_or(0)
    };
    let total = [
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
    ]
    .map(number)
    .iter()
    .sum::<u64>();
    (total > 0).then_some(total)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::Document;
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
    fn without_a_record_all_is_estimated() {
        let c = Calibration::of(&session(&[(3_596, 0)]));
        assert_eq!((c.recorded, c.error()), (None, None));
        assert_eq!(c.window(), 1_000);
    }
}
