//! The command line: errors, names of sessions, plan files, help.

use std::os::unix::ffi::OsStrExt as _;

use serde_json::Value;

use super::common::{Home, Run, SESSION, Transcript};

fn small(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt("fix the roof")
        .answer("It is fixed.")
}

/// The error document of a run with `--json`.
fn error(run: &Run) -> Value {
    let document: Value = serde_json::from_str(&run.stdout).expect("one JSON document");
    assert_eq!(document["schema"], 1, "{document}");
    document["error"].clone()
}

#[test]
fn error_document_has_schema_causes_and_candidates() {
    let home = Home::with(&small(&Home::new()));
    let error = error(&home.run(&["show", "nothing-like-it", "--json"]));
    assert_eq!(error["kind"], "not-found");
    assert!(
        error["causes"].is_array() && error["candidates"].is_array(),
        "{error}"
    );
}

#[test]
fn error_document_keeps_whole_usage_message() {
    let run = Home::new().run(&["truncate", "--json"]);
    let message = error(&run)["message"].to_string();
    assert_eq!(run.code, 2);
    assert!(
        message.contains("--at") && message.contains("not provided"),
        "{message}"
    );
}

#[test]
fn arguments_that_are_not_utf8_do_not_panic() {
    let home = Home::new();
    home.add(&small(&home));
    let odd = std::ffi::OsStr::from_bytes(b"x\xff.jsonl");
    for before in [
        &["clone", SESSION, "-o"][..],
        &["clone", SESSION, "--no-such", "-o"],
    ] {
        let output = home
            .command(before)
            .process()
            .arg(odd)
            .output()
            .expect("it runs");
        assert_ne!(output.status.code(), Some(101), "{output:?}");
    }
    assert!(home.project().join(odd).exists());
}

const OTHER: &str = "5e551000-bbbb-4bbb-8ccc-0123456789ab";

/// A home with two sessions that have titles.
fn titled() -> Home {
    let home = Home::new();
    home.add(&small(&home).title("Mend the Roof"));
    home.add(
        &home
            .start(OTHER)
            .prompt("paint it")
            .answer("Red.")
            .title("Paint the door"),
    );
    home
}

/// The id of the session that a name finds.
fn named(home: &Home, name: &str) -> String {
    let document = home.json(&["clone", name, "-n"]);
    document["source"]["session_id"]
        .as_str()
        .expect("an id")
        .to_owned()
}

#[test]
fn session_name_may_be_part_of_title_or_capital_hex() {
    let home = titled();
    for name in [
        "Mend the Roof",
        "mend the roof",
        "roof",
        "ROOF",
        "5E551000-AAAA",
    ] {
        assert_eq!(named(&home, name), SESSION, "{name}");
    }
    assert_eq!(named(&home, "door"), OTHER);
}

#[test]
fn session_name_that_fits_several_lists_candidates_as_data() {
    let home = titled();
    let run = home.run(&["clone", "the", "--json"]);
    let error = error(&run);
    assert_eq!(error["kind"], "ambiguous");
    let candidates = error["candidates"].as_array().expect("a list");
    let mut titles: Vec<&str> = candidates
        .iter()
        .filter_map(|c| c["title"].as_str())
        .collect();
    titles.sort_unstable();
    assert_eq!(titles, ["Mend the Roof", "Paint the door"]);
    assert!(
        candidates
            .iter()
            .all(|c| c["session_id"].is_string() && c["path"].is_string())
    );
}

#[test]
fn session_name_candidates_are_masked_and_aligned() {
    let home = Home::new();
    let key = format!("sk-{}-api03-{}", "ant", "a1B2c3D4".repeat(10));
    home.add(&small(&home).title(&format!("the key {key}")));
    home.add(
        &home
            .start(OTHER)
            .prompt("paint")
            .answer("Red.")
            .title("the   odd\tblanks"),
    );
    let run = home.run(&["clone", "the"]);
    assert!(!run.stderr.contains(&key), "{run:?}");
    let ends: Vec<Option<usize>> = run
        .stderr
        .lines()
        .filter(|line| line.starts_with("  "))
        .map(|line| line.find("the "))
        .collect();
    assert_eq!(ends.len(), 2, "{run:?}");
    assert_eq!(ends[0], ends[1], "{run:?}");
}

#[test]
fn session_name_at_zero_is_an_error() {
    let run = titled().run(&["show", "@0"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("counting starts at 1"), "{run:?}");
}

#[test]
fn session_name_dash_reads_standard_input() {
    let home = Home::new();
    let path = home.add(&small(&home));
    for name in ["-", "/dev/stdin"] {
        let output = home
            .command(&["payload", name])
            .process()
            .stdin(fs_err::File::open(&path).expect("the file").into_parts().0)
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("fix the roof"), "{name}: {output:?}");
    }
    let run = home.run(&["show", "-"]);
    assert_eq!(run.code, 1);
    assert!(run.stderr.contains("standard input is empty"), "{run:?}");
    let run = home
        .command(&["strip-thinking", "-", "--in-place", "--yes"])
        .process()
        .stdin(fs_err::File::open(&path).expect("the file").into_parts().0)
        .output()
        .expect("it runs");
    assert_eq!(run.status.code(), Some(2), "{run:?}");
}

#[test]
fn session_title_without_quotes_gets_a_tip() {
    let run = titled().run(&["show", "mend", "the", "roof"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("needs quotes"), "{run:?}");
}

#[test]
fn current_project_is_the_nearest_folder_above_with_sessions() {
    let home = titled();
    let below = home.project().join("src/deep");
    fs_err::create_dir_all(&below).expect("folders");
    let run = home.command(&["clone", "@", "-q"]).within(&below).run();
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.starts_with("cd "),
        "resumed in the project: {run:?}"
    );
    assert!(
        home.names()
            .iter()
            .filter(|n| n.ends_with(".jsonl"))
            .count()
            == 3
    );
}

#[test]
fn folders_that_options_name_must_exist() {
    let home = titled();
    home.write("work/file", "x");
    for (option, folder) in [
        ("--project", "/no/such"),
        ("--config-dir", "/no/such"),
        ("--project", "file"),
    ] {
        let run = home.run(&["ls", option, folder]);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(
            run.stderr.contains(folder) && run.stderr.contains(option),
            "{run:?}"
        );
    }
}

#[test]
fn no_claude_code_data_is_reported_with_ways_out() {
    let home = Home::new();
    for arguments in [&["ls"][..], &["show"], &["clone", "abcd1234"], &["doctor"]] {
        let command = home.command(arguments).env("CLAUDE_CONFIG_DIR", "/no/such");
        let run = command.run();
        assert_eq!(run.code, 1, "{arguments:?} {run:?}");
        for word in ["/no/such", "CLAUDE_CONFIG_DIR", "ccsurgery demo"] {
            assert!(run.stderr.contains(word), "{arguments:?} {run:?}");
        }
    }
}

#[test]
fn clone_of_a_file_from_elsewhere_resumes_in_the_current_project() {
    let home = Home::new();
    let far = Transcript::new(SESSION, std::path::Path::new("/Users/far/away"));
    home.write("work/shared.jsonl", far.prompt("hello").answer("hi").text());
    let run = home.run(&["clone", "./shared.jsonl", "-q"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.starts_with("claude --resume "), "{run:?}");
    let copy = home.names().into_iter().find(|n| n.ends_with(".jsonl"));
    let copy = fs_err::read_to_string(home.config().join(copy.expect("a copy"))).expect("text");
    assert!(!copy.contains("/Users/far/away"), "{copy}");
    assert_eq!(home.run(&["doctor", "@"]).code, 0);
}

#[test]
fn clone_in_a_folder_that_is_gone_prints_no_cd() {
    let home = Home::new();
    let gone = home.path("gone");
    let session = Transcript::new(SESSION, &gone).prompt("hello").answer("hi");
    home.write(
        home.folder_of(&gone).join(format!("{SESSION}.jsonl")),
        session.text(),
    );
    let run = home.run(&["clone", SESSION]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.last_line().starts_with("claude --resume "), "{run:?}");
    assert!(
        run.stderr.contains("does not exist") && run.stderr.contains("--to-project ."),
        "{run:?}"
    );
}

#[test]
fn in_place_on_a_file_from_elsewhere_prints_no_resume_command() {
    let home = Home::new();
    home.write(
        "work/mine.jsonl",
        small(&home).prompt("two").answer("2").text(),
    );
    let run = home.run(&[
        "truncate",
        "./mine.jsonl",
        "--at",
        "1",
        "--in-place",
        "--yes",
    ]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!run.stdout.contains("claude --resume"), "{run:?}");
}
