//! The preview of an operation: one screen, whatever the size of the session.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use crate::surgery::{Action, Change, ChangeKind, Figures};

use super::presenter::{Presenter, Untrusted};
use super::style::{BOLD, DIM, GREEN, RED, YELLOW, paint};
use super::table::counted as counted_noun;
use super::text::{clean, fit, pad, short_id, short_path, width, wrap};
use crate::human::{bytes, count, signed_bytes, tokens};
use crate::view::{SessionText, prompt_as_typed};

/// How a file beside the transcript is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum FileAction {
    Write,
    Copy,
    Link,
    Remove,
}

/// A file that an operation makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileRow {
    /// Its path.
    #[serde(serialize_with = "crate::view::shown_path")]
    pub path: PathBuf,
    /// How it is made.
    pub action: FileAction,
    /// Its size.
    #[serde(skip)]
    pub len: u64,
    /// What it is.
    #[serde(skip)]
    pub what: &'static str,
}

/// Everything that the preview shows.
#[derive(Debug)]
pub struct Preview<'a> {
    /// The operation's name.
    pub operation: &'a str,
    /// The session's id.
    pub session_id: &'a str,
    /// Its title or first prompt.
    pub title: &'a SessionText,
    /// The folder that it was held in.
    pub project: &'a str,
    /// Its figures before.
    pub before: Figures,
    /// Its figures after.
    pub after: Figures,
    /// The steps that the program chose by itself, as text with colours; empty if the person chose them.
    pub steps: &'a str,
    /// What is changed.
    pub changes: &'a [Change],
    /// The bytes that the session was read from, for the excerpts of changes.
    pub source: &'a [u8],
    /// How many entries get fresh ids.
    pub renamed: usize,
    /// Files that are made.
    pub files: &'a [FileRow],
    /// Notes for the person.
    pub warnings: &'a [String],
    /// The home folder, to shorten paths.
    pub home: Option<&'a std::path::Path>,
    /// Columns of the terminal.
    pub columns: usize,
    /// Whether every change gets a row.
    pub verbose: bool,
    /// Whether keys and tokens are shown as they are.
    pub show_secrets: bool,
}

/// How many rows are shown before the rest is summed up.
const ROWS: usize = 12;

impl Preview<'_> {
    /// Returns the preview as text with colours.
    pub fn render(&self) -> String {
        let mut out = String::new();
        self.heading(&mut out);
        if !self.steps.is_empty() {
            let _ = writeln!(out, "{}", self.steps);
        }
        self.figures(&mut out);
        self.rows(&mut out);
        self.file_rows(&mut out);
        for warning in self.warnings {
            let words = wrap(&clean(warning), self.columns.saturating_sub(6));
            for (i, line) in words.iter().enumerate() {
                let margin = if i == 0 {
                    paint(YELLOW, "note:")
                } else {
                    "     ".to_owned()
                };
                let _ = writeln!(out, "{margin} {line}");
            }
        }
        out
    }

    fn heading(&self, out: &mut String) {
        let id = short_id(self.session_id);
        let room = self
            .columns
            .saturating_sub(width(self.operation) + width(&id) + 6)
            .max(8);
        let _ = writeln!(
            out,
            "{}  {}  “{}”",
            paint(BOLD, self.operation),
            id,
            fit(&self.words(self.title), room)
        );
        let project = short_path(
            std::path::Path::new(self.project),
            self.home,
            self.columns.saturating_sub(9),
        );
        let _ = writeln!(out, "{}\n", paint(DIM, format!("project  {project}")));
    }

    fn figures(&self, out: &mut String) {
        let (b, a) = (self.before, self.after);
        let about = |n: u64| format!("~{}", tokens(n));
        let grid = [
            (
                "turns",
                count(b.turns),
                count(a.turns),
                difference(b.turns, a.turns, &|n| count(n)),
            ),
            (
                "entries",
                count(b.entries),
                count(a.entries),
                difference(b.entries, a.entries, &|n| count(n)),
            ),
            (
                "size",
                bytes(b.bytes),
                bytes(a.bytes),
                difference(b.bytes, a.bytes, &|n| bytes(n)),
            ),
            (
                "window",
                about(b.tokens),
                about(a.tokens),
                difference(b.tokens, a.tokens, &|n| format!("{} tokens", tokens(n))),
            ),
        ];
        let before_width = grid.iter().map(|r| width(&r.1)).max().unwrap_or(0) as i32;
        let after_width = grid.iter().map(|r| width(&r.2)).max().unwrap_or(0) as i32;
        for (name, before, after, difference) in grid {
            let line = format!(
                "{}  {} → {}  {difference}",
                pad(name, 7),
                pad(&before, -before_width),
                pad(&after, -after_width)
            );
            let _ = writeln!(out, "  {}", line.trim_end());
        }
        out.push('\n');
    }

    fn rows(&self, out: &mut String) {
        let mut counted: BTreeMap<(u8, &ChangeKind), (u32, i64)> = BTreeMap::new();
        let mut named = Vec::new();
        for change in self.changes {
            let (is_parent, action) = match change.what {
                // A warning reports it.
                ChangeKind::Usage => continue,
                ChangeKind::Parent => (true, Action::Edit),
                _ => (false, change.action),
            };
            if !is_parent && (self.verbose || self.is_of_the_conversation(change)) {
                named.push(change);
                continue;
            }
            let slot = counted.entry((action as u8, &change.what)).or_default();
            slot.0 += change.count;
            slot.1 += if is_parent { 0 } else { change.bytes };
        }
        let many = named.iter().map(|c| c.count as usize).sum::<usize>() > ROWS;
        let named = if self.verbose || !many {
            named.into_iter().cloned().collect()
        } else {
            self.by_turn(&named)
        };
        self.named_rows(&named, out);
        for ((action, what), (n, size)) in counted {
            let sign =
                [paint(RED, "−"), paint(YELLOW, "~"), paint(GREEN, "+")][action as usize].clone();
            let size = match size {
                0 => String::new(),
                size => format!("  {}", signed_bytes(size)),
            };
            let what = self.words(what.label(n.into()).as_str());
            let _ = writeln!(out, "  {sign} {what}{size}");
        }
        if self.renamed > 0 {
            let ids = counted_noun(self.renamed as u64, "entry", "entries");
            // The note takes room in the file, which the rows above do not account for.
            let what =
                format!("new ids for {ids}, each with a note of its origin (about 120 bytes)");
            let rows = wrap(&what, self.columns.saturating_sub(4).max(20));
            let _ = writeln!(out, "  {} {}", paint(YELLOW, "~"), rows.join("\n    "));
        }
    }

    /// Writes the rows with the largest changes, and one that sums up the others.
    fn named_rows(&self, named: &[Change], out: &mut String) {
        let mut shown: Vec<&Change> = named.iter().collect();
        if !self.verbose {
            shown.sort_by_key(|c| -c.bytes.abs());
            shown.truncate(ROWS);
        }
        shown.sort_by_key(|c| (c.line.unwrap_or(u32::MAX), c.turn));
        let what_widths = shown.iter().map(|c| width(&self.what_of(c)));
        let turns = shown.iter().filter_map(|c| turn_of(c));
        let layout = RowLayout {
            what: what_widths.max().unwrap_or(0) as i32,
            // Wide enough for most sessions, so that their previews are aligned alike.
            turn: turns.map(|t| width(&t)).max().map_or(0, |w| w.max(9)) as i32,
            tokens_per_byte: self.tokens_per_byte(),
        };
        for change in &shown {
            let _ = writeln!(out, "  {}", self.row(change, &layout));
        }
        if named.len() > shown.len() {
            let rest = (named.len() - shown.len()) as u64;
            let sum = |all: &mut dyn Iterator<Item = i64>| all.sum::<i64>();
            let bytes =
                sum(&mut named.iter().map(|c| c.bytes)) - sum(&mut shown.iter().map(|c| c.bytes));
            let window =
                sum(&mut named.iter().map(|c| c.shown)) - sum(&mut shown.iter().map(|c| c.shown));
            let tokens = layout.weight(window);
            let gap = if tokens.is_empty() { "" } else { "  " };
            let line = format!(
                "… and {} more, {}{gap}{tokens}",
                count(rest),
                signed_bytes(bytes)
            );
            let _ = writeln!(out, "  {}", paint(DIM, line));
        }
    }

    fn row(&self, change: &Change, layout: &RowLayout) -> String {
        let (style, sign) = match change.action {
            Action::Drop => (RED, "−"),
            Action::Edit => (YELLOW, "~"),
            Action::Insert => (GREEN, "+"),
        };
        let turn = turn_of(change).unwrap_or_default();
        let turn = match layout.turn {
            0 => turn,
            width => pad(&turn, width + 1),
        };
        let head = format!(
            "{turn}{} {} {}",
            pad(&self.what_of(change), layout.what),
            pad(&signed_bytes(change.bytes), -9),
            pad(&layout.weight(change.shown), -13)
        );
        let room = self.columns.saturating_sub(width(&head) + 9);
        let gist = prompt_as_typed(change.gist.read(self.source).raw());
        let gist = self.words(SessionText::from(gist));
        let gist = if gist.is_empty() || room < 12 {
            String::new()
        } else {
            format!("  “{}”", fit(&gist, room))
        };
        format!(
            "{} {}{}",
            paint(style, sign),
            head.trim_end(),
            paint(DIM, gist)
        )
    }

    /// What a change concerns, in words; tool names are session text.
    fn what_of(&self, change: &Change) -> String {
        let text = match change.count {
            0 | 1 => change.what.to_string(),
            n => change.what.label(n.into()),
        };
        self.words(text.as_str())
    }

    /// Returns how many tokens a byte that leaves or enters the context window counts for.
    ///
    /// It is the total of the heading divided among the changes, so that the rows add up to it. It is 0 where the
    /// changes do not explain the total: an operation that brings back hidden turns has no such ratio.
    fn tokens_per_byte(&self) -> f64 {
        let tokens = self.after.tokens as f64 - self.before.tokens as f64;
        let bytes = self.changes.iter().map(|c| c.shown).sum::<i64>() as f64;
        if bytes == 0.0 {
            0.0
        } else {
            (tokens / bytes).max(0.0)
        }
    }

    fn words(&self, text: impl Untrusted) -> String {
        let presenter = Presenter {
            show_secrets: self.show_secrets,
        };
        presenter.line(text)
    }

    fn file_rows(&self, out: &mut String) {
        if self.files.is_empty() {
            return;
        }
        out.push('\n');
        let mut groups: BTreeMap<(FileAction, &str), (usize, u64, &PathBuf)> = BTreeMap::new();
        for file in self.files {
            let slot = groups
                .entry((file.action, file.what))
                .or_insert((0, 0, &file.path));
            slot.0 += 1;
            slot.1 += file.len;
        }
        let named = |n: usize, what: &str| {
            if n == 1 {
                what.to_owned()
            } else {
                format!("{} × {what}", count(n as u64))
            }
        };
        let what_width = groups
            .iter()
            .map(|((_, what), (n, ..))| width(&named(*n, what)))
            .max()
            .unwrap_or(0) as i32;
        let removes = groups
            .keys()
            .any(|(action, _)| *action == FileAction::Remove);
        let verb_width = if removes { 6 } else { 5 };
        for ((action, what), (n, len, path)) in groups {
            let verb = match action {
                FileAction::Write => "write",
                FileAction::Copy => "copy",
                FileAction::Link => "link",
                FileAction::Remove => "remove",
            };
            let shown = if n == 1 {
                path.clone()
            } else {
                path.parent().map(PathBuf::from).unwrap_or_default()
            };
            let head = format!(
                "{} {} {}",
                pad(verb, verb_width),
                pad(&named(n, what), what_width),
                pad(&bytes(len), -9)
            );
            let room = self.columns.saturating_sub(width(&head) + 4);
            let _ = writeln!(
                out,
                "  {}  {}",
                head,
                paint(DIM, short_path(&shown, self.home, room))
            );
        }
    }

    /// Groups the changes of one kind in a turn into one row, so that the preview of a large session fits a screen.
    fn by_turn(&self, changes: &[&Change]) -> Vec<Change> {
        let mut groups: Vec<Change> = Vec::new();
        for change in changes {
            let same = |c: &Change| {
                (c.turn, c.action, &c.what) == (change.turn, change.action, &change.what)
            };
            match groups.iter_mut().rev().take(32).find(|c| same(c)) {
                Some(group) => {
                    group.bytes += change.bytes;
                    group.shown += change.shown;
                    if group.gist.is_none() {
                        group.gist = change.gist.read(self.source).into();
                    }
                    group.count += change.count;
                }
                None => {
                    let gist = change.gist.read(self.source).into();
                    groups.push(Change {
                        gist,
                        ..(*change).clone()
                    });
                }
            }
        }
        groups
    }

    /// Returns whether a change concerns the conversation, so that it gets a row of its own.
    fn is_of_the_conversation(&self, change: &Change) -> bool {
        change.shown != 0 || !change.gist.read(self.source).is_empty()
    }
}

/// What the rows of one preview have in common.
struct RowLayout {
    what: i32,
    turn: i32,
    tokens_per_byte: f64,
}

impl RowLayout {
    /// Returns the tokens of some bytes of the context window; empty if there are none.
    fn weight(&self, bytes: i64) -> String {
        match (bytes as f64 * self.tokens_per_byte).abs().round() as u64 {
            0 => String::new(),
            1 => "~1 token".to_owned(),
            n => format!("~{} tokens", tokens(n)),
        }
    }
}

/// Returns the turn of a change, for a row.
fn turn_of(change: &Change) -> Option<String> {
    change.turn.filter(|&t| t > 0).map(|t| format!("turn {t}"))
}

fn difference(before: u64, after: u64, text: &dyn Fn(u64) -> String) -> String {
    match after.cmp(&before) {
        std::cmp::Ordering::Equal => String::new(),
        std::cmp::Ordering::Greater => paint(YELLOW, format!("+{}", text(after - before))),
        std::cmp::Ordering::Less => paint(GREEN, format!("−{}", text(before - after))),
    }
}
