//! What `trim` leaves as it is: a person's words and the newest part of a session.

#![allow(
    clippy::unwrap_used,
    reason = "what is unwrapped here is made by the tests themselves"
)]

use crate::harness::Home;
use crate::harness::script::{Script, call, words};

use ccsurgery::ops::{Step, TokenCount, Trim, Trimmed};
use ccsurgery::session::Session;
use ccsurgery::surgery::{Refusal, Remedy, Surgery};
use ccsurgery::window::{Calibration, payload};
use serde_json::{Value, json};

const ID: &str = "5e551011-aaaa-4bbb-8ccc-dddddddddddd";

/// Lines that look like an output.
fn lines(count: usize) -> String {
    let all: Vec<String> = (0..count)
        .map(|n| format!("line {n} of what was printed\n"))
        .collect();
    all.concat()
}

/// A session of one prompt and many calls.
struct LongTurn {
    script: Script,
    calls: usize,
}

impl LongTurn {
    fn new() -> Self {
        let mut script = Script::new(ID, 30);
        script.prompt("Make the parser faster");
        Self { script, calls: 0 }
    }

    fn call(&mut self, tool: &str, input: &Value, output: &str, failed: bool) {
        self.calls += 1;
        let id = format!("toolu_{:02}", self.calls);
        self.script.answer(0, &[call(&id, tool, input)]);
        self.script.result(&id, &json!(output), failed);
    }

    fn finish(mut self) -> Session {
        self.script.answer(0, &[words("Done.")]);
        Session::from_bytes(self.script.text().as_bytes().to_vec())
    }
}

fn window(session: &Session) -> u64 {
    Calibration::of(session).window()
}

fn find(session: &Session, to: u64, keep_tokens: Option<u64>) -> Result<Trimmed, Refusal> {
    let trim = Trim {
        to: TokenCount(to),
        keep_tokens: keep_tokens.map(TokenCount),
        keep_last: None,
        disk: false,
        shorten_words: false,
    };
    trim.find(session)
}

/// Everything that the model is shown after a trim.
fn shown_after(session: &Session, found: &Trimmed) -> String {
    let again = Session::from_bytes(session.document().to_vec());
    let steps = found.steps.iter().map(|chosen| chosen.step.transform());
    let surgery = Surgery::on(again).then_all(steps);
    let verified = surgery.operate().unwrap().verify().unwrap();
    let messages = payload(verified.session(), None);
    let blocks = messages.iter().flat_map(|m| &m.blocks);
    let texts = blocks.map(|b| String::from_utf8_lossy(&b.json()).into_owned());
    texts.collect::<Vec<_>>().join("\n")
}

fn has_digest(found: &Trimmed) -> bool {
    let is_digest = |step: &Step| matches!(step, Step::Compact { .. });
    found.steps.iter().any(|chosen| is_digest(&chosen.step))
}

fn said(found: &Trimmed) -> Vec<String> {
    found.steps.iter().map(|c| c.step.words()).collect()
}

#[test]
fn trim_works_inside_one_long_turn_and_keeps_its_newest_part() {
    let mut turn = LongTurn::new();
    for n in 0..20 {
        let output = format!("run {n}\n{}", lines(100));
        let command = json!({"command": format!("make part{n}")});
        turn.call("Bash", &command, &output, false);
    }
    let session = turn.finish();
    let to = window(&session) * 6 / 10;
    let found = find(&session, to, None).unwrap();
    assert!(
        found.after <= to && found.after * 100 >= to * 85,
        "{found:?}"
    );
    let shown = shown_after(&session, &found);
    assert!(
        shown.contains("removed") && shown.contains("run 19"),
        "{shown}"
    );
    assert!(!shown.contains("run 0\\n") && shown.contains("run 15\\n"));
    assert!(found.kept_tokens > 0);
}

#[test]
fn trim_shortens_reads_of_files_that_were_edited_later_first() {
    let mut turn = LongTurn::new();
    turn.call(
        "Read",
        &json!({"file_path": "/w/kept.rs"}),
        &lines(150),
        false,
    );
    turn.call(
        "Read",
        &json!({"file_path": "/w/edited.rs"}),
        &lines(150),
        false,
    );
    let edit = json!({"file_path": "/w/edited.rs", "old_string": "a", "new_string": "b"});
    turn.call("Edit", &edit, "The file was updated.", false);
    turn.call("Bash", &json!({"command": "make"}), &lines(120), false);
    let session = turn.finish();
    let found = find(&session, window(&session) * 8 / 10, Some(0)).unwrap();
    assert_eq!(
        said(&found),
        ["1 read of a file that was edited or read again later: replaced by a note"]
    );
    assert!(found.steps[0].step.toml().contains("toolu_02"));
}

#[test]
fn trim_never_touches_words_of_a_person() {
    let mut turn = LongTurn::new();
    let pad = lines(40);
    let answer = format!("User has answered your questions: use tabs, not spaces. {pad}");
    turn.call("AskUserQuestion", &json!({"questions": []}), &answer, false);
    let refusal = format!(
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nnever delete the cache {pad}"
    );
    turn.call("Bash", &json!({"command": "rm -r cache"}), &refusal, true);
    let typed = format!(
        "{pad}\n<system-reminder>\nThe user sent the following message:\nkeep the old names\n</system-reminder>"
    );
    turn.call("Bash", &json!({"command": "cargo test"}), &typed, false);
    let plan = json!({"plan": format!("First the lexer. {pad}")});
    turn.call(
        "ExitPlanMode",
        &plan,
        &format!("User has approved your plan. {pad}"),
        false,
    );
    for n in 0..10 {
        let command = json!({"command": format!("make part{n}")});
        turn.call("Bash", &command, &lines(100), false);
    }
    let session = turn.finish();
    let least = find(&session, 100, None).unwrap_err();
    let Some(Remedy::Budget(to)) = least.remedies.last() else {
        panic!("{least:?}");
    };
    let mut with_digest = 0;
    for to in (*to..=window(&session)).step_by(500) {
        let found = find(&session, to, None).unwrap();
        with_digest += usize::from(has_digest(&found));
        let shown = shown_after(&session, &found);
        for words in [
            "tabs, not spaces",
            "never delete the cache",
            "keep the old names",
            "First the lexer",
            "Make the parser faster",
        ] {
            assert!(shown.contains(words), "{words}: {:?}", said(&found));
        }
        // They are there in full, not only their beginnings.
        assert!(shown.matches("line 39 of what").count() >= 3, "{shown}");
    }
    assert!(with_digest > 0);
}

/// A session with long prompts, each with an answer.
fn long_prompts() -> Session {
    let mut script = Script::new(ID, 30);
    for n in 0..12 {
        script.prompt(&format!("Wish {n}. {}That is wish {n}.", lines(60)));
        script.answer(0, &[words("Done.")]);
    }
    Session::from_bytes(script.text().as_bytes().to_vec())
}

#[test]
fn trim_shortens_words_of_a_person_only_where_that_is_allowed() {
    let session = long_prompts();
    let to = window(&session) / 2;
    let refused = find(&session, to, None).unwrap_err();
    let Some(&Remedy::ShortenWords { window: floor }) = refused.remedies.first() else {
        panic!("{refused:?}");
    };
    assert!(floor <= to, "{refused:?}");
    let trim = Trim {
        to: TokenCount(to),
        keep_tokens: None,
        keep_last: None,
        disk: false,
        shorten_words: true,
    };
    let found = trim.find(&session).unwrap();
    assert!(found.after <= to && has_digest(&found), "{found:?}");
    assert!(shown_after(&session, &found).contains("Wish 0."));
}

#[test]
fn trim_again_keeps_words_of_a_person_that_an_earlier_digest_quotes() {
    let mut script = Script::new(ID, 30);
    for n in 0..12 {
        script.prompt(&format!("Wish {n}.\n\n# Details\n- that is wish {n}"));
        script.answer(0, &[words(&lines(60))]);
    }
    let mut session = Session::from_bytes(script.text().as_bytes().to_vec());
    for part in [60, 40] {
        let to = window(&session) * part / 100;
        let found = find(&session, to, Some(0)).unwrap();
        assert!(has_digest(&found), "{:?}", said(&found));
        let shown = shown_after(&session, &found);
        for n in 0..12 {
            assert!(
                shown.contains(&format!("- that is wish {n}")),
                "{n}: {shown}"
            );
        }
        let steps = found.steps.iter().map(|chosen| chosen.step.transform());
        let operated = Surgery::on(session).then_all(steps).operate().unwrap();
        let bytes = operated.verify().unwrap().session().document().to_vec();
        session = Session::from_bytes(bytes);
    }
}

#[test]
fn trim_shortens_error_texts_after_other_outputs() {
    let mut turn = LongTurn::new();
    turn.call("Bash", &json!({"command": "cargo test"}), &lines(150), true);
    turn.call("Bash", &json!({"command": "ls -lR"}), &lines(150), false);
    let session = turn.finish();
    let found = find(&session, window(&session) * 7 / 10, Some(0)).unwrap();
    assert_eq!(
        said(&found),
        ["1 other output: shortened to the most important lines"]
    );
    let shown = shown_after(&session, &found);
    assert!(shown.contains("line 75 "), "the error text is whole");
}

#[test]
fn trim_refusal_names_what_can_be_reached() {
    let mut turn = LongTurn::new();
    for n in 0..6 {
        let command = json!({"command": format!("make part{n}")});
        turn.call("Bash", &command, &lines(100), false);
    }
    let session = turn.finish();
    let all = window(&session);
    let no = find(&session, all / 2, Some(all)).unwrap_err();
    assert_eq!(no.kind, "over-budget");
    let Some(&Remedy::ProtectTokens { tokens, window }) = no.remedies.first() else {
        panic!("{no:?}");
    };
    assert!(window <= all / 2);
    assert!(find(&session, all / 2, Some(tokens)).unwrap().after <= all / 2);
    assert!(!no.message.contains("--"), "{}", no.message);
}

#[test]
fn trim_keep_tokens_is_an_option_and_the_reserve_is_reported() {
    let home = Home::new();
    let mut turn = LongTurn::new();
    for n in 0..8 {
        let command = json!({"command": format!("make part{n}")});
        turn.call("Bash", &command, &lines(100), false);
    }
    turn.script.answer(0, &[words("Done.")]);
    home.put(ID, turn.script.text(), 60);
    let run = home.run_on(
        200,
        &["trim", ID, "--to", "6k", "--keep-tokens", "2k", "-n"],
    );
    assert_eq!(run.code, 0, "{}", run.page());
    assert!(run.page().contains("kept in reserve"), "{}", run.page());
    assert!(
        run.page().contains("the newest 2.0k tokens stay"),
        "{}",
        run.page()
    );
    let run = home.run_on(
        100,
        &["trim", ID, "--to", "6k", "--keep-tokens", "100k", "-n"],
    );
    assert_eq!(run.code, 3, "{}", run.page());
    assert!(
        run.page().contains("--keep-tokens 0 gets it to about"),
        "{}",
        run.page()
    );
}
