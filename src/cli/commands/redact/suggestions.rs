//! Asks a person about each text that only might be a secret.

use crate::document::Source;
use crate::render::{BOLD, DIM, clean, count, paint};
use crate::secrets::{Vault, mask};
use crate::store::Found;

use super::super::super::context::Context;
use super::super::super::error::CliError;
use super::super::super::operations::plural;
use super::super::super::question::Answer;
use super::Hunt;
use super::report::short;

/// How many bytes around a text are shown, before it and after it.
const BEFORE: usize = 60;
const AFTER: usize = 30;

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
    hunt.search_showing_progress(context);
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
        let (before, after) = around(source.bytes(), &found.finding.range);
        let hidden = "▒".repeat(8);
        let line = format!("{}{hidden}{}", clean(&mask(&before)), clean(&mask(&after)));
        out += &format!("\n    {}", paint(DIM, line));
    }
    out
}

/// Returns the rest of the line around a range, with the escapes of JSON that are common in texts resolved.
fn around(bytes: &[u8], range: &std::ops::Range<usize>) -> (String, String) {
    let readable = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        text.replace("\\n", "\n")
            .replace("\\t", " ")
            .replace("\\\"", "\"")
    };
    let from = range.start.saturating_sub(BEFORE);
    let to = (range.end + AFTER).min(bytes.len());
    let before = readable(bytes.get(from..range.start).unwrap_or_default());
    let after = readable(bytes.get(range.end..to).unwrap_or_default());
    let last = before.rsplit('\n').next().unwrap_or_default();
    let first = after.split('\n').next().unwrap_or_default();
    let last = last.trim_start_matches('\u{fffd}').trim_start();
    (
        last.to_owned(),
        first.trim_end_matches('\u{fffd}').to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redact_shows_the_line_around_a_suggestion() {
        let raw = br#"{"text":"one\nconst password = \"correct-horse\"; x\ntwo"}"#;
        let at = memchr::memmem::find(raw, b"correct").unwrap();
        let (before, after) = around(raw, &(at..at + 13));
        assert_eq!(
            (before.as_str(), after.as_str()),
            ("const password = \"", "\"; x")
        );
        assert_eq!(around(b"x", &(0..1)), (String::new(), String::new()));
    }
}
