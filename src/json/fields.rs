//! The fields of objects and the elements of arrays, each with its byte span.

use memchr::memmem;

use super::cursor::Cursor;
use super::span::{Malformed, Span};

/// One field of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The key, without its quotes.
    pub key: Span,
    /// The value, quotes and brackets included.
    pub value: Span,
}

/// Returns the fields of the object in `text`, in order, duplicates included.
pub fn fields(text: &[u8]) -> Result<Vec<Field>, Malformed> {
    fields_around(text, [Span::default(); 2])
}

/// Returns the same as [`fields`] where two values are known already; see [`lookup_around`].
pub fn fields_around(text: &[u8], known: [Span; 2]) -> Result<Vec<Field>, Malformed> {
    let mut cursor = Cursor::around(text, known);
    let mut first = true;
    let mut out = Vec::new();
    cursor.enter_object()?;
    while let Some(key) = cursor.next_key(&mut first)? {
        out.push(Field {
            key,
            value: cursor.skip()?,
        });
    }
    Ok(out)
}

/// Returns the elements of the array in `text`, in order.
pub fn elements(text: &[u8]) -> Result<Vec<Span>, Malformed> {
    let mut cursor = Cursor::new(text);
    let mut first = true;
    let mut out = Vec::new();
    cursor.enter_array()?;
    while cursor.next_element(&mut first)? {
        out.push(cursor.skip()?);
    }
    Ok(out)
}

/// Returns the span of the value at a path of keys; of duplicate keys the last counts, as in JavaScript.
pub fn lookup(text: &[u8], path: &[&str]) -> Option<Span> {
    lookup_around(text, [Span::default(); 2], path)
}

/// Returns the same as [`lookup`] where two values of the text are known already: they are skipped. They are mostly the
/// longest ones, and the value that is looked up is outside of them.
pub fn lookup_around(text: &[u8], known: [Span; 2], path: &[&str]) -> Option<Span> {
    // A nested value is mostly not there, and its key does not occur. The known values are not searched.
    if let [_, .., last] = path
        && known.iter().all(|k| k.is_empty())
        && !mentions(text, known, last.as_bytes())
    {
        return None;
    }
    let mut span = Span::new(0, text.len());
    for key in path {
        let inside = known.map(|k| {
            let within = span.start < k.start && k.end < span.end;
            if within {
                Span {
                    start: k.start - span.start,
                    end: k.end - span.start,
                }
            } else {
                Span::default()
            }
        });
        span = field(span.of(text), inside, key.as_bytes())?.shift(span.start);
    }
    Some(span)
}

/// Returns the value of the last field with this key.
fn field(text: &[u8], known: [Span; 2], key: &[u8]) -> Option<Span> {
    if !mentions(text, known, key) {
        return None;
    }
    let mut cursor = Cursor::around(text, known);
    let mut first = true;
    let mut found = None;
    cursor.enter_object().ok()?;
    while let Some(span) = cursor.next_key(&mut first).ok()? {
        let value = cursor.skip().ok()?;
        if span.of(text) == key {
            found = Some(value);
        }
    }
    found
}

/// Whether a key occurs between quotes anywhere in a text outside of the known values.
///
/// Searching is ten times as fast as reading, and the key that is looked up is mostly not there.
fn mentions(text: &[u8], mut known: [Span; 2], key: &[u8]) -> bool {
    let mut quoted = [b'"'; 64];
    let len = key.len() + 2;
    if text.len() < quoted.len() || len > quoted.len() {
        return true;
    }
    quoted[1..=key.len()].copy_from_slice(key);
    known.sort();
    let mut from = 0;
    for gap in known {
        let before = text.get(from..gap.start as usize).unwrap_or_default();
        if memmem::find(before, &quoted[..len]).is_some() {
            return true;
        }
        from = from.max(gap.end as usize);
    }
    memmem::find(&text[from..], &quoted[..len]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookup_returns_the_last_of_duplicate_keys() {
        let text = br#"{"a":{"b":1},"a":{"b":[2]}}"#;
        assert_eq!(lookup(text, &["a", "b"]).unwrap().of(text), b"[2]");
        assert_eq!(lookup(text, &["a", "c"]), None);
        assert_eq!(lookup(text, &["a", "b", "c"]), None);
    }

    #[test]
    fn lookup_around_skips_known_values() {
        let text = br#"{"message":{"content":["a long text, or \"several\""],"usage":{"input":7}},"result":{"usage":9},"id":"x"}"#;
        let known = [&["message", "content"][..], &["result"]]
            .map(|path| lookup(text, path).expect("a value"));
        for path in [
            &["message", "usage", "input"][..],
            &["id"],
            &["message", "id"],
            &["result"],
            &["result", "usage"],
            &["message", "content"],
        ] {
            assert_eq!(lookup_around(text, known, path), lookup(text, path));
        }
    }

    #[test]
    fn elements_have_their_spans() {
        let text = br#" [ 1 , "x,y" , {"z":[]} ] "#;
        let seen: Vec<_> = elements(text)
            .unwrap()
            .into_iter()
            .map(|s| s.of(text))
            .collect();
        assert_eq!(seen, [&b"1"[..], b"\"x,y\"", b"{\"z\":[]}"]);
    }
}
