//! Calls to the system that fail with what a broken disk (EIO) or a used-up quota (EDQUOT) answers: an error,
//! everything as it was, nothing left over, and the next run works.
//!
//! `cargo test` has some of the calls fail, others in each case. `CCSURGERY_CALLS=1` has each of them fail, one
//! after the other, which takes some minutes.

use super::calls::{Call, Does, judged};
use super::cases::{CASES, Case, fill};
use super::world::{World, assert_tidy};
use crate::harness::{Home, Run, SESSION, Transcript};

const BROKEN: i32 = libc::EIO;
const QUOTA: i32 = libc::EDQUOT;

/// Of how many calls one fails.
pub(crate) fn one_of(usual: usize) -> usize {
    let asked = std::env::var("CCSURGERY_CALLS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(usual).max(1)
}

/// Whether a call takes room on the disk, so that a quota can be in its way.
fn takes_room(call: &Call) -> bool {
    call.does == Does::Change && !["fchmod", "fchown", "chmod"].contains(&call.name)
}

/// Runs a command; calls that `judge` names an error for fail with it.
fn run(home: &Home, arguments: &[&str], judge: impl FnMut(&Call) -> Option<i32>) -> Option<Run> {
    let process = home.command(arguments).process();
    let output = judged(process, &home.path(""), judge)?;
    Some(Run::new(home, &output))
}

/// The calls that a case makes.
fn calls(world: &World, case: &Case) -> Option<Vec<Call>> {
    let mut calls = Vec::new();
    world.reset();
    let run = run(&world.home, case.command, |call| {
        calls.push(call.clone());
        None
    })?;
    assert_eq!(run.code, 0, "{}: {run:?}", case.name);
    Some(calls)
}

/// What a person is told of an error.
fn assert_told(run: &Run, error: i32, what: &str) {
    assert_eq!(run.code, 1, "{what}: {run:?}");
    let words = format!("os error {error}");
    assert!(run.tells(&words), "{what}: {run:?}");
    let hint = run.tells("quota on this disk is used up");
    assert_eq!(hint, error == QUOTA, "{what}: {run:?}");
    assert!(!run.tells("panicked"), "{what}: {run:?}");
}

/// Has calls fail, one in each run. Each leads to an error and all as it was, or does not matter.
fn one_by_one(error: i32, usual: usize, counts: fn(&Call) -> bool) {
    let mut refused = 0;
    let mut failed = 0;
    for (nth, case) in CASES.iter().enumerate() {
        let world = World::new(case);
        let Some(calls) = calls(&world, case) else {
            return;
        };
        for (n, call) in (1..).zip(calls.iter().filter(|c| counts(c))) {
            if (n + nth) % one_of(usual) != 0 {
                continue;
            }
            let what = format!("{}, call {n} fails with {error}, {call:?}", case.name);
            world.reset();
            let mut passed = 0;
            let run = run(&world.home, case.command, |call| {
                passed += usize::from(counts(call));
                (counts(call) && passed == n).then_some(error)
            });
            let run = run.expect("as before");
            failed += 1;
            world.assert_whole(&what);
            if run.code == 0 {
                // A call that is not needed, or has another way.
                world.clean_up(&what);
                assert!(
                    world.assert_settled(&what),
                    "{what}: no error, but not done"
                );
            } else {
                refused += 1;
                assert_told(&run, error, &what);
                assert!(!world.assert_settled(&what), "{what}: an error, but done");
            }
            if failed % 4 == 0 {
                world.assert_goes_on(run.code == 0, &what);
            }
        }
    }
    eprintln!(
        "{failed} calls failed with {error}, {refused} of them with an error; all was as before"
    );
}

#[test]
fn system_call_refused_by_the_disk_changes_nothing() {
    one_by_one(BROKEN, 3, |call| call.does != Does::Look);
}

#[test]
fn system_call_refused_by_the_quota_changes_nothing() {
    one_by_one(QUOTA, 4, takes_room);
}

#[test]
fn failed_read_changes_nothing() {
    one_by_one(BROKEN, 12, |call| call.does == Does::Look);
}

/// All calls of one kind fail.
#[test]
fn system_call_that_always_fails_changes_nothing() {
    for case in CASES {
        let main = [
            "in place",
            "repair in place",
            "clone",
            "undo in place",
            "undo a clone",
        ];
        if !main.contains(&case.name) {
            continue;
        }
        let world = World::new(case);
        let Some(calls) = calls(&world, case) else {
            return;
        };
        let mut kinds: Vec<&Call> = calls.iter().filter(|c| takes_room(c)).collect();
        kinds.sort_by_key(|c| c.name);
        kinds.dedup_by_key(|c| c.name);
        assert!(kinds.len() > 3, "{}: {kinds:?}", case.name);
        for (kind, error) in kinds.iter().flat_map(|k| [(k, BROKEN), (k, QUOTA)]) {
            let what = format!("{}, every {} fails with {error}", case.name, kind.name);
            world.reset();
            let run = run(&world.home, case.command, |call| {
                (call.name == kind.name && takes_room(call)).then_some(error)
            });
            let run = run.expect("as before");
            world.assert_whole(&what);
            if run.code != 0 {
                assert_told(&run, error, &what);
            }
            // Where what is put aside cannot be put back, the next run does it.
            if kind.name.starts_with("rename") || run.code == 0 {
                world.clean_up(&what);
            }
            let done = world.assert_settled(&what);
            assert_eq!(done, run.code == 0, "{what}");
            world.assert_goes_on(done, &what);
        }
    }
}

/// A change that fails on a file system without hard links, where a file cannot be kept aside: its old bytes
/// come back from the journal.
#[test]
fn failing_change_without_hard_links_changes_nothing() {
    for (nth, case) in CASES.iter().enumerate() {
        let world = World::new(case);
        let linked = |call: &Call| call.name.starts_with("link");
        let counts = |call: &Call| call.does != Does::Look && !linked(call);
        for n in (1..).filter(|n| (n + nth) % one_of(7) == 0) {
            let what = format!("{}, no links, and change {n} fails", case.name);
            world.reset();
            let mut passed = 0;
            let run = run(&world.home, case.command, |call| {
                passed += usize::from(counts(call));
                let fails = (counts(call) && passed == n).then_some(BROKEN);
                fails.or(linked(call).then_some(libc::EPERM))
            });
            let Some(run) = run else { return };
            if passed < n {
                assert_eq!(run.code, 0, "{what}: {run:?}");
                break;
            }
            world.assert_whole(&what);
            if run.code != 0 {
                assert_told(&run, BROKEN, &what);
            }
            // Only a way back that failed at its end is left to the next run, and may count as done then.
            let way_back = ["undo", "redo"].contains(&case.command[0]);
            if way_back || run.code == 0 {
                world.clean_up(&what);
            }
            let done = world.assert_settled(&what);
            assert!(done == (run.code == 0) || way_back, "{what}");
            world.assert_goes_on(done, &what);
        }
    }
}

/// From some call on nothing works any more: on the disk with the sessions, on the one with the journal, or
/// on the one with both.
#[test]
fn dying_disk_loses_nothing() {
    for (nth, case) in CASES.iter().enumerate() {
        let world = World::new(case);
        let Some(calls) = calls(&world, case) else {
            return;
        };
        for below in [".claude", "state", ""] {
            let disk = world.home.path(below);
            let there = |call: &Call| call.path.starts_with(&disk);
            let changes = |call: &Call| there(call) && call.does != Does::Look;
            for (n, call) in (1..).zip(calls.iter().filter(|c| changes(c))) {
                if (n + nth) % one_of(11) != 0 {
                    continue;
                }
                // As a disk that can still be read, and as one that cannot.
                for looks in [true, false] {
                    let what = format!("all fails below `{below}` from {call:?} on ({looks})");
                    world.reset();
                    let mut passed = 0;
                    let run = run(&world.home, case.command, |call| {
                        passed += usize::from(changes(call));
                        let fails = changes(call) || !looks && there(call);
                        (passed >= n && fails).then_some(BROKEN)
                    });
                    let run = run.expect("as before");
                    world.assert_whole(&what);
                    if run.code != 0 {
                        assert_told(&run, BROKEN, &what);
                    }
                    world.clean_up(&what);
                    let done = world.assert_settled(&what);
                    assert!(done || run.code == 1, "{what}: no error, but not done");
                    world.assert_goes_on(done, &what);
                }
            }
        }
    }
}

/// A run was killed, and a call of the one that cleans up fails.
#[test]
fn failure_while_cleaning_up_loses_nothing() {
    let mut turn = 0;
    // There the next run does the same again.
    for case in CASES.iter().filter(|c| c.name != "to a file") {
        let world = World::new(case);
        for (n, step) in (1..).zip(&world.steps) {
            if n % one_of(12) != 0 {
                continue;
            }
            // Somewhere else each time.
            turn += 13;
            let mut wanted = 1 + turn % 70;
            loop {
                world.reset();
                let killed = world.run(&format!("kill@{n}"));
                assert_eq!(killed.code, -1, "{}: {killed:?}", case.name);
                let mut passed = 0;
                let run = run(&world.home, case.next, |_| {
                    passed += 1;
                    (passed == wanted).then_some(BROKEN)
                });
                let Some(run) = run else { return };
                if passed < wanted {
                    wanted -= passed;
                    continue;
                }
                let what =
                    format!("killed at step {n}, {step}, and call {wanted} of the next fails");
                assert!([0, 1, 3].contains(&run.code), "{what}: {run:?}");
                world.assert_whole(&what);
                world.clean_up(&what);
                let done = world.assert_settled(&what);
                world.assert_goes_on(done, &what);
                break;
            }
        }
    }
}

const STRIP: [&str; 4] = ["strip-thinking", SESSION, "--in-place", "--yes"];

/// A record that cannot be read is not taken for none: its old bytes stay, and no other operation is taken
/// back in its place.
#[test]
fn unreadable_record_is_reported() {
    let home = Home::in_memory();
    fill(&home);
    let before = home.everything();
    for command in [&["clone", SESSION][..], &STRIP] {
        assert_eq!(home.run(command).code, 0, "{command:?}");
    }
    let after = home.everything();
    let last = home.json(&["history"])["operations"][0]["id"].to_string();
    let record = home.state().join("ops").join(last.trim_matches('"'));
    let record = record.join("op.json");
    for name in ["statx", "openat", "read"] {
        let mut failed = false;
        let run = run(&home, &["undo", "--yes"], |call| {
            // Once: what works again the next moment must not make up for it.
            let here = call.name == name && call.path == record && !failed;
            failed |= here;
            here.then_some(BROKEN)
        });
        let Some(run) = run else { return };
        assert_told(&run, BROKEN, name);
        assert!(home.everything() == after, "{name}");
    }
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    assert_tidy(&home, "a record that can be read again");
    let path = home.transcript(SESSION);
    let name = path
        .strip_prefix(home.path(""))
        .expect("inside")
        .to_string_lossy();
    assert!(home.everything()[&*name] == before[&*name]);
}

/// A subagent's transcript that cannot be read may be one of the session's: it is not left out of a copy.
#[test]
fn unreadable_subagent_is_reported() {
    let home = Home::in_memory();
    fill(&home);
    let path = home.folder().join("agent-0123abcd.jsonl");
    let agent = Transcript::of_agent(SESSION, "0123abcd", &home.project()).prompt("look");
    home.write(&path, agent.text());
    let before = home.everything();
    for name in ["openat", "read"] {
        let run = run(&home, &["clone", SESSION], |call| {
            (call.name == name && call.path == path).then_some(BROKEN)
        });
        let Some(run) = run else { return };
        assert_told(&run, BROKEN, name);
        assert!(home.everything() == before, "{name}");
    }
    assert_eq!(home.run(&["clone", SESSION]).code, 0);
}

/// What is done stays done, and is not called a failure.
#[test]
fn result_that_cannot_be_checked_is_not_published() {
    let home = Home::in_memory();
    fill(&home);
    let copy = home.path("elsewhere/copy.jsonl");
    let mut failed = false;
    let run = run(
        &home,
        &["clone", SESSION, "-o", "../elsewhere/copy.jsonl"],
        |call| {
            let here = call.name == "statx" && call.path.ends_with("copy.jsonl") && copy.exists();
            failed |= here;
            here.then_some(BROKEN)
        },
    );
    let Some(run) = run else { return };
    assert!(failed, "nobody looks");
    assert_eq!(run.code, 0, "{run:?}");
}

/// What a killed run left and the next cannot remove is not forgotten.
#[test]
fn leftovers_that_cannot_be_removed_are_kept_for_the_next_run() {
    for case in CASES.iter().filter(|c| c.name == "clone") {
        let world = World::new(case);
        for name in ["rmdir", "unlink"] {
            world.reset();
            let killed = world.run("kill@rename-new");
            assert_eq!(killed.code, -1, "{killed:?}");
            let mut failed = 0;
            let run = run(&world.home, case.next, |call| {
                let here = call.name == name;
                failed += usize::from(here);
                here.then_some(BROKEN)
            });
            if run.is_none() {
                return;
            }
            assert!(failed > 1, "no {name}");
            world.clean_up(name);
            assert!(!world.assert_settled(name), "{name}");
            world.assert_goes_on(false, name);
        }
    }
}
