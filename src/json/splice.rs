//! Edits of byte spans, which are sorted, never overlap, and leave all other bytes alone.

use std::borrow::Borrow;

use smallvec::SmallVec;

use super::fields::Field;
use super::span::Span;

/// The edits of a line: mostly one.
pub type Edits = SmallVec<[Edit; 1]>;

/// Replaces a span of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes that are replaced; empty to insert.
    pub span: Span,
    /// The new bytes.
    pub with: Vec<u8>,
}

impl Edit {
    /// Replaces `span` with `with`.
    pub fn new(span: Span, with: impl Into<Vec<u8>>) -> Self {
        Self {
            span,
            with: with.into(),
        }
    }

    /// Returns by how many bytes the text grows.
    pub fn growth(&self) -> i64 {
        self.with.len() as i64 - self.span.len() as i64
    }
}

/// Two edits of one text overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("edits overlap at byte {at}")]
pub struct OverlapError {
    /// Where the second edit begins.
    pub at: u32,
}

/// Returns the text with all edits made. Edits may be in any order; equal edits count once.
pub fn apply_edits(text: &[u8], edits: &[Edit]) -> Result<Vec<u8>, OverlapError> {
    let mut edits: SmallVec<[&Edit; 8]> = edits.iter().collect();
    let grown = put_in_order(&mut edits)?;
    let mut out = Vec::with_capacity((text.len() as i64 + grown) as usize);
    make_edits(text, edits, &mut out);
    Ok(out)
}

/// Sorts edits of one text and removes duplicates; returns by how many bytes the text grows.
pub(crate) fn put_in_order<A>(edits: &mut SmallVec<A>) -> Result<i64, OverlapError>
where
    A: smallvec::Array,
    A::Item: Borrow<Edit> + PartialEq,
{
    if edits.len() > 1 {
        edits.sort_by_key(|e| (e.borrow().span.start, e.borrow().span.end));
        edits.dedup();
    }
    let (mut at, mut grown) = (0, 0);
    for edit in edits.iter().map(Borrow::borrow) {
        if edit.span.start < at {
            return Err(OverlapError {
                at: edit.span.start,
            });
        }
        grown += edit.with.len() as i64 - edit.span.len() as i64;
        at = edit.span.end;
    }
    Ok(grown)
}

/// Appends the text to `out` with edits made, which must be sorted.
pub(crate) fn make_edits(
    text: &[u8],
    edits: impl IntoIterator<Item = impl Borrow<Edit>>,
    out: &mut Vec<u8>,
) {
    let mut at = 0;
    for edit in edits {
        let edit = edit.borrow();
        out.extend_from_slice(&text[at..edit.span.start as usize]);
        out.extend_from_slice(&edit.with);
        at = edit.span.end as usize;
    }
    out.extend_from_slice(&text[at..]);
}

/// Returns the edit that removes field `index` of an object, with one of the commas beside it.
///
/// `fields` are all of that object's fields, spans in `text`.
pub fn remove_field(fields: &[Field], index: usize) -> Edit {
    let start = fields[index].key.start - 1;
    let span = match (index.checked_sub(1), fields.get(index + 1)) {
        (_, Some(next)) => Span {
            start,
            end: next.key.start - 1,
        },
        (Some(previous), None) => Span {
            start: fields[previous].value.end,
            end: fields[index].value.end,
        },
        (None, None) => Span {
            start,
            end: fields[index].value.end,
        },
    };
    Edit::new(span, "")
}

/// Returns the edits that remove elements of an array, with their commas. `gone` must be sorted.
pub fn remove_elements(elements: &[Span], gone: &[usize]) -> Vec<Edit> {
    let kept = |i: &usize| gone.binary_search(i).is_err();
    let first_kept = (0..elements.len()).find(kept);
    gone.iter()
        .map(|&i| {
            let span = match first_kept {
                // Before the first element that is kept, an element is removed with the comma after it, later ones with
                // the comma before them; so neighbours never remove the same comma.
                Some(first) if i < first => Span {
                    start: elements[i].start,
                    end: elements[i + 1].start,
                },
                Some(_) => Span {
                    start: elements[i - 1].end,
                    end: elements[i].end,
                },
                None if i + 1 < elements.len() => Span {
                    start: elements[i].start,
                    end: elements[i + 1].start,
                },
                None => elements[i],
            };
            Edit::new(span, "")
        })
        .collect()
}

/// Returns the edit that appends a field to the object at `object` in `text`.
pub fn insert_field(text: &[u8], object: Span, key: &str, value: &[u8]) -> Edit {
    let inner = &text[object.start as usize + 1..object.end as usize - 1];
    let comma = if inner.iter().all(u8::is_ascii_whitespace) {
        ""
    } else {
        ","
    };
    let mut with = format!("{comma}\"{key}\":").into_bytes();
    with.extend_from_slice(value);
    Edit::new(
        Span {
            start: object.end - 1,
            end: object.end - 1,
        },
        with,
    )
}

#[cfg(test)]
mod tests {
    use super::super::fields::{elements, fields};
    use super::*;
    use proptest::prelude::*;

    fn edited(text: &str, edits: &[Edit]) -> String {
        String::from_utf8(apply_edits(text.as_bytes(), edits).unwrap()).unwrap()
    }

    #[test]
    fn edit_removes_fields_with_their_comma() {
        let text = r#"{"a":1, "b":2 ,"c":3}"#;
        let all = fields(text.as_bytes()).unwrap();
        let without: Vec<_> = (0..3)
            .map(|i| edited(text, &[remove_field(&all, i)]))
            .collect();
        assert_eq!(
            without,
            [
                r#"{"b":2 ,"c":3}"#,
                r#"{"a":1, "c":3}"#,
                r#"{"a":1, "b":2}"#
            ]
        );
        assert_eq!(
            edited(
                r#"{"a":1}"#,
                &[remove_field(&fields(br#"{"a":1}"#).unwrap(), 0)]
            ),
            "{}"
        );
    }

    #[test]
    fn edit_inserts_fields() {
        for (text, expected) in [("{}", r#"{"k":1}"#), (r#"{"a":0}"#, r#"{"a":0,"k":1}"#)] {
            let edit = insert_field(text.as_bytes(), Span::new(0, text.len()), "k", b"1");
            assert_eq!(edited(text, &[edit]), expected);
        }
    }

    #[test]
    fn edits_that_overlap_are_refused() {
        let edits = [
            Edit::new(Span::new(0, 3), "x"),
            Edit::new(Span::new(2, 4), "y"),
        ];
        assert_eq!(apply_edits(b"abcdef", &edits), Err(OverlapError { at: 2 }));
    }

    proptest! {
        #[test]
        fn edits_that_remove_elements_keep_the_others(keep in proptest::collection::vec(any::<bool>(), 1..9)) {
            let text = serde_json::to_string(&(0..keep.len()).collect::<Vec<_>>()).unwrap();
            let gone: Vec<usize> = (0..keep.len()).filter(|&i| !keep[i]).collect();
            let result = edited(&text, &remove_elements(&elements(text.as_bytes()).unwrap(), &gone));
            let expected: Vec<usize> = (0..keep.len()).filter(|&i| keep[i]).collect();
            prop_assert_eq!(result, serde_json::to_string(&expected).unwrap());
        }

        #[test]
        fn edit_leaves_all_other_bytes(text in proptest::collection::vec(any::<u8>(), 1..60), a in 0usize..60, b in 0usize..60, with in proptest::collection::vec(any::<u8>(), 0..9)) {
            let (a, b) = (a.min(b).min(text.len()), a.max(b).min(text.len()));
            let out = apply_edits(&text, &[Edit::new(Span::new(a, b), with.clone())]).unwrap();
            prop_assert_eq!(&out[..a], &text[..a]);
            prop_assert_eq!(&out[a..a + with.len()], &with[..]);
            prop_assert_eq!(&out[a + with.len()..], &text[b..]);
        }
    }
}
