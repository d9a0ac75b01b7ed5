//! The digest that `compact` writes where no summary is given.

use serde_json::{Value, json};

use crate::harness::{Home, SESSION, Transcript};

/// Prints the digest of all turns, and checks that nothing was written.
fn digest_with(home: &Home, more: &[&str]) -> String {
    let before = home.everything();
    let arguments = ["compact", SESSION, "--keep-last", "0", "--print-summary"];
    let run = home.run(&[&arguments[..], more].concat());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(before == home.everything(), "nothing is written");
    run.stdout
}

fn digest(transcript: &Transcript) -> String {
    digest_with(&Home::with(transcript), &[])
}

fn start() -> Transcript {
    Home::new().start(SESSION)
}

/// A result that the client marks as failed.
fn failed(transcript: Transcript, id: &str, output: &str) -> Transcript {
    let block =
        json!({"tool_use_id": id, "type": "tool_result", "content": output, "is_error": true});
    transcript.user(
        json!({"role": "user", "content": [block]}),
        json!({"toolUseResult": output}),
    )
}

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

#[test]
fn digest_quotes_answers_to_questions() {
    let text = digest(
        &start()
            .prompt("design the wind sensor")
            .call("q1", "AskUserQuestion", &json!({"questions": []}))
            .result("q1", "User has answered your questions: \"Which unit?\"=\"knots, never km/h\". You can now continue with the user's answers in mind.")
            .answer("Knots it is."),
    );
    assert!(
        text.contains("\"Which unit?\"=\"knots, never km/h\"\n"),
        "{text}"
    );
    assert!(!text.contains("You can now continue"), "{text}");
}

#[test]
fn digest_quotes_refusals_with_their_words() {
    let made = start()
        .prompt("publish it")
        .call("b1", "Bash", &bash("git push --force"));
    let refused = failed(
        made,
        "b1",
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nnever force-push to main",
    );
    let text = digest(&refused.answer("Understood."));
    assert!(
        text.contains("refusing Bash (git push --force): never force-push to main"),
        "{text}"
    );
    assert!(!text.contains("doesn't want to proceed"), "{text}");
}

#[test]
fn digest_quotes_prompts_that_waited_in_the_queue() {
    let queued = |text: &str| json!({"type": "queue-operation", "operation": "enqueue", "content": text, "sessionId": SESSION});
    let text = digest(
        &start()
            .prompt("edit each section")
            .answer("On it.")
            .line(queued("commit each section atomically"))
            .line(queued(
                "<task-notification>\n<task-id>a</task-id></task-notification>",
            ))
            .answer("Done."),
    );
    assert!(
        text.contains("while you worked: commit each section atomically"),
        "{text}"
    );
    assert!(!text.contains("task-notification"), "{text}");
}

#[test]
fn digest_lists_tasks_of_both_tools() {
    let create = |subject: &str| json!({"subject": subject, "description": "all of it"});
    let text = digest(
        &start()
            .prompt("go on")
            .call("t1", "TaskCreate", &create("Measure wind"))
            .result("t1", "Task #1 created successfully: Measure wind")
            .call("t2", "TaskCreate", &create("Measure rain"))
            .result("t2", "Task #2 created successfully: Measure rain")
            .call(
                "t3",
                "TaskUpdate",
                &json!({"taskId": "1", "status": "completed"}),
            )
            .result("t3", "Updated task #1 status")
            .answer("Wind is measured."),
    );
    assert!(text.contains("#1 [done] Measure wind\n"), "{text}");
    assert!(text.contains("#2 [open] Measure rain: all of it"), "{text}");
    assert!(text.contains("- Next: Measure rain"), "{text}");
    let todos = json!({"todos": [
        {"content": "Read the sensor", "status": "completed"},
        {"content": "Draw the curve", "status": "in_progress"},
    ]});
    let text = digest(
        &start()
            .prompt("go on")
            .call("t1", "TodoWrite", &todos)
            .result("t1", "Todos have been modified")
            .answer("Drawing."),
    );
    assert!(text.contains("[done] Read the sensor"), "{text}");
    assert!(text.contains("- In progress: Draw the curve"), "{text}");
}

#[test]
fn digest_reports_failures_behind_a_pipe_and_their_fix() {
    let text = digest(
        &start()
            .prompt("make the tests pass")
            .call("b1", "Bash", &bash("npm test 2>&1 | tail -5"))
            .result("b1", "FAIL wind.test.js\nTypeError: direction is undefined\n1 failed")
            .answer("The issue is that the direction is never set.")
            .call("e1", "Edit", &json!({"file_path": "/elsewhere/wind.js", "old_string": "let d;", "new_string": "let d = north();"}))
            .result("e1", "ok")
            .call("b2", "Bash", &bash("npm test 2>&1 | tail -20"))
            .result("b2", "12 passed, 0 failed")
            .answer("All tests pass."),
    );
    assert!(
        text.contains("TypeError: direction is undefined")
            && text.contains("→ The issue is that the direction is never set.")
            && text.contains("→ edited wind.js: `let d = north();`")
            && text.contains("→ passed later"),
        "{text}"
    );
    assert!(
        text.contains("`npm test`, 2 times, failed, then passed"),
        "{text}"
    );
}

#[test]
fn digest_lists_commits_and_relative_paths() {
    let home = Home::new();
    let file = home.project().join("src/wind.rs");
    let file = file.to_str().expect("a path");
    home.add(
        &home
            .start(SESSION)
            .prompt("fix it and commit")
            .call(
                "e1",
                "Edit",
                &json!({"file_path": file, "old_string": "a", "new_string": "fn direction() {}"}),
            )
            .result("e1", "ok")
            .call(
                "b1",
                "Bash",
                &bash("git commit -m \"Give the wind a direction\""),
            )
            .result(
                "b1",
                "[main 1a2b3c4] Give the wind a direction\n 1 file changed",
            )
            .answer("Committed."),
    );
    let text = digest_with(&home, &[]);
    assert!(
        text.contains("- 1a2b3c4 Give the wind a direction\n"),
        "{text}"
    );
    assert!(
        text.contains("- src/wind.rs (edited once), new: direction"),
        "{text}"
    );
}

#[test]
fn digest_shows_slash_commands_as_they_were_typed() {
    let text = digest(
        &start()
            .prompt("<command-message>greet</command-message>\n<command-name>/greet</command-name>\n<command-args>Ada</command-args>")
            .answer("Hello, Ada."),
    );
    assert!(text.contains("- Turn 1: /greet Ada\n"), "{text}");
    assert!(!text.contains("<command"), "{text}");
}

#[test]
fn digest_keeps_its_own_headings_apart_from_quoted_ones() {
    let text = digest(
        &start()
            .prompt("# Plan\n## Step 1\nmeasure")
            .answer("## Result\nMeasured, because the plan said so."),
    );
    let headings: Vec<&str> = text.lines().filter(|l| l.starts_with('#')).collect();
    assert_eq!(
        headings,
        [
            "## What the user asked for",
            "## What was found, decided and answered (turn: statement)",
            "## Where it stands, and what is next",
        ]
    );
    assert!(text.contains("# Plan\n  ## Step 1\n  measure"), "{text}");
}

#[test]
fn digest_takes_in_an_earlier_summary_without_its_boilerplate() {
    let summary = "This session is being continued from a previous conversation that ran out of context.\n\nAnalysis:\nLet me think.\n\nSummary:\n1. Primary Request and Intent:\n   Build a weather station.\n7. Pending Tasks:\n   - Solder the board\n\nPlease continue the conversation from where we left it off without asking the user any further questions. Continue with the last task that you were asked to work on.";
    let text = digest(
        &start()
            .prompt("an old question")
            .answer("an old answer")
            .compaction(summary, json!({"trigger": "auto", "preTokens": 1000}))
            .prompt("solder it")
            .answer("Soldered, since the board had arrived."),
    );
    assert!(text.contains("Build a weather station."), "{text}");
    assert!(text.contains("Solder the board"), "{text}");
    assert!(text.contains("Turn 2: solder it"), "{text}");
    for gone in ["Please continue", "Let me think", "an old question"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
}

#[test]
fn digest_fills_its_budget_and_keeps_to_it() {
    let home = Home::new();
    let mut long = home.start(SESSION);
    for n in 0..80 {
        long = long
            .prompt(&format!("question {n}: {}", "why is it so? ".repeat(30)))
            .answer(&format!(
                "Answer {n} is long because of `part_{n}`. {}",
                "It is what it is, and nothing else. ".repeat(20)
            ));
    }
    home.add(&long);
    for tokens in [1_000, 2_800, 6_000] {
        let text = digest_with(&home, &["--max-tokens", &tokens.to_string()]);
        let most = tokens * 4;
        assert!(
            text.len() <= most + 1 && text.len() * 100 >= most * 92,
            "{} of {most} bytes",
            text.len()
        );
        assert!(text.contains("question 79"), "{text}");
    }
}

#[test]
fn summarizer_gets_readable_text_of_a_limited_size() {
    let home = Home::new();
    let mut long = home.start(SESSION).prompt("read all of them");
    for n in 0..20 {
        let id = format!("r{n}");
        let list = json!([{"type": "text", "text": format!("file {n} \"quoted\"\n{}", "x".repeat(50_000))}]);
        long = long.call(&id, "Read", &json!({"file_path": format!("/f{n}")}));
        let block = json!({"tool_use_id": id, "type": "tool_result", "content": list});
        long = long.user(json!({"role": "user", "content": [block]}), json!({}));
    }
    home.add(&long.answer("All read."));
    let text = digest_with(&home, &["--summarizer", "cat"]);
    assert!(text.len() <= 400_010, "{} bytes", text.len());
    assert!(text.contains("Result: file 19 \"quoted\"\n"), "not escaped");
    assert!(text.ends_with("Assistant: All read.\n"), "the end is there");
}

#[test]
fn digest_lists_files_that_the_client_recorded_as_changed() {
    let snapshot = json!({"type": "file-history-snapshot", "messageId": "m1", "isSnapshotUpdate": false,
        "snapshot": {"messageId": "m1", "timestamp": "2026-01-01T00:00:00.000Z",
            "trackedFileBackups": {"src/vane.rs": {"backupFileName": null, "version": 1}}}});
    let text = digest(
        &start()
            .line(snapshot)
            .prompt("make the vane turn")
            .answer("Done."),
    );
    assert!(
        text.contains("- also changed in this session: src/vane.rs\n"),
        "{text}"
    );
}

#[test]
fn digest_names_the_lines_and_definitions_of_the_last_calls() {
    let edited = json!({"tool_use_id": "e1", "type": "tool_result", "content": "updated"});
    let details = json!({"toolUseResult": {"filePath": "/w/vane.rs", "originalFile": "fn spin() {\n    one();\n}\n",
        "structuredPatch": [{"oldStart": 2, "oldLines": 1, "newStart": 2, "newLines": 2, "lines": []}]}});
    let text = digest(
        &start()
            .prompt("make the vane turn")
            .call(
                "g1",
                "Grep",
                &json!({"pattern": "one\\(", "path": "/w"}),
            )
            .result("g1", "/w/vane.rs-1-fn spin() {\n/w/vane.rs:2:    one();\n/w/vane.rs:9:    one();\n--")
            .call(
                "r1",
                "Read",
                &json!({"file_path": "/w/vane.rs", "offset": 7, "limit": 2}),
            )
            .result("r1", "     7→fn stop() {\n     8→    none();")
            .call(
                "e1",
                "Edit",
                &json!({"file_path": "/w/vane.rs", "old_string": "one();", "new_string": "one();\n    two();"}),
            )
            .user(json!({"role": "user", "content": [edited]}), details),
    );
    for line in [
        "Grep one\\( → /w/vane.rs 2: one(); / 9: one();\n",
        "Read /w/vane.rs (lines 7 to 8, stop)\n",
        "Edit /w/vane.rs (lines 2 to 3, spin)\n",
    ] {
        assert!(text.contains(line), "{line}{text}");
    }
}

#[test]
fn digest_quotes_answers_in_the_words_of_newer_clients() {
    let option =
        |label: &str, description: &str| json!({"label": label, "description": description});
    let question = json!({"question": "Which unit?", "options": [
        option("Knots", "As pilots do"), option("km/h", "As drivers do")]});
    let text = digest(
        &start()
            .prompt("design the wind sensor")
            .call("q1", "AskUserQuestion", &json!({"questions": [question]}))
            .result("q1", "Your questions have been answered: \"Which unit?\"=\"Knots\", \"Where?\"=\"on the roof\" user notes: on the roof. You can now continue with these answers in mind.")
            .answer("Knots it is."),
    );
    assert!(
        text.contains("\"Which unit?\"=\"Knots\" (As pilots do), \"Where?\"=\"on the roof\"\n"),
        "{text}"
    );
    assert!(!text.contains("You can now continue"), "{text}");
}

#[test]
fn digest_marks_commits_that_failed() {
    let commit = bash("git commit -m \"Measure the wind in knots\"");
    let tried = start().prompt("commit it").call("b1", "Bash", &commit);
    let tried = failed(
        tried,
        "b1",
        "error: agent refused operation\nfatal: failed to write commit object",
    );
    let text = digest(&tried.clone().answer("That failed."));
    assert!(
        text.contains("NOT made, the command failed: Measure the wind in knots"),
        "{text}"
    );
    let text = digest(
        &tried
            .call("b2", "Bash", &commit)
            .result("b2", "[main 1a2b3c4] Measure the wind in knots")
            .answer("Done."),
    );
    assert!(
        text.contains("- 1a2b3c4 Measure the wind in knots"),
        "{text}"
    );
    assert!(!text.contains("NOT made"), "{text}");
}

#[test]
fn digest_lists_tasks_from_before_an_earlier_compaction() {
    let text = digest(
        &start()
            .prompt("build the wind sensor")
            .call(
                "t1",
                "TaskCreate",
                &json!({"subject": "Mount the vane", "description": "on the roof"}),
            )
            .result("t1", "Task #1 created successfully: Mount the vane")
            .answer("Planned.")
            .compaction("The sensor is being built.", json!({}))
            .prompt("go on")
            .answer("Going on."),
    );
    assert!(
        text.contains("- #1 [open] Mount the vane: on the roof"),
        "{text}"
    );
    assert!(!text.contains("build the wind sensor"), "{text}");
}

#[test]
fn digest_quotes_the_prompt_of_a_turn_beside_what_was_typed_later() {
    let typed = "all good\n<system-reminder>\nThe user sent the following message:\nuse the roof\n</system-reminder>";
    let text = digest(
        &start()
            .prompt("mount the vane")
            .call("b1", "Bash", &bash("make"))
            .result("b1", typed)
            .answer("Mounted."),
    );
    assert!(
        text.contains("(turn 1): mount the vane — and last: use the roof"),
        "{text}"
    );
}

#[test]
fn digest_reports_what_passed_as_a_part_of_a_longer_command() {
    let made = start()
        .prompt("check it")
        .call("b1", "Bash", &bash("make lint 2>&1"));
    let made = failed(made, "b1", "error: unused variable `wind`")
        .call("b2", "Bash", &bash("make lint 2>&1 && make test 2>&1"))
        .result("b2", "ok");
    let text = digest(&made.answer("Clean."));
    assert!(text.contains("→ passed later"), "{text}");
    assert!(!text.contains("not seen to be fixed"), "{text}");
}

#[test]
fn digest_keeps_the_headings_of_a_long_prompt() {
    let steps: Vec<String> = (1..40)
        .map(|n| {
            format!("### Step {n}\n\n- Part {n} of the work\n\n```rust\nfn part_{n}() {{}}\n```\n")
        })
        .collect();
    let plan = format!(
        "Implement the plan:\n\n# The plan\n\n{}\nThen run all tests.",
        steps.concat()
    );
    let transcript = start().prompt(&plan).answer("Done.");
    let text = digest_with(&Home::with(&transcript), &["--max-tokens", "700"]);
    assert!(
        text.contains("### Step 1\n") || text.contains("### Step 1 […]\n"),
        "{text}"
    );
    assert!(
        text.contains("### Step 39") && text.contains("Then run all tests."),
        "{text}"
    );
    let whole = digest_with(
        &Home::with(&transcript),
        &["--max-tokens", "300", "--whole-words"],
    );
    assert!(whole.contains("fn part_20() {}"), "{whole}");
}
