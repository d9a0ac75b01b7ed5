//! Leads paths in a copy to the copy's own files, and its project's paths to the new project.
//!
//! These are edits of a plan like all others, so the verifier judges them. Signed thinking is never edited: the
//! API refuses a message whose signature no longer fits.

use memchr::memmem::Finder;
use rayon::prelude::*;

use crate::document::LineIx;
use crate::json::{Edit, Span};
use crate::session::Session;

use super::copy_names::CopyNames;
use super::path_map::PathMap;
use super::plan::Plan;
use super::recorded_paths::{NamedFolder, named_edits, project_edits};

/// How folders are separated in a path inside a JSON string.
const SEPARATORS: [&str; 2] = ["/", "\\\\"];

/// How much of a name is searched for; `memchr` has a slower way for longer needles.
const NEEDLE: usize = 32;

/// How many bytes of lines one core searches at a time.
const PIECE: usize = 1 << 18;

/// Adds to a plan the edits that lead paths to the files of a copy.
pub(super) fn move_paths(session: &Session, names: &CopyNames, plan: &mut Plan) {
    let map = names.project.clone().map(|pair| PathMap::new([pair]));
    add_edits(session, &rules(names), map.as_ref(), &[], plan);
}

/// Adds to a plan the edits that lead paths of session `id` from one project to another: the project's own path, and those
/// of the session's files, which move from one folder of transcripts to another.
pub(crate) fn move_project(
    session: &Session,
    id: &str,
    folders: (&str, &str),
    project: (&str, &str),
    plan: &mut Plan,
) {
    let rules = [own_files((id, id), folders)];
    let map = PathMap::new([(project.0.to_owned(), project.1.to_owned())]);
    add_edits(session, &rules, Some(&map), &[], plan);
}

/// Adds to a plan the edits that lead all recorded paths of session `id` to those of another machine. `own` are folders and
/// files of the session itself, which are led elsewhere wherever they are named, also in the conversation.
pub(crate) fn map_paths(
    session: &Session,
    id: &str,
    folders: (&str, &str),
    map: &PathMap,
    own: &PathMap,
    plan: &mut Plan,
) {
    let rules = [own_files((id, id), folders)];
    add_edits(session, &rules, Some(map), own.rules(), plan);
}

fn add_edits(
    session: &Session,
    rules: &[Rule],
    map: Option<&PathMap>,
    own: &[(String, String)],
    plan: &mut Plan,
) {
    let own: Vec<NamedFolder> = own.iter().map(NamedFolder::new).collect();
    let project = map.map(|map| {
        let named = map.rules().iter().map(NamedFolder::new);
        (map, named.collect::<Vec<_>>())
    });
    let document = session.document();
    let search = |piece: &std::ops::Range<LineIx>| {
        let mut scratch = Vec::new();
        let mut found: Vec<(LineIx, Vec<Edit>)> = Vec::new();
        for line in piece.start.up_to(piece.end) {
            let entry = session.lines()[line].entry().map(|e| session.entry(e));
            let text = document.text_in(line, &mut scratch);
            let mut edits: Vec<Edit> = rules.iter().flat_map(|rule| rule.edits(text)).collect();
            named_edits(text, Span::new(0, text.len()), &own, &mut edits);
            if let (Some(entry), Some((map, environment))) = (entry, &project) {
                project_edits(text, entry, map, environment, &mut edits);
            }
            edits.retain(|e| e.span.of(text) != &e.with[..]);
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
                found.push((line, edits));
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
        let (from, to) = &names.folders;
        let new_id = names.new_id.to_string();
        rules.push(own_files((&names.old_id, &new_id), (from, to)));
    }
    rules.extend(names.slugs.iter().map(|(old, new)| plan_files(old, new)));
    rules.extend(names.agents.iter().map(|(old, new)| agent_name(old, new)));
    rules
}

/// Paths of the session's outputs and subagents, and of the transcript itself: a summary that names the full
/// transcript must mean the copy's.
fn own_files((old, new): (&str, &str), (from, to): (&str, &str)) -> Rule {
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
    Rule::new(old, new, neighbours)
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
        String::from_utf8_lossy(document.text(LineIx::default())).into_owned()
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

    #[test]
    fn move_paths_takes_a_project_of_windows_along_to_any_system() {
        let line = |at: &str| {
            format!(
                r#"{{"type":"user","cwd":"{at}","message":{{"role":"user","content":"x"}},"uuid":"u"}}"#
            )
        };
        let names = |new: &str| CopyNames {
            project: Some((r"E:\ws\project".to_owned(), new.to_owned())),
            ..CopyNames::default()
        };
        let old = line(r"e:\\ws\\project\\src");
        let linux = line("/home/me/project/src");
        assert_eq!(moved(&old, &names("/home/me/project")), linux);
        let back = CopyNames {
            project: Some(("/home/me/project".to_owned(), r"D:\p".to_owned())),
            ..CopyNames::default()
        };
        assert_eq!(moved(&linux, &back), line(r"D:\\p\\src"));
        let share = line(r"\\\\server\\share\\src");
        assert_eq!(moved(&old, &names(r"\\server\share")), share);
    }

    #[test]
    fn move_paths_takes_the_environment_along_but_not_the_conversation() {
        let line = |at: &str, said: &str| {
            format!(
                r#"{{"type":"attachment","attachment":{{"type":"environment","snapshot":{{"workingDirectory":"{at}"}}}},"rendered":[{{"content":"in {at}\nnot /w/older or {at}/src"}}],"cwd":"{at}","uuid":"u"}}
{{"type":"user","message":{{"role":"user","content":"look at {said}"}},"uuid":"v"}}"#
            )
        };
        let names = CopyNames {
            project: Some(("/w/old".to_owned(), "/w/new".to_owned())),
            ..CopyNames::default()
        };
        let text = line("/w/old", "/w/old");
        let first = text.lines().next().unwrap_or_default();
        let expected = line("/w/new", "/w/old");
        assert_eq!(
            moved(first, &names),
            expected.lines().next().unwrap_or_default()
        );
        let second = text.lines().last().unwrap_or_default();
        assert_eq!(moved(second, &names), second);
    }

    #[test]
    fn move_project_leads_to_the_outputs_in_the_new_folder() {
        let line = r#"{"type":"note","path":"/c/projects/-a/s1/tool-results/x","other":"/c/projects/-a/s2/tool-results/x"}"#;
        let session = Session::new(Document::from_bytes(line.as_bytes().to_vec()));
        let mut plan = Plan::default();
        move_project(&session, "s1", ("-a", "-b"), ("/a", "/b"), &mut plan);
        let (document, _) = plan.apply(&session).expect("a sound plan");
        let expected = line.replace("-a/s1", "-b/s1");
        assert_eq!(
            String::from_utf8_lossy(document.text(LineIx::default())),
            expected
        );
    }
}
