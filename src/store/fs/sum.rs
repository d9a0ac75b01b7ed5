//! Checksums, by which bytes are recognised.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use twox_hash::XxHash3_128;

/// Begins the text of a checksum, except for BLAKE3 in older records.
const PREFIX: &str = "xxh3:";

/// A checksum of 128 bits.
///
/// It detects damage, not forgery: whoever could forge a file in the journal can also change its record. It takes a quarter
/// of the time of a cryptographic hash, and every written byte is summed twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    /// XXH3, of 128 bits.
    Xxh3(u128),
    /// BLAKE3, in older records.
    Blake3(blake3::Hash),
}

impl Sum {
    /// Returns the checksum of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::Xxh3(XxHash3_128::oneshot(bytes))
    }

    /// Returns whether this is the checksum of these bytes.
    pub fn is_of(self, bytes: &[u8]) -> bool {
        match self {
            Sum::Xxh3(_) => self == Self::of(bytes),
            Sum::Blake3(hash) => hash == blake3::hash(bytes),
        }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sum::Xxh3(sum) => write!(f, "{PREFIX}{sum:032x}"),
            Sum::Blake3(hash) => hash.fmt(f),
        }
    }
}

impl Serialize for Sum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Sum {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let sum = match text.strip_prefix(PREFIX) {
            Some(digits) => u128::from_str_radix(digits, 16).ok().map(Sum::Xxh3),
            None => blake3::Hash::from_hex(&text).ok().map(Sum::Blake3),
        };
        sum.ok_or_else(|| de::Error::invalid_value(de::Unexpected::Str(&text), &"a sum"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_of_both_kinds_are_read_back() {
        for sum in [Sum::of(b"x"), Sum::Blake3(blake3::hash(b"x"))] {
            let text = serde_json::to_string(&sum).expect("a string");
            assert_eq!(serde_json::from_str::<Sum>(&text).expect("a sum"), sum);
            assert!(sum.is_of(b"x") && !sum.is_of(b"y"));
        }
        assert!(serde_json::from_str::<Sum>("\"xxh3:\"").is_err());
        assert!(serde_json::from_str::<Sum>("\"md5\"").is_err());
    }
}
