//! ccsurgery never uses the network: no command opens a socket.

use crate::harness;

use std::process::{Command, Stdio};

use harness::{Home, SESSION};
use serde_json::json;

/// Commands of every kind: reading, writing, repairing, undoing, and failing ones.
const COMMANDS: &[&[&str]] = &[
    &["ls", "--all"],
    &["show", SESSION],
    &["show", SESSION, "--turns", "1"],
    &["inspect", SESSION],
    &["payload", SESSION],
    &["doctor", "--all"],
    &["clone", SESSION],
    &["diff", SESSION, SESSION],
    &["strip-thinking", SESSION],
    &["drop-tools", SESSION, "--stub"],
    &["drop-images", SESSION],
    &["drop-hidden", SESSION],
    &["truncate", SESSION, "--at", "1"],
    &["compact", SESSION, "--keep-last", "1"],
    &["trim", SESSION, "--to", "1k"],
    &["repair", SESSION, "--in-place", "--yes"],
    &["history"],
    &["undo", "--yes"],
    &["redo", "--yes"],
    &["completions", "bash"],
    &["man"],
    &["demo"],
    &["clone", "no-such-session"],
];

/// Whether system calls can be traced on this machine.
fn can_trace() -> bool {
    Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=%network", "true"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[test]
fn network_is_used_by_no_command() {
    if !can_trace() {
        harness::skipped("strace", &"strace is missing, or may not trace");
        return;
    }
    let home = Home::new();
    home.add(
        &home
            .start(SESSION)
            .prompt("Where is the door?")
            .thinking("On the left.")
            .call("t1", "Bash", &json!({"command": "ls"}))
            .result("t1", &"a long list\n".repeat(200))
            .answer("On the left.")
            .prompt("Thank you.")
            .answer("You are welcome."),
    );
    for arguments in COMMANDS {
        let log = home.path("calls");
        let output = Command::new("strace")
            .args(["-f", "-qq", "-e", "trace=%network", "-o"])
            .arg(&log)
            .arg(env!("CARGO_BIN_EXE_ccsurgery"))
            .args(*arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home.path(""))
            .env("CCSURGERY_STATE_DIR", home.state())
            .current_dir(home.project())
            .stdin(Stdio::null())
            .output()
            .expect("strace ran");
        let calls = fs_err::read_to_string(&log).expect("a list of calls");
        let made: Vec<&str> = calls
            .lines()
            .filter(|line| line.contains('(') && !line.contains("???("))
            .collect();
        assert!(made.is_empty(), "{arguments:?}: {made:#?}");
        assert_ne!(output.status.code(), Some(101), "{arguments:?}: {output:?}");
        assert_ne!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
}
