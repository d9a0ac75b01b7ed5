//! `demo`: the first minute with the tool.

mod common;

use common::{Home, Run};
use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr as _;

fn demo(home: &Home, more: &[&str]) -> Run {
    fs_err::create_dir_all(home.path("tmp")).expect("a folder");
    let arguments = [&["demo"], more].concat();
    let command = home.command(&arguments).columns(80);
    command.env("TMPDIR", home.path("tmp")).run()
}

#[test]
fn shows_a_list_a_preview_and_a_copy() {
    let home = Home::new();
    let run = demo(&home, &[]);
    // The copy's id is fresh, wherever it is shown and however it is cut.
    let id = run.stdout.split_once("--resume ").expect("a copy").1;
    let seen = run.seen().replace(&id[..8], "[fresh8]");
    let cut = |line: &str| match line.split_once("~/.claude/") {
        Some((front, _)) => format!("{front}~/.claude/[…]"),
        None => line.to_owned(),
    };
    let seen: Vec<String> = seen.lines().map(cut).collect();
    assert_snapshot!(seen.join("\n").trim_start(), @r"
    This is a session, made up for you. It lives in a temporary folder that is gone
    when the demo is over; your own sessions are not touched.

      3f9c2a71  4999 °C at night          4 turns  ~12.0k tokens   33.7 KB  just now

    Turn 4 was a detour. What would a copy be that ends before it? Ask first: -n
    shows everything and writes nothing.

    $ ccsurgery clone 3f9c --at 3 -n
    clone  3f9c2a71  “4999 °C at night”
    project  /home/you/weather

      turns          4 →       3  −1
      entries       30 →      26  −4
      size     33.7 KB → 34.0 KB  +284 B
      window    ~12.0k →  ~11.9k  −115 tokens

      − turn 4    prompt    −433 B    ~16 tokens  “rewrite the whole thing in ano…”
      − turn 4    answer    −907 B    ~99 tokens
      − turn 4    answer    −648 B    ~27 tokens  “I would start with the reader:…”
      +           title     +117 B  “4999 °C at night (clone)”
      − 3 metadata  −533 B
      + 1 last prompt  +189 B
      ~ 22 fresh ids

      write transcript   34.0 KB  ~/.claude/[…]

    Dry run: nothing was written.

    Now the copy itself. It has ids and files of its own; the last line is the
    command to go on with.

    $ ccsurgery clone 3f9c --at 3 --quiet
    claude --resume [fresh]

    The original is as it was, and both are there:

      [fresh8]  4999 °C at night (clone)  3 turns  ~11.9k tokens   34.0 KB  just now
      3f9c2a71  4999 °C at night          4 turns  ~12.0k tokens   33.7 KB  just now

    Your turn: go to a project in which you have used Claude Code, and try

      ccsurgery clone -n    what a copy of your newest session would be
      ccsurgery clone       the copy itself, and how to go on with it
      ccsurgery --help      everything else
    --- exit code 0
    ");
}

#[test]
fn fits_a_terminal_of_eighty_columns() {
    let run = demo(&Home::new(), &[]);
    for line in run.stdout.lines() {
        assert!(line.width() <= 80, "{line}");
    }
    assert!(run.stdout.lines().count() <= 60, "two screens at most");
}

#[test]
fn touches_nothing_and_leaves_nothing() {
    let home = Home::with(&Home::new().start(common::SESSION).prompt("mine"));
    fs_err::create_dir_all(home.path("tmp")).expect("a folder");
    let before = home.everything();
    demo(&home, &[]);
    assert!(before == home.everything());
}

#[test]
fn is_coloured_where_colour_is_wanted() {
    let home = Home::new();
    assert!(!demo(&home, &[]).stdout.contains('\x1b'));
    assert!(
        demo(&home, &["--color", "always"])
            .stdout
            .contains("\x1b[31m−")
    );
}

#[test]
fn has_no_json() {
    let run = demo(&Home::new(), &["--json"]);
    assert_eq!(run.code, 2);
    assert!(run.stdout.starts_with(r#"{"error":{"kind":"usage""#));
}
