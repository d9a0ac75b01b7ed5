//! Tests of the reader.

use super::*;
use crate::json::lookup;
use crate::transcript::{BlockKind, Kind, PromptKind};

struct Parsed {
    entry: Entry,
    blocks: Vec<Block>,
}

fn parse(line: &[u8]) -> Result<Parsed, Malformed> {
    let mut blocks = Vec::new();
    super::parse(line, &mut blocks).map(|(entry, _)| Parsed { entry, blocks })
}

#[test]
fn reader_reads_a_prompt() {
    let p = parse(br#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"hi"},"uuid":"a","timestamp":"2026-01-03T10:00:00.000Z","permissionMode":"default"}"#).unwrap();
    assert_eq!(
        (p.entry.kind, p.entry.prompt),
        (Kind::User, PromptKind::Words)
    );
    assert_eq!(p.entry.uuid, Id::of(b"a"));
    assert!(
        p.entry.flags.has_parent_field()
            && p.entry.flags.permission_mode()
            && !p.entry.parent.is_some()
    );
    assert_eq!(p.entry.time, 1_767_434_400_000);
}

#[test]
fn reader_finds_invalid_utf8_in_copies_of_results() {
    let line = |content: &[u8], copy: &[u8]| {
        let parts: [&[u8]; 5] = [
            br#"{"type":"user","message":{"content":[{"type":"tool_result","content":""#,
            content,
            br#""}]},"toolUseResult":{"stdout":""#,
            copy,
            br#""},"uuid":"a"}"#,
        ];
        parse(&parts.concat()).expect("an entry").entry
    };
    let words = "größe ".repeat(20).into_bytes();
    let mut torn = words.clone();
    torn.push(0xc3);
    assert!(!line(&words, &words).flags.not_utf8());
    for (content, copy) in [(&torn, &torn), (&words, &torn), (&torn, &words)] {
        assert!(line(content, copy).flags.not_utf8());
    }
    let len = |e: Entry| e.result.len();
    assert_eq!(len(line(&words, &words)), len(line(b"", &words)));
}

#[test]
fn reader_reads_blocks_with_their_calls() {
    let line = br#"{"type":"assistant","uuid":"b","message":{"id":"m","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"c","name":"Bash","input":{"id":"no"}}]}}"#;
    let p = parse(line).unwrap();
    let kinds: Vec<_> = p.blocks.iter().map(|b| (b.kind, b.tool)).collect();
    assert_eq!(
        kinds,
        [
            (BlockKind::Thinking, Id::NONE),
            (BlockKind::ToolUse, Id::of(b"c"))
        ]
    );
    assert!(
        p.blocks[1]
            .span
            .of(line)
            .starts_with(b"{\"type\":\"tool_use\"")
    );
}

#[test]
fn block_knows_where_the_content_of_a_result_is() {
    let far = format!(r#","x":"{}""#, "y".repeat(300));
    for (content, after) in [
        (r#","content":"out""#, ""),
        (r#","content":[{"type":"text"}]"#, r#","is_error":true"#),
        (r#","content":"a","content":"b""#, &far),
        (r#","content":"a""#, r#","name":"n""#),
        ("", ""),
    ] {
        let line = format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result"{content}{after}}}]}}}}"#
        );
        let (line, parsed) = (line.as_bytes(), parse(line.as_bytes()).unwrap());
        let block = &parsed.blocks[0];
        let expected = lookup(block.span.of(line), &["content"]).map(|s| s.of(block.span.of(line)));
        assert_eq!(block.content(line).map(|s| s.of(line)), expected);
        let name: &[u8] = if after.contains("name") {
            b"\"n\""
        } else {
            b""
        };
        assert_eq!(block.name(line), name);
    }
}

#[test]
fn reader_takes_results_for_no_prompt_and_ignores_fields_of_other_types() {
    let p = parse(br#"{"type":"user","uuid":7,"message":{"content":[{"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"x"}]}}"#).unwrap();
    assert_eq!((p.entry.prompt, p.entry.uuid), (PromptKind::None, Id::NONE));
    assert!(parse(b"[1]").is_err() && parse(b"{} {}").is_err());
}

#[test]
fn reader_classifies_long_prompts_by_their_beginning() {
    let line = format!(
        r#"{{"type":"user","message":{{"content":"{}<x>"}}}}"#,
        "\\n".repeat(900)
    );
    assert_eq!(
        parse(line.as_bytes()).unwrap().entry.prompt,
        PromptKind::Words
    );
    let line = format!(
        r#"{{"type":"user","message":{{"content":"<local-command-stdout>{}"}}}}"#,
        "y".repeat(900)
    );
    assert_eq!(
        parse(line.as_bytes()).unwrap().entry.prompt,
        PromptKind::Machine
    );
}
