//! Errors: the message, the hint, the exit code, and that nothing is written.

use crate::harness;

use std::io::Read as _;
use std::process::Stdio;

use harness::{Home, Run, SESSION, Transcript};
use insta::assert_snapshot;
use serde_json::{Value, json};

const OTHER: &str = "5e551000-bbbb-4bbb-8ccc-0123456789ab";

fn small(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt("fix the roof")
        .answer("It is fixed.")
}

/// A home with one session in it.
fn one() -> Home {
    let home = Home::new();
    home.add(&small(&home));
    home
}

/// Runs a command that must fail, and checks that it wrote nothing.
fn fails(home: &Home, arguments: &[&str]) -> String {
    let before = home.everything();
    let run = home.run(arguments);
    assert_ne!(run.code, 0, "{run:?}");
    assert!(before == home.everything(), "nothing is written");
    run.seen()
}

#[test]
fn error_for_unknown_session() {
    assert_snapshot!(fails(&one(), &["clone", "0badc0de"]), @r"
    --- stderr
    Error: no session is called `0badc0de`
    Hint: list your sessions with: ccsurgery ls --all. A path needs a `/` or the ending .jsonl
    --- exit code 1
    ");
}

#[test]
fn error_for_unknown_session_lists_nearest() {
    assert_snapshot!(fails(&one(), &["clone", "5e551001"]), @r"
    --- stderr
    Error: no session is called `5e551001`; the nearest are
      5e551000  1h  ~/work  fix the roof
    Hint: give more of the id, or part of the title in quotes
    --- exit code 1
    ");
}

#[test]
fn error_for_ambiguous_prefix() {
    let home = one();
    home.add(&home.start(OTHER).prompt("paint the door").answer("Red."));
    assert_snapshot!(fails(&home, &["clone", "5e55"]), @r"
    --- stderr
    Error: `5e55` fits 2 sessions:
      5e551000-b  1h  ~/work  paint the door
      5e551000-a  1h  ~/work  fix the roof
    Hint: give the id, or more of it
    --- exit code 1
    ");
}

#[test]
fn error_for_ambiguous_title() {
    let home = Home::new();
    home.add(&small(&home).title("House"));
    home.add(&home.start(OTHER).prompt("paint the door").title("House"));
    let seen = fails(&home, &["clone", "House"]);
    assert!(seen.contains("`House` fits 2 sessions"), "{seen}");
}

#[test]
fn error_for_short_prefix() {
    assert_snapshot!(fails(&one(), &["clone", "5e5"]), @r"
    --- stderr
    Error: `5e5` is too short for an id: give at least 4 characters
    Hint: or use @ for the newest session of this project
    --- exit code 1
    ");
}

#[test]
fn error_for_project_without_sessions() {
    let home = one();
    let run = home
        .command(&["clone"])
        .within(home.path("elsewhere"))
        .run();
    assert_snapshot!(run.seen(), @r"
    --- stderr
    Error: this project has no sessions (looked in `[home]/.claude/projects/[slug-elsewhere]`)
    Hint: list the sessions of all projects with: ccsurgery ls --all
    Hint: change to the project's folder, or name it with --project DIR
    --- exit code 1
    ");
}

#[test]
fn error_for_too_large_number() {
    assert_snapshot!(fails(&one(), &["clone", "@3"]), @r"
    --- stderr
    Error: this project has only 1 session
    Hint: @ is the newest session, @2 the one before it
    --- exit code 1
    ");
}

#[test]
fn error_for_path_out_of_config_folder() {
    let home = one();
    home.write("x.jsonl", "not for you");
    assert_snapshot!(fails(&home, &["clone", "../x"]), @r"
    --- stderr
    Error: there is no file `../x`
    Hint: check the path; an id or a title has no `/` in it
    --- exit code 1
    ");
}

#[test]
fn error_for_folder() {
    let home = one();
    let folder = home.folder();
    assert_snapshot!(fails(&home, &["clone", &folder.to_string_lossy()]), @r"
    --- stderr
    Error: `[home]/.claude/projects/[slug]` is a directory, not a session
    Hint: name a .jsonl file in it, or use --project DIR with @
    --- exit code 1
    ");
}

#[test]
fn error_for_empty_file() {
    let home = one();
    home.write("work/empty.jsonl", "");
    assert_snapshot!(fails(&home, &["clone", "empty.jsonl"]), @r"
    --- stderr
    Error: `empty.jsonl` is empty
    Hint: there is nothing in it to operate on
    --- exit code 1
    ");
}

#[test]
fn error_for_empty_session() {
    let home = Home::new();
    home.write(home.transcript(SESSION), "");
    assert_snapshot!(fails(&home, &["clone", SESSION]), @r"
    --- stderr
    Error: `[home]/.claude/projects/[slug]/5e551000-aaaa-4bbb-8ccc-0123456789ab.jsonl` is empty
    Hint: there is nothing in it to operate on
    --- exit code 1
    ");
}

#[test]
fn error_for_binary_file() {
    let home = one();
    home.write(
        "work/binary.jsonl",
        [0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0xff, 0xfe, b'\n', 0],
    );
    assert_snapshot!(fails(&home, &["clone", "binary.jsonl"]), @r"
    --- stderr
    Error: `[home]/work/binary.jsonl` is not a session: none of its lines is a JSON record
    Hint: list your sessions with: ccsurgery ls --all
    --- exit code 1
    ");
}

#[test]
fn error_for_existing_target() {
    let home = one();
    home.write("work/mine.jsonl", "mine");
    assert_snapshot!(fails(&home, &["clone", SESSION, "-o", "mine.jsonl"]), @r"
    --- stderr
    Refused: `mine.jsonl` exists already
    Hint: a new session never overwrites a file; choose another name
    --- exit code 3
    ");
}

#[test]
fn error_for_missing_target_folder() {
    assert_snapshot!(fails(&one(), &["clone", SESSION, "-o", "no/such/folder/x.jsonl"]), @r"
    --- stderr
    Error: there is no folder `no/such/folder`
    Hint: create it first, or choose another
    --- exit code 1
    ");
}

#[test]
fn error_for_missing_project() {
    assert_snapshot!(fails(&one(), &["clone", SESSION, "--to-project", "nowhere"]), @r"
    --- stderr
    Error: there is no folder `nowhere`
    Hint: a session is resumed in its project's folder: create it first
    --- exit code 1
    ");
}

#[test]
fn error_for_missing_turn() {
    let home = one();
    assert_snapshot!(fails(&home, &["clone", SESSION, "--at", "7"]), @r"
    --- stderr
    Error: there is no turn 7
    Hint: the session has one turn
    --- exit code 2
    ");
    for (turn, kind) in [
        ("0", "no-such-turn"),
        ("-2", "no-such-turn"),
        ("word", "no-such-turn"),
    ] {
        let run = home.run(&["clone", SESSION, "--at", turn, "--json"]);
        assert_eq!(
            (run.code, error(&run)["kind"].as_str()),
            (2, Some(kind)),
            "{run:?}"
        );
    }
}

#[test]
fn error_for_unfinished_turn() {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .prompt("one")
        .answer("done")
        .prompt("two")
        .call("toolu_1", "Bash", &json!({"command": "sleep 9"}))
        .prompt("three")
        .answer("done");
    home.add(&session);
    let run = home.run(&["clone", SESSION, "--at", "2"]);
    assert_eq!(run.code, 3, "a refusal: {run:?}");
    assert_snapshot!(fails(&home, &["clone", SESSION, "--at", "2"]), @r"
    --- stderr
    Refused: turn 2 is unfinished: it has calls without results, which the model cannot be shown
    Hint: nearest turns that work: --at 1 or --at 3
    --- exit code 3
    ");
}

#[test]
fn error_for_unknown_option() {
    let run = one().run(&["clone", "--no-such-option"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("--no-such-option"), "{run:?}");
}

/// The error of a `--json` run: exactly one document on standard output.
fn error(run: &Run) -> Value {
    let document: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
    assert_eq!(run.stderr, "", "scripts read one stream");
    assert_eq!(document["schema"], 1, "{document}");
    let error = document["error"].clone();
    for key in ["kind", "message", "hint"] {
        assert!(error[key].is_string(), "{key} in {document}");
    }
    error
}

#[test]
fn error_documents_for_scripts() {
    let home = one();
    home.write("work/mine.jsonl", "mine");
    let cases: [(&[&str], i32, &str); 7] = [
        (&["clone", "0badc0de"], 1, "not-found"),
        (&["clone", "5e5"], 1, "too-short"),
        (&["clone", "@9"], 1, "not-found"),
        (&["clone", "../x"], 1, "not-found"),
        (&["clone", SESSION, "-o", "mine.jsonl"], 3, "exists"),
        (&["clone", "--no-such-option"], 2, "usage"),
        (&["clone", SESSION, "--at", "9"], 2, "no-such-turn"),
    ];
    for (arguments, code, kind) in cases {
        let run = home.run(&[arguments, &["--json"]].concat());
        assert_eq!(
            (run.code, error(&run)["kind"].as_str()),
            (code, Some(kind)),
            "{arguments:?}"
        );
    }
}

#[test]
fn error_texts_cannot_control_the_terminal() {
    let hostile = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{202e}gnorw\rover";
    let home = Home::new();
    home.add(&small(&home).title(hostile));
    let second = home.start(OTHER).prompt(hostile).answer(hostile);
    home.add(&second);
    for arguments in [
        vec!["clone", SESSION, "-n"],
        vec!["clone", OTHER, "-n", "--color", "always"],
        vec!["clone", "5e55"],
        vec!["clone", "5e551009"],
        vec!["clone", hostile],
        vec!["clone", SESSION, "--at", hostile],
        vec!["clone", SESSION, "-o", "./a\x1b[2J.jsonl"],
    ] {
        let run = home.run(&arguments);
        for text in [&run.stdout, &run.stderr] {
            // Colours of our own begin with ESC [ and a number, and end with m.
            let own = |rest: &str| {
                let end = rest.find(|c: char| !c.is_ascii_digit() && c != ';');
                rest.starts_with('[') || end == Some(0)
            };
            let raw = text.char_indices().find(|&(at, c)| {
                c.is_control()
                    && c != '\n'
                    && !(c == '\x1b' && arguments.contains(&"always") && own(&text[at + 1..]))
                    || c == '\u{202e}'
            });
            assert_eq!(raw, None, "{arguments:?} {text:?}");
            assert!(
                !text.contains("\x1b[2J") && !text.contains("\x1b]0"),
                "{arguments:?}"
            );
        }
    }
}

#[test]
fn closed_pipe_ends_quietly() {
    let home = Home::new();
    let mut session = home.start(SESSION);
    for n in 0..2000 {
        session = session
            .prompt(&format!("{n} {}", "words ".repeat(40)))
            .answer("so");
    }
    home.add(&session);
    for arguments in [
        vec!["clone", SESSION, "-o", "-"],
        vec!["clone", SESSION, "-n", "--json", "--at", "1"],
        vec!["man"],
    ] {
        let mut child = home
            .command(&arguments)
            .process()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut out = child.stdout.take().expect("a pipe");
        out.read_exact(&mut [0; 10]).expect("a first word");
        drop(out);
        let mut said = String::new();
        child
            .stderr
            .take()
            .expect("a pipe")
            .read_to_string(&mut said)
            .expect("text");
        let status = child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0), "{arguments:?}: {said}");
        assert!(!said.contains("pipe"), "{arguments:?}: {said}");
    }
}

#[cfg(target_os = "linux")]
mod as_another_user {
    #![allow(clippy::print_stderr, reason = "a test that is skipped says so")]

    use super::*;
    use crate::harness::set_mode;

    /// Root may read and write everything; such a run must be another user's.
    fn run(home: &Home, arguments: &[&str]) -> Option<Run> {
        if rustix::process::geteuid().is_root() {
            if std::process::Command::new("setpriv")
                .arg("--version")
                .output()
                .is_err()
            {
                crate::harness::skipped("other-user", &"running as root without setpriv");
                return None;
            }
            for name in ["", "work", "elsewhere", ".claude", ".claude/projects"] {
                if home.path(name).exists() {
                    set_mode(&home.path(name), 0o777);
                }
            }
            return Some(home.command(arguments).run_unprivileged());
        }
        Some(home.run(arguments))
    }

    #[test]
    fn error_for_unreadable_session() {
        let home = one();
        set_mode(&home.folder(), 0o755);
        set_mode(&home.transcript(SESSION), 0o000);
        let before: Vec<String> = home.everything().into_keys().collect();
        let Some(run) = run(&home, &["clone", SESSION]) else {
            return;
        };
        assert_snapshot!(run.seen(), @r"
        --- stderr
        Error: failed to open file `[home]/.claude/projects/[slug]/5e551000-aaaa-4bbb-8ccc-0123456789ab.jsonl`: Permission denied (os error 13)
        Hint: check who owns the folder and its mode. Nothing was changed
        --- exit code 1
        ");
        assert_eq!(before, home.everything().into_keys().collect::<Vec<_>>());
    }

    #[test]
    fn error_for_unreadable_projects_names_the_path() {
        let home = one();
        let projects = home.config().join("projects");
        let Some(_) = run(&home, &["--version"]) else {
            return;
        };
        set_mode(&projects, 0o000);
        let output = if rustix::process::geteuid().is_root() {
            home.command(&["show", "nothing"]).run_unprivileged()
        } else {
            home.run(&["show", "nothing"])
        };
        set_mode(&projects, 0o755);
        assert_eq!(output.code, 1, "{output:?}");
        assert!(output.stderr.contains("/.claude/projects"), "{output:?}");
        assert!(output.stderr.contains("Permission denied"), "{output:?}");
    }

    #[test]
    fn error_for_read_only_folder() {
        let home = one();
        set_mode(&home.transcript(SESSION), 0o644);
        set_mode(&home.folder(), 0o555);
        let before: Vec<String> = home.names();
        let Some(run) = run(&home, &["clone", SESSION]) else {
            return;
        };
        assert_snapshot!(run.stderr_seen(), @r"
        Error: cannot write in `[home]/.claude/projects/[slug]`: Permission denied (os error 13)
        Hint: check who owns the folder and its mode. Nothing was changed
        ");
        assert_eq!(run.code, 1);
        assert_eq!(before, home.names(), "nothing half-written");
        set_mode(&home.folder(), 0o755);
    }

    #[test]
    fn error_for_read_only_state_folder() {
        let home = one();
        set_mode(&home.transcript(SESSION), 0o644);
        set_mode(&home.folder(), 0o777);
        fs_err::create_dir_all(home.state()).expect("a folder");
        set_mode(&home.state(), 0o555);
        let before: Vec<String> = home.names();
        let Some(run) = run(&home, &["clone", SESSION]) else {
            return;
        };
        assert_snapshot!(run.stderr_seen(), @r"
        Refused: the journal's folder `[home]/state` is not private: it belongs to another user
        Hint: own it and make it private (chmod 700 '[home]/state'), or set CCSURGERY_STATE_DIR
        ");
        assert_eq!(before, home.names(), "nothing half-written");
    }

    /// Runs a command with a small file system at `place`, where the tests may mount one.
    fn on_a_small_disk(
        home: &Home,
        place: &std::path::Path,
        kilobytes: u32,
        arguments: &[&str],
    ) -> Option<Run> {
        let mount = format!(
            "mount -t tmpfs -o size={kilobytes}k,mode=755 none \"$0\" 2>/dev/null || exit 99; \
             cp -a \"$1\"/. \"$0\"/ && shift && \"$@\"; code=$?; ls -A \"$0\" >&2; exit $code"
        );
        let aside = home.path("aside");
        fs_err::rename(place, &aside).expect("moved aside");
        fs_err::create_dir(place).expect("a folder to mount on");
        let (place, aside) = (place.to_string_lossy(), aside.to_string_lossy());
        let front = [
            "unshare",
            "--mount",
            "--map-root-user",
            "sh",
            "-c",
            &mount,
            &place,
            &aside,
        ];
        let command = home.command(arguments);
        let output = command.process_under(&front).output();
        match output {
            Ok(output)
                if output.status.code() != Some(99) && !output.stderr.starts_with(b"unshare") =>
            {
                Some(Run::new(home, &output))
            }
            _ => {
                crate::harness::skipped("mount", &"no file system can be mounted here");
                None
            }
        }
    }

    #[test]
    fn error_for_full_disk() {
        let home = Home::new();
        let mut session = home.start(SESSION);
        for n in 0..200 {
            session = session
                .prompt(&format!("{n} {}", "words ".repeat(60)))
                .answer("so");
        }
        home.add(&session);
        let kilobytes = session.text().len() as u32 / 1024 + 40;
        let Some(run) = on_a_small_disk(&home, &home.folder(), kilobytes, &["clone", SESSION])
        else {
            return;
        };
        assert_snapshot!(run.stderr_seen(), @r"
        Error: cannot write `[home]/.claude/projects/[slug]/[fresh].jsonl`: No space left on device (os error 28)
        Hint: the disk is full; free some space and run the command again. Nothing was changed
        5e551000-aaaa-4bbb-8ccc-0123456789ab.jsonl
        ");
        assert_eq!(run.code, 1);
    }
}
