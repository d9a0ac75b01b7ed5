//! The brackets that are open around a position in JSON text.

/// The open brackets: one bit for each, 64 in a word and the rest on the heap.
#[derive(Default)]
pub(super) struct Nesting {
    word: u64,
    depth: usize,
    outer: Vec<u64>,
}

impl Nesting {
    /// Opens an object, or else an array.
    pub(super) fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.word);
        }
        self.word = self.word << 1 | u64::from(object);
        self.depth += 1;
    }

    /// Whether the innermost bracket is that of an object; `None` outside of all.
    pub(super) fn is_in_object(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.word & 1 == 1)
    }

    /// Closes the innermost bracket.
    pub(super) fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.word = self.outer.pop().unwrap_or_default();
        }
    }
}
