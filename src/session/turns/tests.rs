use crate::document::Document;
use crate::session::Session;

/// The number of turns in a session with one answered prompt, and this line after it.
fn turns_with(line: &str) -> usize {
    let lines = [
        r#"{"type":"user","uuid":"p","message":{"content":"go"}}"#,
        r#"{"type":"assistant","uuid":"a","parentUuid":"p","message":{"id":"m","content":[{"type":"text","text":"ok"}]}}"#,
        line,
        r#"{"type":"assistant","uuid":"b","parentUuid":"x","message":{"id":"n","content":[{"type":"text","text":"ok"}]}}"#,
    ];
    let session = Session::new(Document::from_bytes(lines.join("\n").into_bytes()));
    session.turns().len()
}

fn queued(attachment: &str) -> usize {
    turns_with(&format!(
        r#"{{"type":"attachment","uuid":"x","parentUuid":"a","attachment":{{"type":"queued_command",{attachment}}}}}"#
    ))
}

fn user(text: &str, more: &str) -> usize {
    turns_with(&format!(
        r#"{{"type":"user","uuid":"x","parentUuid":"a","message":{{"content":"{text}"}}{more}}}"#
    ))
}

#[test]
fn turns_begin_with_queued_prompts_of_a_person() {
    for attachment in [
        r#""prompt":"and this","commandMode":"prompt""#,
        r#""prompt":"and this""#,
        r#""prompt":[{"type":"text","text":"and this"}]"#,
        r#""prompt":[{"type":"image","source":{}}]"#,
        r#""prompt":"<task-notification>pasted","origin":{"kind":"human"}"#,
        r#""prompt":"<task-notification>pasted","commandMode":"prompt""#,
    ] {
        assert_eq!(queued(attachment), 2, "{attachment}");
    }
}

#[test]
fn turns_do_not_begin_with_queued_notifications() {
    for attachment in [
        r#""prompt":"<task-notification>","commandMode":"task-notification""#,
        r#""commandMode":"task-notification","prompt":"done""#,
        r#""prompt":"<task-notification>""#,
        r#""prompt":[{"type":"text","text":"<agent-message from>"}]"#,
        r#""prompt":"done","origin":{"kind":"task-notification"}"#,
        r#""prompt":"done","isMeta":true"#,
    ] {
        assert_eq!(queued(attachment), 1, "{attachment}");
    }
}

#[test]
fn turns_do_not_begin_with_texts_of_the_client() {
    for text in [
        "<task-notification>done",
        "<agent-message from='x'>done",
        "Operation stopped by hook: no",
        "<local-command-stdout>ok</local-command-stdout>",
    ] {
        assert_eq!(user(text, ""), 1, "{text}");
    }
    assert_eq!(
        user("go on", r#","origin":{"kind":"task-notification"}"#),
        1
    );
}

#[test]
fn turns_begin_with_pasted_text_that_the_client_marks_as_typed() {
    for text in [
        "This session is being continued from a previous conversation. Pasted.",
        "[Request interrupted by user] was in my log, why?",
        "<local-command-stdout> what is that?",
    ] {
        assert_eq!(user(text, r#","promptSource":"typed""#), 2, "{text}");
        assert_eq!(user(text, r#","promptSource":"sdk""#), 2, "{text}");
        assert_eq!(user(text, r#","origin":{"kind":"human"}"#), 2, "{text}");
    }
}
