//! `archive` and `restore`: sessions are put away and come back as they were.

use crate::harness;
use crate::places::{home, without_state};

use std::time::{Duration, SystemTime};

use harness::{Home, SESSION, assert_private};

/// Everything that belongs to Claude Code, with the times of the files.
fn files(home: &Home) -> Vec<(String, Vec<u8>)> {
    let mut all = without_state(home);
    all.retain(|name, _| !name.ends_with('/'));
    all.into_iter().collect()
}

#[test]
fn archive_and_restore_bring_everything_back_byte_for_byte() {
    let home = home();
    let before = files(&home);
    let shown = home.run(&["archive", SESSION, "-n"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(files(&home), before);
    let refused = home.run(&["archive", SESSION]);
    assert_eq!(refused.code, 3, "{refused:?}");
    let document = home.json(&["archive", SESSION, "--yes"]);
    let path = document["sessions"][0]["archive"].as_str().unwrap();
    assert_private(std::path::Path::new(path));
    let left = home.names();
    let ours = |n: &&String| n.contains(SESSION) && !n.ends_with('/');
    assert_eq!(left.iter().find(ours), None);
    let prompts = fs_err::read_to_string(home.config().join("history.jsonl")).unwrap();
    assert!(prompts.contains(SESSION), "what was typed stays");
    let list = home.json(&["archive", "--list"]);
    assert_eq!(list["archives"][0]["session_id"], SESSION);
    assert_eq!(list["archives"][0]["exists"], false);
    let run = home.run(&["restore", &SESSION[..6]]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.stdout.lines().last(),
        Some(&*format!("claude --resume {SESSION}"))
    );
    assert_eq!(files(&home), before);
    let again = home.run(&["restore", &SESSION[..6]]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.stderr.contains("back already"), "{again:?}");
    assert_eq!(home.run(&["undo", "--yes"]).code, 0, "the restoration");
    assert!(!home.transcript(SESSION).exists());
    assert_eq!(home.run(&["undo", "--yes"]).code, 0, "the archiving");
    assert_eq!(files(&home), before);
}

#[test]
fn archive_can_be_selected_by_age_and_kept_elsewhere() {
    let home = home();
    let to = home.path("elsewhere/put away");
    let to = to.to_string_lossy();
    let run = home.run(&["archive", "--older-than", "30m", "--to", &to, "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(fs_err::read_dir(&*to).unwrap().count(), 2);
    assert_eq!(
        home.json(&["ls"])["sessions"].as_array().map(Vec::len),
        Some(0)
    );
    let run = home.run(&["restore", "something else", "--from", &to]);
    assert_eq!(run.code, 0, "{run:?}");
    let run = home.run(&["restore", "nothing like it", "--from", &to]);
    assert_eq!(run.code, 1, "{run:?}");
    let inside = home.config().join("projects");
    let run = home.run(&[
        "archive",
        "07e2",
        "--to",
        &inside.to_string_lossy(),
        "--yes",
    ]);
    assert_eq!(run.code, 2, "{run:?}");
}

#[test]
fn archive_refuses_a_live_session_and_restore_replaces_nothing() {
    let home = home();
    let note = serde_json::json!({"pid": std::process::id(), "sessionId": SESSION});
    home.write(home.config().join("sessions/1.json"), note.to_string());
    let run = home.run(&["archive", SESSION, "--yes"]);
    assert_eq!(run.code, 3, "{run:?}");
    fs_err::remove_file(home.config().join("sessions/1.json")).unwrap();
    assert_eq!(home.run(&["archive", SESSION, "--yes"]).code, 0);
    home.add(&home.start(SESSION).prompt("another").answer("one"));
    let before = files(&home);
    let run = home.run(&["restore", SESSION]);
    assert_eq!(run.code, 3, "{run:?}");
    assert_eq!(files(&home), before);
}

#[test]
fn restore_gives_old_sessions_a_time_that_is_safe() {
    let home = home();
    let old = SystemTime::now() - Duration::from_secs(100 * 86_400);
    let file = std::fs::File::options()
        .write(true)
        .open(home.transcript(SESSION))
        .unwrap();
    file.set_modified(old).unwrap();
    // Nothing is removed while another process has it open for writing.
    drop(file);
    let run = home.run(&["archive", SESSION, "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let run = home.run(&["restore", SESSION]);
    assert_eq!(run.code, 0, "{run:?}");
    let modified = fs_err::metadata(home.transcript(SESSION))
        .unwrap()
        .modified()
        .unwrap();
    let age = SystemTime::now().duration_since(modified).unwrap();
    assert!(age < Duration::from_secs(24 * 86_400), "{age:?}");
}

#[test]
fn restore_refuses_a_damaged_archive() {
    let home = home();
    let document = home.json(&["archive", SESSION, "--yes"]);
    let path = document["sessions"][0]["archive"].as_str().unwrap();
    let bytes = fs_err::read(path).unwrap();
    fs_err::write(path, &bytes[..bytes.len() / 2]).unwrap();
    let before = files(&home);
    let run = home.run(&["restore", path]);
    assert_eq!(run.code, 3, "{run:?}");
    assert_eq!(files(&home), before);
    assert_eq!(
        home.run(&["undo", "--yes"]).code,
        0,
        "the journal still has it"
    );
    assert!(home.transcript(SESSION).is_file());
}
