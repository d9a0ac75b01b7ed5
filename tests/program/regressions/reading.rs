//! Regressions in `reading`.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use crate::harness::{Home, Run, SESSION, Transcript};

/// Runs the program, and fails if it does not end by itself: a pipe without a writer must not be waited for.
fn run_in_time(home: &Home, arguments: &[&str], input: Stdio) -> Run {
    let mut process = home.command(arguments).process_under(&["timeout", "30"]);
    let output = process.stdin(input).output().expect("the program");
    let run = Run::new(home, &output);
    assert_ne!(run.code, 124, "{arguments:?} waits for something");
    run
}

fn make_pipe(path: &Path) {
    fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo").success());
}

fn session(home: &Home) -> Transcript {
    home.start(SESSION).prompt("Hello.").answer("Good day.")
}

#[test]
fn reading_refuses_devices_and_sockets() {
    let home = Home::new();
    let socket = home.path("session.jsonl");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    let seen = run_in_time(&home, &["inspect", "/dev/zero"], Stdio::null()).seen();
    insta::assert_snapshot!(seen, @r#"
    --- stderr
    Error: `/dev/zero` is not a regular file
    Hint: to read a transcript from a pipe, name the session `-`
    --- exit code 1
    "#);
    let path = socket.to_string_lossy();
    let seen = run_in_time(&home, &["show", &path], Stdio::null()).seen();
    insta::assert_snapshot!(seen, @r#"
    --- stderr
    Error: `[home]/session.jsonl` is not a regular file
    Hint: to read a transcript from a pipe, name the session `-`
    --- exit code 1
    "#);
}

#[test]
fn reading_skips_pipes_in_project_folders() {
    let home = Home::new();
    let transcript = session(&home);
    home.add(&transcript);
    make_pipe(&home.transcript("0f0f0f0f-1111-4222-8333-444444444444"));
    for arguments in [&["ls"][..], &["inspect", "@"], &["inspect", "5e551000"]] {
        let run = run_in_time(&home, arguments, Stdio::null());
        assert!(run.seen().contains("Hello"), "{}", run.seen());
    }
}

#[test]
fn reading_refuses_to_change_a_pipe() {
    let home = Home::new();
    let pipe = home.path("pipe.jsonl");
    make_pipe(&pipe);
    let path = pipe.to_string_lossy();
    let seen = run_in_time(&home, &["strip-thinking", &path], Stdio::null()).seen();
    insta::assert_snapshot!(seen, @r#"
    --- stderr
    Error: `[home]/pipe.jsonl` is not a regular file
    Hint: to read a transcript from a pipe, name the session `-`
    --- exit code 1
    "#);
}

#[test]
fn reading_takes_a_transcript_from_standard_input() {
    let home = Home::new();
    let transcript = session(&home);
    let file = home.add(&transcript);
    let from_file = home
        .run(&["show", &file.to_string_lossy(), "--json"])
        .seen();
    let mut cat = std::process::Command::new("cat");
    cat.stdin(File::open(&file).expect("a transcript"));
    let mut cat = cat.stdout(Stdio::piped()).spawn().expect("cat");
    let pipe = cat.stdout.take().expect("its output");
    let from_pipe = run_in_time(&home, &["show", "/dev/stdin", "--json"], pipe.into()).seen();
    cat.wait().expect("its end");
    assert!(from_pipe.contains("Hello."), "{from_pipe}");
    assert_eq!(from_pipe.lines().count(), from_file.lines().count());
}
