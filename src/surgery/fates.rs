//! What a plan does with each line.

use crate::document::LineIx;
use crate::json::{Edit, Edits};

/// What a plan does with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate<'a> {
    /// The line is removed.
    Drop,
    /// Spans of the line are replaced.
    Edit(&'a [Edit]),
}

/// The fate of each line. It is looked up often for every line, so it is one number per line.
#[derive(Debug, Clone, Default)]
pub(super) struct Fates {
    /// By line, up to the last one that is touched: [`KEPT`], [`GONE`], or the place of its edits, counted from there.
    numbers: Vec<u32>,
    edits: Vec<Edits>,
    touched: usize,
}

const KEPT: u32 = 0;
const GONE: u32 = 1;
const EDITED: u32 = 2;

impl Fates {
    pub(super) fn get(&self, line: LineIx) -> Option<Fate<'_>> {
        match self.numbers.get(line.index()) {
            None | Some(&KEPT) => None,
            Some(&GONE) => Some(Fate::Drop),
            Some(&at) => Some(Fate::Edit(&self.edits[(at - EDITED) as usize])),
        }
    }

    pub(super) fn drops(&self, line: LineIx) -> bool {
        self.numbers.get(line.index()) == Some(&GONE)
    }

    /// Removes a line. Edits of it are discarded.
    pub(super) fn drop(&mut self, line: LineIx) {
        *self.touch(line) = GONE;
    }

    /// Whether no line is touched.
    pub(super) fn is_empty(&self) -> bool {
        self.touched == 0
    }

    /// Returns how many lines are edited.
    pub(super) fn edited(&self) -> usize {
        self.edits.len()
    }

    /// Returns the lines up to the last one that is touched.
    pub(super) fn lines(&self) -> impl Iterator<Item = LineIx> + use<> {
        LineIx::first(self.numbers.len())
    }

    /// Hands over what happens to a line.
    pub(super) fn take(&mut self, line: LineIx) -> TakenFate {
        match self.numbers.get(line.index()) {
            None | Some(&KEPT) => TakenFate::Keep,
            Some(&GONE) => TakenFate::Drop,
            Some(&at) => TakenFate::Edit(std::mem::take(&mut self.edits[(at - EDITED) as usize])),
        }
    }

    /// Returns the number of a line, which counts as touched from now on.
    fn touch(&mut self, line: LineIx) -> &mut u32 {
        let line = line.index();
        if self.numbers.len() <= line {
            self.numbers.resize(line + 1, KEPT);
        }
        let number = &mut self.numbers[line];
        self.touched += usize::from(*number == KEPT);
        number
    }

    pub(super) fn edit(&mut self, line: LineIx, edits: impl IntoIterator<Item = Edit>) {
        let fresh = EDITED + self.edits.len() as u32;
        match self.touch(line) {
            &mut GONE => {}
            number if *number == KEPT => {
                *number = fresh;
                self.edits.push(edits.into_iter().collect());
            }
            number => {
                let at = (*number - EDITED) as usize;
                self.edits[at].extend(edits);
            }
        }
    }

    /// Edits a line in this way and no other.
    pub(super) fn set_edits(&mut self, line: LineIx, edits: Edits) {
        let fresh = EDITED + self.edits.len() as u32;
        *self.touch(line) = fresh;
        self.edits.push(edits);
    }
}

/// What happens to a line, for the one who carries it out.
pub(super) enum TakenFate {
    Keep,
    Drop,
    Edit(Edits),
}
