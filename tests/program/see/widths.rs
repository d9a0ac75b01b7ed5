//! Every screen that a person reads, at the widths that terminals have.

use std::fmt::Write as _;

use crate::harness::Home;
use crate::harness::script::eventful;

const ID: &str = "5e551011-aaaa-4bbb-8ccc-dddddddddddd";
const OTHER: &str = "5e551022-aaaa-4bbb-8ccc-dddddddddddd";

/// The commands whose screens are looked at; the session is `@`.
const SCREENS: [&str; 30] = [
    "ls",
    "ls --all",
    "ls --all --sort tokens",
    "ls --expiring",
    "show",
    "show --turns 2..3",
    "show --branches",
    "show --agents",
    "show Flaky",
    "grep map",
    "inspect",
    "diff @2 @",
    "du",
    "du --all",
    "doctor",
    "doctor --explain torn-line",
    "history",
    "clone -n",
    "strip-thinking -n",
    "drop-tools -n --diff",
    "drop-images -n",
    "compact --keep-last 2 -n",
    "truncate --at 2 -n",
    "delete --turns 2 -n",
    "trim --to 90% -n",
    "redact -n",
    "repair -n",
    "rm -n @",
    "undo -n",
    "show nothing-like-it",
];

/// Replaces what differs from run to run: ids of new sessions, names of operations, and times.
fn steady(text: &str) -> String {
    let mut out = text.to_owned();
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let mut replace = |shape: &str| {
        let fits = |word: &str| {
            let mut pairs = word.bytes().zip(shape.bytes());
            word.len() == shape.len()
                && pairs.all(|(a, b)| if b == b'0' { is_digit(a) } else { a == b })
        };
        let known = |word: &str| word.starts_with("5e5510");
        let mut at = 0;
        while at + shape.len() <= out.len() {
            let word = out.get(at..at + shape.len());
            if word.is_some_and(|word| fits(word) && !known(word)) {
                out.replace_range(at..at + shape.len(), shape);
            }
            at += 1;
        }
    };
    replace("00000000-0000-0000-0000-000000000000");
    // The names of operations.
    replace("undo 0000");
    replace("redo 0000");
    replace("operation 0000 (");
    replace("\n0000  ");
    replace("title  0000  ");
    let mut lines = String::new();
    for line in out.lines() {
        let line = match line.split_once(" · 20") {
            Some((head, tail)) => format!("{head} · 2026-01-02 03:04{}", &tail[14..]),
            None => line.to_owned(),
        };
        // Paths depend on the folder for temporary files, and are cut where that does not fit.
        let path = line.find("~/.cl").zip(line.rfind(".jsonl"));
        let line = match path {
            Some((start, end)) => format!("{}[transcript]{}", &line[..start], &line[end + 6..]),
            None => line,
        };
        let _ = writeln!(lines, "{}", line.trim_end());
    }
    lines
}

/// A home with two sessions, and an operation that can be undone.
fn home() -> Home {
    let home = Home::new();
    home.put(ID, eventful().text(), 120);
    let other = eventful().text().replace(ID, OTHER);
    home.put(OTHER, &other, 300);
    let renamed = home.run_on(100, &["title", "Another parser", OTHER, "-q"]);
    assert_eq!(renamed.code, 0, "{}", renamed.seen());
    home.set_age(OTHER, 0);
    home
}

/// Returns all screens at a width, one after the other.
fn screens(columns: usize) -> String {
    let home = home();
    let mut out = String::new();
    for screen in SCREENS {
        let arguments: Vec<&str> = screen.split(' ').collect();
        let run = home.run_on(columns, &arguments);
        let _ = writeln!(out, "$ ccsurgery {screen}");
        out += &steady(&run.page());
        out.push('\n');
    }
    out
}

#[test]
fn screens_fit_the_terminal() {
    let home = home();
    let mut too_wide = Vec::new();
    for columns in [40, 60, 100, 160, 300] {
        for screen in SCREENS {
            let arguments: Vec<&str> = screen.split(' ').collect();
            // Paths and commands to copy are never cut. `redact` lists paths and long names of rules.
            let is_whole = |line: &&str| line.contains("ccsurgery ") || screen == "redact -n";
            let out = home.run_on(columns, &arguments).stdout;
            let wide = |line: &&str| ccsurgery::render::width(line) > columns;
            let wide = out.lines().filter(wide).filter(|l| !is_whole(l));
            too_wide.extend(wide.map(|line| format!("{screen} at {columns}: {line}")));
        }
    }
    assert!(too_wide.is_empty(), "{}", too_wide.join("\n"));
}

#[test]
fn screens_at_three_widths() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../../snapshots/screens");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        for columns in [60, 100, 160] {
            insta::assert_snapshot!(format!("{columns}_columns"), screens(columns));
        }
    });
}
