use super::*;
use crate::document::{Document, LineIx};
use crate::transcript::Id;

/// Two calls of one message with their results, and an answer; results hang on `(a, b)`.
fn parallel(a: &str, b: &str, answer: &str) -> Session {
    let lines = [
        r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"go"},"uuid":"p"}"#.to_owned(),
        r#"{"parentUuid":"p","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"A","name":"Bash","input":{}}]},"uuid":"ca"}"#.to_owned(),
        r#"{"parentUuid":"ca","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"B","name":"Bash","input":{}}]},"uuid":"cb"}"#.to_owned(),
        format!(r#"{{"parentUuid":"{a}","type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"A","content":"a"}}]}},"uuid":"ra"}}"#),
        format!(r#"{{"parentUuid":"{b}","type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"B","content":"b"}}]}},"uuid":"rb"}}"#),
        format!(r#"{{"parentUuid":"{answer}","type":"assistant","message":{{"id":"n","role":"assistant","content":[{{"type":"text","text":"done"}}]}},"uuid":"d"}}"#),
    ];
    Session::new(Document::from_bytes((lines.join("\n") + "\n").into_bytes()))
}

/// The parents of what stays, after the lines with these uuids went.
fn parents(session: &Session, gone: &[&str]) -> Vec<String> {
    let mut plan = Plan::default();
    for uuid in gone {
        let at = session.find(Id::of(uuid.as_bytes())).expect("an entry");
        plan.drop_line(session.entry(at).line);
    }
    let (document, lines) = plan.apply(session).expect("a sound plan");
    let next = session.derived(document, &lines);
    let field = |e, key| next.string(e, &[key]).unwrap_or_default();
    let pairs = next.entries().iter();
    pairs
        .map(|e| format!("{}<{}", field(e, "parentUuid"), field(e, "uuid")))
        .collect()
}

#[test]
fn reparent_ignores_a_removed_copy_of_an_entry_that_stays() {
    let lines = [
        r#"{"parentUuid":null,"type":"user","message":{"content":"go"},"uuid":"p","timestamp":"2026-01-01T00:00:00.000Z"}"#,
        r#"{"parentUuid":"p","type":"assistant","message":{"id":"m","content":[]},"uuid":"x","timestamp":"2026-01-01T00:00:02.000Z"}"#,
        r#"{"parentUuid":"p","type":"assistant","message":{"id":"m","content":[]},"uuid":"x","timestamp":"2026-01-01T00:00:01.000Z"}"#,
        r#"{"parentUuid":"lost","type":"user","message":{"content":"on"},"uuid":"y","timestamp":"2026-01-01T00:00:03.000Z"}"#,
    ];
    let session = Session::new(Document::from_bytes((lines.join("\n") + "\n").into_bytes()));
    let mut plan = Plan::default();
    plan.drop_line(LineIx::new(1));
    assert_eq!(reparent(&session, &mut plan), Relinked::default());
}

#[test]
fn reparent_moves_lines_without_a_uuid() {
    let [p, a, b] = ["1", "2", "3"].map(|n| format!("{n}1111111-2222-4333-8444-555555555555"));
    let lines = [
        format!(r#"{{"parentUuid":null,"type":"user","message":{{"content":"go"}},"uuid":"{p}"}}"#),
        format!(
            r#"{{"parentUuid":"{p}","type":"assistant","message":{{"id":"m","content":[]}},"uuid":"{a}"}}"#
        ),
        format!(
            r#"{{"parentUuid":"{a}","type":"user","message":{{"content":"on"}},"uuid":"{b}"}}"#
        ),
        format!(r#"{{"type":"news","parentUuid":"{a}"}}"#),
    ];
    let session = Session::new(Document::from_bytes((lines.join("\n") + "\n").into_bytes()));
    let expected = [format!("<{p}"), format!("{p}<{b}"), format!("{p}<")];
    assert_eq!(parents(&session, &[&a]), expected);
}

#[test]
fn reparent_after_one_of_two_chained_results() {
    let session = parallel("cb", "ra", "rb");
    assert_eq!(
        parents(&session, &["ca", "ra"]),
        ["<p", "p<cb", "cb<rb", "rb<d"]
    );
    assert_eq!(
        parents(&session, &["cb", "rb"]),
        ["<p", "p<ca", "ca<ra", "ra<d"]
    );
}

#[test]
fn reparent_after_one_of_two_parallel_results() {
    let session = parallel("ca", "cb", "rb");
    assert_eq!(
        parents(&session, &["ca", "ra"]),
        ["<p", "p<cb", "cb<rb", "rb<d"]
    );
    assert_eq!(
        parents(&session, &["cb", "rb"]),
        ["<p", "p<ca", "ca<ra", "ra<d"]
    );
}

#[test]
fn reparent_leaves_a_result_on_its_own_call_beside_a_call_without_a_result() {
    let call = |uuid: &str, parent: &str, id: &str| {
        format!(
            r#"{{"parentUuid":"{parent}","type":"assistant","message":{{"id":"m","role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}]}},"uuid":"{uuid}"}}"#
        )
    };
    let result = |uuid: &str, parent: &str, id: &str| {
        format!(
            r#"{{"parentUuid":"{parent}","type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"x"}}]}},"uuid":"{uuid}"}}"#
        )
    };
    let lines = [
        r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"go"},"uuid":"p"}"#
            .to_owned(),
        call("ca", "p", "A"),
        call("cb", "ca", "B"),
        call("cc", "cb", "C"),
        result("rb", "cb", "B"),
        result("ra", "ca", "A"),
        r#"{"parentUuid":"ra","type":"user","message":{"role":"user","content":"on"},"uuid":"q"}"#
            .to_owned(),
    ];
    let session = Session::new(Document::from_bytes((lines.join("\n") + "\n").into_bytes()));
    assert_eq!(
        parents(&session, &["ca", "ra"]),
        ["<p", "p<cb", "cb<cc", "cb<rb", "rb<q"]
    );
}

#[test]
fn reparent_keeps_the_named_leaf_if_the_branch_after_it_becomes_the_end_of_the_file() {
    let line = |parent: &str, uuid: &str, kind: &str, second: u32| {
        let parent = if parent.is_empty() {
            "null".to_owned()
        } else {
            format!("\"{parent}\"")
        };
        format!(
            r#"{{"parentUuid":{parent},"type":"{kind}","message":{{"id":"m{uuid}","role":"{kind}","content":[{{"type":"text","text":"{uuid}"}}]}},"uuid":"{uuid}","sessionId":"s","timestamp":"2026-01-02T03:04:0{second}.000Z"}}"#
        )
    };
    let lines = [
        line("", "p", "user", 1),
        line("p", "a", "assistant", 2),
        r#"{"type":"last-prompt","leafUuid":"a","sessionId":"s"}"#.to_owned(),
        line("a", "q", "user", 3),
        line("q", "b", "assistant", 4),
        // A second answer to the first prompt: the record above still decides between the two.
        line("p", "x", "assistant", 5),
    ];
    let session = Session::new(Document::from_bytes((lines.join("\n") + "\n").into_bytes()));
    let named = session.find(Id::of(b"a"));
    assert_eq!(session.graph().leaf(), named);
    let mut plan = Plan::default();
    plan.drop_line(LineIx::new(5));
    let (document, lines) = plan.apply(&session).expect("a sound plan");
    let next = session.derived(document, &lines);
    let path = next.graph().path().iter().copied();
    let messages = path.filter(|&i| next.heads()[i].is_message());
    let uuids = messages.filter_map(|i| next.uuid(next.entry(i)));
    assert_eq!(uuids.collect::<Vec<_>>(), ["p", "a"]);
}

#[test]
fn reparent_keeps_a_parallel_call_that_a_compaction_preserves() {
    let before = parallel("ca", "cb", "ra");
    let swapped = String::from_utf8(before.document().to_vec()).expect("UTF-8");
    let mut lines: Vec<&str> = swapped.lines().collect();
    lines.swap(3, 4);
    let boundary = r#"{"parentUuid":null,"logicalParentUuid":"p","type":"system","subtype":"compact_boundary","content":"","compactMetadata":{"trigger":"auto","preTokens":1,"preservedMessages":{"anchorUuid":"s","uuids":["ca","cb","rb","ra","d"]}},"uuid":"b"}"#;
    let summary = r#"{"parentUuid":"b","type":"user","isCompactSummary":true,"message":{"role":"user","content":"so far"},"uuid":"s"}"#;
    let next =
        r#"{"parentUuid":"s","type":"user","message":{"role":"user","content":"on"},"uuid":"q"}"#;
    lines.extend([boundary, summary, next]);
    let session = Session::new(Document::from_bytes((lines.join("\n") + "\n").into_bytes()));
    let parents = parents(&session, &["ca", "ra"]);
    assert_eq!(parents[..4], ["<p", "p<cb", "cb<rb", "rb<d"]);
}
