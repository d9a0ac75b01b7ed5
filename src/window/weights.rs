//! What each entry weighs in the window, and the windows that the answers tell of.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::document::{LineMap, LineSource};
use crate::json::lookup;

use super::calibration::Weight;
use super::usage::recorded_window;
use crate::session::{Session, Standing};
use crate::transcript::{Block, Entry, Id, Kind, Subtype, WindowUse, attached, parse};

/// What there is to know of an entry.
///
/// There is one for every line, so it is kept small; no line has more bytes, and no window more tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Row {
    /// What it adds to the window where it is shown: bytes of text, and tokens of images.
    bytes: u32,
    images: u32,
    /// The window at the request that it answers; 0 where it does not say.
    window: u32,
    /// Whether the client tells it again where it is no longer shown.
    announced: bool,
}

impl Row {
    fn of(session: &Session, e: &Entry) -> Self {
        let weight = entry_weight(session, e);
        let window = recorded_window(session, e).unwrap_or(0);
        Self {
            bytes: weight.bytes as u32,
            images: weight.images as u32,
            window: u32::try_from(window).unwrap_or(u32::MAX),
            announced: e.kind == Kind::Attachment && e.flags.announced(),
        }
    }

    fn weight(self) -> Weight {
        Weight {
            bytes: f64::from(self.bytes),
            images: f64::from(self.images),
        }
    }

    fn window(self) -> Option<u64> {
        (self.window > 0).then(|| u64::from(self.window))
    }
}

/// The weights of a session's entries.
///
/// Weighing reads every line that may be shown; for what was made of a session, only the new lines are read.
#[derive(Debug, Clone)]
pub struct EntryWeights {
    rows: Vec<Row>,
}

impl EntryWeights {
    /// Weighs what is on the live path and beside it.
    pub fn of(session: &Session) -> Self {
        let rows = (0..session.entries().len())
            .into_par_iter()
            .with_min_len(64);
        Self {
            rows: rows.map(|i| row(session, i)).collect(),
        }
    }

    /// Weighs a session that was derived from `from`, whose weights these are; `lines` says where its lines came from.
    #[must_use]
    pub fn derived(&self, from: &Session, to: &Session, lines: &LineMap) -> Self {
        let rows = to.entries().iter().enumerate().map(|(i, e)| {
            let known = match lines.sources()[e.line as usize] {
                LineSource::Kept(old) => from.lines()[old as usize].entry(),
                LineSource::Edited(_) | LineSource::Inserted => None,
            };
            match known.filter(|&old| is_weighed(from, old)) {
                Some(old) => self.rows[old],
                None => row(to, i),
            }
        });
        Self {
            rows: rows.collect(),
        }
    }

    /// What an entry takes of the window as it is: nothing if it is not shown.
    pub fn shown(&self, session: &Session, entry: usize) -> Weight {
        let graph = session.graph();
        let counts = match graph.place(entry) {
            Standing::Path(p) => p >= graph.window_start(),
            Standing::Beside(p) => p >= graph.window_start() && session.heads()[entry].is_message(),
            Standing::Branch(_) | Standing::Apart | Standing::Metadata => false,
        };
        if counts {
            self.weight(entry)
        } else {
            Weight::default()
        }
    }

    /// Whether the client tells an entry again where it is no longer shown.
    pub fn is_told_again(&self, entry: usize) -> bool {
        self.rows[entry].announced
    }

    /// The window at the request that an entry answers, if it says.
    pub fn window(&self, entry: usize) -> Option<u64> {
        self.rows[entry].window()
    }

    /// What an entry adds to the window where it is shown.
    pub fn weight(&self, entry: usize) -> Weight {
        self.rows[entry].weight()
    }
}

/// What a line would add to the window if it were shown.
pub fn line_weight(line: &[u8]) -> Weight {
    let mut blocks = Vec::new();
    match parse(line, &mut blocks) {
        Ok((e, _)) => weight(|| line, &blocks, &e),
        Err(_) => Weight::default(),
    }
}

fn row(session: &Session, entry: usize) -> Row {
    if is_weighed(session, entry) {
        Row::of(session, &session.entries()[entry])
    } else {
        Row::default()
    }
}

/// Whether an entry may have a part in what was shown.
fn is_weighed(session: &Session, entry: usize) -> bool {
    matches!(
        session.graph().place(entry),
        Standing::Path(_) | Standing::Beside(_)
    )
}

/// The window at one request: what was shown, and how many tokens that made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    /// The answer's first entry on the path.
    pub(crate) entry: u32,
    /// The answer.
    message: Id,
    pub(crate) shown: Weight,
    pub(crate) tokens: f64,
    /// How many compactions came before, those of results alone included.
    pub(crate) segment: u32,
}

impl Point {
    /// Whether both are the record of one answer to one window.
    pub(crate) fn same(&self, other: &Self) -> bool {
        (self.message, self.shown, self.tokens) == (other.message, other.shown, other.tokens)
    }
}

/// The records of a session along its live path.
pub(crate) struct Samples {
    pub(crate) points: Vec<Point>,
    /// What is shown since the last boundary.
    pub(crate) shown: Weight,
    /// What of that the client makes anew where it is no longer shown.
    pub(crate) announced: Weight,
    /// The first point since the last boundary.
    pub(crate) since: usize,
    /// Whether the last point is of the window as it is, not of one that was compacted since.
    pub(crate) fresh: bool,
}

impl Samples {
    pub(crate) fn of(session: &Session, ledger: &EntryWeights) -> Self {
        let (entries, heads) = (session.entries(), session.heads());
        let path = session.graph().path();
        // By the position of the path that it is beside; most sessions have little of it.
        let mut beside: FxHashMap<u32, Weight> = FxHashMap::default();
        for (i, tag) in heads.iter().enumerate() {
            if let Standing::Beside(p) = session.graph().place(i)
                && tag.is_message()
            {
                *beside.entry(p).or_default() += ledger.weight(i);
            }
        }
        let mut out = Self {
            points: Vec::new(),
            shown: Weight::default(),
            announced: Weight::default(),
            since: 0,
            fresh: false,
        };
        let mut segment = 0;
        let mut last_message = Id::NONE;
        for (position, &i) in path.iter().enumerate() {
            let (tag, row) = (heads[i as usize], &ledger.rows[i as usize]);
            if tag.is_boundary() {
                out.shown = Weight::default();
                out.announced = Weight::default();
                out.since = out.points.len();
                out.fresh = false;
                segment += 1;
                continue;
            }
            // The client has cleared old results for itself: records fall, though the file holds what it held.
            if tag.subtype == Subtype::MicrocompactBoundary {
                segment += 1;
            }
            // The lines of one message all repeat its usage; the first stands for the request.
            if tag.kind == Kind::Assistant {
                let e = &entries[i as usize];
                let repeated = e.message_id.is_some() && e.message_id == last_message;
                if !repeated && let Some(tokens) = row.window() {
                    out.points.push(Point {
                        entry: i,
                        message: e.message_id.some().unwrap_or(e.uuid),
                        shown: out.shown,
                        tokens: tokens as f64,
                        segment,
                    });
                    out.fresh = true;
                }
                last_message = e.message_id;
            }
            out.shown += row.weight();
            if let Some(&beside) = beside.get(&(position as u32)) {
                out.shown += beside;
            }
            if row.announced {
                out.announced += row.weight();
            }
        }
        out
    }
}

/// What an entry of the path adds to the window.
pub(crate) fn entry_weight(session: &Session, e: &Entry) -> Weight {
    weight(|| session.text(e), session.blocks(e), e)
}

/// Its line is asked for only where it takes a look: most entries are weighed by what is known of them.
fn weight<'a>(line: impl Fn() -> &'a [u8], blocks: &[Block], e: &Entry) -> Weight {
    match e.kind {
        Kind::User | Kind::Assistant if e.flags.api_error() || e.flags.sidechain() => {
            Weight::default()
        }
        Kind::User | Kind::Assistant => {
            let mut weight = Weight {
                bytes: e.content.len() as f64,
                images: 0.0,
            };
            for block in blocks.iter().filter(|b| b.may_hold_media()) {
                let own = Weight::of(block.span.of(line()));
                weight += Weight {
                    bytes: own.bytes - block.span.len() as f64,
                    images: own.images,
                };
            }
            weight
        }
        Kind::Attachment => Weight {
            bytes: match e.window_use() {
                WindowUse::ShownBytes(bytes) => f64::from(bytes),
                WindowUse::RequestTokens(_) | WindowUse::NeedsFullParse => attached(line(), e)
                    .map_or(0.0, |a| a.texts.iter().map(|t| t.len() as f64).sum()),
            },
            images: 0.0,
        },
        Kind::System if e.subtype == Subtype::LocalCommand => Weight {
            bytes: lookup(line(), &["content"]).map_or(0.0, |s| s.len() as f64),
            images: 0.0,
        },
        _ => Weight::default(),
    }
}
