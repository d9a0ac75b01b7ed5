//! What a person sees before anything happens, and where there is nothing to do.

use insta::assert_snapshot;

use super::weather;
use crate::harness::{SESSION, records};

fn preview(arguments: &[&str]) -> String {
    let home = weather::home();
    let before = home.everything();
    let run = home.run(&[arguments, &["-n"]].concat());
    assert!(before == home.everything(), "nothing is written");
    run.seen()
}

#[test]
fn strip_thinking() {
    assert_snapshot!(preview(&["strip-thinking", SESSION]), @r#"
    strip-thinking  5e551000  “Weather station”
    project  ~/work

      turns          3 →       3
      entries       16 →      15  −1
      size     14.8 KB → 15.2 KB  +468 B
      window     ~2.4k →   ~2.4k

      − turn 1    thinking     −84 B  “I should look at the folder.”
      − turn 2    thinking     −83 B  “Tests first, then the rest.”
      +           title       +124 B  “Weather station (strip-thinking)”
      ~ 2 messages re-linked
      ~ new ids for 14 entries, each with a note of its origin (about 120 bytes)

      write transcript   15.2 KB  ~/.claude/projects/[slug]/[fresh].jsonl

    Dry run: nothing was written.
    --- exit code 0
    "#);
}

#[test]
fn drop_tools() {
    assert_snapshot!(preview(&["drop-tools", SESSION, "--tool", "Bash"]), @r#"
    drop-tools  5e551000  “Weather station”
    project  ~/work

      turns          3 →      3
      entries       16 →     11  −5
      size     14.8 KB → 5.8 KB  −9.0 KB
      window     ~2.4k →  ~1.2k  −1.3k tokens

      − turn 1    thinking        −84 B    ~27 tokens  “I should look at the folder.”
      − turn 1    Bash call       −82 B    ~26 tokens  “ls sensors”
      − turn 1    Bash result     −75 B    ~24 tokens  “rain sun wind”
      − turn 2    thinking        −83 B    ~27 tokens  “Tests first, then the rest.”
      − turn 2    Bash call       −82 B    ~26 tokens  “npm test”
      − turn 2    Bash result   −3.5 KB  ~1.1k tokens  “not ok: the wind is from nowhere not ok: the wind is from nowhere not ok: the wind is from nowhere not ok: the wind is from nowhere not ok: the w…”
      +           title          +120 B  “Weather station (drop-tools)”
      ~ 3 messages re-linked
      ~ new ids for 10 entries, each with a note of its origin (about 120 bytes)

      write transcript    5.8 KB  ~/.claude/projects/[slug]/[fresh].jsonl
    note: the recorded context size is lowered to ~1.1k, so that Claude Code does not compact at once

    Dry run: nothing was written.
    --- exit code 0
    "#);
}

#[test]
fn drop_tools_by_size() {
    assert_snapshot!(preview(&["drop-tools", SESSION, "--larger-than", "1k", "--errors"]), @r#"
    drop-tools  5e551000  “Weather station”
    project  ~/work

      turns          3 →      3
      entries       16 →     14  −2
      size     14.8 KB → 7.9 KB  −6.9 KB
      window     ~2.4k →  ~1.2k  −1.2k tokens

      − turn 2    thinking        −83 B    ~27 tokens  “Tests first, then the rest.”
      − turn 2    Bash call       −82 B    ~26 tokens  “npm test”
      − turn 2    Bash result   −3.5 KB  ~1.1k tokens  “not ok: the wind is from nowhere not ok: the wind is from nowhere not ok: the wind is from nowhere not ok: the wind is from nowhere not ok: the w…”
      +           title          +120 B  “Weather station (drop-tools)”
      ~ 1 message re-linked
      ~ new ids for 13 entries, each with a note of its origin (about 120 bytes)

      write transcript    7.9 KB  ~/.claude/projects/[slug]/[fresh].jsonl
    note: the recorded context size is lowered to ~1.2k, so that Claude Code does not compact at once

    Dry run: nothing was written.
    --- exit code 0
    "#);
}

#[test]
fn stubs() {
    assert_snapshot!(preview(&["drop-tools", SESSION, "--stub", "--head", "1", "--tail", "1"]), @r#"
    drop-tools  5e551000  “Weather station”
    project  ~/work

      turns          3 →       3
      entries       16 →      17  +1
      size     14.8 KB → 10.0 KB  −4.8 KB
      window     ~2.4k →   ~1.4k  −1.1k tokens

      ~ turn 2    Bash result   −3.3 KB  ~1.1k tokens  “npm test”
      +           title          +120 B  “Weather station (drop-tools)”
      ~ 1 duplicate output  −3.4 KB
      ~ new ids for 16 entries, each with a note of its origin (about 120 bytes)

      write transcript   10.0 KB  ~/.claude/projects/[slug]/[fresh].jsonl
    note: the recorded context size is lowered to ~1.3k, so that Claude Code does not compact at once

    Dry run: nothing was written.
    --- exit code 0
    "#);
}

#[test]
fn truncate() {
    assert_snapshot!(preview(&["truncate", SESSION, "--at", "1"]), @r#"
    truncate  5e551000  “Weather station”
    project  ~/work

      turns          3 →      1  −2
      entries       16 →     10  −6
      size     14.8 KB → 5.5 KB  −9.3 KB
      window     ~2.4k →  ~1.7k  −699 tokens

      − turn 2    prompt    −365 B     ~3 tokens  “run the tests”
      − turn 2    answer    −601 B    ~16 tokens
      − turn 2    answer    −600 B    ~16 tokens
      − turn 2    result   −7.3 KB   ~644 tokens
      − turn 2    answer    −580 B    ~12 tokens  “They fail: the wind has no direction.”
      − turn 3    prompt    −358 B      ~1 token  “thanks”
      − turn 3    answer    −559 B     ~8 tokens  “You are welcome.”
      +           title     +118 B  “Weather station (truncate)”
      ~ new ids for 9 entries, each with a note of its origin (about 120 bytes)

      write transcript    5.5 KB  ~/.claude/projects/[slug]/[fresh].jsonl

    Dry run: nothing was written.
    --- exit code 0
    "#);
}

#[test]
fn compact() {
    assert_snapshot!(preview(&["compact", SESSION, "--keep-last", "1", "--summary", "The wind has no direction."]), @r#"
    compact  5e551000  “Weather station”
    project  ~/work

      turns          3 →       3
      entries       16 →      19  +3
      size     14.8 KB → 17.9 KB  +3.2 KB
      window     ~2.4k →   ~1.0k  −1.4k tokens

      − turn 1    hidden from the model      ±0 B   ~171 tokens  “which sensors are there?”
      − turn 2    hidden from the model      ±0 B  ~1.2k tokens  “run the tests”
      +           summary                  +435 B     ~8 tokens  “The wind has no direction.”
      +           title                    +117 B  “Weather station (compact)”
      ~ 1 message re-linked
      + 1 compaction boundary  +551 B
      ~ new ids for 18 entries, each with a note of its origin (about 120 bytes)

      write transcript   17.9 KB  ~/.claude/projects/[slug]/[fresh].jsonl
    note: the recorded context size is lowered to ~1.0k, so that Claude Code does not compact at once

    Dry run: nothing was written.
    --- exit code 0
    "#);
}

#[test]
fn compact_without_history() {
    assert_snapshot!(preview(&["compact", SESSION, "--at", "2", "--drop-history"]), @r#"
    compact  5e551000  “Weather station”
    project  ~/work

      turns          3 →      1  −2
      entries       16 →      6  −10
      size     14.8 KB → 3.9 KB  −10.8 KB
      window     ~2.4k →  ~1.4k  −1.0k tokens

      − turn 1    8 earlier entries   −4.3 KB   ~180 tokens  “which sensors are there?”
      − turn 2    5 earlier entries   −9.4 KB  ~1.3k tokens  “run the tests”
      +           summary             +1.8 KB   ~455 tokens  “This session is being continued from earlier turns that are no longer in the context window. This is an account of turns 1 to 2, taken from…”
      +           title                +117 B  “Weather station (compact)”
      ~ 1 message re-linked
      + 1 compaction boundary  +519 B
      ~ new ids for 5 entries, each with a note of its origin (about 120 bytes)

      write transcript    3.9 KB  ~/.claude/projects/[slug]/[fresh].jsonl
    note: the recorded context size is lowered to ~1.4k, so that Claude Code does not compact at once

    Dry run: nothing was written.
    --- exit code 0
    "#);
}

#[test]
fn the_words_that_go() {
    assert_snapshot!(preview(&["drop-tools", SESSION, "--id", "toolu_test", "--stub", "--head", "1", "--diff"]), @r#"
    drop-tools  5e551000  “Weather station”
    project  ~/work

      turns          3 →       3
      entries       16 →      17  +1
      size     14.8 KB → 10.0 KB  −4.8 KB
      window     ~2.4k →   ~1.3k  −1.1k tokens

      ~ turn 2    Bash result   −3.3 KB  ~1.1k tokens  “npm test”
      +           title          +120 B  “Weather station (drop-tools)”
      ~ 1 duplicate output  −3.4 KB
      ~ new ids for 16 entries, each with a note of its origin (about 120 bytes)

      write transcript   10.0 KB  ~/.claude/projects/[slug]/[fresh].jsonl
    note: the recorded context size is lowered to ~1.3k, so that Claude Code does not compact at once

    ~ turn 2, line 12, user
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
      - not ok: the wind is from nowhere
        … 87 more lines
      + [ccsurgery removed 3.3 KB of Bash output]
    ~ turn 3, line 15, assistant
      - usage: 2,400 tokens
      + usage: 1,334 tokens

    Dry run: nothing was written.
    --- exit code 0
    "#);
}

#[test]
fn the_json_that_goes() {
    assert_snapshot!(preview(&["strip-thinking", SESSION, "--turns", "1", "--diff=raw"]), @r#"
    strip-thinking  5e551000  “Weather station”
    project  ~/work

      turns          3 →       3
      entries       16 →      16
      size     14.8 KB → 15.9 KB  +1.2 KB
      window     ~2.4k →   ~2.4k

      − turn 1    thinking     −84 B  “I should look at the folder.”
      +           title       +124 B  “Weather station (strip-thinking)”
      ~ 1 message re-linked
      ~ new ids for 15 entries, each with a note of its origin (about 120 bytes)

      write transcript   15.9 KB  ~/.claude/projects/[slug]/[fresh].jsonl

    --- before.jsonl
    +++ after.jsonl
    @@ -1,4 +1,3 @@ turn 1, line 2, assistant
     {"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"which sensors are there?"},"uuid":"5e551000-0001-4bbb-8ccc-0123456789ab","timestamp":"2026-03-04T05:00:01.000Z","userType":"external","cwd":"[home]/work","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.325","gitBranch":"main"}
    -{"parentUuid":"5e551000-0001-4bbb-8ccc-0123456789ab","isSidechain":false,"type":"assistant","requestId":"req_msg_0002","message":{"model":"claude-sonnet-4-5","id":"msg_0002","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"I should look at the folder.","signature":"c2lnbmVk"}],"stop_reason":null,"usage":{"input_tokens":1100,"output_tokens":10}},"uuid":"5e551000-0002-4bbb-8ccc-0123456789ab","timestamp":"2026-03-04T05:00:02.000Z","userType":"external","cwd":"[home]/work","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.325","gitBranch":"main"}
    -{"parentUuid":"5e551000-0002-4bbb-8ccc-0123456789ab","isSidechain":false,"type":"assistant","requestId":"req_msg_0002","message":{"model":"claude-sonnet-4-5","id":"msg_0002","type":"message","role":"assistant","content":[{"type":"text","text":"I will look."}],"stop_reason":null,"usage":{"input_tokens":1200,"output_tokens":10}},"uuid":"5e551000-0003-4bbb-8ccc-0123456789ab","timestamp":"2026-03-04T05:00:03.000Z","userType":"external","cwd":"[home]/work","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.325","gitBranch":"main"}
    +{"parentUuid":"5e551000-0001-4bbb-8ccc-0123456789ab","isSidechain":false,"type":"assistant","requestId":"req_msg_0002","message":{"model":"claude-sonnet-4-5","id":"msg_0002","type":"message","role":"assistant","content":[{"type":"text","text":"I will look."}],"stop_reason":null,"usage":{"input_tokens":1200,"output_tokens":10}},"uuid":"5e551000-0003-4bbb-8ccc-0123456789ab","timestamp":"2026-03-04T05:00:03.000Z","userType":"external","cwd":"[home]/work","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.325","gitBranch":"main"}
     {"parentUuid":"5e551000-0003-4bbb-8ccc-0123456789ab","isSidechain":false,"type":"assistant","requestId":"req_msg_0002","message":{"model":"claude-sonnet-4-5","id":"msg_0002","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_ls","name":"Bash","input":{"command":"ls sensors"}}],"stop_reason":null,"usage":{"input_tokens":1300,"output_tokens":10}},"uuid":"5e551000-0004-4bbb-8ccc-0123456789ab","timestamp":"2026-03-04T05:00:04.000Z","userType":"external","cwd":"[home]/work","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.325","gitBranch":"main"}
    @@ -16,1 +15,2 @@ new line, metadata
     {"type":"custom-title","customTitle":"Weather station","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab"}
    +{"type":"custom-title","customTitle":"Weather station (strip-thinking)","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab"}

    Dry run: nothing was written.
    --- exit code 0
    "#);
}

#[test]
fn a_turn_that_is_unfinished_keeps_its_thinking() {
    let home = weather::running_home();
    assert_snapshot!(home.run(&["strip-thinking", SESSION, "--turns", "3..", "-n"]).seen(), @"
    Nothing to do: strip-thinking finds nothing to change in 5e551000 “Weather station”.
    Nothing was written.
    note: turn 4 is unfinished: 1 thinking block kept, because the API needs thinking to continue a turn
    --- exit code 0
    ");
    let after = home.json(&["strip-thinking", SESSION, "-o", "stripped.jsonl"]);
    assert!(
        after["warnings"][0]
            .as_str()
            .is_some_and(|w| w.starts_with("turn 4 is unfinished")),
        "{after}"
    );
    let left = records(&home.project().join("stripped.jsonl"));
    let thoughts = left
        .iter()
        .filter(|r| r["message"]["content"][0]["type"] == "thinking");
    assert_eq!(thoughts.count(), 1);
}

#[test]
fn a_turn_that_is_unfinished_keeps_its_calls() {
    let home = weather::running_home();
    assert_snapshot!(home.run(&["drop-tools", SESSION, "--turns", "3..", "-n"]).seen(), @"
    Nothing to do: drop-tools finds nothing to change in 5e551000 “Weather station”.
    Nothing was written.
    note: the last turn is unfinished: 1 of its calls kept (to remove one, name it with --id)
    --- exit code 0
    ");
    let named = home.json(&["drop-tools", SESSION, "--id", "toolu_run", "-n"]);
    let gone = named["changes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|c| c["action"] == "drop");
    assert_eq!(gone.count(), 2, "the call and its thinking: {named}");
}

#[test]
fn nothing_to_do() {
    let home = weather::home();
    for (arguments, words) in [
        (
            &["strip-thinking", SESSION, "--turns", "3"][..],
            "strip-thinking",
        ),
        (
            &["drop-tools", SESSION, "--tool", "Bash", "--turns", "3"],
            "drop-tools",
        ),
        (
            &["drop-tools", SESSION, "--keep-last", "3", "--stub"],
            "drop-tools",
        ),
        (&["truncate", SESSION, "--at", "-1"], "truncate"),
        (&["compact", SESSION, "--keep-last", "3"], "compact"),
    ] {
        let before = home.everything();
        let run = home.run(arguments);
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(
            run.stdout,
            format!(
                "Nothing to do: {words} finds nothing to change in {} “Weather station”.\nNothing was written.\n",
                &SESSION[..8]
            )
        );
        let document = home.json(arguments);
        assert_eq!(document["target"], serde_json::Value::Null);
        assert_eq!(document["changes"], serde_json::json!([]));
        assert!(before == home.everything(), "nothing is written");
    }
}

#[test]
fn the_document_for_scripts() {
    let home = weather::home();
    let document = home.json(&["strip-thinking", SESSION, "--title", "Wind"]);
    let keys: Vec<&String> = document.as_object().expect("an object").keys().collect();
    let wanted = [
        "schema",
        "operation",
        "dry_run",
        "source",
        "target",
        "resume",
        "before",
        "after",
        "changes",
        "files",
        "warnings",
    ];
    assert_eq!(keys, wanted);
    assert_eq!(document["operation"], "strip-thinking");
    assert_eq!(document["source"]["session_id"], SESSION);
    assert_eq!(document["target"]["in_place"], false);
    let bytes = |key: &str| document[key]["bytes"].as_u64().expect("a number");
    let target = document["target"]["path"].as_str().expect("a path");
    assert_eq!(
        bytes("before"),
        fs_err::metadata(weather::path(&home))
            .expect("a file")
            .len()
    );
    assert_eq!(
        bytes("after"),
        fs_err::metadata(target).expect("a file").len()
    );
    let gone = document["changes"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|c| c["what"] == "thinking");
    assert_eq!(gone.count(), 2);
    let title = records(target.as_ref()).pop().expect("a line");
    assert_eq!(title["customTitle"], "Wind");
    let dry = home.json(&["strip-thinking", SESSION, "-n"]);
    assert_eq!(
        (&dry["target"], &dry["dry_run"]),
        (&serde_json::Value::Null, &serde_json::json!(true))
    );
}

#[test]
fn a_file_of_ones_own() {
    let home = weather::home();
    let run = home.run(&["truncate", SESSION, "--at", "1", "-o", "cut.jsonl"]);
    assert_eq!(run.last_line(), "Written to cut.jsonl");
    let original = fs_err::read_to_string(weather::path(&home)).expect("the session");
    let cut = fs_err::read_to_string(home.project().join("cut.jsonl")).expect("the file");
    let prompt_as_typed: Vec<&str> = cut.lines().filter(|l| l.contains("\"uuid\"")).collect();
    assert_eq!(
        prompt_as_typed,
        original.lines().take(8).collect::<Vec<_>>(),
        "ids as they were, byte for byte"
    );
    let piped = home.run(&["truncate", SESSION, "--at", "1", "-o", "-"]);
    assert_eq!(piped.stdout, cut);
}

#[test]
fn titles_tell_what_was_done() {
    let home = weather::home();
    let document = home.json(&["drop-tools", SESSION]);
    let path = document["target"]["path"].as_str().expect("a path");
    let title = records(path.as_ref()).pop().expect("a line");
    assert_eq!(title["customTitle"], "Weather station (drop-tools)");
}

/// What was never shown and has no words is counted, however it is looked up.
#[test]
fn thoughts_without_words_are_counted() {
    let home = weather::home();
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/recorded/2.1.325/compacted/projects/-home-user-project/a4719f53-3a20-492e-8289-15c88a6c256e.jsonl"
    );
    let run = home.run(&["drop-tools", "-n", path]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let counted = run.stdout.lines().filter(|l| l.contains("− 2 thinking"));
    assert_eq!(counted.count(), 1, "{}", run.stdout);
}
