//! `--in-place`: it asks first, refuses where it would do harm, and can be undone to the byte.

use crate::harness;

use std::path::Path;
use std::process::Stdio;
use std::time::SystemTime;

use harness::{Home, SESSION, Transcript, records};
use insta::assert_snapshot;
use serde_json::json;

fn session(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt("first")
        .thinking("hm")
        .answer("one")
        .prompt("second")
        .answer("two")
}

fn home() -> Home {
    let home = Home::new();
    home.add(&session(&home));
    home
}

/// Returns a file's bytes, time and mode.
fn state(path: &Path) -> (Vec<u8>, SystemTime, u32) {
    let time = fs_err::metadata(path).expect("a file").modified();
    (
        fs_err::read(path).expect("a file"),
        time.expect("a time"),
        mode(path),
    )
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    harness::mode(path)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> u32 {
    0
}

const STRIP: [&str; 3] = ["strip-thinking", SESSION, "--in-place"];

#[test]
fn in_place_without_a_terminal_needs_yes() {
    let home = home();
    let before = home.everything();
    let run = home.run(&STRIP);
    assert_eq!(run.code, 3);
    assert_snapshot!(run.stderr_seen(), @r"
    Refused: --in-place rewrites the session, and there is no terminal to ask on
    Hint: give --yes to go ahead, or leave out --in-place to write a new session
    ");
    assert!(before == home.everything(), "nothing is written");
}

#[test]
fn in_place_keeps_ids() {
    let home = home();
    let run = home.run(&[&STRIP[..], &["--yes"]].concat());
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.last_line(), format!("claude --resume {SESSION}"));
    let before = session(&home);
    let after = records(&home.transcript(SESSION));
    let prompt_as_typed: Vec<_> = after.iter().filter(|l| l.get("uuid").is_some()).collect();
    assert_eq!(*prompt_as_typed[0], before.lines[0]);
    assert_eq!(prompt_as_typed[1]["uuid"], before.lines[2]["uuid"]);
    assert_eq!(prompt_as_typed[1]["parentUuid"], before.lines[0]["uuid"]);
    // This model is not sent the thinking of earlier turns, so the last answer's record of the window stays true.
    let rest = before.lines[3..].to_vec();
    assert_eq!(prompt_as_typed[2..], rest.iter().collect::<Vec<_>>()[..]);
}

#[test]
fn undo_in_place_restores_bytes_mode_and_time() {
    let home = home();
    let path = home.transcript(SESSION);
    harness::set_mode(&path, 0o640);
    let before = state(&path);
    home.run(&[&STRIP[..], &["--yes"]].concat());
    assert_ne!(state(&path).0, before.0);
    let undone = home.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(state(&path), before);
    let again = home.run(&["redo", "--yes"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_ne!(state(&path).0, before.0);
}

#[test]
fn undo_removes_all_files_of_a_clone() {
    let home = home();
    let before = home.names();
    home.clone(&[SESSION]);
    assert_ne!(before, home.names());
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    assert_eq!(before, home.names());
}

#[test]
fn undo_keeps_messages_that_were_added_since() {
    let home = home();
    let path = home.transcript(SESSION);
    home.run(&[&STRIP[..], &["--yes"]].concat());
    let more = session(&home).prompt("third").lines.pop().expect("a line");
    let text = fs_err::read_to_string(&path).expect("the session");
    let text = format!("{text}{more}\n");
    fs_err::write(&path, &text).expect("appended as a client would");
    let refused = home.run(&["undo", "--yes"]);
    assert_eq!(refused.code, 3);
    let history = home.json(&["history"]);
    let letters = history["operations"][0]["name"].as_str().expect("a name");
    assert_snapshot!(refused.stderr_seen().replace(letters, "[op]"), @r"
    Refused: `[home]/.claude/projects/[slug]/5e551000-aaaa-4bbb-8ccc-0123456789ab.jsonl` has changed since: 1 entry was added
    Hint: to keep what was added: ccsurgery undo [op] --onto-current
    ");
    assert_eq!(fs_err::read_to_string(&path).expect("the session"), text);
    let kept = home.run(&["undo", "--yes", "--onto-current"]);
    assert_eq!(kept.code, 0, "{kept:?}");
    let wanted = format!("{}{more}\n", session(&home).text());
    assert_eq!(fs_err::read_to_string(&path).expect("the session"), wanted);
}

#[test]
fn in_place_and_undo_refuse_a_live_session() {
    let home = home();
    // Both run until their input ends.
    let program = if cfg!(windows) { "cmd" } else { "cat" };
    let mut client = std::process::Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("a process");
    let key = if cfg!(windows) {
        "procStartFt"
    } else {
        "procStart"
    };
    let note = |start: &str| {
        let note =
            json!({"pid": client.id(), "sessionId": SESSION, "cwd": home.project(), key: start});
        home.write(
            format!(".claude/sessions/{}.json", client.id()),
            note.to_string(),
        );
    };
    let start = ccsurgery::store::process_start(client.id()).expect("it runs");
    note(&start);
    let before = home.everything();
    let run = home.run(&[&STRIP[..], &["--yes"]].concat());
    assert_eq!(run.code, 3, "{run:?}");
    let shown = run.stderr_seen().replace(&client.id().to_string(), "[pid]");
    assert_snapshot!(shown, @r"
    Refused: session 5e551000-aaaa-4bbb-8ccc-0123456789ab is open in Claude Code (process [pid])
    Hint: leave Claude Code first, or leave out --in-place to write a new session; --allow-live overrides
    ");
    assert!(before == home.everything(), "nothing is written");
    assert_eq!(
        home.run(&["clone", SESSION]).code,
        0,
        "reading it into a new session is fine"
    );
    assert_eq!(
        home.run(&[&STRIP[..], &["--yes", "--allow-live"]].concat())
            .code,
        0
    );
    let undo = home.run(&["undo", "--yes"]);
    assert_eq!(undo.code, 3, "{undo:?}");
    let undo = home.run(&["undo", "--yes", "--allow-live"]);
    assert_eq!(undo.code, 0, "{undo:?}");

    // A note of a process that is gone, whose number another has now.
    let earlier = start.replace(|c: char| c.is_ascii_digit() && c != '1', "1");
    note(&earlier);
    assert_eq!(home.run(&[&STRIP[..], &["--yes"]].concat()).code, 0);
    client.kill().expect("it runs");
    client.wait().expect("it ends");
}
