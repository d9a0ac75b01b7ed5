//! A graft in place rewrites a session and creates files beside it: whatever interrupts it, both are done or neither.

use std::collections::BTreeMap;

use serde_json::json;

use crate::harness::{Home, SESSION, Transcript};

use super::cases::CLEAN_UP;

/// The session that the turns come from.
const GIVER: &str = "61a50000-aaaa-4bbb-8ccc-0123456789ab";

const GRAFT: &[&str] = &["graft", SESSION, "--from", GIVER, "--in-place", "--yes"];
const UNDO: &[&str] = &["undo", "--yes"];
const REDO: &[&str] = &["redo", "--yes"];

/// A home with a session, and another whose only turn has a subagent and a file version for rewinding.
fn home() -> Home {
    let home = Home::in_memory();
    home.add(&home.start(SESSION).prompt("one").answer("answer one"));
    let mut giver = home
        .start(GIVER)
        .prompt("two")
        .call("toolu_1", "Task", &json!({"prompt": "look"}))
        .result("toolu_1", "seen")
        .answer("answer two");
    giver.lines[2]["toolUseResult"] = json!({"agentId": "a123456", "content": []});
    let prompt = giver.id(1);
    home.add(
        &giver.line(json!({"type": "file-history-snapshot", "messageId": prompt,
        "snapshot": {"messageId": prompt, "trackedFileBackups": {"a.txt": {
            "backupFileName": "0123456789abcdef@v1", "version": 1}}},
        "isSnapshotUpdate": false})),
    );
    let agent = Transcript::of_agent(GIVER, "a123456", &home.project());
    let agent = agent.prompt("look").answer("seen");
    let own = home.folder().join(GIVER);
    home.write(own.join("subagents/agent-a123456.jsonl"), agent.text());
    let history = home.config().join("file-history").join(GIVER);
    home.write(history.join("0123456789abcdef@v1"), "old\n");
    home
}

/// All files of the config folder.
fn files(home: &Home) -> BTreeMap<String, Vec<u8>> {
    let mut all = home.everything();
    all.retain(|name, _| name.starts_with(".claude/"));
    all
}

fn ends_well(home: &Home, arguments: &[&str]) {
    let run = home.run(arguments);
    assert_eq!(run.code, 0, "{run:?}");
}

/// Kills a run at each of its steps, lets the next run clean up, and returns how often the graft was there then.
fn killed_at_every_step(before: &[&[&str]], command: &[&str]) -> (usize, usize) {
    let prepared = || {
        let home = home();
        let without = files(&home);
        for run in before {
            ends_well(&home, run);
        }
        (home, without)
    };
    let (first, _) = prepared();
    let trace = first.path("trace");
    let run = first
        .command(command)
        .env("CCSURGERY_FAULT_TRACE", &trace)
        .run();
    assert_eq!(run.code, 0, "{run:?}");
    let steps = fs_err::read_to_string(&trace).expect("the steps");
    let (mut with, mut without) = (0, 0);
    for (n, step) in (1..).zip(steps.lines()) {
        let (home, original) = prepared();
        let fault = format!("kill@{n}");
        let run = home.command(command).env("CCSURGERY_FAULT", fault).run();
        assert_eq!(run.code, -1, "killed at {step}: {run:?}");
        home.run(CLEAN_UP);
        if files(&home) == original {
            without += 1;
            continue;
        }
        with += 1;
        let own = format!("/{SESSION}/");
        let beside = files(&home).into_keys();
        let beside = beside.filter(|name| name.contains(&own) && !name.ends_with('/'));
        assert_eq!(beside.count(), 2, "killed at {step}");
        let shown = home.run(&["payload", SESSION]).stdout;
        assert!(shown.contains("answer two"), "killed at {step}: {shown}");
        ends_well(&home, UNDO);
        assert_eq!(files(&home), original, "killed at {step}");
    }
    (with, without)
}

#[test]
fn graft_in_place_that_is_killed_is_done_or_undone() {
    let (with, without) = killed_at_every_step(&[], GRAFT);
    assert!(with > 0 && without > 0, "{with} {without}");
}

#[test]
fn graft_whose_undo_is_killed_is_there_or_undone() {
    let (with, without) = killed_at_every_step(&[GRAFT], UNDO);
    assert!(with > 0 && without > 0, "{with} {without}");
}

#[test]
fn graft_whose_redo_is_killed_is_there_or_undone() {
    let (with, without) = killed_at_every_step(&[GRAFT, UNDO], REDO);
    assert!(with > 0 && without > 0, "{with} {without}");
}
