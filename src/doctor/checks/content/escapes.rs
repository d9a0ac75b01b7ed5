//! Finds escapes in raw JSON that stand for characters the API does not accept.

use memchr::{memchr, memmem};

/// What such an escape stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bad {
    /// One half of a surrogate pair.
    Surrogate,
    /// NUL.
    Nul,
}

/// Returns the offsets of the escapes, each six bytes long, that stand for NUL or half a pair.
pub(crate) fn bad_escapes(raw: &[u8]) -> Vec<(usize, Bad)> {
    let mut out = Vec::new();
    if !may_have_bad(raw) {
        return out;
    }
    let mut at = 0;
    while let Some(i) = memchr(b'\\', &raw[at..]).map(|i| at + i) {
        if raw.get(i + 1) != Some(&b'u') {
            at = i + 2;
            if at > raw.len() {
                break;
            }
            continue;
        }
        at = (i + 6).min(raw.len());
        match unit(raw, i) {
            Some(0) => out.push((i, Bad::Nul)),
            Some(0xd800..=0xdbff) if matches!(unit(raw, i + 6), Some(0xdc00..=0xdfff)) => {
                at = (i + 12).min(raw.len());
            }
            Some(0xd800..=0xdfff) => out.push((i, Bad::Surrogate)),
            _ => {}
        }
    }
    out
}

/// Returns whether there is anything that looks like a bad escape or a surrogate pair. Most texts with escapes have only
/// codes of a terminal, and looking at every backslash of those takes four times as long.
fn may_have_bad(raw: &[u8]) -> bool {
    memmem::find_iter(raw, b"\\u").any(|at| match raw.get(at + 2..at + 4) {
        Some(b"00") => raw.get(at + 4..at + 6) == Some(b"00"),
        Some([b'd' | b'D', second]) => !matches!(second, b'0'..=b'7'),
        _ => false,
    })
}

fn unit(raw: &[u8], at: usize) -> Option<u32> {
    let escape = raw.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_told_from_pairs_and_text() {
        let seen = |s: &str| bad_escapes(s.as_bytes());
        assert_eq!(seen(r#""\ud83d\ude00 \\ud83d""#), []);
        assert_eq!(
            seen(r#""\ud83d x \ude00""#),
            [(1, Bad::Surrogate), (10, Bad::Surrogate)]
        );
        assert_eq!(seen(r#""\u0000\\u0000""#), [(1, Bad::Nul)]);
        assert_eq!(seen(r#""\ud83d\ud83d\ude00""#), [(1, Bad::Surrogate)]);
        assert_eq!(seen(r#""\u001b[0m \uD7FF \u0001""#), []);
        assert_eq!(seen(r#""\u001b \uDFFF""#), [(8, Bad::Surrogate)]);
    }
}
