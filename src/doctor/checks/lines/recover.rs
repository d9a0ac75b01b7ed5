//! Finds the complete records of a line that is not one record.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::json::{Cursor, fields};

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A complete record.
    Record(Range<usize>),
    /// NULs, a byte order mark or white space.
    Padding(Range<usize>),
    /// Part of a record.
    Fragment(Range<usize>),
}

/// Failed attempts before the rest of a line is given up. Each may read to its end.
const ATTEMPTS: usize = 2_000;

/// Splits a line into its parts.
pub(crate) fn pieces(text: &[u8]) -> Vec<Piece> {
    let mut out = Vec::new();
    let open = Finder::new(b"{\"");
    let (mut done, mut at, mut failed) = (0, 0, 0);
    while failed < ATTEMPTS {
        let Some(start) = open.find(&text[at..]).map(|i| at + i) else {
            break;
        };
        if let Some(len) = record_len(&text[start..]) {
            rest(text, done..start, &mut out);
            out.push(Piece::Record(start..start + len));
            done = start + len;
            at = done;
        } else {
            failed += 1;
            at = start + 2;
        }
    }
    rest(text, done..text.len(), &mut out);
    out
}

fn rest(text: &[u8], range: Range<usize>, out: &mut Vec<Piece>) {
    if range.is_empty() {
        return;
    }
    let bytes = text[range.clone()]
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(&text[range.clone()]);
    let padding = bytes.iter().all(|b| *b == 0 || b.is_ascii_whitespace());
    out.push(if padding {
        Piece::Padding(range)
    } else {
        Piece::Fragment(range)
    });
}

/// Returns the length of the record at the start of `text`, if there is one.
fn record_len(text: &[u8]) -> Option<usize> {
    // Most objects are not records, and their first key shows it.
    if !FIRST_KEYS
        .iter()
        .any(|k| text[2..].starts_with(k.as_bytes()) && text.get(2 + k.len()) == Some(&b'"'))
    {
        return None;
    }
    let span = Cursor::new(text).skip().ok()?;
    let object = span.of(text);
    is_record(object).then_some(span.end as usize)
}

const FIRST_KEYS: [&str; 9] = [
    "parentUuid",
    "type",
    "isSidechain",
    "logicalParentUuid",
    "uuid",
    "sessionId",
    "summary",
    "leafUuid",
    "messageId",
];

/// Returns whether an object is a whole line of a transcript. Blocks also have a type, and quoted
/// entries a uuid, but neither names a session or a parent.
pub(crate) fn is_record(object: &[u8]) -> bool {
    let Ok(all) = fields(object) else {
        return false;
    };
    let has = |key: &str| all.iter().any(|f| f.key.of(object) == key.as_bytes());
    has("type")
        && (has("sessionId")
            || has("uuid") && has("parentUuid")
            || has("leafUuid")
            || has("snapshot") && has("messageId"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = r#"{"parentUuid":null,"type":"user","message":{"content":[{"type":"text","text":"a {\"type\" b"}]},"uuid":"a"}"#;
    const B: &str = r#"{"type":"last-prompt","leafUuid":"a","sessionId":"s"}"#;

    fn seen(line: &str) -> Vec<(char, String)> {
        let told = |c, r: Range<usize>| (c, line[r].to_owned());
        pieces(line.as_bytes())
            .into_iter()
            .map(|p| match p {
                Piece::Record(r) => told('r', r),
                Piece::Padding(r) => told('p', r),
                Piece::Fragment(r) => told('f', r),
            })
            .collect()
    }

    #[test]
    fn recover_finds_both_glued_records() {
        assert_eq!(
            seen(&format!("{A}{B}")),
            [('r', A.to_owned()), ('r', B.to_owned())]
        );
    }

    #[test]
    fn recover_separates_a_fragment_from_the_record_after_it() {
        let stub = &A[..70];
        assert_eq!(
            seen(&format!("{stub}{B}")),
            [('f', stub.to_owned()), ('r', B.to_owned())]
        );
        assert_eq!(
            seen(stub),
            [('f', stub.to_owned())],
            "blocks of a torn record are not records"
        );
    }

    #[test]
    fn recover_treats_nuls_as_padding() {
        assert_eq!(
            seen(&format!("\0\0{A}\0")),
            [
                ('p', "\0\0".to_owned()),
                ('r', A.to_owned()),
                ('p', "\0".to_owned())
            ]
        );
    }
}
