//! A run that is killed leaves the old or the new, and the next run tells which.

use std::time::{Duration, Instant};

use super::cases::{CASES, Case};
use super::world::World;

/// A number from a seed, the next seed with it.
fn random(seed: &mut u64) -> u64 {
    // The usual shifts; all that counts is that a run can be done again.
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// How many kills at random moments, of each case.
fn wanted() -> u64 {
    let asked = std::env::var("CCSURGERY_KILLS").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(6)
}

/// Kills the run at each of its steps, and the run that cleans up at one of its own.
fn at_every_step(case: &'static Case) {
    let world = World::new(case);
    assert!(world.steps.len() > 1, "{}: no steps to end at", case.name);
    let mut done = 0;
    for (n, step) in (1..).zip(&world.steps) {
        let what = format!("killed at step {n}, {step}");
        world.reset();
        let run = world.run(&format!("kill@{n}"));
        assert_eq!(run.code, -1, "{}, {what}: {run:?}", case.name);
        world.assert_whole(&what);
        if n % 2 == 0 {
            let cleaning = world.home.command(case.next);
            let fault = format!("kill@{}", 1 + n / 2 % 9);
            cleaning.env("CCSURGERY_FAULT", fault).run();
            world.assert_whole(&format!("{what}, and again"));
        }
        world.clean_up(&what);
        let is_done = world.assert_settled(&what);
        done += usize::from(is_done);
        world.assert_goes_on(is_done, &what);
    }
    eprintln!(
        "{}: killed at each of {} steps, {done} times after it was done; nothing lost",
        case.name,
        world.steps.len()
    );
}

/// Kills the run at random moments.
fn at_random(case: &'static Case) {
    let world = World::new(case);
    let begun = Instant::now();
    for _ in 0..3 {
        world.reset();
        world.run("none@0");
    }
    // Up to twice the time that it takes, so that the last moments count, too.
    let longest = begun.elapsed().as_micros() as u64 * 2 / 3;
    let mut seed = 0x5eed_u64 ^ case.name.len() as u64 ^ wanted() << 8;
    let (mut kills, mut done) = (0, 0);
    while kills < wanted() {
        world.reset();
        let mut child = world.start();
        std::thread::sleep(Duration::from_micros(random(&mut seed) % longest));
        child.kill().expect("killed");
        let status = child.wait().expect("it ended");
        let what = format!("killed at random, number {kills}");
        world.assert_whole(&what);
        world.clean_up(&what);
        let is_done = world.assert_settled(&what);
        // Windows has no signals, and gives a process that was ended the code 1.
        if status.code().is_none_or(|code| cfg!(windows) && code == 1) {
            kills += 1;
            done += u64::from(is_done);
        }
        world.assert_goes_on(is_done, &what);
    }
    eprintln!(
        "{}: killed {kills} times at random, {done} of them after it was done; nothing lost",
        case.name
    );
}

/// Each case is a test of its own, so that they run beside one another.
macro_rules! kills {
    ($($name:ident => $case:literal),* $(,)?) => {
        mod step { $(#[test] fn $name() { super::at_every_step(super::called($case)); })* }
        mod random { $(#[test] fn $name() { super::at_random(super::called($case)); })* }

        #[test]
        fn every_case_is_here() {
            assert_eq!([$($case),*], *CASES.iter().map(|c| c.name).collect::<Vec<_>>());
        }
    };
}

fn called(name: &str) -> &'static Case {
    CASES.iter().find(|c| c.name == name).expect("a case")
}

kills! {
    in_place => "in place",
    in_place_with_subagents => "in place, with subagents",
    repair_in_place => "repair in place",
    clone => "clone",
    repair_to_a_new_session => "repair to a new session",
    undo_in_place => "undo in place",
    undo_with_subagents => "undo with subagents",
    undo_a_clone => "undo a clone",
    redo_in_place => "redo in place",
    redo_with_subagents => "redo with subagents",
    redo_a_clone => "redo a clone",
    remove => "remove",
    undo_a_removal => "undo a removal",
    redo_a_removal => "redo a removal",
    move_project => "move",
    undo_a_move => "undo a move",
    redo_a_move => "redo a move",
    import => "import",
    import_with_fresh_ids => "import with fresh ids",
    redo_an_import => "redo an import",
    archive => "archive",
    restore => "restore",
    undo_onto_what_was_added => "undo onto what was added",
    forget => "forget",
    to_a_file => "to a file",
}
