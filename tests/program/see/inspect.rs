use proptest::prelude::*;
use serde_json::Value;

use crate::harness::Home;
use crate::harness::script::{Script, call, eventful, picture, thinking, words};

fn home() -> Home {
    let home = Home::new();
    home.put(
        "5e551011-aaaa-4bbb-8ccc-dddddddddddd",
        eventful().text(),
        120,
    );
    home
}

#[test]
fn inspect_at_three_widths() {
    let home = home();
    insta::assert_snapshot!(home.run_on(60, &["inspect"]).page(), @"
    exit 0
    5e551011  “Flaky parser �[2J test”
    4 turns, 20 entries, 12.8 KB, compacted 1×

    Context window: 12.6k of 200k tokens (6% full)
      system prompt and tools      11.1k   88%  ████████████████
      Bash results                   599    5%  ▉
      images, documents              409    3%  ▋
      calls                          212    2%  ▎
      prompts                         69   <1%  ▏
      Read results                    68   <1%  ▏
      Screenshot results              49   <1%  ▏
      answers                         40   <1%  ▏
      summaries                       18   <1%  ▏
      attachments, reminders          14   <1%  ▏
      thinking                         1   <1%  ▏
      measured on 6 requests: 2.9 bytes per token; at the last
      one 12.5k tokens were recorded, the estimate is 1.2% off

    File: 12.8 KB
      metadata                   7.4 KB   58%  █████████████████
      duplicates for client      2.1 KB   17%  █████
      Bash results               1.2 KB   10%  ██▉
      images, documents           910 B    7%  ██▏
      calls                       353 B    3%  ▉
      prompts                     186 B    1%  ▍
      answers                     179 B    1%  ▍
      Read results                122 B    1%  ▎
      thinking                     95 B   <1%  ▎
      Screenshot results           76 B   <1%  ▏
      attachments, reminders       54 B   <1%  ▏
      summaries                    42 B   <1%  ▏
      905 B of it in lines that the model is not shown: before
      the last compaction, or metadata

    Growth by turn: at most 12.5k tokens
      ████
      ▲  ▲ compacted

    Largest entries
      turn 2  2.7 KB  ~501  cargo test parser
      turn 3  2.2 KB  ~458  Screenshot result
      turn 2   510 B   ~68  /w/src/parser.rs
      turn 2   539 B   ~59  cargo test parser
      turn 4   522 B   ~52  git push origin main
      turn 2   520 B   ~51  /w/src/parser.rs
      turn 3   496 B   ~49  Screenshot call
      turn 3   435 B   ~37  日本語のログを見て �[31mred� and us…

    How to free some of it
      ccsurgery strip-thinking 5e551011
        context −1 (0%), file −527 B: remove all thinking
      ccsurgery drop-images 5e551011
        context −384 (3%), file −1.8 KB: replace images and
        documents by notes
      ccsurgery drop-tools 5e551011 --errors
        context −562 (4%), file −3.8 KB: remove calls that
        failed
      ccsurgery drop-hidden 5e551011
        file −3.0 KB: remove what the model is not shown, for
        good
      The sizes are those with --in-place. A new session has
      about 2.4 KB more, because each entry gets a note of its
      origin. `ccsurgery trim --to 50%` combines these steps,
      the least harmful first.
    ");
    insta::assert_snapshot!(home.run_on(100, &["inspect"]).page(), @"
    exit 0
    5e551011  “Flaky parser �[2J test”
    4 turns, 20 entries, 12.8 KB, compacted 1×

    Context window: 12.6k of 200k tokens (6% full)
      system prompt and tools      11.1k   88%  ████████████████████████████████████████████████████████
      Bash results                   599    5%  ███
      images, documents              409    3%  ██▏
      calls                          212    2%  █▏
      prompts                         69   <1%  ▍
      Read results                    68   <1%  ▍
      Screenshot results              49   <1%  ▎
      answers                         40   <1%  ▎
      summaries                       18   <1%  ▏
      attachments, reminders          14   <1%  ▏
      thinking                         1   <1%  ▏
      measured on 6 requests: 2.9 bytes per token; at the last one 12.5k tokens were recorded, the
      estimate is 1.2% off

    File: 12.8 KB
      metadata                   7.4 KB   58%  █████████████████████████████████████████████████████████
      duplicates for client      2.1 KB   17%  ████████████████▌
      Bash results               1.2 KB   10%  █████████▌
      images, documents           910 B    7%  ███████
      calls                       353 B    3%  ██▊
      prompts                     186 B    1%  █▍
      answers                     179 B    1%  █▍
      Read results                122 B    1%  █
      thinking                     95 B   <1%  ▊
      Screenshot results           76 B   <1%  ▋
      attachments, reminders       54 B   <1%  ▍
      summaries                    42 B   <1%  ▍
      905 B of it in lines that the model is not shown: before the last compaction, or metadata

    Growth by turn: at most 12.5k tokens
      ████
      ▲  ▲ compacted

    Largest entries
      turn 2  2.7 KB  ~501  Bash results           cargo test parser
      turn 3  2.2 KB  ~458  duplicates for client  Screenshot result
      turn 2   510 B   ~68  metadata               /w/src/parser.rs
      turn 2   539 B   ~59  metadata               cargo test parser
      turn 4   522 B   ~52  metadata               git push origin main
      turn 2   520 B   ~51  metadata               /w/src/parser.rs
      turn 3   496 B   ~49  metadata               Screenshot call
      turn 3   435 B   ~37  metadata               日本語のログを見て �[31mred� and use ghp_[masked]

    How to free some of it
      ccsurgery strip-thinking 5e551011
        context −1 (0%), file −527 B: remove all thinking
      ccsurgery drop-images 5e551011
        context −384 (3%), file −1.8 KB: replace images and documents by notes
      ccsurgery drop-tools 5e551011 --errors
        context −562 (4%), file −3.8 KB: remove calls that failed
      ccsurgery drop-hidden 5e551011
        file −3.0 KB: remove what the model is not shown, for good
      The sizes are those with --in-place. A new session has about 2.4 KB more, because each entry gets
      a note of its origin. `ccsurgery trim --to 50%` combines these steps, the least harmful first.
    ");
    insta::assert_snapshot!(home.run_on(160, &["inspect"]).page(), @"
    exit 0
    5e551011  “Flaky parser �[2J test”
    4 turns, 20 entries, 12.8 KB, compacted 1×

    Context window: 12.6k of 200k tokens (6% full)
      system prompt and tools      11.1k   88%  ████████████████████████████████████████████████████████████
      Bash results                   599    5%  ███▎
      images, documents              409    3%  ██▎
      calls                          212    2%  █▏
      prompts                         69   <1%  ▍
      Read results                    68   <1%  ▍
      Screenshot results              49   <1%  ▎
      answers                         40   <1%  ▎
      summaries                       18   <1%  ▏
      attachments, reminders          14   <1%  ▏
      thinking                         1   <1%  ▏
      measured on 6 requests: 2.9 bytes per token; at the last one 12.5k tokens were recorded, the estimate is 1.2% off

    File: 12.8 KB
      metadata                   7.4 KB   58%  ████████████████████████████████████████████████████████████
      duplicates for client      2.1 KB   17%  █████████████████▍
      Bash results               1.2 KB   10%  ██████████
      images, documents           910 B    7%  ███████▍
      calls                       353 B    3%  ██▉
      prompts                     186 B    1%  █▌
      answers                     179 B    1%  █▌
      Read results                122 B    1%  █
      thinking                     95 B   <1%  ▊
      Screenshot results           76 B   <1%  ▋
      attachments, reminders       54 B   <1%  ▌
      summaries                    42 B   <1%  ▍
      905 B of it in lines that the model is not shown: before the last compaction, or metadata

    Growth by turn: at most 12.5k tokens
      ████
      ▲  ▲ compacted

    Largest entries
      turn 2  2.7 KB  ~501  Bash results           cargo test parser
      turn 3  2.2 KB  ~458  duplicates for client  Screenshot result
      turn 2   510 B   ~68  metadata               /w/src/parser.rs
      turn 2   539 B   ~59  metadata               cargo test parser
      turn 4   522 B   ~52  metadata               git push origin main
      turn 2   520 B   ~51  metadata               /w/src/parser.rs
      turn 3   496 B   ~49  metadata               Screenshot call
      turn 3   435 B   ~37  metadata               日本語のログを見て �[31mred� and use ghp_[masked]

    How to free some of it
      ccsurgery strip-thinking 5e551011
        context −1 (0%), file −527 B: remove all thinking
      ccsurgery drop-images 5e551011
        context −384 (3%), file −1.8 KB: replace images and documents by notes
      ccsurgery drop-tools 5e551011 --errors
        context −562 (4%), file −3.8 KB: remove calls that failed
      ccsurgery drop-hidden 5e551011
        file −3.0 KB: remove what the model is not shown, for good
      The sizes are those with --in-place. A new session has about 2.4 KB more, because each entry gets a note of its origin. `ccsurgery trim --to 50%` combines
      these steps, the least harmful first.
    ");
}

#[test]
fn inspect_in_colour() {
    let home = home();
    let seen = home.run_on(100, &["inspect", "--color", "always"]).page();
    assert!(
        seen.contains("\x1b[1m") && seen.contains("\x1b[32m█"),
        "{seen}"
    );
}

/// What the parts of a document's list add up to.
fn sum(document: &Value, of: &str, unit: &str) -> u64 {
    document[of]["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p[unit].as_u64().unwrap())
        .sum()
}

/// Checks that the parts are the whole.
pub(crate) fn adds_up(document: &Value) {
    assert_eq!(
        sum(document, "window", "tokens"),
        document["window"]["tokens"].as_u64().unwrap()
    );
    assert_eq!(
        sum(document, "file", "bytes"),
        document["file"]["bytes"].as_u64().unwrap()
    );
}

/// One step of a session that could be.
#[derive(Debug, Clone)]
enum Step {
    Prompt(String),
    Answer(u64, String),
    Call(u64, String),
    Picture(u64),
    Junk(String),
}

fn step() -> impl Strategy<Value = Step> {
    let text = "[ -~é日\n]{0,300}";
    prop_oneof![
        text.prop_map(Step::Prompt),
        (0u64..200_000, text).prop_map(|(n, t)| Step::Answer(n, t)),
        (0u64..200_000, text).prop_map(|(n, t)| Step::Call(n, t)),
        (0u64..9_000).prop_map(Step::Picture),
        "[a-z{}\\[\\]\"]{0,20}".prop_map(Step::Junk),
    ]
}

fn script(id: &str, steps: &[Step]) -> Script {
    let mut s = Script::new(id, 5);
    s.prompt("begin");
    for (i, step) in steps.iter().enumerate() {
        match step {
            Step::Prompt(text) => s.prompt(text),
            Step::Answer(window, text) => s.answer(*window, &[thinking(text), words(text)]),
            Step::Call(window, text) => {
                let (a, b) = (format!("a{i}"), format!("b{i}"));
                s.answer(
                    *window,
                    &[
                        call(&a, "Bash", &serde_json::json!({"command": text})),
                        call(&b, "Read", &serde_json::json!({})),
                    ],
                );
                s.result(&a, &serde_json::json!(text), text.len() % 2 == 0);
            }
            Step::Picture(window) => {
                let id = format!("p{i}");
                s.answer(*window, &[call(&id, "Shot", &serde_json::json!({}))]);
                s.result(&id, &serde_json::json!([picture()]), false);
            }
            Step::Junk(text) => s.raw(text),
        }
    }
    s
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn parts_add_up_to_the_whole(steps in proptest::collection::vec(step(), 0..12)) {
        let home = Home::new();
        let id = "5e551011-aaaa-4bbb-8ccc-dddddddddddd";
        home.put(id, script(id, &steps).text(), 3);
        adds_up(&home.run_on(100, &["inspect", "--json"]).json());
    }

    #[test]
    fn the_payload_of_a_clone_is_the_payload(steps in proptest::collection::vec(step(), 0..12)) {
        let home = Home::new();
        let id = "5e551011-aaaa-4bbb-8ccc-dddddddddddd";
        home.put(id, script(id, &steps).text(), 3);
        let before = home.run_on(100, &["payload", id]).json();
        let clone = home.run_on(100, &["clone", id, "--json"]).json();
        let made = clone["target"]["session_id"].as_str().unwrap_or_else(|| panic!("{clone}"));
        prop_assert_eq!(before, home.run_on(100, &["payload", made]).json());
        let diff = home.run_on(100, &["diff", id, made]);
        prop_assert!(diff.stdout.ends_with("No differences except ids.\n"), "{}", diff.page());
    }
}
