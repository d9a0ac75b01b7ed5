//! `keep` and `ls --expiring`: what Claude Code deletes because of its age.

use crate::harness;
use crate::places::home;

use std::path::Path;
use std::time::{Duration, SystemTime};

use harness::{Home, SESSION};

const OTHER: &str = "07e21000-aaaa-4bbb-8ccc-0123456789ab";

fn set_age(path: &Path, days: u64) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let time = SystemTime::now() - Duration::from_secs(days * 86_400);
    file.set_modified(time).unwrap();
}

fn age(home: &Home, id: &str) -> Duration {
    let modified = fs_err::metadata(home.transcript(id))
        .unwrap()
        .modified()
        .unwrap();
    SystemTime::now()
        .duration_since(modified)
        .unwrap_or_default()
}

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn keep_gives_a_session_a_new_time_and_changes_no_byte() {
    let home = home();
    set_age(&home.transcript(SESSION), 29);
    set_age(&home.transcript(OTHER), 25);
    let before = crate::places::without_state(&home);
    let run = home.run(&["keep", SESSION]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("keep --again"), "{run:?}");
    assert!(age(&home, SESSION) < DAY);
    assert_eq!(crate::places::without_state(&home), before);
    set_age(&home.transcript(SESSION), 29);
    assert_eq!(home.run(&["keep", "--again", "-q"]).stdout, "");
    assert!(age(&home, SESSION) < DAY);
    let list = home.json(&["keep", "--list"]);
    assert_eq!(list["sessions"][0]["session_id"], SESSION);
    assert_eq!(home.run(&["keep", "--forget", SESSION]).code, 0);
    let list = home.json(&["keep", "--list"]);
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(0));
}

#[test]
fn keep_dry_run_changes_neither_times_nor_the_list() {
    let home = home();
    set_age(&home.transcript(SESSION), 20);
    let run = home.run(&["keep", SESSION, "-n"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("5e551000       29d"), "{run:?}");
    assert!(
        run.stdout.ends_with("Dry run: nothing was changed.\n"),
        "{run:?}"
    );
    assert!(age(&home, SESSION) > DAY * 19);
    assert!(!home.state().exists());
}

#[test]
fn keep_leaves_the_newest_session_the_newest() {
    let home = home();
    set_age(&home.transcript(SESSION), 29);
    set_age(&home.transcript(OTHER), 2);
    assert_eq!(home.run(&["keep", SESSION]).code, 0);
    assert!(age(&home, SESSION) > age(&home, OTHER));
    assert!(age(&home, SESSION) < 3 * DAY);
}

#[test]
fn ls_shows_what_will_be_deleted_next() {
    let home = home();
    set_age(&home.transcript(SESSION), 29);
    set_age(&home.transcript(OTHER), 31);
    let list = home.json(&["ls", "--expiring"]);
    let ids: Vec<&str> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["session_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [OTHER, SESSION]);
    let run = home.run(&["ls", "--expiring"]);
    assert!(
        run.stdout.contains("next start") && run.stderr.contains("30 days"),
        "{run:?}"
    );
    home.write(
        home.config().join("settings.json"),
        r#"{"cleanupPeriodDays": 90}"#,
    );
    let run = home.run(&["ls", "--expiring"]);
    assert!(
        run.stdout.contains("58d") && run.stderr.contains("90 days"),
        "{run:?}"
    );
    home.write(
        home.config().join("settings.json"),
        r#"{"cleanupPeriodDays": 0}"#,
    );
    let run = home.run(&["ls", "--expiring"]);
    assert_eq!(run.stdout, "", "{run:?}");
}

#[test]
fn ls_can_be_limited_to_recent_sessions_and_formatted() {
    let home = home();
    set_age(&home.transcript(OTHER), 31);
    let run = home.run(&["ls", "--since", "7d", "--format", "{id}\\t{title}"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.starts_with(&format!("{SESSION}\tlook at")),
        "{run:?}"
    );
    assert_eq!(run.stdout.lines().count(), 1);
    let run = home.run(&["ls", "--format", "{nothing}"]);
    assert_eq!(run.code, 2, "{run:?}");
}
