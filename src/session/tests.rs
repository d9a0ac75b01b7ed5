//! Tests of reading and deriving sessions.

use proptest::prelude::*;

use super::Session;
use crate::document::{Document, LineIx, Source};
use crate::json::{Edit, Span};
use crate::transcript::{Block, BlockRange, Entry, EntryHead};

const PARTS: [&str; 18] = [
    "\n",
    "\r\n",
    "\r",
    " ",
    "\u{feff}",
    "\0",
    "{",
    "}",
    "{}",
    r#"{"a":"#,
    r#""text\\""#,
    r#"{"type":"user","uuid":"u","cwd":"/b","message":{"model":"m","content":[{"type":"text","text":"hi \u0041"}],"usage":{"input_tokens":3}}}"#,
    r#"{"type":"attachment","attachment":{"type":"date"},"uuid":"größe","cwd":"/a","version":"2"}"#,
    r#"{"type":"user","uuid":"v","parentUuid":"u","message":{"content":"x"}}"#,
    r#"{"type":"assistant","uuid":"w","parentUuid":"u","message":{"content":[{"type":"tool_use","id":"c","name":"Bash"},{"type":"tool_use","id":"d","name":"Grep"}]}}"#,
    r#"{"type":"last-prompt","leafUuid":"u"}"#,
    r#"{"type":"last-prompt","leafUuid":"v","explicit":true}"#,
    "\n\n",
];

const EDITS: [&str; 18] = [
    "",
    "x",
    "é",
    "\\u0041",
    "\"",
    r#""uuid":"q","#,
    r#","parentUuid":"w""#,
    r#","message":{"content":[]}"#,
    r#","message":{"content":"y"},"cwd":"/c""#,
    r#","version":"9""#,
    r#","explicit":true"#,
    r#","isMeta":true"#,
    r#","isMeta":false"#,
    r#","isCompactSummary":true"#,
    r#","isCompactSummary":false"#,
    r#","promptSource":"system""#,
    r#","type":"assistant""#,
    r#","type":"user""#,
];

/// A block, with the name of its tool instead of its number.
type NamedBlock<'a> = (Block, &'a [u8]);

/// Returns each entry with its blocks instead of their numbers.
fn with_blocks(session: &Session) -> Vec<(Entry, Vec<NamedBlock<'_>>)> {
    let with_blocks = |e: &Entry| {
        let named = |b: &Block| {
            let mut plain = *b;
            plain.named = 0;
            (plain, session.tool_json(e, b))
        };
        let mut plain = *e;
        plain.blocks = BlockRange::default();
        (plain, session.blocks(e).iter().map(named).collect())
    };
    session.entries().iter().map(with_blocks).collect()
}

fn are_alike(made: &Session, read: &Session) -> Result<(), TestCaseError> {
    prop_assert_eq!(&made.lines, &read.lines);
    prop_assert_eq!(with_blocks(made), with_blocks(read));
    let heads: Vec<EntryHead> = made.entries().iter().map(Entry::head).collect();
    prop_assert_eq!(made.heads(), &heads[..]);
    for e in made.entries() {
        prop_assert!(made.may_have(e.kind));
        prop_assert_eq!(made.flags_of_any().or(e.flags), made.flags_of_any());
    }
    prop_assert_eq!(made.graph.path(), read.graph.path());
    let places = |s: &Session| {
        let all = s.numbers();
        all.map(|i| s.graph.place(i)).collect::<Vec<_>>()
    };
    prop_assert_eq!(places(made), places(read));
    prop_assert_eq!(made.turns.all(), read.turns.all());
    let calls = |s: &Session| {
        let all = s.calls.iter();
        all.map(|c| (c.id, c.uses.len(), c.results.len()))
            .collect::<Vec<_>>()
    };
    prop_assert_eq!(calls(made), calls(read));
    for key in ["cwd", "version", "slug"] {
        prop_assert_eq!(made.distinct(key), read.distinct(key));
    }
    Ok(())
}

#[test]
fn derive_takes_a_document_that_is_two_steps_away() {
    let lines = [PARTS[11], PARTS[13], PARTS[14]].join("\n");
    let session = Session::new(Document::from_bytes(lines.into_bytes()));
    let step = |from: &Document| {
        let mut next = from.derived();
        let edit = Edit::new(Span::new(1, 1), r#""version":"9","#);
        next.edit(LineIx::default(), [edit].into_iter().collect())
            .expect("an edit");
        from.numbers().skip(1).for_each(|i| next.keep(i));
        next.finish()
    };
    let (middle, first) = step(session.document());
    let (document, second) = step(&middle);
    let read = Session::new(Document::from_bytes(document.to_vec()));
    let derived = session.derived(document, &first.then(&second));
    are_alike(&derived, &read).expect("the same session");
}

#[test]
fn session_names_more_tools_than_fit_into_the_inventory() {
    let line = |n: usize| {
        format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"c{n}","name":"tool {n}"}},{{"type":"tool_use","id":"d{n}"}}]}}}}"#
        ) + "\n"
    };
    let lines: String = (0..300).chain((0..300).rev()).map(line).collect();
    let session = Session::read(Source::Owned(lines.into_bytes()));
    for (i, e) in session.entries().iter().enumerate() {
        let names = session.blocks(e).iter().map(|b| session.tool_name(e, b));
        let number = i.min(599 - i);
        assert_eq!(names.collect::<Vec<_>>(), [&format!("tool {number}"), ""]);
    }
}

/// Lines with many fields in common, and unusual versions of them.
const ALIKE: [&str; 17] = [
    r#"{"parentUuid":"11111111-2222-4333-8444-555555555555","userType":"external","type":"assistant","message":{"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":" "},{"type":"image"}]},"uuid":"15111111-2222-4333-8444-555555555555"}"#,
    r#"{"parentUuid":"11111111-2222-4333-8444-555555555555","userType":"external","type":"assistant","message":{"content":"x"},"uuid":"16111111-2222-4333-8444-555555555555"}"#,
    r#"{"userType":"external","cwd":"/a","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","sessionId":null,"type":"user","uuid":"12111111-2222-4333-8444-555555555555"}"#,
    r#"{"userType":"external","cwd":"/a","cwd":5,"sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","type":"user","uuid":"13111111-2222-4333-8444-555555555555"}"#,
    r#"{"userType":"external","cwd":"/a","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","type":"user","uuid":"14111111-2222-4333-8444-555555555555"}"#,
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"an output that is long enough to be compared with its copy, größe and all"}]},"toolUseResult":{"stdout":"an output that is long enough to be compared with its copy, größe and all","stderr":""},"uuid":"f1111111-2222-4333-8444-555555555555"}"#,
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"an output that is long enough to be compared with its copy, \"größe\" and all"}]},"toolUseResult":{"stderr":"an output that is long enough to be compared with its copy, \"größe\" and all.","stdout":"an output that is long enough to be compared with its copy, \"größe\" and all","agentId":"a","again":"an output that is long enough to be compared with its copy, \"größe\" and all"},"uuid":"f2111111-2222-4333-8444-555555555555"}"#,
    r#"{"parentUuid":"11111111-2222-4333-8444-555555555555","isSidechain":false,"userType":"external","cwd":"/a","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.45","gitBranch":"main","type":"user","message":{"content":"x"},"uuid":"21111111-2222-4333-8444-555555555555","timestamp":"2026-01-02T03:04:05.678Z"}"#,
    r#"{"parentUuid":"21111111-2222-4333-8444-555555555555","isSidechain":false,"userType":"external","cwd":"/a","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.45","gitBranch":"main","type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"c"}]},"uuid":"31111111-2222-4333-8444-555555555555","timestamp":"2026-01-02T03:04:06.000Z"}"#,
    r#"{"parentUuid":"31111111-2222-4333-8444-555555555555","type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"é"}]},"uuid":"41111111-2222-4333-8444-555555555555","timestamp":"2026-01-03T03:04:06.000Z","toolUseResult":{"persistedOutputPath":"/x"},"sourceToolAssistantUUID":"31111111-2222-4333-8444-555555555555","userType":"external","entrypoint":"cli","cwd":"/größe","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.325","gitBranch":"HEAD","slug":"calm"}"#,
    r#"{"parentUuid":"41111111-2222-4333-8444-555555555555","type":"attachment","attachment":{"type":"note","content":"some","x":"51111111-2222-4333-8444-555555555555"},"uuid":"61111111-2222-4333-8444-555555555555","userType":"external","entrypoint":"cli","cwd":"/größe","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.325","gitBranch":"HEAD","slug":"calm"}"#,
    r#"{"parentUuid":"41111111-2222-4333-8444-555555555555","userType":"external","entrypoint":{"id":"51111111-2222-4333-8444-555555555555"},"cwd":"/a","type":"system","uuid":"71111111-2222-4333-8444-555555555555"}"#,
    r#"{"parentUuid":"41111111-2222-4333-8444-555555555555","userType":"external","cwd":"/a","version":2,"type":"system","uuid":"81111111-2222-4333-8444-555555555555"}"#,
    r#"{"parentUuid":"41111111-2222-4333-8444-555555555555","userType":"external","cwd":"/a","version":"\u0032","type":"system","parentUuid":"61111111-2222-4333-8444-555555555555","uuid":"91111111-2222-4333-8444-555555555555"}"#,
    r#"{"userType":"external","userType":"external","cwd":"/a","cwd":"/b","type":"user","parentUuid":"41111111-2222-4333-8444-555555555555","uuid":"a1111111-2222-4333-8444-555555555555","timestamp":"2026-01-02T03:04:05Z"}"#,
    r#"{"parentUuid":"61111111-2222-4333-8444-555555555555","userType":"external","cwd":"/a","type":"user","message":{"content":"y"},"uuid":"b1111111-2222-4333-8444-555555555555","timestamp":"2026-99-02T03:04:05.678Z"}"#,
    r#"{"parentUuid":null,"type":"progress","uuid":"c1111111-2222-4333-8444-555555555555","userType":"external","cwd":"/a","toolUseID":"c","data":{"message":{"uuid":"d1111111-2222-4333-8444-555555555555","content":"e1111111-2222-4333-8444-555555555555"}}}"#,
];

proptest! {
    #[test]
    fn session_reads_repeated_fields_as_if_they_were_not_cached(lines in proptest::collection::vec((prop::sample::select(&ALIKE[..]), any::<bool>(), any::<bool>()), 0..24)) {
        // After something long, positions of ids are counted from the line's end.
        let long = format!(r#"{{"long":"{}","#, "x".repeat(40_000));
        let bytes: Vec<u8> = lines.iter().flat_map(|&(line, windows, far)| {
            let line = if far { line.replacen('{', &long, 1) } else { line.to_owned() };
            let ending = if windows { "\r\n" } else { "\n" };
            (line + ending).into_bytes()
        }).collect();
        let each = Session::new(Document::from_bytes(bytes.clone()));
        let within = Session::read(Source::Owned(bytes));
        prop_assert_eq!(&each.inventory.cwds, &within.inventory.cwds);
        are_alike(&within, &each)?;
    }

    #[test]
    fn derive_reads_lines_with_another_parent_as_they_are_written(
        lines in proptest::collection::vec(prop::sample::select(&ALIKE[..]), 1..12),
        parents in proptest::collection::vec(prop::sample::select(&[
            "\"61111111-2222-4333-8444-555555555555\"",
            "\"6111111A-2222-4333-8444-555555555555\"",
            "\"nobody\"",
            "null",
            "",
        ][..]), 12),
    ) {
        let before = Session::new(Document::from_bytes(lines.join("\n").into_bytes()));
        let mut next = before.document.derived();
        for (i, parent) in before.document.numbers().zip(parents) {
            let span = Span::new(14, 52);
            match parent {
                "" => next.keep(i),
                _ => next.edit(i, [Edit::new(span, parent)].into_iter().collect()).expect("one edit"),
            }
        }
        let (document, lines) = next.finish();
        let read = Session::new(Document::from_bytes(document.to_vec()));
        are_alike(&before.derive(document, &lines), &read)?;
    }

    #[test]
    fn session_is_the_same_if_lines_are_split_before_they_are_read(parts in proptest::collection::vec(prop::sample::select(&PARTS[..]), 0..24)) {
        let bytes = parts.concat().into_bytes();
        let before = Session::new(Document::from_bytes(bytes.clone()));
        let within = Session::read(Source::Owned(bytes));
        prop_assert_eq!(before.document.lines(), within.document.lines());
        prop_assert_eq!(&before.lines, &within.lines);
        prop_assert_eq!(before.entries(), within.entries());
        prop_assert_eq!(&before.blocks, &within.blocks);
    }

    #[test]
    fn derive_gives_what_reading_the_document_would(
        parts in proptest::collection::vec(prop::sample::select(&PARTS[..]), 0..24),
        kept in any::<bool>(),
        fates in proptest::collection::vec((0..4, prop::sample::select(&PARTS[11..17])), 24),
        more in proptest::collection::vec(prop::sample::select(&PARTS[11..17]), 0..3),
    ) {
        let before = Session::new(Document::from_bytes(parts.concat().into_bytes()));
        let mut next = before.document.derived();
        for (i, (fate, text)) in before.document.numbers().zip(fates.iter().cycle()) {
            match fate {
                _ if kept => next.keep(i),
                0 => {}
                1 => next.replace(i, text.as_bytes()),
                2 => next.keep(i),
                _ => {
                    next.insert(text.as_bytes());
                    next.insert(b"{}");
                    next.keep(i);
                }
            }
        }
        for text in more {
            next.insert(text.as_bytes());
        }
        let (document, lines) = next.finish();
        let read = Session::new(document.clone());
        for made in [before.derived(document.clone(), &lines), before.derive(document, &lines)] {
            are_alike(&made, &read)?;
        }
    }

    #[test]
    fn derive_reads_edited_lines_as_they_are_written(
        parts in proptest::collection::vec(prop::sample::select(&PARTS[8..17]), 1..12),
        edits in proptest::collection::vec((0..3u8, 0..400usize, 0..12usize, prop::sample::select(&EDITS[..])), 24),
        twice in any::<bool>(),
    ) {
        let mut made = Session::new(Document::from_bytes(parts.join("\n").into_bytes()));
        for edits in edits.chunks(12).take(1 + usize::from(twice)) {
            let mut next = made.document.derived();
            for (i, &(fate, at, len, with)) in made.document.numbers().zip(edits.iter().cycle()) {
                let text = made.document.text(i);
                let start = at % (text.len() + 1);
                let span = Span::new(start, (start + len).min(text.len()));
                match fate {
                    0 => next.keep(i),
                    1 => next.edit(i, [Edit::new(span, with)].into_iter().collect()).expect("one edit"),
                    _ => {
                        let end = text.len() - usize::from(text.ends_with(b"}"));
                        let more = Edit::new(Span::new(end, end), with);
                        next.edit(i, [more].into_iter().collect()).expect("one edit");
                    }
                }
            }
            let (document, lines) = next.finish();
            let written = document.to_vec();
            prop_assert_eq!(document.len(), written.len() as u64);
            let read = Session::new(Document::from_bytes(written));
            made = made.derive(document, &lines);
            are_alike(&made, &read)?;
        }
    }
}
