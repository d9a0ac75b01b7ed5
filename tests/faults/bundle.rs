//! A bundle is written whole or not at all, whatever interrupts it, and the sessions stay as they are.

use crate::harness::{Home, SESSION};

use super::cases::fill;
use super::world::assert_tidy;

const BUNDLE: &[&str] = &["bundle", SESSION, "-f", "-o", "../elsewhere/x.ccbundle"];

fn home() -> Home {
    let home = Home::in_memory();
    fill(&home);
    home
}

/// Everything but the bundle and what a run leaves behind when it is killed.
fn rest(home: &Home) -> Vec<(String, Vec<u8>)> {
    let mut all = home.everything();
    all.retain(|name, _| !name.contains("x.ccbundle") && !name.contains(".ccsurgery-"));
    all.into_iter().collect()
}

/// The bundle is missing, or can be imported.
fn assert_whole(home: &Home, what: &str) {
    if home.path("elsewhere/x.ccbundle").exists() {
        let run = home.run(&["import", "../elsewhere/x.ccbundle", "-n"]);
        assert_eq!(run.code, 0, "{what}: {run:?}");
    }
}

#[test]
fn bundle_killed_or_failing_at_any_step_is_whole_or_missing() {
    for (fault, code) in [("kill", -1), ("fail", 1)] {
        for older in [false, true] {
            let home = home();
            if older {
                assert_eq!(home.run(BUNDLE).code, 0);
            }
            let before = rest(&home);
            let mut step = 1;
            loop {
                let what = format!("{fault} at step {step}, {older}");
                let command = home.command(BUNDLE);
                let run = command
                    .env("CCSURGERY_FAULT", format!("{fault}@{step}"))
                    .run();
                assert_whole(&home, &what);
                assert_eq!(rest(&home), before, "{what}");
                if run.code == 0 {
                    break;
                }
                assert_eq!(run.code, code, "{what}: {run:?}");
                step += 1;
            }
            assert!(step > 3, "{fault}: {step} steps");
            assert_eq!(home.run(BUNDLE).code, 0);
            assert_tidy(&home, fault);
        }
    }
}

#[test]
fn keep_killed_or_failing_at_any_step_changes_no_byte() {
    for fault in ["kill", "fail"] {
        let home = home();
        let before = home.everything();
        for step in 1..30 {
            let command = home.command(&["keep", SESSION]);
            let run = command
                .env("CCSURGERY_FAULT", format!("{fault}@{step}"))
                .run();
            let mut now = home.everything();
            now.retain(|name, _| !name.starts_with("state"));
            let mut old = before.clone();
            old.retain(|name, _| !name.starts_with("state"));
            assert_eq!(now, old, "{fault} at {step}: {run:?}");
            if run.code == 0 {
                break;
            }
        }
        let run = home.run(&["keep", "--again"]);
        assert_eq!(run.code, 0, "{run:?}");
    }
}
