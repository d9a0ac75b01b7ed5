//! Asks a person about each text that only might be a secret.

use std::ops::Range;

use crate::document::Source;
use crate::render::{BOLD, DIM, clean, count, paint};
use crate::secrets::{Form, Vault, mask};
use crate::store::Found;

use super::super::super::context::Context;
use super::super::super::error::CliError;
use super::super::super::operations::plural;
use super::super::super::question::Answer;
use super::Hunt;
use super::report::short;

/// How many characters around a text are shown, before it and after it.
const BEFORE: usize = 60;
const AFTER: usize = 30;

/// The longest other secret around it that is recognised.
const LONGEST: usize = 400;

/// Asks about each suggestion, and searches again for those that are taken. Without a terminal none is taken.
pub(super) fn confirm(context: &mut Context, hunt: &mut Hunt) -> Result<(), CliError> {
    if !context.interactive || context.quiet || context.json || hunt.suggestions.is_empty() {
        return Ok(());
    }
    let suggestions = std::mem::take(&mut hunt.suggestions);
    let all = suggestions.len();
    let words = plural(
        all as u64,
        "text might be a secret",
        "texts might be secrets",
    );
    context.tell(&format!("{words}. Each is replaced only if you say so."));
    let mut taken: Vec<&Found> = Vec::new();
    for (n, found) in suggestions.iter().enumerate() {
        let about = describe(context, hunt, found);
        let number = paint(BOLD, format!("{} of {all}", n + 1));
        context.tell(&format!("\n{number}  {about}"));
        match Answer::ask(context, "Replace it?")? {
            Answer::Yes => taken.push(found),
            Answer::No => {}
            Answer::All => {
                taken.extend(&suggestions[n..]);
                break;
            }
            Answer::Nothing => break,
        }
    }
    if taken.is_empty() {
        return Ok(());
    }
    for found in taken {
        hunt.scanner.accept(&found.finding);
    }
    hunt.vault = Vault::default();
    hunt.search_all(context);
    hunt.suggestions.clear();
    Ok(())
}

/// Returns what a text might be, where it is, and what is around it: enough to decide, and not the text itself.
fn describe(context: &Context, hunt: &Hunt, found: &Found) -> String {
    let target = &hunt.targets[found.target];
    let hash = found.finding.value_hash();
    let all = hunt.searched.found.iter();
    let times = match all.filter(|f| f.finding.value_hash() == hash).count() {
        0 | 1 => "once".to_owned(),
        n => format!("{} times", count(n as u64)),
    };
    let turn = found
        .turn
        .map_or_else(String::new, |t| format!(", turn {t}"));
    let path = short(&target.path.to_string_lossy(), context.home.as_deref());
    let preview = found.finding.preview();
    let mut out = format!(
        "{}: {}, {times}\n    {}{turn}, line {}: {}",
        clean(hunt.scanner.description(&found.finding.kind)),
        clean(&preview),
        target.what,
        found.line,
        clean(&path)
    );
    if let Ok(source) = Source::open(&target.path) {
        let is_json = Form::of(&target.path) != Form::Text;
        let (before, after) = around(source.bytes(), &found.finding.range, is_json);
        let line = format!("{}{}{}", clean(&before), "▒".repeat(8), clean(&after));
        out.push_str("\n    ");
        out.push_str(&paint(DIM, line));
    }
    out
}

/// Returns what stands before and after a range, on its line and in its string of JSON, cut to a few words. Other secrets
/// are masked.
fn around(bytes: &[u8], range: &Range<usize>, is_json: bool) -> (String, String) {
    // A secret that is cut off would not be recognised, so that much more is read than is shown.
    let from = range.start.saturating_sub(BEFORE + LONGEST);
    let to = (range.end + AFTER + LONGEST).min(bytes.len());
    let mut before = bytes.get(from..range.start).unwrap_or_default();
    let mut after = bytes.get(range.end..to).unwrap_or_default();
    if is_json {
        let is_end = |text: &[u8], at: usize| at == 0 || text[at - 1] != b'\\';
        let start = memchr::memrchr_iter(b'"', before).find(|&at| is_end(before, at));
        before = &before[start.map_or(0, |at| at + 1)..];
        let end = memchr::memchr_iter(b'"', after).find(|&at| is_end(after, at));
        after = &after[..end.unwrap_or(after.len())];
    }
    let before = readable(before);
    let after = readable(after);
    let before = before.rsplit('\n').next().unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default();
    let letters: Vec<char> = mask(before).chars().collect();
    let before = letters[letters.len().saturating_sub(BEFORE)..]
        .iter()
        .collect();
    (before, mask(after).chars().take(AFTER).collect())
}

/// Resolves the escapes of JSON that are common in texts.
fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.replace("\\n", "\n").replace("\\t", " ");
    text.replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redact_shows_the_line_around_a_suggestion() {
        let token = format!("ghp_{}", "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6");
        let raw = format!(
            r#"{{"a":1,"text":"one\nconst password = \"correct-horse\"; // then {token}\ntwo","b":2}}"#
        );
        let at = raw.find("correct").unwrap();
        let (before, after) = around(raw.as_bytes(), &(at..at + 13), true);
        assert_eq!(before, "const password = \"");
        assert_eq!(after, "\"; // then ghp_[masked]");
        assert_eq!(around(b"x", &(0..1), false), (String::new(), String::new()));
        let (before, after) = around(br#"{"key":"value","b":2}"#, &(8..13), true);
        assert_eq!((before.as_str(), after.as_str()), ("", ""));
    }
}
