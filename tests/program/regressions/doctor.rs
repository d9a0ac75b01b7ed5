//! Regressions in `doctor`, and in the repairs of what it finds.

use serde_json::{Value, json};

use crate::harness::{Home, SESSION, Transcript, records, uuid};

/// A line of the graph with the `n`th uuid, `parent` 0 being the root.
fn entry(n: usize, parent: usize, kind: &str, message: Value, more: Value) -> Value {
    let parent = (parent > 0).then(|| uuid(SESSION, parent));
    let mut line = json!({
        "parentUuid": parent, "isSidechain": false, "type": kind, "message": message,
        "uuid": uuid(SESSION, n), "timestamp": format!("2026-01-02T03:04:{n:02}.000Z"),
        "sessionId": SESSION, "version": "2.1.325", "userType": "external",
    });
    if let (Some(line), Value::Object(more)) = (line.as_object_mut(), more) {
        line.extend(more);
    }
    line
}

pub(super) fn prompt(n: usize, parent: usize, words: &str) -> Value {
    let message = json!({"role": "user", "content": words});
    entry(n, parent, "user", message, json!({}))
}

pub(super) fn answer(n: usize, parent: usize, id: &str, blocks: Value) -> Value {
    let message = json!({
        "id": id, "type": "message", "role": "assistant", "model": "claude-opus-4-5",
        "content": blocks, "usage": {"input_tokens": 100, "output_tokens": 5},
    });
    entry(n, parent, "assistant", message, json!({}))
}

pub(super) fn text(words: &str) -> Value {
    json!([{"type": "text", "text": words}])
}

pub(super) fn call(id: &str) -> Value {
    json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}])
}

pub(super) fn result(n: usize, parent: usize, id: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": format!("result {n}")});
    let message = json!({"role": "user", "content": [block]});
    entry(n, parent, "user", message, json!({}))
}

/// A home with one session of these lines, which a version of the client wrote.
pub(super) fn home(version: &str, lines: &[Value]) -> Home {
    let home = Home::new();
    let mut transcript = home.start(SESSION);
    for line in lines {
        let mut line = line.clone();
        line["cwd"] = json!(home.project().to_string_lossy());
        if line.get("uuid").is_some() {
            line["version"] = json!(version);
        }
        transcript = transcript.line(line);
    }
    home.add(&transcript);
    home
}

/// The checks that found a problem, and the exit code.
fn problems(home: &Home) -> (Vec<String>, i32) {
    problems_for(home, &[])
}

/// The same, with more options.
fn problems_for(home: &Home, options: &[&str]) -> (Vec<String>, i32) {
    let run = home.run(&[&["doctor", SESSION, "--json"], options].concat());
    let document: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
    let findings = document["sessions"][0]["findings"].as_array().cloned();
    let found = findings.unwrap_or_default();
    let serious = found.iter().filter(|f| f["severity"] != "harmless");
    let names = serious.filter_map(|f| f["check"].as_str().map(str::to_owned));
    (names.collect(), run.code)
}

/// Whether repair leaves the session as it is.
pub(super) fn repair_leaves_alone(home: &Home) -> bool {
    let before = fs_err::read(home.transcript(SESSION)).expect("the session");
    let run = home.run(&["repair", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    before == fs_err::read(home.transcript(SESSION)).expect("the session")
}

pub(super) fn assert_healthy(home: &Home) {
    assert_eq!(problems(home), (Vec::new(), 0));
}

#[test]
fn doctor_accepts_an_entry_that_was_written_twice() {
    let mut again = result(3, 2, "toolu_1");
    again["slug"] = json!("a-b-c");
    let mut boundary = entry(
        5,
        0,
        "system",
        Value::Null,
        json!({"subtype": "compact_boundary"}),
    );
    boundary["logicalParentUuid"] = json!(uuid(SESSION, 3));
    boundary["compactMetadata"] = json!({"trigger": "auto", "preTokens": 9, "preservedSegment": {
        "headUuid": uuid(SESSION, 2), "anchorUuid": uuid(SESSION, 6), "tailUuid": uuid(SESSION, 3),
    }});
    let mut summary = prompt(6, 5, "Summary: all");
    summary["isCompactSummary"] = json!(true);
    let home = home(
        "2.1.325",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", call("toolu_1")),
            result(3, 2, "toolu_1"),
            again,
            boundary,
            summary,
            answer(7, 6, "msg_2", text("done")),
        ],
    );
    assert_healthy(&home);
    assert!(repair_leaves_alone(&home));
}

#[test]
fn doctor_accepts_an_answer_that_was_written_again() {
    let home = home(
        "2.0.50",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", call("toolu_1")),
            result(3, 2, "toolu_1"),
            answer(4, 3, "msg_2", text("done")),
            answer(6, 1, "msg_1", call("toolu_1")),
            result(7, 6, "toolu_1"),
            answer(8, 7, "msg_2", text("done")),
            prompt(9, 8, "next"),
            answer(10, 9, "msg_3", text("ok")),
        ],
    );
    assert_healthy(&home);
    assert!(repair_leaves_alone(&home));
}

#[test]
fn doctor_reports_parallel_results_only_for_an_old_client_that_is_in_use() {
    let lines = [
        prompt(1, 0, "go"),
        answer(2, 1, "msg_1", call("toolu_1")),
        answer(3, 2, "msg_1", call("toolu_2")),
        result(4, 2, "toolu_1"),
        result(5, 3, "toolu_2"),
        answer(6, 5, "msg_2", text("done")),
    ];
    assert_healthy(&home("2.1.81", &lines));
    assert_healthy(&home("2.1.45", &lines));
    let (found, code) = problems_for(&home("2.1.45", &lines), &["--client", "2.1.45"]);
    assert_eq!((found, code), (vec!["parallel-results".to_owned()], 1));
}

#[test]
fn doctor_accepts_a_killed_call() {
    let home = home(
        "2.1.81",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", call("toolu_1")),
            prompt(4, 2, "go on then"),
            answer(5, 4, "msg_2", text("on")),
        ],
    );
    assert_healthy(&home);
}

#[test]
fn doctor_accepts_blank_text_inside_an_answer() {
    let home = home(
        "2.1.39",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", text("\n\n")),
            answer(3, 2, "msg_1", text("done")),
        ],
    );
    assert_healthy(&home);
}

#[test]
fn doctor_accepts_a_command_echo_beside_the_leaf() {
    let echo = |n, words: &str| prompt(n, 2, words);
    let home = home(
        "2.1.100",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", text("done")),
            echo(5, "<local-command-stdout>Bye!</local-command-stdout>"),
            echo(4, "<command-name>/exit</command-name>"),
        ],
    );
    assert_healthy(&home);
}

#[test]
fn doctor_accepts_a_dangling_parent_with_no_message_before_it() {
    let home = home(
        "2.0.76",
        &[prompt(2, 1, "go"), answer(3, 2, "msg_1", text("done"))],
    );
    assert_healthy(&home);
}

#[test]
fn repair_keeps_times_where_last_prompt_names_a_parallel_result() {
    let note = json!({"type": "last-prompt", "lastPrompt": "go", "leafUuid": uuid(SESSION, 4), "sessionId": SESSION});
    let home = home(
        "2.1.226",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", call("toolu_1")),
            answer(3, 2, "msg_1", call("toolu_2")),
            result(4, 2, "toolu_1"),
            note,
            result(5, 3, "toolu_2"),
            answer(6, 5, "msg_2", text("the last answer")),
        ],
    );
    assert_healthy(&home);
    assert!(repair_leaves_alone(&home));
}

#[test]
fn repair_linearize_makes_no_cycle_of_lines_out_of_order() {
    let mut meta = prompt(2, 1, "meta");
    meta["isMeta"] = json!(true);
    let home = home(
        "2.1.45",
        &[
            prompt(1, 0, "one"),
            answer(4, 3, "m3", call("t8")),
            meta,
            answer(3, 2, "m3", call("t7")),
            result(5, 3, "t8"),
            result(6, 3, "t7"),
        ],
    );
    let run = home.run(&["repair", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let left = problems(&home).0;
    assert!(!left.contains(&"cycle".to_owned()), "{left:?}");
    assert!(
        repair_leaves_alone(&home),
        "a second repair changes nothing"
    );
}

#[test]
fn repair_linearize_works_after_the_report_of_an_api_error_inside_a_message() {
    let mut error = answer(3, 2, "msg_error", text("API Error: 400 no"));
    error["isApiErrorMessage"] = json!(true);
    let home = home(
        "2.1.45",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "msg_1", text("I look")),
            error,
            answer(4, 3, "msg_1", call("toolu_1")),
            answer(5, 4, "msg_1", call("toolu_2")),
            result(6, 4, "toolu_1"),
            result(7, 5, "toolu_2"),
            answer(8, 7, "msg_2", text("done")),
        ],
    );
    let run = home.run(&["repair", SESSION, "--linearize", "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let (found, code) = problems_for(&home, &["--client", "2.1.45"]);
    assert_eq!((found, code), (vec![], 0));
}

#[test]
fn repair_keeps_results_of_three_calls_with_one_id() {
    let home = home(
        "2.1.45",
        &[
            prompt(1, 0, "go"),
            answer(2, 1, "m1", call("t1")),
            result(3, 2, "t1"),
            answer(4, 3, "m2", call("t1")),
            answer(5, 4, "m3", call("t1")),
            result(6, 5, "t1"),
            answer(7, 6, "m4", text("done")),
        ],
    );
    let run = home.run(&["repair", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let after: String = records(&home.transcript(SESSION))
        .iter()
        .map(Value::to_string)
        .collect();
    assert!(
        after.contains("result 3") && after.contains("result 6"),
        "{after}"
    );
    assert!(
        repair_leaves_alone(&home),
        "a second repair changes nothing"
    );
}

#[test]
fn doctor_explains_checks() {
    let home = Home::with(&Transcript::new(SESSION, std::path::Path::new("/p")).prompt("go"));
    let run = home.run(&["doctor", "--explain", "torn-line"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("every version"), "{run:?}");
    let run = home.run(&["doctor", "--explain", "nonsense"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("dangling-parent"), "{run:?}");
}

#[test]
fn doctor_explains_every_check() {
    let home = Home::with(&Transcript::new(SESSION, std::path::Path::new("/p")).prompt("go"));
    for check in ccsurgery::doctor::all_checks() {
        let run = home
            .command(&["doctor", "--explain", check.name])
            .columns(60)
            .run();
        assert_eq!(run.code, 0, "{run:?}");
        let rows = ["Finds", "Severity", "What you see", "Affected", "Repair"];
        for row in rows {
            let line = run.stdout.lines().find(|l| l.trim_start().starts_with(row));
            let words = line.map_or("", |l| l.trim_start()[row.len()..].trim());
            assert!(words.len() > 5, "{}, {row}: {run:?}", check.name);
        }
        let narrow = run.stdout.lines().all(|l| l.chars().count() <= 60);
        assert!(narrow, "{run:?}");
        let document = home.json(&["doctor", "--explain", check.name]);
        assert_eq!(document["finds"], check.finds);
    }
}

#[test]
fn repair_of_a_cycle_offers_in_place() {
    let home = home(
        "2.0.76",
        &[prompt(1, 2, "go"), answer(2, 1, "msg_1", text("done"))],
    );
    let run = home.run(&["doctor", SESSION]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stdout.contains("repair 5e551000 --in-place"), "{run:?}");
    let run = home.run(&["repair", SESSION, "-n"]);
    assert!(run.stderr.contains("--in-place"), "{run:?}");
}

/// Replaces the line of the `n`th entry by what `change` makes of it.
pub(super) fn spoil(home: &Home, n: usize, change: impl Fn(&str) -> String) {
    let path = home.transcript(SESSION);
    let text = fs_err::read_to_string(&path).expect("the session");
    let own = format!("\"uuid\":\"{}\"", uuid(SESSION, n));
    let lines = text.lines().map(|line| {
        if line.contains(&own) {
            change(line)
        } else {
            line.to_owned()
        }
    });
    let lines: Vec<String> = lines.collect();
    home.write(&path, lines.join("\n") + "\n");
}

/// A session whose third entry is the result of a call.
pub(super) fn called(extra: &[Value]) -> Home {
    let lines = [
        prompt(1, 0, "go"),
        answer(2, 1, "msg_1", call("toolu_1")),
        result(3, 2, "toolu_1"),
        answer(4, 3, "msg_2", text("done")),
    ];
    home("2.1.325", &[&lines, extra].concat())
}

#[test]
fn doctor_judges_unreadable_lines_by_what_is_lost() {
    let words = called(&[]);
    spoil(&words, 4, |line| line.replace("done", r"do\xne"));
    assert_eq!(problems(&words).1, 1, "an answer is lost");
    let results = called(&[]);
    spoil(&results, 3, |line| line.replace("toolu_1", r"toolu_1\x"));
    let run = results.run(&["doctor", SESSION]);
    assert_eq!(run.code, 0, "the client leaves the call out: {run:?}");
    assert!(run.stdout.contains("bad-escape"), "{run:?}");
}

#[test]
fn repair_corrects_a_bad_escape_and_loses_nothing() {
    let home = called(&[]);
    let path = home.transcript(SESSION);
    spoil(&home, 4, |line| line.replace("done", r"do\xne"));
    let run = home.run(&["repair", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let after = records(&path);
    let answer = after.iter().find(|r| r["uuid"] == uuid(SESSION, 4));
    let content = &answer.expect("the answer")["message"]["content"][0]["text"];
    assert_eq!(content, r"do\xne");
    assert_healthy(&home);
    assert!(repair_leaves_alone(&home));
}

/// Two projects may each have a file of one name, and copies of a home have two sessions of one id.
#[test]
fn doctor_names_sessions_so_that_its_commands_find_them() {
    let damaged = [prompt(1, 0, "first"), prompt(2, 9, "second")];
    let home = home("2.1.45", &damaged);
    let bytes = fs_err::read(home.transcript(SESSION)).expect("the session");
    let other = home.config().join("projects/-elsewhere");
    fs_err::create_dir_all(&other).expect("a folder");
    fs_err::write(other.join(format!("{SESSION}.jsonl")), &bytes).expect("a copy");
    let run = home.run(&["doctor", "--all", "--client", "2.1.45"]);
    let repairs: Vec<&str> = run
        .stdout
        .lines()
        .filter(|l| l.contains("ccsurgery repair "))
        .collect();
    assert_eq!(repairs.len(), 2, "{run:?}");
    for path in [
        home.transcript(SESSION),
        other.join(format!("{SESSION}.jsonl")),
    ] {
        let path = path.to_string_lossy();
        assert!(
            repairs.iter().any(|r| r.contains(&*path)),
            "{path}: {run:?}"
        );
    }
}
