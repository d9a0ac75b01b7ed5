//! The library without the program: open, plan, look, verify, carry out.

mod common;

use ccsurgery::doctor::examine;
use ccsurgery::document::Document;
use ccsurgery::ops::{StripThinking, Truncate};
use ccsurgery::render::Preview;
use ccsurgery::session::Session;
use ccsurgery::surgery::{
    Action, Detail, Figures, Renaming, Transform as _, emit, emitted_len, verify,
};
use ccsurgery::transcript::Id;
use ccsurgery::window::Calibration;
use common::{Home, SESSION, Transcript};
use serde_json::json;
use uuid::Uuid;

fn transcript() -> Transcript {
    Transcript::new(SESSION, std::path::Path::new("/home/you/project"))
        .prompt("first")
        .thinking("hm")
        .answer("one")
        .prompt("second")
        .call("toolu_1", "Bash", &json!({"command": "date"}))
        .result("toolu_1", "Tuesday")
        .answer("two")
}

#[test]
fn opens_a_file_and_tells_what_is_in_it() {
    let home = Home::new();
    let session = Session::open(home.add(&transcript())).expect("a session");
    assert_eq!(session.entries().len(), 7);
    assert_eq!(session.turns().len(), 2);
    assert_eq!(session.graph().path().len(), 7);
    assert_eq!(session.session_id(), Some(Id::of(SESSION.as_bytes())));
    let call = session.calls().iter().next().expect("a call");
    assert_eq!((call.uses.len(), call.results.len()), (1, 1));
    assert!(examine(&session).is_empty());
}

#[test]
fn a_plan_is_looked_at_before_it_is_carried_out() {
    let session = Session::new(Document::from_bytes(transcript().text()));
    let mut plan = Truncate { at: 1.into() }
        .plan(&session, Detail::Full)
        .expect("a plan");
    let dropped: Vec<u32> = plan.dropped().collect();
    assert_eq!(dropped, [3, 4, 5, 6]);
    assert!(plan.changes.iter().all(|c| c.action == Action::Drop));

    let after = Session::new(plan.apply(&session).expect("a document").0);
    verify(&session, &after).expect("no new fault");
    let measure = |s: &Session| Figures::of(s, Calibration::of(s).window());
    assert_eq!((measure(&session).turns, measure(&after).turns), (2, 1));
    assert!(measure(&after).bytes < measure(&session).bytes);
    let text = transcript().text();
    let kept: String = text.split_inclusive('\n').take(3).collect();
    assert_eq!(
        after.document().to_vec(),
        kept.as_bytes(),
        "what stays is untouched"
    );
}

#[test]
fn a_refusal_is_a_value_that_says_what_to_do() {
    let session = Session::new(Document::from_bytes(transcript().text()));
    let refusal = Truncate { at: 9.into() }
        .plan(&session, Detail::Full)
        .expect_err("no such turn");
    assert_eq!(refusal.kind, "no-such-turn");
    assert!(!refusal.hint.is_empty());
}

#[test]
fn transforms_can_follow_each_other() {
    let session = Session::new(Document::from_bytes(transcript().text()));
    let mut plan = StripThinking::default()
        .plan(&session, Detail::Full)
        .expect("a plan");
    let stripped = Session::new(plan.apply(&session).expect("a document").0);
    let mut plan = Truncate { at: 1.into() }
        .plan(&stripped, Detail::Full)
        .expect("a plan");
    let after = Session::new(plan.apply(&stripped).expect("a document").0);
    assert_eq!(after.entries().len(), 2);
    assert_eq!(
        after.document().origin(1),
        Some(2),
        "lines know where they came from"
    );
    verify(&session, &after).expect("no new fault");
}

#[test]
fn a_result_that_is_worse_is_not_let_through() {
    let session = Session::new(Document::from_bytes(transcript().text()));
    let text = transcript().text();
    let without_call: String = text
        .split_inclusive('\n')
        .enumerate()
        .filter(|(i, _)| *i != 4)
        .map(|(_, l)| l)
        .collect();
    let fault = verify(&session, &Session::new(Document::from_bytes(without_call)))
        .expect_err("a stray result");
    assert_eq!((fault.before, fault.after), (0, 1));
}

#[test]
fn ids_are_renamed_as_the_lines_go_out() {
    let session = Session::new(Document::from_bytes(transcript().text()));
    let mut renames = Renaming::default();
    let fresh = |number: u128| Uuid::from_u128(0x4000_8000_0000_0000_0000 | number);
    renames.id(SESSION, fresh(0));
    renames.session(SESSION, fresh(0));
    renames.main_entries(&session);
    renames.mark_forks();
    let mut out = Vec::new();
    emit(&session, Some(&renames), &mut out).expect("memory takes all");
    assert_eq!(out.len() as u64, emitted_len(&session, Some(&renames)));
    let clone = Session::new(Document::from_bytes(out));
    assert_eq!(clone.graph().path(), session.graph().path());
    let first = &clone.entries()[0];
    let uuid = clone.string(first, &["uuid"]).expect("a uuid");
    assert_eq!(renames.get(session.entries()[0].uuid), uuid.parse().ok());
    assert_ne!(session.string(&session.entries()[0], &["uuid"]), Some(uuid));
    assert_eq!(
        clone.string(first, &["forkedFrom", "sessionId"]).as_deref(),
        Some(SESSION)
    );
}

/// A session of turns with answers of nothing but thinking, cut by a boundary: so many before, so many after.
fn of_thinking(before: usize, after: usize) -> Session {
    let mut lines = Vec::new();
    let mut parent = "null".to_owned();
    let mut add = |kind: &str, rest: &str, number: &mut usize| {
        let uuid = format!("\"00000000-0000-4000-8000-{number:012}\"");
        lines.push(format!(
            r#"{{"parentUuid":{parent},"uuid":{uuid},"type":"{kind}","sessionId":"s",{rest}}}"#
        ));
        parent = uuid;
        *number += 1;
    };
    let mut number = 1;
    for (part, answers) in [before, after].into_iter().enumerate() {
        if part == 1 {
            let boundary = r#""subtype":"compact_boundary","content":"cut""#;
            add("system", boundary, &mut number);
        }
        for answer in 0..answers {
            if answer % 60 == 0 {
                add(
                    "user",
                    r#""message":{"role":"user","content":"go"}"#,
                    &mut number,
                );
            }
            let block = match answer % 4 {
                0 => r#"{"type":"redacted_thinking","data":"x"}"#.to_owned(),
                1 => r#"{"type":"thinking","thinking":"","signature":"s"}"#.to_owned(),
                _ => format!(
                    r#"{{"type":"thinking","thinking":"thought {answer}","signature":"s"}}"#
                ),
            };
            let message = format!(r#""message":{{"id":"m{number}","content":[{block}]}}"#);
            add("assistant", &message, &mut number);
        }
    }
    add(
        "user",
        r#""message":{"role":"user","content":"and on"}"#,
        &mut number,
    );
    Session::new(Document::from_bytes(lines.join("\n") + "\n"))
}

#[test]
fn sums_are_shown_as_what_they_sum_up() {
    for (before, after) in [(0, 8), (0, 900), (1300, 8), (1300, 40), (3000, 2000)] {
        let session = of_thinking(before, after);
        let shown = |say| {
            let plan = StripThinking::default().plan(&session, say);
            let mut plan = plan.expect("a plan");
            plan.apply(&session).expect("a sound plan");
            let measure = Figures::of(&session, 0);
            let preview = Preview {
                operation: "strip-thinking",
                session_id: "s",
                title: "",
                project: "",
                before: measure,
                after: measure,
                changes: &plan.changes,
                source: session.document().source(),
                renamed: 0,
                files: &[],
                warnings: &[],
                home: None,
                columns: 100,
                verbose: false,
                show_secrets: false,
            };
            (preview.render(), plan.changes.len())
        };
        let (each, sums) = (shown(Detail::Full), shown(Detail::Grouped));
        assert!(sums.1 < 1500, "{} changes are said", sums.1);
        assert_eq!(sums.0, each.0, "{before} before and {after} after");
    }
}
