//! Sessions as pages and files to share.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Home, SESSION, Transcript};

/// A key that the rules know, put together so that no scanner takes this file for a leak.
fn key() -> String {
    ["ghp", "_", "abcdefghijklmnopqrstuvwxyz0123456789"].concat()
}

fn talk(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt(&format!("Fix <script>alert(1)</script> with {}", key()))
        .thinking("The order of a map is random.")
        .answer("# Cause\n\nThe map's *order*, see [the docs](https://example.com) and [this](javascript:alert(1)).\n\n```rust\nfn x() {}\n```")
        .call("toolu_1", "Bash", &json!({"command": "cargo test"}))
        .result("toolu_1", "\u{1b}[31mFAILED\u{1b}[0m </pre><script>alert(2)</script>")
        .call("toolu_2", "Edit", &json!({"file_path": "/w/a.rs", "old_string": "one\n", "new_string": "two\n"}))
        .result("toolu_2", "done")
        .answer("Fixed.")
        .prompt("Thanks")
        .answer("You are welcome.")
        .title("Random \"maps\" & <b>order</b>")
}

fn exported(home: &Home, arguments: &[&str]) -> String {
    let run = home.run(&[&["export", SESSION, "-o", "-"], arguments].concat());
    assert_eq!(run.code, 0, "{run:?}");
    run.stdout
}

#[test]
fn export_page_holds_the_conversation_and_no_markup_of_the_session() {
    let home = Home::new();
    home.add(&talk(&home));
    let page = exported(&home, &[]);
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert_eq!(
        page.matches("<script").count(),
        1,
        "only the page's own script"
    );
    assert!(!page.contains("<b>order"), "{page}");
    assert!(!page.contains("href=\"javascript:"));
    assert!(page.contains("href=\"https://example.com\""));
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
    for text in [
        "Fixed.",
        "You are welcome.",
        "<em>order</em>",
        "<ins>+two",
        "<del>-one",
        "<span class=\"c1\">FAILED</span>",
        "id=\"turn-2\"",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn export_masks_secrets_and_says_how_many() {
    let home = Home::new();
    home.add(&talk(&home));
    for format in ["html", "md", "text", "json"] {
        let run = home.run(&["export", SESSION, "-o", "-", "--to", format]);
        assert!(!run.stdout.contains(&key()), "{format}");
        assert!(
            run.stdout.contains("ghp_[masked]") || format == "md",
            "{format}: {}",
            run.stdout
        );
        assert!(
            run.stderr.contains("masked; check for others"),
            "{format}: {run:?}"
        );
    }
    let refused = home.run(&["export", SESSION, "--show-secrets", "-o", "-"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    let open = exported(&home, &["--show-secrets", "--yes"]);
    assert!(open.contains(&key()));
}

#[test]
fn export_writes_a_private_file_and_replaces_none() {
    let home = Home::new();
    home.add(&talk(&home));
    let first = home.run(&["export", SESSION]);
    assert_eq!(first.code, 0, "{first:?}");
    let path = home
        .project()
        .join(format!("session-{}.html", &SESSION[..8]));
    assert!(path.is_file());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs_err::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let again = home.run(&["export", SESSION]);
    assert_eq!(again.code, 3, "{again:?}");
    assert!(again.stderr.contains("--force"), "{again:?}");
    assert_eq!(home.run(&["export", SESSION, "--force"]).code, 0);
}

#[test]
fn export_json_is_the_conversation_as_data() {
    let home = Home::new();
    home.add(&talk(&home));
    let document: Value = serde_json::from_str(&exported(&home, &["--to", "json"])).unwrap();
    assert_eq!(document["schema"], 1);
    assert_eq!(document["turns"], 2);
    assert_eq!(document["session_id"], SESSION);
    assert!(document["subagents"].is_array() && document["branches"].is_array());
}

#[test]
fn export_detail_chooses_how_much() {
    let home = Home::new();
    home.add(&talk(&home));
    let prompts = exported(&home, &["--to", "md", "--detail", "prompts"]);
    assert!(
        prompts.contains("> Thanks") && !prompts.contains("You are welcome"),
        "{prompts}"
    );
    let brief = exported(&home, &["--to", "md", "--detail", "brief"]);
    assert!(
        brief.contains("**Bash** `cargo test`") && !brief.contains("FAILED"),
        "{brief}"
    );
    let normal = exported(&home, &["--to", "md"]);
    assert!(
        normal.contains("FAILED") && normal.contains("-one\n+two"),
        "{normal}"
    );
    assert!(
        normal.contains("<details><summary>Thinking</summary>"),
        "{normal}"
    );
    let without = exported(&home, &["--to", "md", "--no-thinking"]);
    assert!(!without.contains("Thinking"), "{without}");
    let second = exported(&home, &["--to", "md", "--turns", "2"]);
    assert!(
        second.contains("Thanks") && !second.contains("Fixed."),
        "{second}"
    );
}

#[test]
fn export_of_several_sessions_makes_a_folder_with_a_list() {
    let home = Home::new();
    home.add(&talk(&home));
    let run = home.run(&["export", "--all", "-o", "pages"]);
    assert_eq!(run.code, 0, "{run:?}");
    let list = fs_err::read_to_string(home.project().join("pages/index.html")).unwrap();
    assert!(list.contains(&format!("href=\"{SESSION}.html\"")), "{list}");
    assert!(
        home.project()
            .join(format!("pages/{SESSION}.html"))
            .is_file()
    );
}

#[test]
fn export_only_keeps_the_kinds_that_are_named() {
    let home = Home::new();
    home.add(&talk(&home));
    let prompts = exported(&home, &["--only", "prompts"]);
    assert!(prompts.contains("Thanks") && !prompts.contains("You are welcome"));
    let calls = exported(&home, &["--only", "prompts,calls", "--to", "md"]);
    assert!(
        calls.contains("FAILED") && calls.contains("Thanks"),
        "{calls}"
    );
    assert!(!calls.contains("You are welcome") && !calls.contains("Thinking"));
}

#[test]
fn report_shows_what_an_operation_did_as_a_page() {
    let home = Home::new();
    home.add(&talk(&home));
    let before = home.everything();
    let run = home.run(&["strip-thinking", SESSION, "-n", "--report", "dry.html"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("The report is in dry.html"), "{run:?}");
    let page = fs_err::read_to_string(home.project().join("dry.html")).unwrap();
    for text in [
        "strip-thinking: Random",
        "nothing was written: a dry run",
        "Tokens in the context window",
        ">1 thinking<",
        "Before: up to about",
        "The order of a map is random.",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert_eq!(page.matches("<script").count(), 1);
    assert!(!page.contains(&key()));
    let mut after = home.everything();
    after.remove("work/dry.html");
    assert_eq!(after, before);

    let exists = home.run(&[
        "strip-thinking",
        SESSION,
        "--in-place",
        "--yes",
        "--report",
        "dry.html",
    ]);
    assert_eq!(exists.code, 3, "{exists:?}");
    let mut after = home.everything();
    after.remove("work/dry.html");
    assert_eq!(
        after, before,
        "a report that exists stops the operation before it begins"
    );

    let run = home.run(&[
        "strip-thinking",
        SESSION,
        "--in-place",
        "--yes",
        "-q",
        "--report",
        "done.html",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    let page = fs_err::read_to_string(home.project().join("done.html")).unwrap();
    assert!(page.contains("the session itself was changed"), "{page}");
    #[cfg(unix)]
    assert_eq!(
        crate::harness::mode(&home.project().join("done.html")),
        0o600
    );

    let run = home.run(&[
        "redact",
        SESSION,
        "--in-place",
        "--yes",
        "--report",
        "redact.html",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    let page = fs_err::read_to_string(home.project().join("redact.html")).unwrap();
    assert!(
        page.contains("Replaced 1 secret in ") && page.contains("[redacted:github-token:1]"),
        "{page}"
    );
    assert!(!page.contains(&key()));
}

#[test]
fn report_shows_what_rm_move_undo_and_redo_did() {
    let home = Home::new();
    home.add(&talk(&home));
    let page = |name: &str| fs_err::read_to_string(home.project().join(name)).unwrap();
    let report = |arguments: &[&str], name: &str| {
        let run = home.run(&[arguments, &["--report", name]].concat());
        assert_eq!(run.code, 0, "{run:?}");
        page(name)
    };
    let would = report(&["rm", SESSION, "-n"], "rm-n.html");
    assert!(would.contains("What would be removed") && would.contains("1 session"));
    let removed = report(&["rm", SESSION, "--yes", "-q"], "rm.html");
    assert!(removed.contains("<h1>Removed</h1>") && removed.contains("1 session"));
    let undone = report(&["undo", "--yes"], "undo.html");
    assert!(undone.contains("Undo rm") && undone.contains(SESSION));

    home.run(&["strip-thinking", SESSION, "--in-place", "--yes"]);
    let undone = report(&["undo", "--yes"], "undo-strip.html");
    assert!(undone.contains("Undo strip-thinking"), "{undone}");
    assert!(undone.contains("The order of a map is random."), "{undone}");
    assert!(!undone.contains(&key()));
    let redone = report(&["redo", "--yes"], "redo.html");
    assert!(redone.contains("Redo strip-thinking"), "{redone}");

    let new = home.path("elsewhere");
    let (old, new) = (home.project(), new.to_string_lossy().into_owned());
    let old = old.to_string_lossy().into_owned();
    let moved = report(&["move", &old, &new, "--yes"], "move.html");
    assert!(moved.contains("<h1>Moved</h1>") && moved.contains("1 session"));
    let exists = home.run(&["undo", "--yes", "--report", "move.html"]);
    assert_eq!(exists.code, 3, "a report is never overwritten: {exists:?}");
}

#[test]
fn export_page_shows_thinking_without_text_once() {
    let home = Home::new();
    let talk = home.start(SESSION).prompt("go");
    home.add(&talk.thinking("").thinking("").answer("Done."));
    let page = exported(&home, &[]);
    assert_eq!(
        page.matches("(its text is not in the file)").count(),
        1,
        "{page}"
    );
}

#[test]
fn export_page_names_the_day_of_a_session_once() {
    let home = Home::new();
    home.add(&talk(&home));
    let page = exported(&home, &[]);
    let (_, time) = page.split_once("<dt>Time</dt>").expect("the time");
    let (time, _) = time.split_once("</dd>").expect("an end");
    assert_eq!(time.matches(">2026-03-04 ").count(), 1, "{time}");
}

/// A session from another machine tells who held it there.
#[test]
fn export_anonymize_replaces_the_home_of_whoever_held_the_session() {
    let home = Home::new();
    let talk = Transcript::new(SESSION, Path::new("/Users/grace/code/app"));
    let input = json!({"file_path": "/Users/grace/code/app/src/main.rs"});
    let talk = talk
        .prompt("Read ~grace's code in /Users/grace/code")
        .call("toolu_1", "Read", &input);
    home.add(
        &talk
            .result("toolu_1", "// see /Users/grace/notes")
            .answer("Done."),
    );
    for format in ["html", "md", "text", "json"] {
        let page = exported(&home, &["--anonymize", "--to", format]);
        assert!(!page.contains("/Users/grace"), "{format}: {page}");
        assert!(page.contains("~/code"), "{format}: {page}");
    }
}
