//! Paths that clients record in a transcript: fields that hold one, and texts that name one.

use std::ops::Range;

use memchr::memmem::Finder;

use crate::json::{Edit, Span, decode, encode, lookup};
use crate::transcript::project_path::is_windows;
use crate::transcript::{Entry, IdUse, Kind, visit_ids};

use super::path_map::PathMap;

/// Fields that hold a path of the project, wherever they stand outside the conversation.
const PROJECT_FIELDS: [&[u8]; 10] = [
    b"cwd",
    b"realParentDir",
    b"workingDirectory",
    b"additionalWorkingDirectories",
    b"originalCwd",
    b"originCwd",
    b"relocatedCwd",
    b"worktreePath",
    b"extensionRoot",
    b"projectPath",
];

/// The field with the path of a file that can be rewound: inside the project without the project's path, else absolute.
const TRACKED_FIELD: &[u8] = b"trackingPath";

/// The object whose keys are such paths.
const TRACKED_FILES: &[u8] = b"trackedFileBackups";

/// Adds edits that move paths in the fields that hold one, and in the recorded environment.
pub(super) fn project_edits(
    text: &[u8],
    entry: &Entry,
    map: &PathMap,
    environment: &[NamedFolder],
    edits: &mut Vec<Edit>,
) {
    if entry.kind == Kind::Attachment {
        environment_edits(text, environment, edits);
    }
    let walked = visit_ids(text, entry.words(), |used| {
        let quoted = &text[used.span.start as usize - 1..=used.span.end as usize];
        if let Some(moved) = moved_field(text, &used, map, || decode(quoted).into_owned()) {
            let moved = encode(&moved);
            edits.push(Edit::new(used.span, &moved.as_bytes()[1..moved.len() - 1]));
        }
    });
    debug_assert!(walked.is_ok(), "a line with an entry can be walked");
}

/// Returns what the path in a field becomes, if the field holds one that moves.
fn moved_field(
    text: &[u8],
    used: &IdUse<'_>,
    map: &PathMap,
    path: impl Fn() -> String,
) -> Option<String> {
    let is_key = used.span.of(text) == used.key;
    if is_key && used.within == TRACKED_FILES || !is_key && used.key == TRACKED_FIELD {
        let path = path();
        return map.map(&path).or_else(|| map.relative(&path));
    }
    if is_key || !PROJECT_FIELDS.contains(&used.key) {
        return None;
    }
    map.map(&path())
}

/// Moves paths in the description of the environment, which clients show the model again as they recorded it.
fn environment_edits(text: &[u8], folders: &[NamedFolder], edits: &mut Vec<Edit>) {
    let kind = lookup(text, &["attachment", "type"]);
    if kind.is_none_or(|span| span.of(text) != b"\"environment\"") {
        return;
    }
    if let Some(rendered) = lookup(text, &["rendered"]) {
        named_edits(text, rendered, folders, edits);
    }
}

/// A folder, as it is named inside a JSON string, and what it becomes.
pub(super) struct NamedFolder {
    /// Finds the folder, but for the letter of a drive, which may be a capital or not.
    finder: Finder<'static>,
    drive: Option<u8>,
    new: String,
    /// The separators of paths below it, before and after.
    separators: (&'static str, &'static str),
}

impl NamedFolder {
    pub(super) fn new((old, new): &(String, String)) -> Self {
        let separator = |path: &str| if is_windows(path) { r"\\" } else { "/" };
        let name = inner(old);
        let drive = name.as_bytes().first().copied();
        let drive = drive.filter(|_| is_windows(old) && name[1..].starts_with(':'));
        Self {
            finder: Finder::new(&name[usize::from(drive.is_some())..]).into_owned(),
            drive,
            new: inner(new),
            separators: (separator(old), separator(new)),
        }
    }

    /// Returns where the folder is named in a text.
    fn find_in(&self, text: &[u8]) -> impl Iterator<Item = Range<usize>> {
        self.finder.find_iter(text).filter_map(move |at| {
            let end = at + self.finder.needle().len();
            let Some(drive) = self.drive else {
                return Some(at..end);
            };
            let letter = at.checked_sub(1)?;
            text[letter]
                .eq_ignore_ascii_case(&drive)
                .then_some(letter..end)
        })
    }

    /// Returns where the path ends that goes on at `from`, and what this rest of it becomes.
    fn rest(&self, text: &[u8], from: usize) -> (usize, Vec<u8>) {
        let (old, new) = self.separators;
        if old == new {
            return (from, Vec::new());
        }
        let mut end = from;
        let mut rest = Vec::new();
        while let Some(&byte) = text.get(end) {
            if text[end..].starts_with(old.as_bytes()) {
                rest.extend_from_slice(new.as_bytes());
                end += old.len();
            } else if goes_on(byte) {
                rest.push(byte);
                end += 1;
            } else {
                break;
            }
        }
        (end, rest)
    }
}

/// Adds edits that move folders wherever they are named between `span`'s ends. Where several are named at one place, the
/// first of `folders` counts.
pub(super) fn named_edits(text: &[u8], span: Span, folders: &[NamedFolder], edits: &mut Vec<Edit>) {
    let part = span.of(text);
    let first = edits.len();
    for folder in folders {
        for Range { start: at, end } in folder.find_in(part) {
            let after = &part[end..];
            let is_whole = !after.first().is_some_and(|&b| goes_on(b)) || ends_in_name(after);
            let starts = begins_path(&part[..at]);
            let here = Span::new(at, end).shift(span.start);
            let is_taken = |e: &Edit| e.span.start < here.end && here.start < e.span.end;
            if !is_whole || !starts || edits[first..].iter().any(is_taken) {
                continue;
            }
            let (end, rest) = folder.rest(part, end);
            let with = [folder.new.as_bytes(), &rest].concat();
            edits.push(Edit::new(Span::new(at, end).shift(span.start), with));
        }
    }
}

/// Returns whether a path can begin after a text: a name that goes on is no beginning, but the letter of an escape is.
fn begins_path(before: &[u8]) -> bool {
    let Some((&last, head)) = before.split_last() else {
        return true;
    };
    let slashes = head.iter().rev().take_while(|&&b| b == b'\\').count();
    !goes_on(last) || b"nrtbf".contains(&last) && slashes % 2 == 1
}

/// Returns whether a file's ending follows the name of a session.
fn ends_in_name(after: &[u8]) -> bool {
    after.starts_with(b".jsonl") && !after.get(6).is_some_and(|&b| goes_on(b))
}

/// Returns whether a byte can be part of a name in a path.
fn goes_on(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.+@".contains(&byte) || byte >= 0x80
}

/// Returns a text as it stands inside a JSON string.
fn inner(text: &str) -> String {
    let quoted = encode(text);
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::apply_edits;

    fn named(text: &str, rules: &[(&str, &str)]) -> String {
        let rules = rules
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        let folders: Vec<NamedFolder> = rules.map(|r| NamedFolder::new(&r)).collect();
        let mut edits = Vec::new();
        named_edits(
            text.as_bytes(),
            Span::new(0, text.len()),
            &folders,
            &mut edits,
        );
        edits.sort_by_key(|e| e.span.start);
        let after = apply_edits(text.as_bytes(), &edits).expect("sound edits");
        String::from_utf8(after).expect("text")
    }

    #[test]
    fn recorded_paths_are_moved_where_they_are_whole() {
        let rules = [("/h/ada/app", "/srv/app"), ("/h/ada", "/h/bob")];
        let text = r#""in /h/ada/app/src, not /h/ada/apple or x/h/ada, but /h/ada.\n/h/ada""#;
        let expected = r#""in /srv/app/src, not /h/bob/apple or x/h/ada, but /h/ada.\n/h/bob""#;
        assert_eq!(named(text, &rules), expected);
    }

    #[test]
    fn recorded_paths_of_windows_change_their_separators() {
        let text = r#""saved to C:\\Users\\ada\\.claude\\s1\\tool-results\\a.txt\nend""#;
        let rules = [(r"C:\Users\ada\.claude\s1", "/h/bob/.claude/s1")];
        let expected = r#""saved to /h/bob/.claude/s1/tool-results/a.txt\nend""#;
        assert_eq!(named(text, &rules), expected);
        let rules = [("/h/bob/.claude/s1", r"C:\Users\ada\.claude\s1")];
        assert_eq!(named(expected, &rules), text);
    }

    #[test]
    fn recorded_paths_of_windows_have_drives_in_any_case() {
        let rules = [(r"E:\ws\app", "/srv/app")];
        let text = r#""e:\\ws\\app\\src and E:\\ws\\app, not xe:\\ws\\app or :\\ws\\app""#;
        let expected = r#""/srv/app/src and /srv/app, not xe:\\ws\\app or :\\ws\\app""#;
        assert_eq!(named(text, &rules), expected);
        assert_eq!(named(r":\\ws\\app", &rules), r":\\ws\\app");
    }

    #[test]
    fn recorded_paths_include_the_transcript() {
        let rules = [("/c/s1", "/d/s1")];
        assert_eq!(
            named(r#""/c/s1.jsonl /c/s1.json""#, &rules),
            r#""/d/s1.jsonl /c/s1.json""#
        );
    }
}
