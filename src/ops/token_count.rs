//! Tokens as people write them.

use std::str::FromStr;

/// A number of tokens: `100k`, `100000`, `0.5M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TokenCount(pub u64);

impl FromStr for TokenCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a number of tokens; write 100k, 100000 or 0.5M");
        let plain = text.trim().replace(['_', ','], "").to_lowercase();
        let (digits, factor) = match plain.as_bytes().last() {
            Some(b'k') => (&plain[..plain.len() - 1], 1e3),
            Some(b'm') => (&plain[..plain.len() - 1], 1e6),
            _ => (&plain[..], 1.0),
        };
        if !digits.chars().all(|c| c.is_ascii_digit() || c == '.') {
            return Err(bad());
        }
        let number: f64 = digits.parse().map_err(|_| bad())?;
        let count = (number * factor).round() as u64;
        if count == 0 {
            Err(bad())
        } else {
            Ok(Self(count))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_as_people_write_them() {
        for (text, count) in [
            ("100k", 100_000),
            ("100000", 100_000),
            ("100_000", 100_000),
            ("0.5M", 500_000),
            ("1.25m", 1_250_000),
            (" 7K ", 7_000),
        ] {
            assert_eq!(text.parse(), Ok(TokenCount(count)), "{text}");
        }
        for text in [
            "", "k", "0", "-1", "1e5", "nan", "inf", "100kb", "ten", "1.2.3", "€",
        ] {
            assert!(text.parse::<TokenCount>().is_err(), "{text}");
        }
    }
}
