//! A redaction that is killed at any step is finished by the next run, and no secret is left.

use std::path::Path;

use crate::harness::{Home, SESSION};

/// A password that only its context in the transcript tells to be one, and that is bare elsewhere.
fn password() -> String {
    format!("k4Tz{}Lm2x", "9q")
}

fn fill(home: &Home) {
    let password = password();
    home.add(
        &home
            .start(SESSION)
            .prompt("look at the environment")
            .thinking(&format!("DB_PASSWORD={password}"))
            .answer(&format!("It has DB_PASSWORD={password}.")),
    );
    let results = home.folder().join(SESSION).join("tool-results");
    home.write(results.join("a.txt"), format!("{password}\n"));
    home.write(results.join("b.txt"), format!("again {password}\n"));
    let history = home.config().join("file-history").join(SESSION);
    home.write(history.join("0123456789abcdef@v1"), format!("{password}\n"));
}

/// Returns the files that have the password, temp files and the journal included.
fn leaks(home: &Home) -> Vec<String> {
    let password = password();
    let all = home.everything().into_iter();
    let held = all.filter(|(_, bytes)| memchr::memmem::find(bytes, password.as_bytes()).is_some());
    held.map(|(name, _)| name).collect()
}

fn steps(trace: &Path) -> Vec<String> {
    let text = fs_err::read_to_string(trace).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

const REDACT: &[&str] = &["redact", SESSION, "--in-place", "--yes"];

#[test]
fn redact_killed_at_any_step_is_finished_by_the_next_run() {
    let home = Home::in_memory();
    fill(&home);
    let trace = home.path("trace");
    let run = home
        .command(REDACT)
        .env("CCSURGERY_FAULT_TRACE", &trace)
        .run();
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(leaks(&home), Vec::<String>::new());
    let steps = steps(&trace);
    assert!(steps.len() > 20, "{steps:?}");
    for (n, step) in (1..).zip(&steps) {
        let home = Home::in_memory();
        fill(&home);
        let killed = home
            .command(REDACT)
            .env("CCSURGERY_FAULT", format!("kill@{n}"))
            .run();
        assert_eq!(killed.code, -1, "step {n}, {step}: {killed:?}");
        if n % 3 == 0 {
            let fault = format!("kill@{}", 1 + n % 11);
            home.command(REDACT).env("CCSURGERY_FAULT", fault).run();
        }
        let again = home.run(REDACT);
        assert_eq!(again.code, 0, "step {n}, {step}: {again:?}");
        assert_eq!(
            leaks(&home),
            Vec::<String>::new(),
            "step {n}, {step}: {again:?}"
        );
        let text = fs_err::read_to_string(home.transcript(SESSION)).expect("the session");
        let result = home.folder().join(SESSION).join("tool-results/a.txt");
        let result = fs_err::read_to_string(result).expect("the result");
        let mark = "[redacted:env-assignment:1]";
        assert!(
            text.contains(mark) && result.contains(mark),
            "step {n}, {step}"
        );
    }
    eprintln!(
        "redact: killed at each of {} steps; nothing left",
        steps.len()
    );
}

#[test]
fn redact_that_fails_at_any_step_can_be_run_again() {
    let home = Home::in_memory();
    fill(&home);
    let trace = home.path("trace");
    home.command(REDACT)
        .env("CCSURGERY_FAULT_TRACE", &trace)
        .run();
    for (n, step) in (1..).zip(steps(&trace)) {
        let home = Home::in_memory();
        fill(&home);
        home.command(REDACT)
            .env("CCSURGERY_FAULT", format!("fail@{n}"))
            .run();
        let again = home.run(REDACT);
        assert_eq!(again.code, 0, "step {n}, {step}: {again:?}");
        assert_eq!(
            leaks(&home),
            Vec::<String>::new(),
            "step {n}, {step}: {again:?}"
        );
    }
}
