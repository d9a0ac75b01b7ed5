//! The library without the program: open, operate, look, verify, publish, undo.

use crate::harness;
use ccsurgery::transcript::Id;

use std::time::SystemTime;

use ccsurgery::doctor::examine;
use ccsurgery::document::{Document, LineIx};
use ccsurgery::ops::{StripThinking, Truncate};
use ccsurgery::render::Preview;
use ccsurgery::session::Session;
use ccsurgery::store::{
    Config, CopySource, CopyTarget, Journal, Locator, Provenance, Sessions, Stamp, undo,
};
use ccsurgery::surgery::{
    Action, BrokenPromise, Detail, Fault, Figures, Plan, Refusal, Surgery, SurgeryError, Transform,
};
use harness::{Home, SESSION, Transcript};
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
fn surgery_shows_what_it_would_do_before_anything_is_written() {
    let text = transcript().text();
    let surgery = Surgery::on(Session::from_bytes(text.clone())).then(Truncate { at: 1.into() });
    let operated = surgery.operate().expect("a result");
    let changes = &operated.record().changes;
    assert_eq!(changes.len(), 4);
    assert!(changes.iter().all(|c| c.action == Action::Drop));
    let (before, after) = operated.figures();
    assert_eq!((before.turns, after.turns), (2, 1));
    assert!(after.bytes < before.bytes);

    let verified = operated.verify().expect("no new fault");
    let kept: String = text.split_inclusive('\n').take(3).collect();
    assert_eq!(
        verified.to_vec(),
        kept.as_bytes(),
        "kept lines are untouched"
    );
}

#[test]
fn surgery_passes_a_refusal_on_as_a_value() {
    let session = Session::from_bytes(transcript().text());
    let refused = Surgery::on(session)
        .then(Truncate { at: 9.into() })
        .operate();
    let Err(SurgeryError::Refused(refusal)) = refused else {
        panic!("there is no such turn");
    };
    assert_eq!(refusal.kind, "no-such-turn");
    assert!(!refusal.remedies.is_empty());
}

#[test]
fn surgery_applies_transforms_one_after_the_other() {
    let surgery = Surgery::on(Session::from_bytes(transcript().text()))
        .then(StripThinking::default())
        .then(Truncate { at: 1.into() });
    let verified = surgery.operate().expect("a result").verify();
    let verified = verified.expect("no new fault");
    let after = verified.session();
    assert_eq!(after.entries().len(), 2);
    assert_eq!(
        after.document().origin(LineIx::new(1)),
        Some(LineIx::new(2)),
        "lines know their origin"
    );
}

/// A transform that does something which it does not state.
struct Careless(fn(&Session, &mut Plan));

impl Transform for Careless {
    fn name(&self) -> &'static str {
        "careless"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        (self.0)(session, &mut plan);
        Ok(plan)
    }
}

fn fault_of(careless: fn(&Session, &mut Plan)) -> Fault {
    let surgery = Surgery::on(Session::from_bytes(transcript().text())).then(Careless(careless));
    let verified = surgery.operate().expect("a result").verify();
    verified.expect_err("the verifier sees it")
}

#[test]
fn verify_rejects_a_result_with_a_new_fault() {
    // The call goes, its result stays.
    let fault = fault_of(|_, plan| plan.drop_line(LineIx::new(4)));
    let Fault::Finding { before, after, .. } = fault else {
        panic!("{fault}");
    };
    assert_eq!((before, after), (0, 1));
}

#[test]
fn verify_rejects_a_result_that_loses_an_entry_nobody_named() {
    // The second prompt hangs on the root, so the first turn is no longer shown.
    let fault = fault_of(|session, plan| {
        let e = &session.entries()[3];
        let parent = session.lookup(e, &["parentUuid"]).expect("a parent");
        plan.edit_line(e.line, [ccsurgery::json::Edit::new(parent, "null")]);
    });
    assert_eq!(fault, Fault::Conversation(BrokenPromise::Lost { line: 1 }));
}

#[test]
fn verify_rejects_an_edit_of_a_block_nobody_named() {
    let fault = fault_of(|session, plan| {
        let e = &session.entries()[6];
        let text = session.text(e);
        let at = memchr::memmem::find(text, br#"[{"type":"text""#).expect("the answer") + 1;
        let end = at + memchr::memmem::find(&text[at..], b"]").expect("its end");
        // Two insertions around the block make it a part of another.
        let put =
            |at, text: &str| ccsurgery::json::Edit::new(ccsurgery::json::Span::new(at, at), text);
        let open = put(at, r#"{"type":"text","text":"x","citations":["#);
        plan.edit_line(e.line, [open, put(end, "]}")]);
    });
    assert_eq!(fault, Fault::Conversation(BrokenPromise::Block { line: 7 }));
}

#[test]
fn sessions_publish_a_copy_and_take_it_back() {
    let home = Home::new();
    let path = home.add(&transcript());
    let config = Config::new(home.config());
    let journal = Journal::new(home.path("state"), &config, SystemTime::now);
    let project = home.project();
    let source = Locator::new(&config, &project)
        .find(SESSION)
        .expect("a session");
    let session = Session::open(&source.path).expect("a transcript");

    let target = CopyTarget {
        id: Uuid::from_u128(0xf000_0000_0000_4000_8000_0000_0000_0001),
        folder: source.folder().to_owned(),
        project: None,
    };
    let fresh = || Uuid::from_u128(7);
    let copy = CopySource::gather(&config, &source, &session, target, fresh).expect("files");
    let surgery = Surgery::on(session)
        .then(StripThinking::default())
        .as_copy(copy.names().clone())
        .titled("a copy");
    let verified = surgery
        .operate()
        .expect("a result")
        .verify()
        .expect("no fault");
    let plan = copy.plan(&config, &verified, None).expect("files");
    let provenance = Provenance {
        operation: "strip-thinking".to_owned(),
        command: Vec::new(),
        now: SystemTime::now(),
        random: Uuid::new_v4(),
    };
    let sessions = Sessions::new(&journal);
    let done = sessions
        .create(&source, &plan, &project, &provenance)
        .expect("a session");

    let clone = Session::open(&done.operation.target).expect("a transcript");
    assert_eq!(clone.graph().path().len(), 6);
    let first = &clone.entries()[0];
    let origin = clone.string(first, &["forkedFrom", "sessionId"]);
    assert_eq!(origin.as_deref(), Some(SESSION));
    let uuid = clone.string(first, &["uuid"]).expect("a uuid");
    let original = Session::open(&path).expect("the original");
    assert_eq!(
        plan.ids().get(original.entries()[0].uuid),
        uuid.parse().ok()
    );

    let target = done.operation.target.clone();
    undo(&journal, done.operation, false).expect("the way back");
    assert!(!target.exists());
}

#[test]
fn sessions_rewrite_in_place_and_restore_the_old_bytes() {
    let home = Home::new();
    let path = home.add(&transcript());
    let before = fs_err::read(&path).expect("bytes");
    let config = Config::new(home.config());
    let journal = Journal::new(home.path("state"), &config, SystemTime::now);
    let source = Locator::new(&config, &home.project())
        .find(SESSION)
        .expect("a session");
    let stamp = Stamp::of(&path).expect("a file");
    let surgery = Surgery::on(Session::open(&path).expect("a transcript"));
    let operated = surgery
        .then(StripThinking::default())
        .operate()
        .expect("a result");
    let verified = operated.verify().expect("no fault");
    let provenance = Provenance {
        operation: "strip-thinking".to_owned(),
        command: Vec::new(),
        now: SystemTime::now(),
        random: Uuid::new_v4(),
    };
    let sessions = Sessions::new(&journal);
    let done = sessions
        .replace(&source, stamp, &verified, &[], &provenance)
        .expect("a rewrite");
    assert_eq!(fs_err::read(&path).expect("bytes"), verified.to_vec());
    undo(&journal, done.operation, false).expect("the way back");
    assert_eq!(fs_err::read(&path).expect("bytes"), before);
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
                title: &ccsurgery::view::SessionText::default(),
                project: "",
                before: measure,
                after: measure,
                steps: "",
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
