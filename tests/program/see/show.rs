use serde_json::json;

use crate::harness::Home;
use crate::harness::script::{Script, call, eventful, words};

/// A session with Markdown, an edit, and a subagent that has a transcript of its own.
fn worked(home: &Home) {
    let mut s = Script::new("5e551021-aaaa-4bbb-8ccc-dddddddddddd", 30);
    s.prompt("Make the parser faster");
    s.answer(
        11_000,
        &[words(
            "## Plan\n\n1. **Measure** it with `cargo bench`, and compare the numbers with those of the last release\n2. Fix it\n   - sort once\n\n> as the [docs](https://example.org/a) say\n\n```rust\n// sorted\nlet keys = sorted(\"a\", 7);\n```\n\n| step | time |\n|---|---:|\n| before | 120 ms |\n| after, with sorted keys and 日本語 | 7 ms |",
        )],
    );
    s.answer(
        11_400,
        &[call(
            "toolu_e",
            "Edit",
            &json!({"file_path": "/w/src/a/rather/long/folder/name/parser.rs", "old_string": "b", "new_string": "c"}),
        )],
    );
    s.entry("user", &json!({"message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_e", "content": "updated"}]},
        "toolUseResult": {"filePath": "/w/p.rs", "structuredPatch": [{"oldStart": 98, "oldLines": 3, "newStart": 98, "newLines": 4,
            "lines": [" fn parse() {", "-    let map = HashMap::new();", "+    let mut map = BTreeMap::new();", "+    map.clear();", " }"]}]}}));
    s.answer(11_500, &[call("toolu_f", "Task", &json!({"description": "Look for callers", "subagent_type": "Explore", "prompt": "Who calls parse?"}))]);
    s.entry("user", &json!({"message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_f", "content": "Nobody."}]},
        "toolUseResult": {"agentId": "a36efb2a1231c41e2", "status": "completed"}}));
    s.answer(11_600, &[words("Done.")]);
    let path = home.put("5e551021-aaaa-4bbb-8ccc-dddddddddddd", s.text(), 120);
    let mut agent = Script::new("5e551021-aaaa-4bbb-8ccc-dddddddddddd", 30);
    let of_agent = json!({"isSidechain": true, "agentId": "a36efb2a1231c41e2", "message": {"role": "user", "content": "Who calls parse?"}});
    agent.entry("user", &of_agent);
    agent.entry("assistant", &json!({"isSidechain": true, "agentId": "a36efb2a1231c41e2", "message": {"id": "msg_1", "role": "assistant", "model": "claude-test-1", "content": [words("**Nobody.**")]}}));
    let folder = path.with_extension("").join("subagents");
    home.write(folder.join("agent-a36efb2a1231c41e2.jsonl"), agent.text());
}

#[test]
fn show_lays_out_markdown_and_edits_at_three_widths() {
    let home = Home::new();
    worked(&home);
    for columns in [40, 60, 100, 160, 300] {
        let run = home.run_on(columns, &["show", "@", "--turns", "1"]);
        let widest = run.stdout.lines().map(ccsurgery::render::width).max();
        assert!(widest <= Some(columns), "{}", run.page());
    }
    insta::assert_snapshot!(home.run_on(60, &["show", "@", "--turns", "1"]).page(), @r#"
    exit 0
    ── turn 1 · 2026-01-02 03:04 · 6s · ~310 tokens ────────────

    ❯ Make the parser faster

    ## Plan

    1. **Measure** it with `cargo bench`, and compare the
       numbers with those of the last release
    2. Fix it
       • sort once

    │ as the docs (https://example.org/a) say

      // sorted
      let keys = sorted("a", 7);

    step                               │   time
    ───────────────────────────────────┼───────
    before                             │ 120 ms
    after, with sorted keys and 日本語 │   7 ms

    ● Edit  /w/src/a/ra…folder/name/parser.rs  +2 −1  toolu_e
         98   fn parse() {
         99 -     let map = HashMap::new();
         99 +     let mut map = BTreeMap::new();
        100 +     map.clear();
        101   }
      ⎿ updated

    ● Task  Look for callers  toolu_f
        ↳ subagent: ccsurgery show 5e551021 --agent a36efb2a1231
      ⎿ Nobody.

    Done.
    "#);
    insta::assert_snapshot!(home.run_on(100, &["show", "@", "--turns", "1"]).page(), @r#"
    exit 0
    ── turn 1 · 2026-01-02 03:04 · 6s · ~310 tokens · context 11.6k · claude-test-1 ────────────────────

    ❯ Make the parser faster                                                                    00000001

    ## Plan                                                                                     00000002

    1. **Measure** it with `cargo bench`, and compare the numbers with those of the last
       release
    2. Fix it
       • sort once

    │ as the docs (https://example.org/a) say

      // sorted
      let keys = sorted("a", 7);

    step                               │   time
    ───────────────────────────────────┼───────
    before                             │ 120 ms
    after, with sorted keys and 日本語 │   7 ms

    ● Edit  /w/src/a/rather/long/folder/name/parser.rs  +2 −1  toolu_e
         98   fn parse() {
         99 -     let map = HashMap::new();
         99 +     let mut map = BTreeMap::new();
        100 +     map.clear();
        101   }
      ⎿ updated

    ● Task  Look for callers  toolu_f
        ↳ subagent: ccsurgery show 5e551021 --agent a36efb2a1231
      ⎿ Nobody.

    Done.                                                                                       00000007
    "#);
    insta::assert_snapshot!(home.run_on(160, &["show", "@", "--turns", "1"]).page(), @r#"
    exit 0
    ── turn 1 · 2026-01-02 03:04 · 6s · ~310 tokens · context 11.6k · claude-test-1 ──────────────────────────────

    ❯ Make the parser faster                                                                              00000001

    ## Plan                                                                                               00000002

    1. **Measure** it with `cargo bench`, and compare the numbers with those of the last release
    2. Fix it
       • sort once

    │ as the docs (https://example.org/a) say

      // sorted
      let keys = sorted("a", 7);

    step                               │   time
    ───────────────────────────────────┼───────
    before                             │ 120 ms
    after, with sorted keys and 日本語 │   7 ms

    ● Edit  /w/src/a/rather/long/folder/name/parser.rs  +2 −1  toolu_e
         98   fn parse() {
         99 -     let map = HashMap::new();
         99 +     let mut map = BTreeMap::new();
        100 +     map.clear();
        101   }
      ⎿ updated

    ● Task  Look for callers  toolu_f
        ↳ subagent: ccsurgery show 5e551021 --agent a36efb2a1231
      ⎿ Nobody.

    Done.                                                                                                 00000007
    "#);
    insta::assert_snapshot!(home.run_on(100, &["show", "@", "--turns", "1", "--color", "always"]).page().replace('\x1b', "␛"), @r#"
    exit 0
    ␛[1m── turn 1␛[0m␛[2m · 2026-01-02 03:04␛[0m␛[2m · 6s␛[0m␛[2m · ~310 tokens␛[0m␛[2m · context 11.6k␛[0m␛[2m · claude-test-1␛[0m ␛[2m────────────────────␛[0m

    ␛[1m␛[32m❯ ␛[0m␛[1mMake the parser faster␛[0m                                                                    ␛[2m00000001␛[0m

    ␛[1m␛[34m##␛[0m␛[1m␛[34m ␛[0m␛[1m␛[34mPlan␛[0m                                                                                     ␛[2m00000002␛[0m

    1. ␛[1mMeasure␛[0m it with ␛[36mcargo bench␛[0m, and compare the numbers with those of the last release
    2. Fix it
       • sort once

    ␛[2m│␛[0m as the ␛[4mdocs␛[0m␛[2m (https://example.org/a)␛[0m say

      ␛[2m␛[3m// sorted␛[0m
      ␛[35mlet␛[0m keys = ␛[34msorted␛[0m(␛[32m"a"␛[0m, ␛[36m7␛[0m);

    ␛[1mstep␛[0m                               ␛[2m│␛[0m   ␛[1mtime␛[0m
    ␛[2m───────────────────────────────────┼───────␛[0m
    before                             ␛[2m│␛[0m 120 ms
    after, with sorted keys and 日本語 ␛[2m│␛[0m   7 ms

    ␛[33m●␛[0m ␛[1mEdit␛[0m  /w/src/a/rather/long/folder/name/parser.rs  ␛[32m+2␛[0m ␛[31m−1␛[0m  ␛[2mtoolu_e␛[0m
        ␛[2m 98 ␛[0m␛[2m  fn parse() {␛[0m
        ␛[2m 99 ␛[0m␛[31m-     let map = HashMap::new();␛[0m
        ␛[2m 99 ␛[0m␛[32m+     let mut map = BTreeMap::new();␛[0m
        ␛[2m100 ␛[0m␛[32m+     map.clear();␛[0m
        ␛[2m101 ␛[0m␛[2m  }␛[0m
    ␛[2m  ⎿ ␛[0m␛[2mupdated␛[0m

    ␛[33m●␛[0m ␛[1mTask␛[0m  Look for callers  ␛[2mtoolu_f␛[0m
        ␛[2m↳ subagent: ccsurgery show 5e551021 --agent a36efb2a1231␛[0m
    ␛[2m  ⎿ ␛[0m␛[2mNobody.␛[0m

    Done.                                                                                       ␛[2m00000007␛[0m
    "#);
}

#[test]
fn show_in_a_pipe_is_plain_and_uncut() {
    let home = Home::new();
    worked(&home);
    let run = home.run_in_pipe(&["show", "@", "--turns", "1"]);
    assert!(run.stdout.contains("1. **Measure** it with `cargo bench`, and compare the numbers with those of the last release\n"), "{}", run.page());
    assert!(
        run.stdout
            .contains("| after, with sorted keys and 日本語 | 7 ms |")
    );
    assert!(
        run.stdout
            .contains("/w/src/a/rather/long/folder/name/parser.rs")
    );
    home.put("5e551011-aaaa-4bbb-8ccc-dddddddddddd", eventful().text(), 1);
    let run = home.run_in_pipe(&["show", "5e551011", "--turns", "2"]);
    assert!(run.stdout.contains("case_40 ... ok"), "{}", run.page());
}

#[test]
fn show_lists_and_reads_subagents() {
    let home = Home::new();
    worked(&home);
    insta::assert_snapshot!(home.run_on(80, &["show", "--agents"]).page(), @r#"
    exit 0
    id                 turn   size  type     started for
    a36efb2a1231c41e2     1  749 B  Explore  Look for callers
    Read one with: ccsurgery show --agent ID
    "#);
    insta::assert_snapshot!(home.run_on(80, &["show", "@", "--agent", "a36e"]).page(), @r#"
    exit 0
    ── turn 1 · 2026-01-02 03:04 · 1s · claude-test-1 ──────────────────────────────

    ❯ Who calls parse?                                                      00000001

    **Nobody.**                                                             00000002
    "#);
    insta::assert_snapshot!(home.run_on(80, &["show", "@", "--agent", "zzz"]).page(), @r#"
    exit 2
    Error: the session has no subagent `zzz`
    Hint: list the subagents with: ccsurgery show --agents
    "#);
    let folder = home.config().join("projects");
    let project = std::fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let file = project
        .join("5e551021-aaaa-4bbb-8ccc-dddddddddddd/subagents/agent-a36efb2a1231c41e2.jsonl");
    let run = home.run_on(80, &["show", file.to_str().unwrap()]);
    assert!(run.stdout.contains("❯ Who calls parse?"), "{}", run.page());
    let document = home
        .run_on(80, &["show", "@", "--agent", "a36e", "--json"])
        .json();
    assert_eq!(document["agent_id"], "a36efb2a1231c41e2");
}

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
fn show_table_at_three_widths() {
    let home = home();
    insta::assert_snapshot!(home.run_on(60, &["show"]).page(), @"
    exit 0
    5e551011  “Flaky parser �[2J test”
    4 turns, 12.8 KB, 12.6k of 200k tokens in the context window

    turn  tokens  notes        prompt
       1     ~36  compacted    Set up the project
       2    ~736  1 failed     Fix the flaky test in parser.rs …
       3    ~571  interrupted  日本語のログを見て �[31mred� and…
       4     ~59  unfinished   Push it
    ");
    insta::assert_snapshot!(home.run_on(100, &["show"]).page(), @"
    exit 0
    5e551011  “Flaky parser �[2J test”
    4 turns, 12.8 KB, 12.6k of 200k tokens in the context window

    turn              time    size  tokens  calls       notes        prompt
       1  2026-01-02 03:04  1.6 KB     ~36              compacted    Set up the project
       2             07:04  6.2 KB    ~736  Bash Read   1 failed     Fix the flaky test in parser.rs an…
       3  2026-01-03 06:04  4.0 KB    ~571  Screenshot  interrupted  日本語のログを見て �[31mred� and u…
       4             07:04   870 B     ~59  Bash        unfinished   Push it
    ");
    insta::assert_snapshot!(home.run_on(160, &["show"]).page(), @"
    exit 0
    5e551011  “Flaky parser �[2J test”
    4 turns, 12.8 KB, 12.6k of 200k tokens in the context window

    turn              time    size  tokens  calls       notes        prompt
       1  2026-01-02 03:04  1.6 KB     ~36              compacted    Set up the project
       2             07:04  6.2 KB    ~736  Bash Read   1 failed     Fix the flaky test in parser.rs and tell me why it fails
       3  2026-01-03 06:04  4.0 KB    ~571  Screenshot  interrupted  日本語のログを見て �[31mred� and use ghp_[masked]
       4             07:04   870 B     ~59  Bash        unfinished   Push it
    ");
}

#[test]
fn show_table_in_colour() {
    let home = home();
    insta::assert_snapshot!(home.run_on(100, &["show", "--color", "always"]).page().replace('\x1b', "␛"), @"
    exit 0
    ␛[1m5e551011␛[0m  “Flaky parser �[2J test”
    ␛[2m4 turns, 12.8 KB, 12.6k of 200k tokens in the context window␛[0m

    ␛[2mturn              time    size  tokens  calls       notes        prompt␛[0m
       1  2026-01-02 03:04  1.6 KB     ~36              ␛[33mcompacted␛[0m    Set up the project
       2             07:04  6.2 KB    ~736  Bash Read   ␛[31m1 failed␛[0m     Fix the flaky test in parser.rs an…
       3  2026-01-03 06:04  4.0 KB    ~571  Screenshot  ␛[33minterrupted␛[0m  日本語のログを見て �[31mred� and u…
       4             07:04   870 B     ~59  Bash        ␛[33munfinished␛[0m   Push it
    ");
}

#[test]
fn show_turns_to_read() {
    let home = home();
    insta::assert_snapshot!(home.run_on(60, &["show", "--turns", "2.."]).page(), @"
    exit 0
    ── turn 2 · 2026-01-02 07:04 · 7s · ~736 tokens ────────────

    ❯ Fix the flaky test in parser.rs
      and tell me why it fails

    ✻ The test depends on the order of a map.

    Let me look.

    ● Bash  cargo test parser  toolu_a
      ⎿ test parser::case_1 ... ok
        test parser::case_2 ... ok
        test parser::case_3 ... ok
        test parser::case_4 ... ok
        test parser::case_5 ... ok
        test parser::case_6 ... ok
        test parser::case_7 ... ok
        test parser::case_8 ... ok
        … 32 more lines

    ● Read  /w/src/parser.rs  toolu_b
      ⎿ fn parse() {
            let map = HashMap::new();
        }

    The map's order is random; **sort the keys**.

    ── turn 3 · 2026-01-03 06:04 · 4s · ~571 tokens ────────────

    ❯ 日本語のログを見て �[31mred� and use ghp_[masked]

    ● Screenshot  toolu_c
      [image 640×480 png 624 B]

    It shows the log.

    [Claude Code] [Request interrupted by user]

    ── turn 4 · 2026-01-03 07:04 · 1s · ~59 tokens ─────────────

    ❯ Push it

    ● Bash  git push origin main  toolu_d
    session 5e551011  “Flaky parser �[2J test”
    ");
}

#[test]
fn show_full_turn() {
    let home = home();
    let run = home.run_on(100, &["show", "@", "--turns", "2", "--full"]);
    assert!(
        run.stdout.contains("test parser::case_40 ... ok")
            && run.stdout.contains("\"description\": \"run\""),
        "{}",
        run.page()
    );
}

#[test]
fn show_only_prompts_answers_or_calls() {
    let home = home();
    insta::assert_snapshot!(home.run_on(60, &["show", "--only", "prompts"]).page(), @r#"
    exit 0
    Set up the project

    Fix the flaky test in parser.rs
    and tell me why it fails

    日本語のログを見て �[31mred� and use ghp_[masked]

    Push it
    session 5e551011  “Flaky parser �[2J test”
    "#);
    insta::assert_snapshot!(home.run_on(60, &["show", "--only", "answers"]).page(), @r#"
    exit 0
    Done.

    Let me look.

    The map's order is random; **sort the keys**.

    It shows the log.
    session 5e551011  “Flaky parser �[2J test”
    "#);
    insta::assert_snapshot!(home.run_on(60, &["show", "--only", "calls"]).page(), @r#"
    exit 0
    Bash  cargo test parser
    Read  /w/src/parser.rs
    Screenshot
    Bash  git push origin main
    session 5e551011  “Flaky parser �[2J test”
    "#);
    let document = home
        .run_on(60, &["show", "--only", "calls", "--turns", "-1", "--json"])
        .json();
    let first = &document["turn_contents"][0]["items"][0];
    let (uuid, time) = (first["uuid"].as_str(), first["time"].as_str());
    assert!(uuid.is_some() && time.is_some(), "{document}");
    let item = json!({"uuid": uuid, "time": time, "kind": "call", "id": "toolu_d", "tool": "Bash", "gist": "git push origin main", "input": {"command": "git push origin main"}});
    assert_eq!(document["turn_contents"][0]["turn"], 4);
    assert_eq!(document["turn_contents"][0]["items"], json!([item]));
    assert_eq!(
        (&document["turns"], &document["schema"]),
        (&json!(1), &json!(1))
    );
}

#[test]
fn show_masks_keys_unless_asked_for_them() {
    let home = home();
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    for args in [
        &["show"][..],
        &["show", "--turns", "3"],
        &["show", "--json"],
        &["show", "--turns", "3", "--json"],
        &["payload"],
        &["ls", "--grep", "use"],
        &["inspect", "--json"],
    ] {
        let run = home.run_on(160, args);
        assert_eq!(run.code, 0, "{}", run.page());
        assert!(!run.stdout.contains(secret), "{args:?}: {}", run.page());
    }
    assert!(
        home.run_on(160, &["show", "--turns", "3", "--show-secrets"])
            .stdout
            .contains(secret)
    );
}

#[test]
fn show_leaves_nothing_hostile_for_the_terminal() {
    let home = home();
    for args in [
        &["ls"][..],
        &["show"],
        &["show", "--turns", "1..", "--full"],
        &["inspect"],
        &["show", "--only", "prompts"],
        &["clone", "-n"],
    ] {
        let run = home.run_on(100, args);
        let hostile = run.page().chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!((run.code, hostile), (0, None), "{args:?}");
    }
}

#[test]
fn show_lists_and_reads_branches() {
    let home = Home::new();
    let mut s = eventful();
    let fork = s.entry("user", &json!({"parentUuid": "00000006-0000-4000-8000-000000000006", "message": {"role": "user", "content": "Another way"}}));
    s.line(&json!({"type": "last-prompt", "leafUuid": fork}));
    home.put("5e551011-aaaa-4bbb-8ccc-dddddddddddd", s.text(), 120);
    insta::assert_snapshot!(home.run_on(80, &["show", "@", "--branch", "0000000c"]).page(), @"
    exit 0
    ── turn 2 · 2026-01-02 07:04 · ~16 tokens · context 11.7k · claude-test-1 ──────
    The map's order is random; **sort the keys**.                           0000000c

    ── turn 3 · 2026-01-03 06:04 · 4s · ~539 tokens · context 12.3k · claude-test-1 

    ❯ 日本語のログを見て �[31mred� and use ghp_[masked]                     0000000d

    ● Screenshot  toolu_c
      [image 640×480 png 624 B]

    It shows the log.                                                       00000010

    [Claude Code] [Request interrupted by user]

    ── turn 4 · 2026-01-03 07:04 · 1s · ~47 tokens · context 12.5k · claude-test-1 ─

    ❯ Push it                                                               00000012

    ● Bash  git push origin main  toolu_d
    ");
    insta::assert_snapshot!(home.run_on(80, &["show", "@", "--branch", "00000001"]).page(), @r#"
    exit 2
    Error: `00000001` is part of the conversation, not of an abandoned branch
    Hint: read it with: ccsurgery show --turns 1
    "#);
    insta::assert_snapshot!(home.run_on(80, &["show", "--branches"]).page(), @r#"
    exit 0
    after turn  entries    size  first entry  first prompt
             2        8  5.4 KB  0000000c     日本語のログを見て �[31mred� and use …
    Read one with: ccsurgery show --branch UUID
    "#);
}

#[test]
fn show_reports_a_turn_that_does_not_exist() {
    let home = home();
    insta::assert_snapshot!(home.run_on(80, &["show", "--turns", "9"]).page(), @r#"
    exit 2
    session 5e551011  “Flaky parser �[2J test”
    Error: there is no turn 9
    Hint: the session has turns 1 to 4; -1 is the last
    "#);
}
