//! Finds records that are whole but for characters that JSON does not allow in a string: a backslash that begins no
//! escape, or a raw control character.

use crate::json::Cursor;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;
use super::loss::Loss;
use super::recover::is_record;

pub(crate) static CHECK: Check = Check {
    name: "bad-escape",
    family: "lines",
    finds: "a record that is whole but for a backslash that begins no escape, or a raw control character",
    severity: Severity::LosesHistory,
    symptom: "a message is missing after resume; the file was edited by another program",
    suffers: Versions::All,
    healed_by: "",
    repair: Some(
        "the backslash or the control character is escaped, so that the record can be read",
    ),
    gate: Gate::Judged,
    run,
};

/// A record that can be read after its characters were escaped.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Escaped {
    /// The whole line.
    pub(crate) line: Vec<u8>,
    /// How many characters were escaped.
    pub(crate) count: usize,
    /// The first of them, as a byte of the line from 1.
    pub(crate) column: usize,
}

/// Escapes the characters that keep a line from being a record. Returns `None` if there are none, or if the line is not
/// one whole record afterwards.
pub(crate) fn escaped(text: &[u8]) -> Option<Escaped> {
    if !text.trim_ascii_start().starts_with(b"{\"") {
        return None;
    }
    let mut out = Escaped {
        line: Vec::with_capacity(text.len() + 8),
        count: 0,
        column: 0,
    };
    let (mut at, mut in_string) = (0, false);
    while let Some(&byte) = text.get(at) {
        let len = match byte {
            b'"' => {
                in_string = !in_string;
                1
            }
            b'\\' if in_string => escape_len(&text[at..]),
            1..=0x1f if in_string => 0,
            _ => 1,
        };
        if len == 0 {
            out.count += 1;
            out.column = if out.column == 0 { at + 1 } else { out.column };
            match byte {
                b'\\' => out.line.extend_from_slice(b"\\\\"),
                control => out.line.extend(format!("\\u{control:04x}").bytes()),
            }
        }
        out.line
            .extend_from_slice(&text[at + usize::from(len == 0)..at + len.max(1)]);
        at += len.max(1);
    }
    (out.count > 0 && is_whole_record(&out.line)).then_some(out)
}

/// Returns the length of the escape at the start of `text`; 0 if it is none.
fn escape_len(text: &[u8]) -> usize {
    match text.get(1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
        Some(b'u') => {
            let digits = text.get(2..6);
            let is_number = digits.is_some_and(|d| d.iter().all(u8::is_ascii_hexdigit));
            if is_number { 6 } else { 0 }
        }
        _ => 0,
    }
}

fn is_whole_record(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let span = Cursor::new(line).skip();
    span.is_ok_and(|span| span.end as usize == line.len()) && is_record(line)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (line, escaped) in super::badly_escaped(survey.session) {
        let loss = Loss::of(&escaped.line);
        let message = format!(
            "is not valid JSON because of the character in column {}: Claude Code skips it{}",
            escaped.column,
            loss.words()
        );
        findings.push(loss.judge(survey.at_line(&CHECK, line, message)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &str) -> String {
        format!(
            r#"{{"parentUuid":null,"type":"user","message":{{"content":"{words}"}},"uuid":"u"}}"#
        )
    }

    #[test]
    fn bad_escape_is_found_and_escaped() {
        for (words, good, count) in [
            (r"a\xb", r"a\\xb", 1),
            (r"\u12 \q", r"\\u12 \\q", 2),
            ("a\tb", r"a\u0009b", 1),
        ] {
            let out = escaped(line(words).as_bytes()).expect("a record");
            assert_eq!(String::from_utf8_lossy(&out.line), line(good));
            assert_eq!(out.count, count);
            assert_eq!(escaped(&out.line), None, "it is whole now");
        }
        let column = escaped(line(r"\x").as_bytes()).expect("a record").column;
        assert_eq!(&line(r"\x")[column - 1..=column], r"\x");
    }

    #[test]
    fn bad_escape_is_not_seen_in_good_torn_or_glued_lines() {
        let good = line(r#"a \" \\ \u00e9 b"#);
        let torn = &line(r"a\xb")[..60];
        let glued = line("a") + &line(r"\x");
        for text in [&good, torn, &glued, "", "\\", "{\"", "[1]", "{\"a\\"] {
            assert_eq!(escaped(text.as_bytes()), None, "{text}");
        }
    }
}
