//! Tokens as people write them.

use std::str::FromStr;

use serde::Deserialize;

/// A number of tokens: `100k`, `100000`, `0.5M`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
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

/// The size that a context window is brought to: a number of tokens, or a share of what it takes now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// So many tokens: `100k`.
    Tokens(TokenCount),
    /// A part of the present window, between 0 and 1: `50%`.
    Share(f64),
}

impl Budget {
    /// Returns the budget for a session whose context window takes so many tokens.
    pub fn of_window(self, window: u64) -> TokenCount {
        match self {
            Self::Tokens(count) => count,
            Self::Share(share) => TokenCount((window as f64 * share).round() as u64),
        }
    }
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(digits) = text.trim().strip_suffix('%') else {
            return text.parse().map(Self::Tokens);
        };
        let percent = digits.trim_end().parse::<f64>().ok();
        match percent.filter(|percent| *percent > 0.0 && *percent < 100.0) {
            Some(percent) => Ok(Self::Share(percent / 100.0)),
            None => Err(format!(
                "`{text}` is not a share of the present context window; write 80% or 50%, or a number of tokens like 100k"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_may_be_a_share_of_the_present_window() {
        assert_eq!("100k".parse(), Ok(Budget::Tokens(TokenCount(100_000))));
        let share: Budget = "62.5 %".parse().expect("a share");
        assert_eq!(share.of_window(80_000), TokenCount(50_000));
        for text in ["0%", "100%", "-5%", "nan%", "inf%", "%", "1e9%", "half%"] {
            assert!(text.parse::<Budget>().is_err(), "{text}");
        }
    }

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
