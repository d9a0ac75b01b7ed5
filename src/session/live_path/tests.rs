use crate::document::Document;
use crate::session::Session;
use crate::transcript::EntryIx;

/// An entry at this second; the parent `-` is none.
fn entry(kind: &str, uuid: &str, parent: &str, second: u32, more: &str) -> String {
    let parent = match parent {
        "-" => "null".to_owned(),
        parent => format!("\"{parent}\""),
    };
    let (minute, second) = (second / 60, second % 60);
    format!(
        r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent},"timestamp":"2026-01-01T00:{minute:02}:{second:02}.000Z"{more}}}"#
    )
}

fn prompt(uuid: &str, parent: &str, second: u32) -> String {
    let more = format!(r#","message":{{"content":"{uuid}"}}"#);
    entry("user", uuid, parent, second, &more)
}

fn answer(uuid: &str, parent: &str, second: u32) -> String {
    let more =
        format!(r#","message":{{"id":"m{uuid}","content":[{{"type":"text","text":"{uuid}"}}]}}"#);
    entry("assistant", uuid, parent, second, &more)
}

fn call(uuid: &str, parent: &str, id: &str) -> String {
    let more = format!(
        r#","message":{{"id":"calls","content":[{{"type":"tool_use","id":"{id}","name":"Bash"}}]}}"#
    );
    entry("assistant", uuid, parent, 2, &more)
}

fn result(uuid: &str, parent: &str, id: &str) -> String {
    let more = format!(
        r#","message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}]}}"#
    );
    entry("user", uuid, parent, 3, &more)
}

fn last_prompt(leaf: &str) -> String {
    format!(r#"{{"type":"last-prompt","leafUuid":"{leaf}"}}"#)
}

fn boundary(remembers: &str, metadata: &str) -> String {
    let more = format!(
        r#","subtype":"compact_boundary","logicalParentUuid":"{remembers}","compactMetadata":{{{metadata}}}"#
    );
    entry("system", "B", "-", 10, &more)
}

fn summary() -> String {
    let more = r#","isCompactSummary":true,"message":{"content":"summary"}"#;
    entry("user", "S", "B", 10, more)
}

/// Two turns: `p1 a1 p2 a2`.
fn two_turns() -> Vec<String> {
    vec![
        prompt("p1", "-", 1),
        answer("a1", "p1", 2),
        prompt("p2", "a1", 3),
        answer("a2", "p2", 4),
    ]
}

fn session(lines: &[String]) -> Session {
    Session::new(Document::from_bytes(lines.join("\n").into_bytes()))
}

fn path(lines: &[String]) -> String {
    let session = session(lines);
    let entries = session.graph().path().iter();
    let uuids = entries.map(|&i| session.uuid(session.entry(i)).expect("a uuid"));
    uuids.collect::<Vec<_>>().join(" ")
}

fn with(more: &[String]) -> Vec<String> {
    [&two_turns()[..], more].concat()
}

#[test]
fn live_path_ignores_trailing_progress_without_a_parent() {
    let trailing = [
        entry("progress", "x", "gone", 60, ""),
        entry("progress", "y", "x", 61, ""),
    ];
    assert_eq!(path(&with(&trailing)), "p1 a1 p2 a2");
}

#[test]
fn live_path_ignores_trailing_notes_without_a_parent() {
    for kind in ["system", "attachment"] {
        let trailing = [entry(kind, "x", "gone", 60, "")];
        assert_eq!(path(&with(&trailing)), "p1 a1 p2 a2");
    }
}

#[test]
fn live_path_bridges_by_the_first_entry_that_is_not_progress() {
    let after = |second: u32| {
        with(&[
            entry("progress", "x", "gone", 7, ""),
            entry("system", "y", "x", second, ""),
            prompt("p3", "y", 13),
        ])
    };
    assert_eq!(path(&after(12)), "x y p3");
    assert_eq!(path(&after(8)), "p1 a1 p2 a2 x y p3");
}

#[test]
fn live_path_does_not_bridge_to_progress() {
    let lines = with(&[
        entry("progress", "x", "a2", 10, ""),
        prompt("p3", "gone", 12),
    ]);
    assert_eq!(path(&lines), "p3");
}

#[test]
fn live_path_continues_where_the_last_prompt_names_a_parallel_result() {
    let calls = [
        prompt("p1", "-", 1),
        call("c1", "p1", "t1"),
        call("c2", "c1", "t2"),
        result("r1", "c1", "t1"),
        entry("attachment", "hook", "r1", 3, ""),
    ];
    let rest = [result("r2", "c2", "t2"), answer("a1", "r2", 4)];
    for named in ["r1", "hook"] {
        let lines = [&calls[..], &[last_prompt(named)], &rest[..]].concat();
        assert_eq!(path(&lines), "p1 c1 c2 r2 a1");
    }
}

#[test]
fn live_path_follows_a_last_prompt_that_names_another_branch() {
    let lines = with(&[
        entry("system", "x", "a2", 5, ""),
        prompt("left", "a2", 6),
        answer("left answer", "left", 7),
        last_prompt("x"),
    ]);
    assert_eq!(path(&lines), "p1 a1 p2 a2");
}

const LISTED: &str = r#""preservedMessages":{"anchorUuid":"S","uuids":["p2","a2"]}"#;
const SEGMENT: &str = r#""preservedSegment":{"anchorUuid":"S","headUuid":"p2","tailUuid":"a2"}"#;

#[test]
fn live_path_has_preserved_messages_after_the_summary() {
    for metadata in [LISTED, SEGMENT] {
        for remembers in ["a1", "a2"] {
            let lines = with(&[
                boundary(remembers, metadata),
                summary(),
                prompt("p3", "S", 11),
                answer("a3", "p3", 12),
            ]);
            assert_eq!(path(&lines), "p1 a1 B S p2 a2 p3 a3");
            let session = session(&lines);
            assert_eq!(session.graph().window_start(), 2);
            assert_eq!(session.graph().preserved_end(), Some(6));
            let is_shown = |i| session.graph().is_shown(EntryIx::new(i));
            assert!(is_shown(2) && !is_shown(1));
            assert_eq!(session.turns().len(), 3);
        }
    }
}

#[test]
fn live_path_goes_from_preserved_messages_to_the_summary() {
    for metadata in [LISTED, SEGMENT] {
        let lines = with(&[
            boundary("a1", metadata),
            summary(),
            prompt("p3", "a2", 11),
            answer("a3", "p3", 12),
        ]);
        assert_eq!(path(&lines), "p1 a1 B S p2 a2 p3 a3");
        let session = session(&lines);
        assert_eq!(session.graph().window_start(), 2);
        assert_eq!(session.graph().preserved_end(), Some(6));
        assert!(
            session.graph().is_shown(EntryIx::new(2)) && !session.graph().is_shown(EntryIx::new(1))
        );
    }
}

#[test]
fn live_path_ends_with_preserved_messages_if_nothing_follows_the_compaction() {
    for more in [vec![], vec![last_prompt("a2")], vec![last_prompt("S")]] {
        let end = [boundary("a1", LISTED), summary()];
        let lines = with(&[&end[..], &more].concat());
        assert_eq!(path(&lines), "p1 a1 B S p2 a2");
        let session = session(&lines);
        assert_eq!(session.graph().leaf(), Some(EntryIx::new(5)), "the summary");
    }
}

#[test]
fn live_path_preserves_nothing_if_a_message_is_missing() {
    let metadata = LISTED.replace("\"p2\"", "\"gone\"");
    let lines = with(&[boundary("a2", &metadata), summary()]);
    assert_eq!(path(&lines), "p1 a1 p2 a2 B S");
}

#[test]
fn live_path_survives_preserved_messages_that_make_no_sense() {
    for uuids in [r#""S""#, r#""B""#, r#""p1","p1","S","B","p3""#] {
        let metadata = format!(r#""preservedMessages":{{"anchorUuid":"S","uuids":[{uuids}]}}"#);
        let lines = with(&[boundary("a2", &metadata), summary(), prompt("p3", "S", 11)]);
        let found = path(&lines);
        let mut uuids: Vec<&str> = found.split(' ').collect();
        uuids.sort_unstable();
        assert_eq!(uuids, ["B", "S", "a1", "a2", "p1", "p2", "p3"], "{found}");
    }
}
