//! Leads paths in a copy to the copy's own files, and its project's paths to the new project.
//!
//! These are edits of a plan like all others, so the verifier judges them. Signed thinking is never edited: the
//! API refuses a message whose signature no longer fits.

use memchr::memmem::Finder;
use rayon::prelude::*;

use crate::json::{Edit, Span, decode, encode};
use crate::session::Session;
use crate::transcript::{Entry, visit_ids};

use super::copy_names::CopyNames;
use super::plan::Plan;

/// How folders are separated in a path inside a JSON string.
const SEPARATORS: [&str; 2] = ["/", "\\\\"];

/// Fields that hold a path of the project, wherever they stand outside the conversation.
const PROJECT_FIELDS: [&[u8]; 4] = [
    b"cwd",
    b"realParentDir",
    b"workingDirectory",
    b"originalCwd",
];

/// How much of a name is searched for; `memchr` has a slower way for longer needles.
const NEEDLE: usize = 32;

/// How many bytes of lines one core searches at a time.
const PIECE: usize = 1 << 18;

/// Adds to a plan the edits that lead paths to the files of a copy.
pub(super) fn move_paths(session: &Session, names: &CopyNames, plan: &mut Plan) {
    let rules = rules(names);
    let document = session.document();
    let search = |piece: &std::ops::Range<usize>| {
        let mut scratch = Vec::new();
        let mut found: Vec<(u32, Vec<Edit>)> = Vec::new();
        for line in piece.clone() {
            let entry = session.lines()[line].entry().map(|e| &session.entries()[e]);
            let text = document.text_in(line, &mut scratch);
            let mut edits: Vec<Edit> = rules.iter().flat_map(|rule| rule.edits(text)).collect();
            if let (Some(entry), Some(project)) = (entry, &names.project) {
                project_edits(text, entry, project, &mut edits);
            }
            if edits.is_empty() {
                continue;
            }
            if let Some(entry) = entry {
                let signed = session
                    .blocks(entry)
                    .iter()
                    .filter(|b| b.kind.is_thinking());
                let signed: Vec<Span> = signed.map(|b| b.span).collect();
                edits.retain(|e| {
                    !signed
                        .iter()
                        .any(|s| e.span.start < s.end && s.start < e.span.end)
                });
            }
            edits.sort_by_key(|e| (e.span.start, e.span.end));
            // Where two names overlap, the first one found counts.
            edits.dedup_by(|next, kept| next.span.start < kept.span.end);
            if !edits.is_empty() {
                found.push((line as u32, edits));
            }
        }
        found
    };
    let pieces = document.pieces(PIECE);
    let found: Vec<_> = pieces.par_iter().map(search).collect();
    for (line, edits) in found.into_iter().flatten() {
        plan.edit_line(line, edits);
    }
}

/// A name that is replaced wherever it stands between certain neighbours.
struct Rule {
    old: Vec<u8>,
    new: Vec<u8>,
    /// Finds the last bytes of the name.
    finder: Finder<'static>,
    /// What must stand around it; the first pair that fits counts.
    neighbours: Vec<Neighbours>,
}

/// What stands around a name.
struct Neighbours {
    before: Vec<u8>,
    after: Vec<u8>,
    /// What takes the place of `before`.
    becomes: Vec<u8>,
    /// Whether the name must end where a word ends.
    whole_word: bool,
}

impl Neighbours {
    fn new(before: &str, after: &str) -> Self {
        Self::moving(before, before, after)
    }

    fn moving(before: &str, becomes: &str, after: &str) -> Self {
        Self {
            before: before.into(),
            after: after.into(),
            becomes: becomes.into(),
            whole_word: after.is_empty(),
        }
    }

    fn fit(&self, head: &[u8], tail: &[u8]) -> bool {
        let ends = || !tail.first().is_some_and(u8::is_ascii_alphanumeric);
        head.ends_with(&self.before)
            && tail.starts_with(&self.after)
            && (!self.whole_word || ends())
    }
}

impl Rule {
    fn new(old: &str, new: &str, neighbours: Vec<Neighbours>) -> Self {
        let bytes = old.as_bytes();
        Self {
            old: bytes.to_vec(),
            new: new.as_bytes().to_vec(),
            finder: Finder::new(&bytes[bytes.len().saturating_sub(NEEDLE)..]).into_owned(),
            neighbours,
        }
    }

    fn edits(&self, text: &[u8]) -> Vec<Edit> {
        let len = self.old.len();
        let mut out = Vec::new();
        let mut from = 0;
        while let Some(found) = text.get(from..).and_then(|rest| self.finder.find(rest)) {
            let end = from + found + self.finder.needle().len();
            let Some(at) = end.checked_sub(len).filter(|&at| text[at..end] == self.old) else {
                // Only the name's end stands here; the name itself may begin within it.
                from += found + 1;
                continue;
            };
            // An empty name is found everywhere, once in each place.
            from = end.max(from + found + 1);
            let (head, tail) = (&text[..at], &text[at + len..]);
            if let Some(n) = self.neighbours.iter().find(|n| n.fit(head, tail)) {
                let span = Span::new(at - n.before.len(), at + len);
                out.push(Edit::new(span, [&n.becomes[..], &self.new].concat()));
            }
        }
        out
    }
}

fn rules(names: &CopyNames) -> Vec<Rule> {
    let mut rules = Vec::new();
    if !names.old_id.is_empty() {
        rules.push(own_files(names));
    }
    rules.extend(names.slugs.iter().map(|(old, new)| plan_files(old, new)));
    rules.extend(names.agents.iter().map(|(old, new)| agent_name(old, new)));
    rules
}

/// Paths of the session's outputs and subagents, and of the transcript itself: a summary that names the full
/// transcript must mean the copy's.
fn own_files(names: &CopyNames) -> Rule {
    let (from, to) = (&names.folders.0, &names.folders.1);
    let mut neighbours = Vec::new();
    for separator in SEPARATORS {
        let (from, to) = (format!("{from}{separator}"), format!("{to}{separator}"));
        for folder in ["tool-results", "subagents"] {
            let after = format!("{separator}{folder}");
            neighbours.push(Neighbours::moving(&from, &to, &after));
            neighbours.push(Neighbours::new(separator, &after));
        }
        neighbours.push(Neighbours::moving(&from, &to, ".jsonl"));
    }
    Rule::new(&names.old_id, &names.new_id.to_string(), neighbours)
}

/// A plan's slug, in its field and in the paths of the plan's files.
fn plan_files(old: &str, new: &str) -> Rule {
    let paths = SEPARATORS.iter().flat_map(|separator| {
        let before = format!("plans{separator}");
        [".md", "-agent-"].map(|after| Neighbours::new(&before, after))
    });
    let field = Neighbours::new("\"slug\":\"", "\"");
    Rule::new(old, new, paths.chain([field]).collect())
}

/// A subagent's name, wherever the subagent is called by it.
fn agent_name(old: &str, new: &str) -> Rule {
    let neighbours = [
        ("\"agentId\":\"", "\""),
        ("agentId: ", ""),
        ("agent-", ".jsonl"),
    ];
    let neighbours = neighbours.map(|(before, after)| Neighbours::new(before, after));
    Rule::new(old, new, neighbours.into())
}

/// Moves the project's path, and paths below it, in the fields that hold one.
fn project_edits(text: &[u8], entry: &Entry, (old, new): &(String, String), edits: &mut Vec<Edit>) {
    let walked = visit_ids(text, entry.words(), |used| {
        if !PROJECT_FIELDS.contains(&used.key) || used.span.of(text) == used.key {
            return;
        }
        let quoted = &text[used.span.start as usize - 1..=used.span.end as usize];
        let path = decode(quoted);
        let Some(rest) = path.strip_prefix(old.as_str()) else {
            return;
        };
        if rest.is_empty() || rest.starts_with(['/', '\\']) {
            let moved = encode(&format!("{new}{rest}"));
            edits.push(Edit::new(used.span, &moved.as_bytes()[1..moved.len() - 1]));
        }
    });
    debug_assert!(walked.is_ok(), "a line with an entry can be walked");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    const OLD: &str = "test-test-test-test-test-test-test-test";

    /// A line after the paths in it were moved.
    fn moved(line: &str, names: &CopyNames) -> String {
        let session = Session::new(Document::from_bytes(line.as_bytes().to_vec()));
        let mut plan = Plan::default();
        move_paths(&session, names, &mut plan);
        let (document, _) = plan.apply(&session).expect("a sound plan");
        String::from_utf8_lossy(document.text(0)).into_owned()
    }

    fn names() -> CopyNames {
        CopyNames {
            old_id: OLD.to_owned(),
            new_id: uuid::Uuid::from_u128(7),
            folders: ("-a".to_owned(), "-b".to_owned()),
            ..CopyNames::default()
        }
    }

    #[test]
    fn move_paths_finds_a_name_that_repeats_itself() {
        let line = |path: &str| format!(r#"{{"type":"note","path":"/-a/{path}/tool-results/x"}}"#);
        let copy = line(&uuid::Uuid::from_u128(7).to_string()).replace("/-a/", "/-b/");
        assert_eq!(moved(&line(OLD), &names()), copy);
        let other = line("test-test-test-test-test-test-test-test-test");
        assert_eq!(moved(&other, &names()), other);
    }

    #[test]
    fn move_paths_names_a_subagent_without_a_name() {
        let line = r#"{"type":"note","agentId":"","file":"agent-.jsonl"}"#;
        let names = CopyNames {
            agents: vec![(String::new(), "fresh".to_owned())],
            ..CopyNames::default()
        };
        let expected = line.replace("\"\"", "\"fresh\"").replace("-.", "-fresh.");
        assert_eq!(moved(line, &names), expected);
    }

    #[test]
    fn move_paths_tells_agents_apart_whose_names_begin_alike() {
        let line = r#"{"type":"note","text":"agentId: abc1234567 and agentId: abc1234"}"#;
        let names = CopyNames {
            agents: vec![("abc1234".to_owned(), "fffffff".to_owned())],
            ..CopyNames::default()
        };
        let expected = line.replace("abc1234\"", "fffffff\"");
        assert_eq!(moved(line, &names), expected);
    }

    #[test]
    fn move_paths_leaves_signed_thinking_alone() {
        let line = |thought: &str, said: &str| {
            format!(
                r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"thinking","thinking":"{thought}","signature":"s"}},{{"type":"text","text":"{said}"}}]}},"uuid":"u"}}"#
            )
        };
        let names = CopyNames {
            slugs: vec![("shiny-flame".to_owned(), "shiny-other".to_owned())],
            ..CopyNames::default()
        };
        let (old, new) = ("plans/shiny-flame.md", "plans/shiny-other.md");
        assert_eq!(moved(&line(old, old), &names), line(old, new));
    }

    #[test]
    fn move_paths_takes_the_project_along() {
        let line = |at: &str| {
            format!(
                r#"{{"type":"file-history-snapshot","cwd":"{at}","snapshot":{{"realParentDir":"{at}/src","note":"{at}"}}}}"#
            )
        };
        let names = CopyNames {
            project: Some(("/w/old".to_owned(), "/w/new".to_owned())),
            ..CopyNames::default()
        };
        let expected = line("/w/new").replace(r#""note":"/w/new""#, r#""note":"/w/old""#);
        assert_eq!(moved(&line("/w/old"), &names), expected);
        assert_eq!(moved(&line("/w/older"), &names), line("/w/older"));
    }
}
