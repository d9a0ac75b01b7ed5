//! The terminal interface in a real terminal: keys are sent through tmux, and screens are read.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::{Home, SESSION, Transcript, skipped};

/// How long a screen is waited for. It only matters where the interface is broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program in a terminal of its own.
struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Starts the program; returns `None` where there is no tmux.
    fn start(home: &Home, arguments: &str, size: (u16, u16)) -> Option<Self> {
        let known = Command::new("tmux")
            .arg("-V")
            .stdout(Stdio::null())
            .status();
        if let Err(error) = known {
            skipped("tmux", &error);
            return None;
        }
        let terminal = Self {
            socket: home.path("tmux"),
        };
        let program = env!("CARGO_BIN_EXE_ccsurgery");
        let line = format!("{program} {arguments}; echo \"ended with $?\"; cat");
        let opens = arguments.contains('@');
        let mut tmux = terminal.command();
        tmux.args(["-f", "/dev/null", "new-session", "-d"])
            .args(["-x", &size.0.to_string(), "-y", &size.1.to_string()])
            .arg(line)
            .current_dir(home.project())
            .env("HOME", home.path(""))
            .env("CLAUDE_CONFIG_DIR", home.config())
            .env("CCSURGERY_STATE_DIR", home.state())
            .env("EDITOR", home.path("editor"))
            .env_remove("NO_COLOR")
            .env_remove("CCSURGERY_CONFIG");
        // On a busy machine, tmux may not reach the server that it has just started: "server exited unexpectedly".
        let started = (0..5).any(|_| tmux.status().expect("tmux starts").success());
        assert!(started, "tmux has no server");
        if opens {
            terminal.press(&[], " turns ");
        }
        Some(terminal)
    }

    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).env_remove("TMUX");
        command
    }

    fn screen(&self) -> String {
        let output = self.command().args(["capture-pane", "-p"]).output();
        String::from_utf8_lossy(&output.expect("tmux answers").stdout).into_owned()
    }

    /// Sends keys by their tmux names, and waits until the screen shows a text.
    fn press(&self, keys: &[&str], until: &str) -> String {
        for key in keys {
            let sent = self.command().args(["send-keys", key]).status();
            assert!(sent.expect("tmux answers").success());
        }
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if screen.contains(until) {
                return screen;
            }
            assert!(begun.elapsed() < PATIENCE, "no `{until}` in:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").status();
    }
}

/// A home with a session of several turns.
fn home() -> Home {
    let home = Home::new();
    home.add(&session(&home));
    home
}

fn session(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt("find the parser")
        .thinking("Where could it be?")
        .call(
            "toolu_one",
            "Bash",
            &serde_json::json!({"command": "ls src"}),
        )
        .result("toolu_one", &"parser.rs\n".repeat(300))
        .answer("It is in src.")
        .prompt("make it faster")
        .answer("It is faster now.")
        .prompt("thank you")
        .answer("You are welcome.")
}

/// The transcripts of the project.
fn transcripts(home: &Home) -> Vec<PathBuf> {
    let files = fs_err::read_dir(home.folder()).expect("the folder");
    let paths = files.map(|file| file.expect("a file").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    paths.sort();
    paths
}

/// A transcript without what differs from run to run: ids and times.
fn without_ids(path: &Path) -> String {
    let text = fs_err::read_to_string(path).expect("a transcript");
    let mut ids: Vec<String> = Vec::new();
    let mut out = String::new();
    let mut rest = text.as_str();
    let is_id = |s: &str| {
        s.len() == 36
            && s.bytes().enumerate().all(|(i, b)| match i {
                8 | 13 | 18 | 23 => b == b'-',
                _ => b.is_ascii_hexdigit(),
            })
    };
    while !rest.is_empty() {
        if let Some(id) = rest.get(..36).filter(|id| is_id(id)) {
            let known = ids.iter().position(|known| known == id);
            let number = known.unwrap_or_else(|| {
                ids.push(id.to_owned());
                ids.len() - 1
            });
            let _ = write!(out, "[id {number}]");
            rest = &rest[36..];
        } else {
            let next = rest.chars().next().expect("a character");
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out
}

#[test]
fn ui_browses_marks_previews_applies_and_undoes() {
    let home = home();
    let original = fs_err::read(home.transcript(SESSION)).unwrap();
    let Some(terminal) = Terminal::start(&home, "", (100, 30)) else {
        return;
    };
    terminal.press(&[], "find the parser");
    terminal.press(&["Enter"], " turns 3");
    terminal.press(&["g", "d"], "ccsurgery delete 5e551000 --turns=1");
    terminal.press(&["Enter"], "write a new session");
    assert_eq!(transcripts(&home).len(), 1, "a preview writes nothing");
    terminal.press(&["Enter"], "Created session");
    assert_eq!(transcripts(&home).len(), 2);
    terminal.press(&["u"], "It was undone.");
    assert_eq!(transcripts(&home).len(), 1);
    assert_eq!(fs_err::read(home.transcript(SESSION)).unwrap(), original);
    terminal.press(&["q"], "ended with 0");
}

#[test]
fn ui_in_place_is_asked_about_and_undone_exactly() {
    let home = home();
    let original = fs_err::read(home.transcript(SESSION)).unwrap();
    let Some(terminal) = Terminal::start(&home, "ui @", (80, 24)) else {
        return;
    };
    terminal.press(&["g", "T"], "strip-thinking");
    terminal.press(&["Enter"], "rewrite in place");
    terminal.press(&["i"], "please confirm");
    terminal.press(&["y"], "Changed session");
    let changed = fs_err::read(home.transcript(SESSION)).unwrap();
    assert!(changed.len() < original.len());
    terminal.press(&["u"], "It was undone.");
    assert_eq!(fs_err::read(home.transcript(SESSION)).unwrap(), original);
}

#[test]
fn ui_plan_is_the_same_as_the_command_line_that_it_shows() {
    let home = home();
    let Some(terminal) = Terminal::start(&home, "ui @", (120, 40)) else {
        return;
    };
    terminal.press(
        &["g", "t", "o", "G", "d"],
        "ccsurgery run plan.toml 5e551000",
    );
    terminal.press(&[":", "w", "Enter"], "the plan is in plan.toml");
    terminal.press(&["Enter"], "write a new session");
    terminal.press(&["Enter"], "Created session");
    let by_ui = transcripts(&home);
    let run = home.run(&["run", "plan.toml", "5e551000"]);
    assert_eq!(run.code, 0, "{run:?}");
    let both = transcripts(&home);
    let is_new = |path: &&PathBuf| !by_ui.contains(path);
    let by_command = both.iter().find(is_new).expect("a new session");
    let original = home.transcript(SESSION);
    let by_ui = by_ui
        .iter()
        .find(|p| **p != original)
        .expect("a new session");
    assert_eq!(
        without_ids(by_ui),
        without_ids(by_command).replace(" (run 2)", " (run)")
    );
}

#[test]
fn ui_notices_growth_and_refuses_what_is_out_of_date() {
    let home = home();
    let Some(terminal) = Terminal::start(&home, "ui @", (100, 30)) else {
        return;
    };
    terminal.press(&["g", "d"], "--turns=1");
    let grown = session(&home).prompt("one more thing").text();
    fs_err::write(home.transcript(SESSION), grown).unwrap();
    terminal.press(&[], "it has grown");
    terminal.press(&["Enter"], "the session was written since it was read");
    terminal.press(&["R"], "turns 4 → 3");
    terminal.press(&[], "ccsurgery delete 5e551000 --turns=1");
    terminal.press(&["Enter"], "write a new session");
}

#[test]
fn ui_edits_a_text_in_the_editor() {
    let home = home();
    home.write("editor", "#!/bin/sh\necho 'a better prompt' > \"$1\"\n");
    crate::harness::set_mode(&home.path("editor"), 0o700);
    let Some(terminal) = Terminal::start(&home, "ui @", (100, 30)) else {
        return;
    };
    terminal.press(&["g", "l", "j", "e"], "ccsurgery edit");
    terminal.press(&["Enter"], "a better prompt");
}

#[test]
fn ui_leaves_the_terminal_as_it_was() {
    let home = home();
    for ending in ["q", "C-c"] {
        let Some(terminal) = Terminal::start(&home, "ui", (80, 24)) else {
            return;
        };
        terminal.press(&[], "find the parser");
        let screen = terminal.press(&[ending], "ended with 0");
        assert!(!screen.contains("find the parser"), "{screen}");
        // Echo is on again: what is typed is seen.
        terminal.press(&["s", "e", "e", "n"], "seen");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn ui_ends_when_its_terminal_is_closed() {
    let home = home();
    let Some(terminal) = Terminal::start(&home, "ui @", (80, 24)) else {
        return;
    };
    let shell = terminal
        .command()
        .args(["display-message", "-p", "#{pane_pid}"])
        .output()
        .expect("tmux answers");
    let shell = String::from_utf8_lossy(&shell.stdout).trim().to_owned();
    let children = fs_err::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
    let program = children.expect("the shell runs").trim().to_owned();
    let is_running = || {
        let state = fs_err::read_to_string(format!("/proc/{program}/stat")).unwrap_or_default();
        state.contains("(ccsurgery) ") && !state.contains("(ccsurgery) Z")
    };
    assert!(is_running());
    drop(terminal);
    let begun = Instant::now();
    while is_running() {
        assert!(
            begun.elapsed() < PATIENCE,
            "the program goes on without a terminal"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ui_in_a_pipe_is_the_help() {
    let run = Home::new().run(&[]);
    assert!(
        run.stderr.contains("Usage:") || run.stdout.contains("Usage:"),
        "{run:?}"
    );
    let run = home().run(&["ui"]);
    assert_eq!(run.code, 2, "{run:?}");
}

#[test]
fn ui_plain_marks_and_applies_with_questions() {
    use std::io::Write as _;
    let home = home();
    let mut child = home
        .command(&["ui", "--plain"])
        .process()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let answers = "1\nturns\ndelete 1\nstub all\nback\napply\ny\nundo\nquit\n";
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(answers.as_bytes()).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for expected in [
        "1. find the parser",
        "ccsurgery delete 5e551000 --turns=1",
        "Created session",
        "Undone: delete.",
    ] {
        assert!(text.contains(expected), "no `{expected}` in:\n{text}");
    }
    assert_eq!(transcripts(&home).len(), 1);
}

#[test]
fn ui_works_on_sessions_of_several_client_versions() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded");
    for version in fs_err::read_dir(recorded).expect("the fixtures") {
        let folder = version.expect("a version").path();
        let mut found = Vec::new();
        collect(&folder, &mut found);
        let Some(path) = found
            .into_iter()
            .max_by_key(|p| p.metadata().map_or(0, |m| m.len()))
        else {
            continue;
        };
        let home = Home::new();
        home.write(home.transcript(SESSION), fs_err::read(&path).unwrap());
        let Some(terminal) = Terminal::start(&home, "ui @", (100, 30)) else {
            return;
        };
        let original = fs_err::read(home.transcript(SESSION)).unwrap();
        terminal.press(&["g", "L", "j", "j"], "you");
        terminal.press(&[":"], "▏");
        terminal.press(&["title --text=Tidy", "Enter"], "ccsurgery run plan.toml");
        terminal.press(&["Enter"], "write a new session");
        terminal.press(&["Enter"], "Created session");
        terminal.press(&["u"], "It was undone.");
        assert_eq!(transcripts(&home).len(), 1, "{}", path.display());
        let now = fs_err::read(home.transcript(SESSION)).unwrap();
        assert!(now == original, "{}", path.display());
    }
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, out);
        } else if path.extension().is_some_and(|e| e == "jsonl")
            && !path.to_string_lossy().contains("agent-")
        {
            out.push(path);
        }
    }
}
