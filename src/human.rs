//! Sizes, counts and ages as a person would say them.

use std::time::{Duration, SystemTime};

/// Bytes: `812 B`, `48.2 KB`, `1.2 GB`.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if n < 1000 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A difference in bytes, with its sign.
pub fn signed_bytes(n: i64) -> String {
    let sign = match n {
        0 => "±",
        n if n > 0 => "+",
        _ => "−",
    };
    format!("{sign}{}", bytes(n.unsigned_abs()))
}

/// Tokens: `812`, `12.1k`, `1.2M`.
pub fn tokens(n: u64) -> String {
    match n {
        0..=999 => n.to_string(),
        1_000..=999_949 => format!("{:.1}k", n as f64 / 1e3),
        _ => format!("{:.1}M", n as f64 / 1e6),
    }
}

/// Tokens in round thousands: `200k`, `1M`.
pub fn round_tokens(n: u64) -> String {
    match n {
        0..=999 => n.to_string(),
        1_000..=999_499 => format!("{:.0}k", n as f64 / 1e3),
        _ if n.is_multiple_of(1_000_000) => format!("{}M", n / 1_000_000),
        _ => tokens(n),
    }
}

/// A share of a whole in percent: `<1%`, `60%`.
pub fn percent(part: u64, whole: u64) -> String {
    let share = part as f64 / whole.max(1) as f64 * 100.0;
    match part {
        0 => "0%".to_owned(),
        _ if share < 0.95 => "<1%".to_owned(),
        _ => format!("{share:.0}%"),
    }
}

/// A count with its digits in groups: `12,345`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// How long ago: `just now`, `5m`, `3h`, `2d`, `7w`, `2y`.
pub fn age(then: SystemTime, now: SystemTime) -> String {
    let seconds = now.duration_since(then).unwrap_or(Duration::ZERO).as_secs();
    match seconds {
        0..=59 => "just now".to_owned(),
        60..=3_599 => format!("{}m", seconds / 60),
        3_600..=86_399 => format!("{}h", seconds / 3_600),
        86_400..=1_209_599 => format!("{}d", seconds / 86_400),
        1_209_600..=31_535_999 => format!("{}w", seconds / 604_800),
        _ => format!("{}y", seconds / 31_536_000),
    }
}

/// How long something took: `45s`, `3m 12s`, `2h 5m`, `3d 4h`.
pub fn duration(seconds: u64) -> String {
    let two = |large: u64, small: u64, units: [&str; 2]| match small {
        0 => format!("{large}{}", units[0]),
        small => format!("{large}{} {small}{}", units[0], units[1]),
    };
    match seconds {
        0..=59 => format!("{seconds}s"),
        60..=3_599 => two(seconds / 60, seconds % 60, ["m", "s"]),
        3_600..=86_399 => two(seconds / 3_600, seconds % 3_600 / 60, ["h", "m"]),
        _ => two(seconds / 86_400, seconds % 86_400 / 3_600, ["d", "h"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let cases = [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 KB"),
            (48_212, "48.2 KB"),
            (999_950, "1.0 MB"),
            (5_368_709_120, "5.4 GB"),
        ];
        for (n, expected) in cases {
            assert_eq!(bytes(n), expected);
        }
        assert_eq!(
            (signed_bytes(-3100), signed_bytes(12)),
            ("−3.1 KB".to_owned(), "+12 B".to_owned())
        );
        assert_eq!(
            (tokens(812), tokens(12_140), tokens(1_200_000)),
            ("812".into(), "12.1k".into(), "1.2M".into())
        );
        assert_eq!(
            (count(7), count(1234), count(1_234_567)),
            ("7".into(), "1,234".into(), "1,234,567".into())
        );
    }
}
