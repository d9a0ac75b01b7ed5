//! Names of entries, sessions, messages and calls, in sixteen bytes.

use std::hash::BuildHasher as _;

/// An opaque id, comparable and hashable without its text.
///
/// The canonical form of a UUID is its value. Any other text is a hash of it, marked by a version
/// that no UUID in use has, so that the two never meet. It asks for no more room than it takes, so that maps of ids stay
/// small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(Rust, packed(4))]
pub struct Id(u128);

impl Id {
    /// No id.
    pub const NONE: Id = Id(0);

    /// The id that these bytes spell.
    pub fn of(text: &[u8]) -> Self {
        canonical(text).unwrap_or_else(|| {
            let hash = blake3::hash(text);
            let mut first = [0; 16];
            first.copy_from_slice(&hash.as_bytes()[..16]);
            first[6] = 0xf0 | (first[6] & 0x0f);
            Id(u128::from_be_bytes(first))
        })
    }

    /// The id of a UUID as clients write them; `None` for any other text.
    pub fn of_uuid(text: &[u8]) -> Option<Self> {
        canonical(text)
    }

    /// Whether this is an id at all.
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }

    /// Whether it is a UUID in its canonical form of 36 bytes.
    pub fn is_uuid(self) -> bool {
        self.is_some() && self.0 >> 76 & 0xf != 0xf
    }

    /// The UUID that it is, if it is one.
    pub fn uuid(self) -> Option<uuid::Uuid> {
        self.is_uuid().then(|| uuid::Uuid::from_u128(self.0))
    }

    /// The text of a UUID; another id cannot be told from its sixteen bytes.
    pub fn text(self) -> Option<String> {
        self.is_uuid()
            .then(|| uuid::Uuid::from_u128(self.0).to_string())
    }

    /// `None` for [`Id::NONE`].
    pub fn some(self) -> Option<Self> {
        self.is_some().then_some(self)
    }
}

/// A number for tables of ids.
pub(crate) fn hash(id: Id) -> u64 {
    rustc_hash::FxBuildHasher.hash_one(id)
}

impl From<uuid::Uuid> for Id {
    fn from(uuid: uuid::Uuid) -> Self {
        let id = Id(uuid.as_u128());
        if id.is_uuid() {
            return id;
        }
        let mut text = [0; 36];
        Id::of(uuid.hyphenated().encode_lower(&mut text).as_bytes())
    }
}

/// The value of each hexadecimal digit in lower case; 0xff for what is none.
const DIGITS: [u8; 256] = {
    let mut table = [0xff; 256];
    let mut i = 0;
    while i < 16 {
        table[b"0123456789abcdef"[i] as usize] = i as u8;
        i += 1;
    }
    table
};

/// Reads the 36 characters of a lower-case hyphenated UUID.
fn canonical(text: &[u8]) -> Option<Id> {
    let text: &[u8; 36] = text.try_into().ok()?;
    if [text[8], text[13], text[18], text[23]] != [b'-'; 4] {
        return None;
    }
    let mut value: u128 = 0;
    let mut any = 0;
    for range in [0..8, 9..13, 14..18, 19..23, 24..36] {
        let mut part: u64 = 0;
        let len = range.len();
        for &byte in &text[range] {
            let digit = DIGITS[byte as usize];
            any |= digit;
            part = part << 4 | u64::from(digit & 0xf);
        }
        value = value << (4 * len) | u128::from(part);
    }
    // The version nibble of hashes is kept for them; nil means none.
    (any < 0x10 && value != 0 && value >> 76 & 0xf != 0xf).then_some(Id(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spelling_is_identity() {
        let a = Id::of(b"ff739a7c-40f7-46e5-a79d-5fa3122b8757");
        assert_eq!(a, Id::of(b"ff739a7c-40f7-46e5-a79d-5fa3122b8757"));
        assert_ne!(a, Id::of(b"FF739A7C-40F7-46E5-A79D-5FA3122B8757"));
        assert_ne!(Id::of(b"sess-001"), Id::of(b"sess-002"));
        assert_eq!(
            a.text().as_deref(),
            Some("ff739a7c-40f7-46e5-a79d-5fa3122b8757")
        );
        assert_eq!(Id::of(b"sess-001").text(), None);
        assert!(Id::of(b"").is_some());
        assert!(Id::of(b"00000000-0000-0000-0000-000000000000").is_some());
    }
}
