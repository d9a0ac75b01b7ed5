//! `demo` shows the tool on a made-up session.

use crate::harness;

use harness::{Home, Run};
use insta::assert_snapshot;
use unicode_width::UnicodeWidthStr as _;

fn demo(home: &Home, more: &[&str]) -> Run {
    fs_err::create_dir_all(home.path("tmp")).expect("a folder");
    let arguments = [&["demo"], more].concat();
    let command = home.command(&arguments).columns(80);
    command.env("TMPDIR", home.path("tmp")).run()
}

#[test]
fn demo_shows_list_preview_and_copy() {
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
    assert_snapshot!(seen.join("\n").trim_start(), @r#"
    This is a made-up session in a temporary folder, which is removed when the demo
    ends. Your own sessions are not touched.

    $ ccsurgery ls
      id        age  turns  context  full     size  branch  title or first prompt
      3f9c2a71   3h      4    11.9k    6%  33.7 KB  main    Hot nights

    One long output fills half of this file. How small would the session be with
    only its first and last lines? With -n you see the full preview, and nothing is
    written.

    $ ccsurgery drop-tools 3f9c --stub --head 3 --tail 2 -n
    drop-tools  3f9c2a71  “Hot nights”
    project  /home/you/weather

      turns          4 →       4
      entries       30 →      31  +1
      size     33.7 KB → 20.8 KB  −12.9 KB
      window    ~11.9k →   ~9.5k  −2.3k tokens

      ~ turn 1    Bash result   −7.9 KB  ~2.3k tokens  “cat logs/2026-05-11.csv”
      +           title          +115 B  “Hot nights (drop-tools)”
      ~ 1 duplicate output  −8.1 KB
      ~ new ids for 25 entries, each with a note of its origin (about 120 bytes)

      write transcript   20.8 KB  ~/.claude/[…]
    note: the recorded context size is lowered to ~9.5k, so that Claude Code does
          not compact at once

    Dry run: nothing was written.

    Turn 4 was a detour. Make a copy that stops before it. The copy is independent
    of the original; the printed command resumes it.

    $ ccsurgery clone 3f9c --at 3 --quiet
    claude --resume [fresh]

    The original is unchanged, and both are listed:

    $ ccsurgery ls
      id             age  turns  context  full     size  title or first prompt
      [fresh8]  just now      3    11.7k    6%  34.0 KB  Hot nights (clone)
      3f9c2a71        3h      4    11.9k    6%  33.7 KB  Hot nights

    Your turn: change to a project in which you have used Claude Code, and try

      ccsurgery ls                  list your sessions here, newest first
      ccsurgery inspect             show what fills the context window and the file
      ccsurgery doctor              find out why a session won't resume
      ccsurgery strip-thinking -n   preview it on your newest session
      ccsurgery clone               copy your newest session
      ccsurgery undo                take the last change back
      ccsurgery --help              everything else
    --- exit code 0
    "#);
}

#[test]
fn demo_fits_eighty_columns() {
    let run = demo(&Home::new(), &[]);
    for line in run.stdout.lines() {
        assert!(line.width() <= 80, "{line}");
    }
    assert!(run.stdout.lines().count() <= 60, "two screens at most");
}

#[test]
fn demo_leaves_nothing_behind() {
    let home = Home::with(&Home::new().start(harness::SESSION).prompt("mine"));
    fs_err::create_dir_all(home.path("tmp")).expect("a folder");
    let before = home.everything();
    demo(&home, &[]);
    assert!(before == home.everything());
}

#[test]
fn demo_has_colour_on_request() {
    let home = Home::new();
    assert!(!demo(&home, &[]).stdout.contains('\x1b'));
    assert!(
        demo(&home, &["--color", "always"])
            .stdout
            .contains("\x1b[33m~")
    );
}

#[test]
fn demo_has_no_json() {
    let run = demo(&Home::new(), &["--json"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stdout
            .starts_with(r#"{"schema":1,"error":{"kind":"usage""#)
    );
}
