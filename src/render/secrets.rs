//! Keys and tokens in a session's text, masked before anyone sees them.

use std::borrow::Cow;
use std::ops::Range;

/// Tokens that are known by how they begin, and how many characters must follow to be one.
const PREFIXES: [(&str, usize); 16] = [
    ("sk-ant-", 12),
    ("sk-", 20),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("xoxb-", 10),
    ("xoxa-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("glpat-", 20),
    ("AIza", 30),
    ("npm_", 30),
];

const MASK: &str = "[masked]";

/// The text with everything that looks like a key or a token replaced, its telling prefix left.
///
/// It works on JSON as well as on plain text: what is replaced never holds a quote.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some(found) = next_secret(text, at) {
        out.push_str(&text[kept..found.start]);
        out.push_str(MASK);
        kept = found.end;
        at = found.end;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// The first secret at or behind `from`: the part of it that is to be masked.
fn next_secret(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    for at in from..bytes.len() {
        let candidate = match bytes[at] {
            b's' | b'g' | b'x' | b'n' => known_prefix(bytes, at),
            b'A' | b'a' => known_prefix(bytes, at)
                .or_else(|| aws_key(bytes, at))
                .or_else(|| authorization(bytes, at)),
            b'e' => json_web_token(bytes, at),
            b'-' => private_key(text, at),
            b':' => url_password(bytes, at),
            b'?' | b'&' => password_parameter(bytes, at),
            _ => None,
        };
        if let Some(range) = candidate.filter(|r| r.end > r.start && r.start >= from) {
            return Some(range);
        }
    }
    None
}

/// Characters that tokens are made of.
fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'-'
}

/// Whether a word begins here, so that `task-…` is no `sk-…`. An escaped line break is no letter.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let escaped = at >= 2 && bytes[at - 2] == b'\\' && matches!(bytes[at - 1], b'n' | b't' | b'r');
    at == 0 || escaped || !is_token(bytes[at - 1])
}

/// Where the run of characters that `of` accepts ends.
fn run(bytes: &[u8], from: usize, of: impl Fn(u8) -> bool) -> usize {
    bytes[from..]
        .iter()
        .position(|&b| !of(b))
        .map_or(bytes.len(), |n| from + n)
}

fn known_prefix(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !begins_word(bytes, at) {
        return None;
    }
    let (prefix, least) = PREFIXES
        .iter()
        .find(|(p, _)| bytes[at..].starts_with(p.as_bytes()))?;
    let start = at + prefix.len();
    let end = run(bytes, start, is_token);
    (end - start >= *least).then_some(start..end)
}

fn aws_key(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let named = bytes[at..].starts_with(b"AKIA") || bytes[at..].starts_with(b"ASIA");
    let end = run(bytes, at, |b| b.is_ascii_uppercase() || b.is_ascii_digit());
    (named && begins_word(bytes, at) && end - at == 20).then_some(at + 4..end)
}

fn json_web_token(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"eyJ") || !begins_word(bytes, at) {
        return None;
    }
    let head = run(bytes, at, is_token);
    let body = run(bytes, (head + 1).min(bytes.len()), is_token);
    let dotted = bytes.get(head) == Some(&b'.')
        && bytes.get(body) == Some(&b'.')
        && head - at >= 10
        && body - head > 10;
    dotted.then(|| at + 3..run(bytes, body + 1, is_token))
}

/// The value of an `Authorization` header, as a header or as a field of JSON or code.
fn authorization(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    const NAME: &[u8] = b"authorization";
    if !bytes.get(at..at + NAME.len())?.eq_ignore_ascii_case(NAME) {
        return None;
    }
    let quotes = |b: u8| matches!(b, b'"' | b'\'' | b'\\' | b' ');
    let colon = run(bytes, at + NAME.len(), quotes);
    if bytes.get(colon) != Some(&b':') {
        return None;
    }
    let mut start = run(bytes, colon + 1, quotes);
    for scheme in ["bearer ", "basic ", "token ", "digest "] {
        if bytes
            .get(start..start + scheme.len())
            .is_some_and(|s| s.eq_ignore_ascii_case(scheme.as_bytes()))
        {
            start += scheme.len();
        }
    }
    let end = run(bytes, start, |b| {
        b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'\\' | b'`')
    });
    (end - start >= 8 && bytes[start] != b'$').then_some(start..end)
}

/// What is between the two lines of a private key, or as much of it as there is.
fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let line = rest.strip_prefix("-----BEGIN ")?;
    let title = line.find("PRIVATE KEY-----").filter(|&n| n < 24)?;
    let start = at + "-----BEGIN ".len() + title + "PRIVATE KEY-----".len();
    let body = |b: u8| {
        b.is_ascii_alphanumeric()
            || b.is_ascii_whitespace()
            || matches!(b, b'+' | b'/' | b'=' | b'\\' | b':' | b',')
    };
    Some(start..run(text.as_bytes(), start, body))
}

/// The password of `scheme://user:password@host`.
fn url_password(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    if !bytes[at..].starts_with(b"://") {
        return None;
    }
    let inside = |b: u8| {
        b.is_ascii_graphic()
            && !matches!(
                b,
                b'@' | b'/' | b'"' | b'\'' | b'\\' | b'<' | b'>' | b'{' | b'$'
            )
    };
    let end = run(bytes, at + 3, inside);
    let colon = at + 3 + bytes[at + 3..end].iter().position(|&b| b == b':')?;
    (bytes.get(end) == Some(&b'@')).then_some(colon + 1..end)
}

/// The value of `password=` and its like in a query.
fn password_parameter(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    const NAMES: [&[u8]; 6] = [
        b"password=",
        b"passwd=",
        b"pwd=",
        b"access_token=",
        b"api_key=",
        b"secret=",
    ];
    let name = NAMES.iter().find(|n| {
        bytes
            .get(at + 1..at + 1 + n.len())
            .is_some_and(|s| s.eq_ignore_ascii_case(n))
    })?;
    let start = at + 1 + name.len();
    Some(
        start..run(bytes, start, |b| {
            b.is_ascii_graphic() && !matches!(b, b'&' | b'"' | b'\'' | b'\\' | b'#' | b'`' | b')')
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_what_is_well_known() {
        let long = "abcdefghijklmnopqrstuvwxyz0123456789";
        let cases = [
            (
                format!("key sk-ant-api03-{long}."),
                "key sk-ant-[masked].".to_owned(),
            ),
            (format!("ghp_{long}"), "ghp_[masked]".to_owned()),
            (
                format!("\"github_pat_{long}\""),
                "\"github_pat_[masked]\"".to_owned(),
            ),
            ("xoxb-1234567890-abc".to_owned(), "xoxb-[masked]".to_owned()),
            (
                "id AKIAIOSFODNN7EXAMPLE!".to_owned(),
                "id AKIA[masked]!".to_owned(),
            ),
            (
                format!("jwt eyJhbGciOiJIUzI1NiJ9.{long}.{long} end"),
                "jwt eyJ[masked] end".to_owned(),
            ),
            (
                "curl -H 'Authorization: Bearer abc.def-123456' x".to_owned(),
                "curl -H 'Authorization: Bearer [masked]' x".to_owned(),
            ),
            (
                r#"{"authorization":"Basic dXNlcjpwYXNz"}"#.to_owned(),
                r#"{"authorization":"Basic [masked]"}"#.to_owned(),
            ),
            (
                "postgres://me:hunter2@db/x?a=1".to_owned(),
                "postgres://me:[masked]@db/x?a=1".to_owned(),
            ),
            (
                "http://h/x?user=a&password=hunter2&b=1".to_owned(),
                "http://h/x?user=a&password=[masked]&b=1".to_owned(),
            ),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----"
                    .to_owned(),
                "-----BEGIN RSA PRIVATE KEY-----[masked]-----END RSA PRIVATE KEY-----".to_owned(),
            ),
            (
                format!("line\\nsk-ant-{long}\\n"),
                "line\\nsk-ant-[masked]\\n".to_owned(),
            ),
        ];
        for (given, expected) in cases {
            assert_eq!(mask(&given), expected, "{given}");
            assert_eq!(mask(&expected), expected, "twice is once");
        }
    }

    #[test]
    fn leaves_the_rest_alone() {
        for text in [
            "task-management-in-the-large-and-small",
            "sk-short",
            "http://localhost:8080/a@b",
            "Authorization: none",
            "eyJ",
            "–-----BEGIN CERTIFICATE-----\nMII",
            "git@github.com:a/b",
            "Authorization: Bearer $TOKEN_NAME",
            "日本語 sk-",
        ] {
            assert_eq!(mask(text), text);
        }
    }
}
