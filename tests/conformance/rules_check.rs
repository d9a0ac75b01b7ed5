//! Holds the stand-in to what the API does: a sound request passes, and each fault is refused in the API's words.

use anyhow::{Result, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::ledger::EntryWeights;
use crate::rules::{faults, lone_surrogate};
use crate::signature::{seal, sign};

const LIMIT: usize = 2_000;

/// A request and what is refused in it; nothing where it is sound.
type Check = (&'static str, Value, Option<&'static str>);

/// Checks every rule once.
pub(crate) fn check() -> Result<()> {
    let mut ledger = EntryWeights::default();
    ledger.note(
        &[sign("hm", "hm"), seal("deep")],
        &["a".to_owned(), "b".to_owned()],
    );
    let mut checks = sound();
    checks.extend(of_content());
    checks.extend(of_calls());
    checks.extend(of_thinking());
    for (name, body, refused) in &checks {
        let found = faults(body, &ledger, LIMIT, true);
        match refused {
            None => ensure!(found.is_empty(), "{name} is refused: {found:?}"),
            Some(words) => ensure!(
                found.len() == 1 && found[0].contains(words),
                "{name} should be refused once, with {words:?}, not {found:?}"
            ),
        }
    }
    for (raw, lone) in [
        (r#""\ud83d\ude00""#, false),
        (r#""\ud83d""#, true),
        (r#""\ude00\ud83d""#, true),
        (r#""\\ud83d""#, false),
    ] {
        ensure!(
            lone_surrogate(raw.as_bytes()) == lone,
            "surrogates of {raw}"
        );
    }
    println!("{} rules of the stand-in hold", checks.len() + 4);
    Ok(())
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn model(blocks: &[Value]) -> Value {
    json!({"role": "assistant", "content": blocks})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "out"})
}

fn thought(words: &str) -> Value {
    json!({"type": "thinking", "thinking": words, "signature": sign("hm", "hm")})
}

fn asked(messages: &[Value]) -> Value {
    json!({"thinking": {"type": "enabled"}, "messages": messages})
}

fn sound() -> Vec<Check> {
    let (go, both) = (
        user("go"),
        user(json!([result("a"), result("b"), text("and?")])),
    );
    let sealed = json!({"type": "redacted_thinking", "data": seal("deep")});
    vec![
        ("a prompt", asked(std::slice::from_ref(&go)), None),
        (
            "parallel calls behind thinking",
            asked(&[
                go.clone(),
                model(&[thought("hm"), call("a"), call("b")]),
                both.clone(),
            ]),
            None,
        ),
        (
            "one message in two",
            asked(&[
                go.clone(),
                model(&[call("a")]),
                model(&[call("b")]),
                both.clone(),
            ]),
            None,
        ),
        (
            "sealed thinking",
            asked(&[go, model(&[sealed, call("a"), call("b")]), both]),
            None,
        ),
    ]
}

fn of_content() -> Vec<Check> {
    let image = |bytes: &[u8]| {
        let source =
            json!({"type": "base64", "media_type": "image/png", "data": STANDARD.encode(bytes)});
        user(json!([{"type": "image", "source": source}]))
    };
    let document = |bytes: &[u8]| {
        let source = json!({"type": "base64", "media_type": "application/pdf", "data": STANDARD.encode(bytes)});
        user(json!([{"type": "document", "source": source}]))
    };
    let wide = [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(),
        &9000_u32.to_be_bytes(),
        &8_u32.to_be_bytes(),
    ]
    .concat();
    vec![
        ("nothing", asked(&[]), Some("at least one message")),
        (
            "empty text",
            asked(&[user(json!([text("")]))]),
            Some("must be non-empty"),
        ),
        (
            "blank text",
            asked(&[user(json!([text(" \n")]))]),
            Some("non-whitespace"),
        ),
        (
            "an empty message",
            asked(&[user("go"), model(&[]), user("on")]),
            Some("non-empty content"),
        ),
        (
            "a model that begins",
            asked(&[model(&[text("hello")]), user("go")]),
            Some("first message must use the \"user\" role"),
        ),
        (
            "no image",
            asked(&[image(b"not one")]),
            Some("Could not process image"),
        ),
        ("a wide image", asked(&[image(&wide)]), Some("8000 pixels")),
        (
            "a document",
            asked(&[document(b"%PDF-1.4 trailer %%EOF")]),
            None,
        ),
        (
            "a torn document",
            asked(&[document(b"%PDF-1.4 trail")]),
            Some("was not valid"),
        ),
        (
            "a locked document",
            asked(&[document(b"%PDF-1.4 trailer /Encrypt %%EOF")]),
            Some("password protected"),
        ),
        (
            "a null character",
            asked(&[user("go\0")]),
            Some("null characters"),
        ),
        (
            "too much",
            asked(&[user("word ".repeat(LIMIT))]),
            Some("prompt is too long"),
        ),
    ]
}

fn of_calls() -> Vec<Check> {
    let go = user("go");
    let server = json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}});
    vec![
        (
            "a call without a result",
            asked(&[go.clone(), model(&[call("x")]), user("on")]),
            Some("without `tool_result` blocks immediately after: x"),
        ),
        (
            "a result without a call",
            asked(&[go.clone(), model(&[text("ok")]), user(json!([result("x")]))]),
            Some("unexpected `tool_use_id`"),
        ),
        (
            "two results of one call",
            asked(&[
                go.clone(),
                model(&[call("x")]),
                user(json!([result("x"), result("x")])),
            ]),
            Some("a single result"),
        ),
        (
            "a call made twice",
            asked(&[
                go,
                model(&[call("x")]),
                user(json!([result("x")])),
                model(&[call("x")]),
                user(json!([result("x")])),
            ]),
            Some("ids must be unique"),
        ),
        (
            "a server tool's call without its result",
            asked(&[user("go"), model(&[server]), user("on")]),
            Some("in the same message"),
        ),
    ]
}

fn of_thinking() -> Vec<Check> {
    let go = user("go");
    let unsigned = json!({"type": "thinking", "thinking": "hm", "signature": ""});
    let foreign = json!({"type": "redacted_thinking", "data": "bm9uZQ=="});
    vec![
        (
            "altered thinking",
            asked(&[
                go.clone(),
                model(&[thought("hmm"), call("a"), call("b")]),
                user(json!([result("a"), result("b")])),
            ]),
            Some("Invalid `signature`"),
        ),
        (
            "unsigned thinking",
            asked(&[go.clone(), model(&[unsigned, text("ok")]), go.clone()]),
            Some("Invalid `signature`"),
        ),
        (
            "foreign sealed thinking",
            asked(&[go.clone(), model(&[foreign, text("ok")]), go.clone()]),
            Some("Invalid `data`"),
        ),
        (
            "thinking that lost a call",
            asked(&[
                go.clone(),
                model(&[thought("hm"), call("a")]),
                user(json!([result("a"), text("and?")])),
            ]),
            Some("cannot be modified"),
        ),
        (
            "calls that lost their thinking in an unfinished turn",
            asked(&[
                go,
                model(&[call("a"), call("b")]),
                user(json!([result("a"), result("b")])),
            ]),
            Some("must start with a thinking block"),
        ),
    ]
}
