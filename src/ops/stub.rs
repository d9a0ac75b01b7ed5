//! Replaces outputs by notes.

use memchr::memmem;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::human::bytes;
use crate::json::{Edit, Span, decode, decoded_len, elements, encode, lookup, plain_len};
use crate::session::{At, Call, Session};
use crate::surgery::{Action, ChangeKind, Plan};
use crate::transcript::{BlockKind, EntryIx, Id, Kind};

use super::drop_images::{is_image_note, is_media};
use super::drop_tools::{Stub, call_gist, tool_name, without_field};
use super::key_lines::{clip, failures, outline};
use super::known::Known;

/// How every note begins. An output that has one is not replaced again.
pub(crate) const MARK: &str = "[ccsurgery removed ";

/// How the output of a command begins that failed.
const EXIT_CODE: &str = "Exit code ";

/// Where the lines that matter are kept, lines are cut after this many bytes.
const LONG_LINE: usize = 400;

/// What every note contains, including those on images.
const SIGNED: &str = "ccsurgery";

/// Replaces the outputs of calls by notes, if that makes them smaller.
pub(crate) fn plan_stubs(
    session: &Session,
    chosen: &[&Call],
    (stub, known): (Stub, Option<&Known<'_>>),
    plan: &mut Plan,
) {
    let companions = companions(session);
    let notes: Vec<Vec<Option<Note>>> = chosen
        .par_iter()
        .map(|call| {
            let results = call.results.iter();
            results
                .map(|&at| match known {
                    Some(known) => known.note_on(session, call, at, stub),
                    None => note_on(session, call, at, stub),
                })
                .collect()
        })
        .collect();
    for (call, notes) in chosen.iter().zip(notes) {
        for (at, note) in call.results.iter().zip(notes) {
            if let Some(note) = note {
                stub_result(session, call, *at, note, plan);
            }
        }
        for &entry in companions.get(&call.id).into_iter().flatten() {
            stub_companion(session, call, entry, plan);
        }
    }
}

/// Finds entries with images and documents that calls injected beside their results.
fn companions(session: &Session) -> FxHashMap<Id, Vec<EntryIx>> {
    let mut out: FxHashMap<Id, Vec<EntryIx>> = FxHashMap::default();
    for (i, tag) in session.numbers().zip(session.heads()) {
        let e = session.entry(i);
        if tag.kind == Kind::User
            && tag.flags.media()
            && session.blocks(e).iter().any(is_media)
            && let Some(source) = session.string(e, &["sourceToolUseID"])
        {
            out.entry(Id::of(source.as_bytes())).or_default().push(i);
        }
    }
    out
}

/// A note, and the output that it replaces.
#[derive(Debug, Clone)]
pub(super) struct Note {
    text: String,
    content: Span,
    /// What removes the client's own copy of the output.
    copy: Option<Edit>,
}

/// Returns the note for a result's output, if it is smaller.
pub(super) fn note_on(session: &Session, call: &Call, at: At, stub: Stub) -> Option<Note> {
    let block = session.block(at.block);
    if block.kind != BlockKind::ToolResult {
        // The output of a server tool is encrypted: it can be removed with its call, but not changed.
        return None;
    }
    let entry = session.entry(at.entry);
    let text = session.text(entry);
    let content = block.content(text)?;
    let raw = content.of(text);
    let plain = !entry.flags.not_utf8() && !entry.flags.numbered_characters();
    let note = encode(&note_for(raw, plain, &tool_name(session, call), stub)?);
    let smaller = note.len() < raw.len();
    smaller.then(|| Note {
        text: note,
        content,
        copy: entry
            .flags
            .tool_use_result()
            .then(|| without_field(session, at.entry, "toolUseResult"))
            .flatten(),
    })
}

fn stub_result(session: &Session, call: &Call, at: At, note: Note, plan: &mut Plan) {
    let entry = session.entry(at.entry);
    let name = tool_name(session, call);
    let grown = note.text.len() as i64 - note.content.len() as i64;
    let shown = if session.graph().is_shown(at.entry) {
        grown
    } else {
        0
    };
    plan.note(
        session,
        entry,
        Action::Edit,
        ChangeKind::Result {
            tool: Some(name.into()),
        },
        grown,
        shown,
        call_gist(session, call),
    );
    plan.edit_line(entry.line, [Edit::new(note.content, note.text)]);
    if let Some(edit) = note.copy {
        plan.edit_entry(session, entry, ChangeKind::DuplicateOutput, [edit]);
    }
}

/// The note that replaces an output; `None` if it is one already. `plain` is whether it is known to be UTF-8 that spells no
/// character by its number.
fn note_for(raw: &[u8], plain: bool, name: &str, stub: Stub) -> Option<String> {
    // Most outputs go whole: then it is enough to know how long they are.
    let whole = stub.keeps_nothing() && raw.starts_with(b"\"") && raw != b"\"\"";
    if whole && memmem::find(raw, SIGNED.as_bytes()).is_none() {
        let counted = plain.then(|| plain_len(raw)).flatten();
        let gone = counted.unwrap_or_else(|| decoded_len(raw)) as u64;
        return Some(format!("{MARK}{} of {name} output]", bytes(gone)));
    }
    note_by_words(raw, name, stub)
}

/// Returns the same for any output, by reading its text.
fn note_by_words(raw: &[u8], name: &str, stub: Stub) -> Option<String> {
    let (words, media) = words_of(raw);
    if words.lines().any(|l| l.starts_with(MARK)) || words.lines().all(is_image_note) {
        return None;
    }
    // Reminders that the client appended are not the output's own lines: they stay whole or are removed whole.
    let own = without_reminders(&words);
    let lines: Vec<&str> = own.lines().collect();
    let kept = Kept::of(&lines, name, stub);
    if kept.is_everything(&lines) && media.is_empty() {
        return None;
    }
    let gone = words.len().saturating_sub(kept.len()) as u64;
    let mut what: Vec<String> = Vec::new();
    if gone > 0 {
        let count =
            lines.len() - (kept.head.len() + kept.key.len() + kept.tail.len()).min(lines.len());
        what.push(match count {
            2.. if stub.key_lines => {
                format!(
                    "{} of {name} output, {count} of {} lines",
                    bytes(gone),
                    lines.len()
                )
            }
            _ => format!("{} of {name} output", bytes(gone)),
        });
    }
    what.extend(media);
    let note = format!("{MARK}{}]", what.join(" and "));
    let all: Vec<&str> = [&kept.head[..], &[&note], &kept.key, &kept.tail].concat();
    Some(all.join("\n"))
}

/// The lines of an output that stay.
struct Kept<'a> {
    head: Vec<&'a str>,
    /// Lines after the note that matter.
    key: Vec<&'a str>,
    tail: Vec<&'a str>,
}

impl<'a> Kept<'a> {
    fn of(lines: &[&'a str], name: &str, stub: Stub) -> Self {
        let end = stub.head.min(lines.len());
        let start = lines.len().saturating_sub(stub.tail).max(end);
        let mut kept = Self {
            head: lines[..end].to_vec(),
            key: Vec::new(),
            tail: lines[start..].to_vec(),
        };
        if !stub.key_lines {
            return kept;
        }
        let definitions = if name == "Read" {
            outline(lines)
        } else {
            Vec::new()
        };
        if !definitions.is_empty() {
            // The head of a file is its imports.
            return Self {
                head: Vec::new(),
                key: definitions,
                tail: Vec::new(),
            };
        }
        kept.head
            .iter_mut()
            .for_each(|line| *line = clip(line, LONG_LINE));
        kept.tail
            .iter_mut()
            .for_each(|line| *line = clip(line, LONG_LINE));
        kept.key = failures(&lines[end..start]);
        if kept.head.is_empty() {
            kept.head
                .extend(lines.first().filter(|line| line.starts_with(EXIT_CODE)));
        }
        if kept.tail.is_empty() {
            let last = lines.iter().rfind(|line| !line.trim().is_empty());
            let last = last.map(|line| clip(line, LONG_LINE));
            kept.tail
                .extend(last.filter(|line| kept.key.last() != Some(line)));
        }
        kept
    }

    /// Whether no line is removed or cut.
    fn is_everything(&self, lines: &[&str]) -> bool {
        let kept = self.head.iter().chain(&self.key).chain(&self.tail);
        kept.eq(lines)
    }

    /// Returns how many bytes stay.
    fn len(&self) -> usize {
        let kept = self.head.iter().chain(&self.key).chain(&self.tail);
        kept.map(|line| line.len() + 1).sum()
    }
}

/// Returns an output without the reminders that the client appended to it.
fn without_reminders(output: &str) -> &str {
    let mut own = output;
    while let Some(inner) = own.trim_end().strip_suffix("</system-reminder>")
        && let Some(start) = inner.rfind("<system-reminder>")
        && (start == 0 || inner[..start].ends_with('\n'))
    {
        own = inner[..start].trim_end_matches('\n');
    }
    own
}

/// The text of an output, and a word for each image or document in it.
fn words_of(raw: &[u8]) -> (String, Vec<String>) {
    if !raw.starts_with(b"[") {
        return (decode(raw).into_owned(), Vec::new());
    }
    let mut words = Vec::new();
    let mut media = Vec::new();
    for span in elements(raw).unwrap_or_default() {
        let block = span.of(raw);
        match lookup(block, &["type"]).map(|s| s.of(block)) {
            Some(b"\"text\"") => {
                words.extend(lookup(block, &["text"]).map(|s| decode(s.of(block)).into_owned()));
            }
            Some(b"\"image\"") => media.push(format!("an image ({})", bytes(block.len() as u64))),
            Some(b"\"document\"") => {
                media.push(format!("a document ({})", bytes(block.len() as u64)));
            }
            _ => media.push(format!("{} more", bytes(block.len() as u64))),
        }
    }
    (words.join("\n"), media)
}

/// Replaces images and documents beside a result by notes too.
fn stub_companion(session: &Session, call: &Call, index: EntryIx, plan: &mut Plan) {
    let e = session.entry(index);
    for block in session.blocks(e).iter().filter(|b| is_media(b)) {
        let (kind, what) = if block.kind == BlockKind::Image {
            (ChangeKind::Image, "an image")
        } else {
            (ChangeKind::Document, "a document")
        };
        let note = format!(
            r#"{{"type":"text","text":"{MARK}{what} ({})]"}}"#,
            bytes(block.span.len() as u64)
        );
        if note.len() >= block.span.len() {
            continue;
        }
        let grown = note.len() as i64 - block.span.len() as i64;
        let shown = if session.graph().is_shown(index) {
            grown
        } else {
            0
        };
        plan.note(
            session,
            e,
            Action::Edit,
            kind,
            grown,
            shown,
            call_gist(session, call),
        );
        plan.edit_line(e.line, [Edit::new(block.span, note)]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::drop_images::NOTE_END;
    use super::*;

    #[test]
    fn every_note_is_signed() {
        assert!(MARK.contains(SIGNED) && NOTE_END.contains(SIGNED));
    }

    #[test]
    fn stub_keeps_the_lines_that_matter() {
        let stub = |head, tail| Stub {
            head,
            tail,
            key_lines: true,
        };
        let mut run = vec!["Exit code 1".to_owned()];
        run.extend((0..40).map(|n| format!("compiling part {n}")));
        run.push("--- FAIL: TestParser".to_owned());
        run.extend((40..60).map(|n| format!("compiling part {n}")));
        run.push("FAIL ./strategy".to_owned());
        let raw = encode(&run.join("\n"));
        let note = note_by_words(raw.as_bytes(), "Bash", stub(0, 0)).unwrap();
        assert_eq!(
            note,
            "Exit code 1\n[ccsurgery removed 1.1 KB of Bash output, 60 of 63 lines]\n--- FAIL: TestParser\nFAIL ./strategy"
        );
        let file: Vec<String> = (1..60).map(|n| format!("{n}→use part{n};")).collect();
        let file = format!("{}\n60→pub fn parse() {{}}\n", file.join("\n"));
        let reminder = "\n<system-reminder>\nBe careful.\n</system-reminder>\n";
        let raw = encode(&format!("{file}{reminder}"));
        let note = note_by_words(raw.as_bytes(), "Read", stub(10, 10)).unwrap();
        assert_eq!(
            note,
            "[ccsurgery removed 1.0 KB of Read output, 59 of 60 lines]\n60→pub fn parse() {}"
        );
        let raw = encode(&"x".repeat(9_000));
        let note = note_by_words(raw.as_bytes(), "Bash", stub(10, 10)).unwrap();
        assert!(note.len() < 1_000, "one long line is cut");
    }

    #[test]
    fn an_output_that_goes_whole_makes_the_note_that_its_words_make() {
        let whole = Stub {
            head: 0,
            tail: 0,
            key_lines: false,
        };
        for (raw, plain) in [
            (r#""größe\n\tand \"more\"""#, true),
            (r#""a \\ b \\\n""#, true),
            (r#""an \u00e9 and a lone \ud800""#, false),
            (r#""speaks of ccsurgery""#, true),
            (r#""[ccsurgery removed 5 kB of Bash output]""#, true),
            (r#""[ccsurgery\u0020removed 5 kB of Bash output]""#, false),
            (r#""[an image of 5 kB\u0020removed by ccsurgery]""#, false),
            (r#""""#, true),
        ] {
            let by_words = note_by_words(raw.as_bytes(), "Bash", whole);
            for plain in [plain, false] {
                let note = note_for(raw.as_bytes(), plain, "Bash", whole);
                assert_eq!(note, by_words, "{raw}");
            }
        }
    }
}
