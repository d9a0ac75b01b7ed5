//! Ids of entries, sessions, messages and calls, in sixteen bytes.

use std::hash::BuildHasher as _;
use std::sync::LazyLock;

use siphasher::sip128::SipHasher13;

/// The version bits of a UUID, set to a version that no UUID in use has.
const MARK: u128 = 0xf << 76;

/// The key of the hash, different in each run, so that nobody can construct texts with the same id.
static KEY: LazyLock<[u8; 16]> = LazyLock::new(|| uuid::Uuid::new_v4().into_bytes());

/// An opaque id, comparable and hashable without its text.
///
/// A UUID in canonical form is its value. Any other text is represented by a hash, marked by a version that no UUID in use
/// has, so that the two never collide; the hash is different in each run of the program. The alignment is that of four
/// bytes, so that structs and maps with ids stay small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(Rust, packed(4))]
pub struct Id(u128);

impl Id {
    /// No id.
    pub const NONE: Id = Id(0);

    /// Returns the id that these bytes spell.
    pub fn of(text: &[u8]) -> Self {
        canonical(text).unwrap_or_else(|| {
            let hash = SipHasher13::new_with_key(&KEY).hash(text);
            Id(hash.as_u128() | MARK)
        })
    }

    /// Returns the id of a UUID as clients write them; `None` for any other text.
    pub fn of_uuid(text: &[u8]) -> Option<Self> {
        canonical(text)
    }

    /// Whether this is an id and not [`Id::NONE`].
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }

    /// Whether it is a UUID in its canonical form of 36 bytes.
    pub fn is_uuid(self) -> bool {
        self.is_some() && self.0 >> 76 & 0xf != 0xf
    }

    /// Returns the UUID, if it is one.
    pub fn uuid(self) -> Option<uuid::Uuid> {
        self.is_uuid().then(|| uuid::Uuid::from_u128(self.0))
    }

    /// Returns the text of a UUID; the text of any other id is not known.
    pub fn text(self) -> Option<String> {
        self.is_uuid()
            .then(|| uuid::Uuid::from_u128(self.0).to_string())
    }

    /// Returns its sixteen bytes.
    pub fn bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// Returns `None` for [`Id::NONE`].
    pub fn some(self) -> Option<Self> {
        self.is_some().then_some(self)
    }
}

/// Returns the hash of an id for hash tables.
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

/// Reads the 36 characters of a lower-case hyphenated UUID.
fn canonical(text: &[u8]) -> Option<Id> {
    let text: &[u8; 36] = text.try_into().ok()?;
    if [text[8], text[13], text[18], text[23]] != [b'-'; 4] {
        return None;
    }
    let mut digits = [0; 32];
    let mut at = 0;
    for range in [0..8, 9..13, 14..18, 19..23, 24..36] {
        digits[at..at + range.len()].copy_from_slice(&text[range.clone()]);
        at += range.len();
    }
    let mut value: u128 = 0;
    for eight in digits.as_chunks().0 {
        value = value << 32 | u128::from(hexadecimal(*eight)?);
    }
    // The version of hashes is reserved for them, and the nil UUID is `Id::NONE`.
    (value != 0 && value >> 76 & 0xf != 0xf).then_some(Id(value))
}

/// Returns the number that eight lower-case hexadecimal digits spell.
///
/// All digits are read at once, because every line has several ids.
fn hexadecimal(digits: [u8; 8]) -> Option<u32> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let text = u64::from_be_bytes(digits);
    // Letters have a bit that digits do not have, and count from 1.
    let letters = text >> 6 & EACH;
    let values = (text & (0x0f * EACH)) + 9 * letters;
    // Any other character differs when the values are spelt again.
    let is_letter = (values + 0x76 * EACH) >> 7 & EACH;
    let spelt = values + 0x30 * EACH + 0x27 * is_letter;
    if spelt != text || values & (0xf0 * EACH) != 0 {
        return None;
    }
    // Join two digits to a byte, two bytes to four digits, and so on.
    let pairs = (values >> 4 | values) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs >> 8 | pairs) & 0x0000_ffff_0000_ffff;
    Some((fours >> 16 | fours) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn id_reads_only_hexadecimal_digits(digits in proptest::array::uniform8(prop_oneof![Just(b'0'), b'0'..=b'9', b'a'..=b'f', any::<u8>()])) {
            let plain = digits.iter().all(|d| matches!(d, b'0'..=b'9' | b'a'..=b'f'));
            let number = std::str::from_utf8(&digits).ok().and_then(|t| u32::from_str_radix(t, 16).ok());
            prop_assert_eq!(hexadecimal(digits), number.filter(|_| plain));
        }
    }

    #[test]
    fn id_depends_on_the_exact_spelling() {
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
