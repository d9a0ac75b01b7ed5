//! The words that changed between two texts.

use serde::Serialize;
use similar::{ChangeTag, TextDiff};

/// Texts longer than this are compared by lines: comparing words would take too long.
const BY_WORDS: usize = 16 << 10;

/// What happened to a stretch of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum SegmentKind {
    Same,
    Removed,
    Added,
}

/// A stretch of words to which the same happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// What happened.
    pub op: SegmentKind,
    /// The words.
    pub text: String,
}

/// Returns two texts as one, cut where words were removed or added.
///
/// The texts must be masked already: a secret that is cut into segments is not recognised.
pub fn segments(old: &str, new: &str) -> Vec<Segment> {
    let diff = if old.len().max(new.len()) <= BY_WORDS {
        TextDiff::from_words(old, new)
    } else {
        TextDiff::from_lines(old, new)
    };
    let mut out = Segments::default();
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Delete => out.change(change.value(), ""),
            ChangeTag::Insert => out.change("", change.value()),
            // Blanks between changed words belong to the change.
            ChangeTag::Equal if change.value().trim().is_empty() && out.is_changing() => {
                out.change(change.value(), change.value());
            }
            ChangeTag::Equal => out.keep(change.value()),
        }
    }
    out.finish()
}

#[derive(Default)]
struct Segments {
    done: Vec<Segment>,
    same: String,
    removed: String,
    added: String,
}

impl Segments {
    fn is_changing(&self) -> bool {
        !(self.removed.is_empty() && self.added.is_empty())
    }

    fn change(&mut self, removed: &str, added: &str) {
        Self::push(&mut self.done, SegmentKind::Same, &mut self.same);
        self.removed.push_str(removed);
        self.added.push_str(added);
    }

    fn keep(&mut self, same: &str) {
        Self::push(&mut self.done, SegmentKind::Removed, &mut self.removed);
        Self::push(&mut self.done, SegmentKind::Added, &mut self.added);
        self.same.push_str(same);
    }

    fn finish(mut self) -> Vec<Segment> {
        self.change("", "");
        self.keep("");
        self.done
    }

    fn push(done: &mut Vec<Segment>, op: SegmentKind, text: &mut String) {
        if !text.is_empty() {
            done.push(Segment {
                op,
                text: std::mem::take(text),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_join_changed_words() {
        let joined: Vec<(SegmentKind, String)> = segments("a b c d", "a x y d")
            .into_iter()
            .map(|s| (s.op, s.text))
            .collect();
        assert_eq!(
            joined,
            [
                (SegmentKind::Same, "a ".to_owned()),
                (SegmentKind::Removed, "b c ".to_owned()),
                (SegmentKind::Added, "x y ".to_owned()),
                (SegmentKind::Same, "d".to_owned()),
            ]
        );
    }
}
