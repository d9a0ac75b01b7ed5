//! A run that is killed leaves the old or the new, and the next run tells which.

use std::time::{Duration, Instant};

use super::cases::{Case, for_each_case};
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
mod step {
    super::for_each_case!(super::at_every_step);
}
mod random {
    super::for_each_case!(super::at_random);
}
