//! Where the ids of an entry are in its line.

use crate::json::{MAX_RECORDED, RecordedStrings, Span};

/// How many bytes an id nearly always has.
pub const ID_LEN: usize = 36;

/// How a line begins whose parent comes first.
pub(crate) const LEADING: &[u8] = b"{\"parentUuid\":\"";

/// Where the parent is in a line that begins with it, without its quotes.
pub const LEADING_PARENT: Span = Span {
    start: LEADING.len() as u32,
    end: (LEADING.len() + ID_LEN) as u32,
};

/// The positions of all strings of [`ID_LEN`] bytes in a line, except in the text of the conversation: in all likelihood
/// the line's ids.
///
/// They are near the beginning or the end of the line, so each fits into 16 bits: 15 for the distance, and one for the end
/// that it is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdPositions([u16; MAX_RECORDED]);

impl IdPositions {
    /// Fills the places after the last position.
    const END: u16 = 0x7fff;
    /// Set in positions that are counted from the end of the line.
    const FROM_END: u16 = 0x8000;
    /// There are too many, or one is too far from both ends.
    const UNKNOWN: Self = Self([u16::MAX; MAX_RECORDED]);

    /// Packs the positions of strings in a line of `len` bytes.
    pub(crate) fn of(strings: &RecordedStrings, len: usize) -> Self {
        let mut all = [Self::END; MAX_RECORDED];
        let Some(positions) = strings.all() else {
            return Self::UNKNOWN;
        };
        for (slot, &at) in all.iter_mut().zip(positions) {
            let from_end = len - at as usize;
            *slot = match (at as usize, from_end) {
                (at, _) if at < usize::from(Self::END) => at as u16,
                (_, at) if at < usize::from(Self::END) => at as u16 | Self::FROM_END,
                _ => return Self::UNKNOWN,
            };
        }
        Self(all)
    }

    /// Returns how many there are, if that is known.
    pub fn count(&self) -> Option<usize> {
        let end = self.0.iter().position(|at| *at == Self::END);
        (*self != Self::UNKNOWN).then_some(end.unwrap_or(MAX_RECORDED))
    }

    /// Returns where each begins in the line, which has `len` bytes; `None` where that is not known of all.
    pub fn places(&self, len: usize) -> Option<impl Iterator<Item = usize> + '_> {
        let place = move |&at: &u16| match at & Self::FROM_END {
            0 => usize::from(at),
            _ => len - usize::from(at ^ Self::FROM_END),
        };
        let known = self.0.iter().take_while(|at| **at != Self::END);
        (*self != Self::UNKNOWN).then(|| known.map(place))
    }
}

impl Default for IdPositions {
    fn default() -> Self {
        Self([Self::END; MAX_RECORDED])
    }
}
