//! How many tokens of the model's window a session takes.
//!
//! Each answer's usage is the true size of the window at its request. Measured against the bytes that
//! were shown by then, it tells how many bytes of this session make a token, and what the system prompt
//! and the tools take besides.

use crate::jsonl::lookup;

use super::attachment::attached;
use super::entry::{BlockKind, Entry, Kind, Subtype};
use super::graph::Place;
use super::id::Id;
use super::image::{Picture, images};
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
    /// Tokens of images, which go by their size in pixels.
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
        for image in images(raw) {
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
}

impl Calibration {
    /// Measures a session, in one pass.
    pub fn of(session: &Session) -> Self {
        let samples = Samples::of(session);
        let fit = fit(&samples.points);
        let bytes_per_token = fit.map_or(BYTES_PER_TOKEN, |f| f.0);
        let last = samples.points.last().filter(|_| samples.fresh);
        let constant = match (fit, last) {
            (Some((_, constant)), _) => constant,
            (None, Some(p)) => {
                (p.tokens - p.shown.images - p.shown.bytes / bytes_per_token).max(0.0)
            }
            (None, None) => samples.points.last().map_or(0.0, |p| {
                (p.tokens - p.shown.images - p.shown.bytes / bytes_per_token).max(0.0)
            }),
        };
        let at_last = last.map(|p| p.shown).unwrap_or_default();
        Self {
            bytes_per_token,
            measured: fit.is_some(),
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

    /// How far the estimate is from the record, as a part of the record: 0.02 is two percent too much.
    pub fn error(&self) -> Option<f64> {
        let (recorded, estimated) = (self.recorded?, self.estimated?);
        (recorded > 0).then(|| (estimated as f64 - recorded as f64) / recorded as f64)
    }
}

/// The tokens in the window if the session went on now.
///
/// A session that was operated on has no record that fits, so what it lost is taken off by the same
/// measure: `removed` are the bytes shown no longer since the record was made.
pub fn window_tokens(session: &Session, removed: i64) -> u64 {
    let calibration = Calibration::of(session);
    let removed = if calibration.recorded.is_some() {
        removed as f64 / calibration.bytes_per_token
    } else {
        0.0
    };
    (calibration.window() as f64 + removed).max(0.0) as u64
}

/// The window at one request: what was shown, and how many tokens that made.
#[derive(Debug, Clone, Copy)]
struct Point {
    shown: Weight,
    tokens: f64,
}

struct Samples {
    points: Vec<Point>,
    /// What is shown since the last boundary.
    shown: Weight,
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
            fresh: false,
        };
        let mut last_message = Id::NONE;
        for (position, &i) in path.iter().enumerate() {
            let e = &entries[i as usize];
            if e.is_boundary() {
                out.shown = Weight::default();
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
            out.shown += entry_weight(session, e) + beside[position];
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
            for block in session
                .blocks(e)
                .iter()
                .filter(|b| matches!(b.kind, BlockKind::Image | BlockKind::ToolResult))
            {
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

/// Bytes a token and the constant part, by least squares; nothing if the points do not tell.
fn fit(points: &[Point]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    if points.len() < 3 {
        return None;
    }
    let (mut mean_x, mut mean_y) = (0.0, 0.0);
    for p in points {
        mean_x += p.shown.bytes / n;
        mean_y += (p.tokens - p.shown.images) / n;
    }
    let (mut xx, mut xy) = (0.0, 0.0);
    for p in points {
        let (x, y) = (p.shown.bytes - mean_x, p.tokens - p.shown.images - mean_y);
        xx += x * x;
        xy += x * y;
    }
    let ratio = xx / xy;
    let constant = mean_y - mean_x / ratio;
    (xx > 0.0 && PLAUSIBLE.contains(&ratio) && constant >= 0.0).then_some((ratio, constant))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::Document;

    fn session(windows: &[(usize, u64)]) -> Session {
        let mut out = String::new();
        let mut parent = "null".to_owned();
        for (i, &(bytes, tokens)) in windows.iter().enumerate() {
            let words = "x".repeat(bytes);
            out += &format!(
                "{{\"type\":\"user\",\"uuid\":\"u{i}\",\"parentUuid\":{parent},\"message\":{{\"content\":\"{words}\"}}}}\n"
            );
            for part in 0..2 {
                let above = if part == 0 {
                    format!("u{i}")
                } else {
                    format!("a{i}0")
                };
                out += &format!(
                    "{{\"type\":\"assistant\",\"uuid\":\"a{i}{part}\",\"parentUuid\":\"{above}\",\"message\":{{\"id\":\"m{i}\",\"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":9}},\"content\":[]}}}}\n"
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
