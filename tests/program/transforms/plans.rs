//! Several operations as one.

use insta::assert_snapshot;

use serde_json::Value;

use super::weather;
use crate::harness::SESSION;

const PLAN: &str = r#"
[[step]]
op = "strip-thinking"

[[step]]
op = "drop-tools"
tool = ["Bash"]
larger-than = "1k"
stub = true
head = 1

[[step]]
op = "compact"
keep-last = 1
summary = "The wind has no direction."
"#;

#[test]
fn a_plan_is_its_steps_one_after_the_other() {
    let home = weather::home_with_fitting_records();
    home.write("work/plan.toml", PLAN);
    let steps: [&[&str]; 3] = [
        &["strip-thinking"],
        &[
            "drop-tools",
            "--tool",
            "Bash",
            "--larger-than",
            "1k",
            "--stub",
            "--head",
            "1",
        ],
        &[
            "compact",
            "--keep-last",
            "1",
            "--summary",
            "The wind has no direction.",
        ],
    ];
    let mut from = SESSION.to_owned();
    for (n, step) in steps.iter().enumerate() {
        let to = format!("./step{n}.jsonl");
        let run = home.run(&[&step[..1], &[from.as_str()], &step[1..], &["-o", &to]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        from = to;
    }
    let run = home.run(&["run", "plan.toml", SESSION, "-o", "./at-once.jsonl"]);
    assert_eq!(run.code, 0, "{run:?}");
    let messages = weather::payload(&home, "./at-once.jsonl");
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert_eq!(weather::payload(&home, &from), messages);
    let shape = |path: &str| {
        let text = fs_err::read_to_string(home.project().join(path)).expect("a transcript");
        let lines = text
            .lines()
            .filter(|l| !l.contains("Compact") && !l.contains("compact_boundary"));
        lines
            .filter(|l| l.contains("\"uuid\"") && !l.contains("\"thanks\""))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    // What the last request would take now is estimated: by the original's records, also where a step rests on another.
    let (one, other) = (shape(&from), shape("./at-once.jsonl"));
    let usage = |lines: &[String]| -> Value {
        let last: Value = serde_json::from_str(lines.last().expect("lines")).expect("JSON");
        last["message"]["usage"].clone()
    };
    let tokens = |lines: &[String]| usage(lines)["input_tokens"].as_u64().expect("a number");
    assert!(
        tokens(&one).abs_diff(tokens(&other)) * 100 <= tokens(&one),
        "{} {}",
        tokens(&one),
        tokens(&other)
    );
    let rest = |lines: Vec<String>| {
        let usage = usage(&lines).to_string();
        lines.join("\n").replace(&usage, "usage")
    };
    assert_eq!(rest(one), rest(other));
}

#[test]
fn one_preview_one_write_one_undo() {
    let home = weather::home();
    home.write("work/plan.toml", PLAN);
    let before = fs_err::read(weather::path(&home)).expect("the session");
    assert_snapshot!(home.run(&["run", "plan.toml", SESSION, "-n"]).seen(), @r#"
    run  5e551000  “Weather station”
    project  ~/work

      turns          3 →      3
      entries       16 →     17  +1
      size     14.8 KB → 9.7 KB  −5.0 KB
      window     ~2.4k →  ~1.0k  −1.4k tokens

      − turn 1    hidden from the model      ±0 B   ~143 tokens  “which sensors are there?”
      − turn 1    thinking                  −84 B    ~27 tokens  “I should look at the folder.”
      − turn 2    hidden from the model      ±0 B   ~104 tokens  “run the tests”
      − turn 2    thinking                  −83 B    ~27 tokens  “Tests first, then the rest.”
      ~ turn 2    Bash result             −3.3 KB  ~1.1k tokens  “npm test”
      +           summary                  +435 B     ~8 tokens  “The wind has no direction.”
      +           title                    +113 B  “Weather station (run)”
      ~ 3 messages re-linked
      ~ 1 duplicate output  −3.4 KB
      + 1 compaction boundary  +551 B
      ~ new ids for 16 entries, each with a note of its origin (about 120 bytes)

      write transcript    9.7 KB  ~/.claude/projects/[slug]/[fresh].jsonl
    note: the recorded context size is lowered to ~1.0k, so that Claude Code does not compact at once

    Dry run: nothing was written.
    --- exit code 0
    "#);
    let run = home.run(&["run", "plan.toml", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let document = home.json(&["history"]);
    assert_eq!(document["operations"].as_array().map(Vec::len), Some(1));
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    assert_eq!(
        fs_err::read(weather::path(&home)).expect("the session"),
        before
    );
}

/// What is said of a plan.
fn refused(plan: &str) -> String {
    let home = weather::home();
    home.write("work/plan.toml", plan);
    let before = home.everything();
    let run = home.run(&["run", "plan.toml", SESSION]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(before == home.everything(), "nothing is written");
    run.stderr_seen()
}

#[test]
fn an_operation_that_is_not_there() {
    assert_snapshot!(refused("# mine\n\n[[step]]\nop = \"strip-thinking\"\n\n[[step]]\nop = \"strip\"\n"), @r#"
    Error: `plan.toml`, line 7: there is no operation `strip`: one of strip-thinking, drop-tools, drop-images, drop-hidden, truncate, compact, delete, edit, extract, uncompact, restore-branch, title,
           graft, redact
    Hint: see: ccsurgery run --help
    "#);
}

#[test]
fn an_option_that_is_not_there() {
    assert_snapshot!(refused("# mine\n\n[[step]]\nop = \"strip-thinking\"\nkeep-first = 3\n"), @"
    Error: `plan.toml`, line 5: strip-thinking has no option `keep-first`; it has turns, message, match, larger-than, keep-last, keep-tokens, subagents
    Hint: see: ccsurgery run --help
    ");
}

#[test]
fn a_value_that_is_none() {
    assert_snapshot!(refused("[[step]]\nop = \"drop-tools\"\nstub = true\nlarger-than = \"ten\"\n"), @"
    Error: `plan.toml`, line 4: `larger-than`: `ten` is not a size; write 800, 10k or 1.5MB
    Hint: see: ccsurgery run --help
    ");
    assert_snapshot!(refused("[[step]]\nop = \"truncate\"\nat = \"..\"\n"), @"
    Error: `..` is not a turn number or the uuid of an entry
    Hint: the session has turns 1 to 3; -1 is the last
    ");
}

#[test]
fn a_step_without_an_operation() {
    assert_snapshot!(refused("[[step]]\nkeep-last = 3\n"), @r#"
    Error: `plan.toml`, line 1: the step has no `op`: one of strip-thinking, drop-tools, drop-images, drop-hidden, truncate, compact, delete, edit, extract, uncompact, restore-branch, title, graft, redact
    Hint: see: ccsurgery run --help
    "#);
}

#[test]
fn no_steps() {
    assert_snapshot!(refused("# nothing yet\n"), @"
    Error: `plan.toml`: the plan has no steps
    Hint: see: ccsurgery run --help
    ");
}

#[test]
fn no_toml() {
    assert_snapshot!(refused("[[step]]\nop = strip-thinking\n"), @"
    Error: `plan.toml`, line 2: string values must be quoted, expected literal string
    Hint: see: ccsurgery run --help
    ");
}

#[test]
fn no_file() {
    let home = weather::home();
    let run = home.run(&["run", "none.toml", SESSION]);
    assert_eq!(run.code, 1, "{run:?}");
    assert_snapshot!(run.stderr_seen(), @"
    Error: failed to open file `none.toml`: No such file or directory (os error 2)
    Hint: check the path
    ");
}

#[test]
fn the_plan_in_the_readme() {
    let readme = include_str!("../../../README.md");
    let plan = readme
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let home = weather::home();
    home.write("work/spring-cleaning.toml", plan.expect("a plan"));
    let run = home.run(&["run", "spring-cleaning.toml", SESSION, "-n"]);
    assert_eq!(run.code, 0, "{run:?}");
}
