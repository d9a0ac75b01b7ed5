//! A client that appends while a run is at work loses no line.
//!
//! `CCSURGERY_APPENDS=200000 cargo test --test faults writer -- --nocapture` measures it for longer.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::json;

use super::cases::{CLEAN_UP, fill};
use super::halted::Halted;
use super::world::assert_tidy;
use crate::harness::{Home, SESSION};

const STRIP: [&str; 5] = [
    "strip-thinking",
    SESSION,
    "--in-place",
    "--yes",
    "--allow-live",
];

/// A line as a client would append it. It hangs on nothing, so that it goes with old bytes and new.
fn line(n: usize) -> String {
    let entry = json!({"type": "system", "subtype": "informational", "content": format!("line {n}"), "sessionId": SESSION});
    format!("{entry}\n")
}

fn append(path: &Path, text: &str) {
    append_noting(path, text, &AtomicBool::new(false));
}

/// Appends to a file. Windows refuses to open it while a run holds it: then `refused` is set, and it is tried again.
fn append_noting(path: &Path, text: &str, refused: &AtomicBool) {
    const SHARING_VIOLATION: i32 = 32;
    loop {
        match std::fs::OpenOptions::new().append(true).open(path) {
            Err(e) if cfg!(windows) && e.raw_os_error() == Some(SHARING_VIOLATION) => {
                refused.store(true, Ordering::SeqCst);
                std::thread::yield_now();
            }
            file => {
                let written = file.expect("the session").write_all(text.as_bytes());
                return written.expect("appended");
            }
        }
    }
}

/// How often a line is in a session.
fn count(path: &Path, text: &str) -> usize {
    let all = fs_err::read_to_string(path).expect("the session");
    all.lines().filter(|l| *l == text.trim_end()).count()
}

fn home() -> (Home, PathBuf) {
    let home = Home::in_memory();
    fill(&home);
    let path = home.transcript(SESSION);
    (home, path)
}

/// Appends in a thread, because the system may make it wait. Returns when the line is appended, or the thread waits.
fn append_beside(path: &Path, text: String) -> JoinHandle<()> {
    let path = path.to_owned();
    let refused = Arc::new(AtomicBool::new(false));
    let is_refused = refused.clone();
    let (send, begun) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let own = std::fs::read_link("/proc/thread-self").ok();
        send.send(own).expect("the test waits");
        append_noting(&path, &text, &refused);
    });
    let own = begun.recv().expect("it began");
    let waits = || own.as_deref().is_some_and(waits_to_open) || is_refused.load(Ordering::SeqCst);
    while !thread.is_finished() && !waits() {
        std::thread::yield_now();
    }
    thread
}

/// Returns whether a thread of this process, named by its folder in `/proc`, waits for a file to be opened.
fn waits_to_open(thread: &Path) -> bool {
    let read = |name: &str| {
        let text = fs_err::read_to_string(Path::new("/proc").join(thread).join(name));
        text.unwrap_or_default()
    };
    let status = read("stat");
    let state = status.rsplit(") ").next().unwrap_or_default();
    let openat = if cfg!(target_arch = "x86_64") {
        "257 "
    } else {
        "56 "
    };
    state.starts_with(['S', 'D']) && read("syscall").starts_with(openat)
}

/// A name, the runs before, and what is run.
type Way = (
    &'static str,
    &'static [&'static [&'static str]],
    &'static [&'static str],
);

const WAYS: [Way; 4] = [
    ("in place", &[], &STRIP),
    ("undo", &[&STRIP], &["undo", "--yes"]),
    ("redo", &[&STRIP, &["undo", "--yes"]], &["redo", "--yes"]),
    ("undo onto", &[&STRIP], &["undo", "--yes", "--onto-current"]),
];

/// A line that is appended at a point is there afterwards, once; and the run did all or nothing.
fn assert_kept_at(point: &str) {
    for (name, before, command) in WAYS {
        let (home, path) = home();
        for command in before {
            assert_eq!(home.run(command).code, 0, "{name}");
        }
        let old = fs_err::read_to_string(&path).expect("the session");
        let halted = Halted::at(&home, command, point);
        let appending = append_beside(&path, line(1));
        let code = halted.go_on();
        appending.join().expect("appended");
        let what = format!("{name}, appended at {point}");
        assert_eq!(count(&path, &line(1)), 1, "{what}");
        let now = fs_err::read_to_string(&path).expect("the session");
        if code == 3 {
            assert_eq!(now, old + &line(1), "{what}: refused, and nothing done");
        } else {
            assert_eq!(code, 0, "{what}");
            assert!(!now.starts_with(&old), "{what}: done");
        }
        home.run(CLEAN_UP);
        assert_tidy(&home, &what);
    }
}

#[test]
fn line_appended_between_the_last_look_and_the_rename_is_kept() {
    assert_kept_at("swap:looked");
}

#[test]
fn line_appended_just_after_the_rename_is_kept() {
    assert_kept_at("swap:renamed");
}

#[test]
fn line_appended_while_the_result_is_written_is_kept() {
    assert_kept_at("write");
}

#[test]
fn file_that_another_process_has_open_is_not_replaced() {
    for (name, before, command) in WAYS {
        let (home, path) = home();
        for command in before {
            assert_eq!(home.run(command).code, 0, "{name}");
        }
        let old = fs_err::read_to_string(&path).expect("the session");
        let mut open = std::fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .expect("the session");
        let run = home.run(command);
        open.write_all(line(1).as_bytes()).expect("appended");
        drop(open);
        let now = fs_err::read_to_string(&path).expect("the session");
        if cfg!(any(target_os = "linux", windows)) {
            assert_eq!(run.code, 3, "{name}: {run:?}");
            assert!(run.tells("open for writing"), "{name}: {run:?}");
            assert_eq!(now, old + &line(1), "{name}");
        }
        if cfg!(windows) {
            // Old file systems remove a file that is open only when it is closed: the next run does the rest.
            home.run(CLEAN_UP);
        }
        assert_tidy(&home, name);
    }
}

/// A client at work: it opens, appends and closes, again and again.
struct Client {
    stop: Arc<AtomicBool>,
    written: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Client {
    fn start(path: &Path) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let written = Arc::new(AtomicUsize::new(0));
        let (path, stopped, counted) = (path.to_owned(), stop.clone(), written.clone());
        let thread = std::thread::spawn(move || {
            let mut n = 0;
            while !stopped.load(Ordering::SeqCst) {
                append(&path, &line(n));
                n += 1;
                counted.store(n, Ordering::SeqCst);
                // From no pause at all to a few milliseconds, and rests in which a run can get through.
                let pause = [0, 50, 300, 1_000, 4_000, 60_000][n % 53 % 6];
                std::thread::sleep(Duration::from_micros(pause));
            }
        });
        Self {
            stop,
            written,
            thread,
        }
    }

    fn end(self) -> usize {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.join().expect("it appended");
        self.written.load(Ordering::SeqCst)
    }
}

/// Runs in a loop beside a client, and counts the lines that are lost.
#[test]
fn client_that_appends_all_the_time_loses_no_line() {
    let asked = std::env::var("CCSURGERY_APPENDS").ok();
    let wanted: usize = asked.and_then(|n| n.parse().ok()).unwrap_or(300);
    let (home, path) = home();
    let client = Client::start(&path);
    let begun = Instant::now();
    let commands: [&[&str]; 3] = [
        &STRIP,
        &["undo", "--yes", "--onto-current"],
        &["redo", "--yes"],
    ];
    let (mut runs, mut done) = ([0; 3], [0; 3]);
    while client.written.load(Ordering::SeqCst) < wanted {
        for (n, command) in commands.iter().enumerate() {
            let code = home.run(command).code;
            assert!([0, 1, 3].contains(&code), "{command:?}: {code}");
            runs[n] += 1;
            done[n] += usize::from(code == 0);
        }
    }
    let written = client.end();
    let text = fs_err::read_to_string(&path).expect("the session");
    let mut seen = vec![0; written];
    for entry in text.lines() {
        let entry: serde_json::Value = serde_json::from_str(entry).expect("no line is torn");
        let number = entry["content"]
            .as_str()
            .and_then(|c| c.strip_prefix("line "));
        if let Some(n) = number.and_then(|n| n.parse::<usize>().ok()) {
            seen[n] += 1;
        }
    }
    let lost = seen.iter().filter(|n| **n == 0).count();
    let twice = seen.iter().filter(|n| **n > 1).count();
    eprintln!(
        "{written} lines appended in {:?} beside {runs:?} runs of which {done:?} were done: {lost} lost, {twice} twice",
        begun.elapsed()
    );
    assert_eq!((lost, twice), (0, 0));
    home.run(CLEAN_UP);
    assert_tidy(&home, "beside a client");
}
