//! What cannot be meant, and what would do harm.

use insta::assert_snapshot;
use serde_json::json;

use super::weather;
use crate::harness::{Home, SESSION};

fn usage(arguments: &[&str]) -> String {
    let home = weather::home();
    let run = home.run(arguments);
    assert_eq!(run.code, 2, "{run:?}");
    run.stderr_seen()
}

#[test]
fn bad_sizes() {
    assert_snapshot!(usage(&["drop-tools", SESSION, "--larger-than", "ten"]), @"
    error: invalid value 'ten' for '--larger-than <SIZE>': `ten` is not a size; write 800, 10k or 1.5MB

    For more information, try '--help'.
    ");
    usage(&["drop-tools", SESSION, "--larger-than", "-1k"]);
    usage(&["drop-tools", SESSION, "--larger-than", "10x"]);
    usage(&["drop-tools", SESSION, "--larger-than", "nan"]);
}

#[test]
fn bad_globs() {
    assert_snapshot!(usage(&["drop-tools", SESSION, "--tool", "mcp__["]), @"
    Error: `mcp__[`: unclosed character class; missing ']'
    Hint: write a tool's name, or a pattern such as 'mcp__*'
    ");
}

#[test]
fn bad_ids() {
    assert_snapshot!(usage(&["drop-tools", SESSION, "--id", "toolu_none"]), @"
    Error: the session has no call `toolu_none`
    Hint: ids of calls look like toolu_…; see them with: ccsurgery show --turns N
    ");
}

#[test]
fn bad_turns() {
    assert_snapshot!(usage(&["strip-thinking", SESSION, "--turns", "7"]), @"
    Error: there is no turn 7
    Hint: the session has turns 1 to 3; -1 is the last
    ");
    usage(&["strip-thinking", SESSION, "--turns", "x y"]);
    usage(&["truncate", SESSION]);
    usage(&["compact", SESSION]);
    usage(&["compact", SESSION, "--at", "1", "--keep-last", "1"]);
    usage(&["compact", SESSION, "--at", "1", "--summary", " "]);
    usage(&[
        "compact",
        SESSION,
        "--at",
        "1",
        "--summary",
        "a",
        "--summarizer",
        "b",
    ]);
    usage(&["drop-tools", SESSION, "--head", "3"]);
    usage(&["history", "gc", "--older-than", "soon"]);
}

#[test]
fn a_cut_inside_an_unfinished_turn() {
    let home = weather::home();
    home.add(
        &weather::running(&home)
            .prompt("never mind")
            .answer("Stopped."),
    );
    let run = home.run(&["truncate", SESSION, "--at", "4"]);
    assert_snapshot!(run.seen(), @"
    --- stderr
    Refused: turn 4 is unfinished: it has calls without results, which the model cannot be shown
    Hint: nearest turns that work: --at 3 or --at 5
    --- exit code 3
    ");
}

#[test]
fn a_summary_of_calls_that_still_run() {
    let home = weather::running_home();
    let run = home.run(&["compact", SESSION, "--keep-last", "0"]);
    assert_snapshot!(run.seen(), @"
    --- stderr
    Refused: turn 4 is unfinished: it has calls without results, which cannot be summarised
    Hint: keep the last turn as it is: --keep-last 1
    --- exit code 3
    ");
    assert_eq!(
        home.run(&["compact", SESSION, "--keep-last", "1", "-n"])
            .code,
        0
    );
}

#[test]
fn words_that_would_cut_off_calls_that_still_run() {
    let home = Home::new();
    let blocks = json!([
        {"type": "tool_result", "tool_use_id": "toolu_done", "content": "done"},
        {"type": "text", "text": "by the way"},
    ]);
    let transcript = weather::transcript(&home)
        .prompt("both, please")
        .call("toolu_done", "Bash", &json!({"command": "make"}))
        .call("toolu_runs", "Bash", &json!({"command": "make test"}))
        .user(json!({"role": "user", "content": blocks}), json!({}));
    home.add(&transcript);
    let run = home.run(&["drop-tools", SESSION, "--id", "toolu_done"]);
    assert_snapshot!(run.seen(), @"
    --- stderr
    Refused: the last turn is unfinished: text beside a removed result would cut off the calls that still run
    Hint: name the calls without results too, with --id
    --- exit code 3
    ");
    let both = [
        "drop-tools",
        SESSION,
        "--id",
        "toolu_done",
        "--id",
        "toolu_runs",
    ];
    assert_eq!(home.run(&both).code, 0);
}
