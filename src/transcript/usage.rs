//! The tokens of a request, by the usage that its answer records, and lowering them.

use crate::json::{Cursor, Edit, Field, Malformed, Span, elements, fields};

/// The field of a usage that was lowered in which the measure of the session is kept.
pub(crate) const MEASURE: &str = "ccsurgery";

/// Reads a usage and returns the tokens of its request; `None` if it is of several rounds, which few are, was lowered, or
/// is absurd.
pub(crate) fn read_request_tokens(
    line: &[u8],
    cursor: &mut Cursor<'_>,
) -> Result<Option<u32>, Malformed> {
    let mut first = true;
    let mut counts = [0; 3];
    let mut is_plain = true;
    cursor.enter_object()?;
    while let Some(key) = cursor.next_key(&mut first)? {
        let value = cursor.skip()?;
        let slot = match key.of(line) {
            b"cache_read_input_tokens" => 0,
            b"cache_creation_input_tokens" => 1,
            b"input_tokens" => 2,
            b"iterations" => {
                is_plain &= value.of(line) == b"[]";
                continue;
            }
            key if key == MEASURE.as_bytes() => {
                is_plain = false;
                continue;
            }
            _ => continue,
        };
        // The last of duplicate keys counts, and anything but a number counts as 0.
        counts[slot] = Number::at(line, value).map_or(0, |n| n.value);
    }
    let sum = counts.into_iter().fold(0, u64::saturating_add);
    Ok(u32::try_from(sum).ok().filter(|_| is_plain))
}

/// A number, and where it is in the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Number {
    value: u64,
    span: Span,
}

impl Number {
    fn at(line: &[u8], span: Span) -> Option<Self> {
        let value = std::str::from_utf8(span.of(line)).ok()?.parse().ok()?;
        Some(Self { value, span })
    }

    /// Subtracts as much of `surplus` as possible.
    fn lower(self, surplus: &mut u64, edits: &mut Vec<Edit>) {
        let taken = self.value.min(*surplus);
        if taken > 0 {
            *surplus -= taken;
            let left = (self.value - taken).to_string();
            edits.push(Edit::new(self.span, left.into_bytes()));
        }
    }
}

/// The numbers that add up to the tokens of one request, in the order in which they are lowered: read from the cache,
/// written to it, not cached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Counts {
    read: Option<Number>,
    created: Option<Number>,
    /// The parts of `created`, by how long they are cached.
    created_by_age: Vec<Number>,
    input: Option<Number>,
}

impl Counts {
    /// Reads the numbers of an object with these fields; spans are in the line.
    fn of(line: &[u8], all: &[Field]) -> Self {
        let mut out = Self::default();
        for field in all {
            let number = || Number::at(line, field.value);
            match field.key.of(line) {
                b"cache_read_input_tokens" => out.read = number(),
                b"cache_creation_input_tokens" => out.created = number(),
                b"input_tokens" => out.input = number(),
                b"cache_creation" => {
                    let parts = fields_at(line, field.value);
                    let numbers = parts.iter().filter_map(|f| Number::at(line, f.value));
                    out.created_by_age = numbers.collect();
                }
                _ => {}
            }
        }
        out
    }

    fn sum(&self) -> u64 {
        let all = [self.read, self.created, self.input];
        let values = all.iter().flatten().map(|n| n.value);
        values.fold(0, u64::saturating_add)
    }

    fn lowered(&self, to: u64, edits: &mut Vec<Edit>) {
        let mut surplus = self.sum().saturating_sub(to);
        if let Some(read) = self.read {
            read.lower(&mut surplus, edits);
        }
        if let Some(created) = self.created {
            let before = surplus;
            created.lower(&mut surplus, edits);
            let mut taken = before - surplus;
            for part in &self.created_by_age {
                part.lower(&mut taken, edits);
            }
        }
        if let Some(input) = self.input {
            input.lower(&mut surplus, edits);
        }
    }
}

/// An answer's usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Usage {
    whole: Counts,
    /// The last round, where the API answered in several, as it does for its own tools: `whole` is their sum, and this is
    /// the size of the context window (2.1.325 reads it so).
    last: Option<Counts>,
}

impl Usage {
    /// Reads the usage that begins at `start`.
    pub(crate) fn at(line: &[u8], start: u32) -> Self {
        let all = fields_at(line, Span::new(start as usize, line.len()));
        let rounds = all.iter().rfind(|f| f.key.of(line) == b"iterations");
        Self {
            whole: Counts::of(line, &all),
            last: rounds.and_then(|f| last_round(line, f.value)),
        }
    }

    /// Returns the tokens of the context window.
    pub(crate) fn window(&self) -> u64 {
        match (&self.last, self.whole.sum()) {
            (Some(last), whole) if whole > 0 => last.sum(),
            (_, whole) => whole,
        }
    }

    /// Returns the edits that lower the recorded tokens to `to`; none if they are not more.
    pub(crate) fn lowered(&self, to: u64) -> Vec<Edit> {
        let mut edits = Vec::new();
        if self.window() > to {
            self.whole.lowered(to, &mut edits);
            if let Some(last) = &self.last {
                last.lowered(to, &mut edits);
            }
        }
        edits
    }
}

/// Returns the last round in which the model answered, if it is complete.
fn last_round(line: &[u8], rounds: Span) -> Option<Counts> {
    let others: [&[u8]; 2] = [b"\"advisor_message\"", b"\"compaction\""];
    let spoken: [&[u8]; 2] = [b"\"message\"", b"\"fallback_message\""];
    for element in elements(rounds.of(line)).ok()?.into_iter().rev() {
        let all = fields_at(line, element.shift(rounds.start));
        let kind = all.iter().rfind(|f| f.key.of(line) == b"type");
        let kind = kind.map_or(&b""[..], |f| f.value.of(line));
        if others.contains(&kind) {
            continue;
        }
        let counts = Counts::of(line, &all);
        let complete = counts.read.is_some() && counts.created.is_some() && counts.input.is_some();
        return (spoken.contains(&kind) && complete && counts.sum() > 0).then_some(counts);
    }
    None
}

/// Returns the fields of the object that begins where `object` does, with spans in the line.
fn fields_at(line: &[u8], object: Span) -> Vec<Field> {
    let mut all = fields(object.of(line)).unwrap_or_default();
    for field in &mut all {
        field.key = field.key.shift(object.start);
        field.value = field.value.shift(object.start);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{apply_edits, lookup};

    fn usage_of(line: &str) -> Usage {
        let at = lookup(line.as_bytes(), &["message", "usage"]).expect("usage");
        Usage::at(line.as_bytes(), at.start)
    }

    fn line(usage: &str) -> String {
        format!(r#"{{"type":"assistant","message":{{"id":"m","usage":{usage},"content":[]}}}}"#)
    }

    fn lowered(usage: &str, to: u64) -> String {
        let line = line(usage);
        let edits = usage_of(&line).lowered(to);
        let text = apply_edits(line.as_bytes(), &edits).expect("sound edits");
        let usage = lookup(&text, &["message", "usage"]).expect("usage");
        String::from_utf8(usage.of(&text).to_vec()).expect("text")
    }

    #[test]
    fn usage_lowers_cached_tokens_first() {
        let usage = r#"{"input_tokens":5,"cache_creation_input_tokens":1000,"cache_read_input_tokens":185000,"output_tokens":70}"#;
        assert_eq!(
            lowered(usage, 100_000),
            r#"{"input_tokens":5,"cache_creation_input_tokens":1000,"cache_read_input_tokens":98995,"output_tokens":70}"#
        );
        assert_eq!(
            lowered(usage, 505),
            r#"{"input_tokens":5,"cache_creation_input_tokens":500,"cache_read_input_tokens":0,"output_tokens":70}"#
        );
        assert_eq!(
            lowered(usage, 2),
            r#"{"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":70}"#
        );
        assert_eq!(lowered(usage, 186_005), usage);
        assert_eq!(lowered(usage, 900_000), usage);
    }

    #[test]
    fn usage_keeps_cache_creation_the_sum_of_its_parts() {
        assert_eq!(
            lowered(
                r#"{"input_tokens":5,"cache_creation_input_tokens":900,"cache_creation":{"ephemeral_5m_input_tokens":600,"ephemeral_1h_input_tokens":300}}"#,
                205
            ),
            r#"{"input_tokens":5,"cache_creation_input_tokens":200,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":200}}"#
        );
    }

    #[test]
    fn usage_of_several_rounds_counts_the_last() {
        let round = |kind: &str, read: u32| {
            format!(
                r#"{{"type":"{kind}","input_tokens":1,"output_tokens":9,"cache_read_input_tokens":{read},"cache_creation_input_tokens":0}}"#
            )
        };
        let usage = |whole: u32, last: u32| {
            format!(
                r#"{{"input_tokens":2,"cache_read_input_tokens":{whole},"iterations":[{},{},{}]}}"#,
                round("message", 400),
                round("message", last),
                round("advisor_message", 7)
            )
        };
        let window = |usage: &str| usage_of(&line(usage)).window();
        assert_eq!(window(&usage(900, 500)), 501);
        assert_eq!(lowered(&usage(900, 500), 301), usage(299, 300));
        assert_eq!(window(r#"{"input_tokens":3,"iterations":[]}"#), 3);
        assert_eq!(
            window(r#"{"input_tokens":3,"iterations":[{"type":"other"}]}"#),
            3
        );
    }
}
