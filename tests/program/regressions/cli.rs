//! The command line: errors, names of sessions, plan files, help.

use serde_json::Value;

use crate::harness::{Home, Run, SESSION, Transcript};

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

#[cfg(unix)]
#[test]
fn arguments_that_are_not_utf8_do_not_panic() {
    use std::os::unix::ffi::OsStrExt as _;

    let home = Home::new();
    home.add(&small(&home));
    let odd = std::ffi::OsStr::from_bytes(b"x\xff.jsonl");
    for before in [
        &["clone", SESSION, "-o"][..],
        &["clone", SESSION, "--no-such", "-o"],
        &["clone", SESSION, "-n", "--json", "--to-project"],
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
        let shown = std::path::absolute("/no/such").expect("a path");
        for word in [
            &*shown.to_string_lossy(),
            "CLAUDE_CONFIG_DIR",
            "ccsurgery demo",
        ] {
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

/// A home with a session that has thinking and a long output.
fn working() -> Home {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .prompt("fix the roof")
        .thinking("hm")
        .call("toolu_1", "Bash", &serde_json::json!({"command": "ls"}))
        .result("toolu_1", &"a line\n".repeat(400))
        .answer("It is fixed.")
        .prompt("thanks")
        .answer("You are welcome.");
    home.add(&session);
    home
}

#[test]
fn plan_option_that_needs_another_is_refused() {
    let home = working();
    home.write(
        "work/p.toml",
        "[[step]]\nop = \"drop-tools\"\nhead = 5\ntail = 5\n",
    );
    let run = home.run(&["run", "p.toml", SESSION, "-n"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.stderr.contains("drop-tools needs `stub` too"),
        "{run:?}"
    );
}

#[test]
fn plan_is_read_from_standard_input() {
    let home = working();
    home.write(
        "work/p.toml",
        "[[step]]\nop = \"strip-thinking\"\nsubagents = true\n",
    );
    let plan = fs_err::File::open(home.path("work/p.toml")).expect("the plan");
    let output = home
        .command(&["run", "-", SESSION, "-n"])
        .process()
        .stdin(plan.into_parts().0)
        .output()
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("thinking"),
        "{output:?}"
    );
}

#[test]
fn drop_tools_of_an_unknown_tool_lists_the_tools() {
    let run = working().run(&["drop-tools", SESSION, "--tool", "Bahs"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout
            .contains("no tool fits `Bahs`; the session calls Bash"),
        "{run:?}"
    );
}

#[test]
fn compact_without_options_names_both_ways() {
    let run = working().run(&["compact", SESSION]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("--at <TURN>|--keep-last <N>"),
        "{run:?}"
    );
}

#[test]
fn empty_title_is_refused() {
    for title in ["", "  "] {
        let run = working().run(&["clone", SESSION, "--title", title]);
        assert_eq!(run.code, 2, "{run:?}");
    }
}

#[test]
fn clone_to_project_refuses_a_file() {
    let home = working();
    home.write("work/file", "x");
    let run = home.run(&["clone", SESSION, "--to-project", "file"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("`file` is not a folder"), "{run:?}");
}

#[test]
fn commands_have_the_names_that_people_type() {
    let home = working();
    for arguments in [&["list"][..], &["log"], &["fork", SESSION, "-n"]] {
        assert_eq!(home.run(arguments).code, 0, "{arguments:?}");
    }
    let run = home.run(&["cp", SESSION]);
    assert!(run.code == 2 && run.stderr.contains("clone"), "{run:?}");
}

#[test]
fn completions_and_man_print_json() {
    let home = Home::new();
    let document = home.json(&["completions", "bash"]);
    assert_eq!(
        (&document["schema"], &document["shell"]),
        (&1.into(), &"bash".into())
    );
    assert!(
        document["script"]
            .as_str()
            .is_some_and(|s| s.contains("ccsurgery"))
    );
    let document = home.json(&["man", "clone"]);
    assert_eq!(document["pages"][0]["name"], "ccsurgery-clone");
}

#[test]
fn man_has_a_page_for_every_command_with_all_sections() {
    let home = Home::new();
    let run = home.run(&["man", "--out", "pages"]);
    assert_eq!(run.code, 0, "{run:?}");
    for (page, words) in [
        ("ccsurgery.1", "ccsurgery\\-clone"),
        ("ccsurgery-clone.1", "--to-project"),
        ("ccsurgery-history.1", "ccsurgery-history-gc"),
        ("ccsurgery-undo.1", "EXAMPLES"),
        ("ccsurgery-history-gc.1", "--older-than"),
    ] {
        let text = fs_err::read_to_string(home.project().join("pages").join(page)).expect("a page");
        for words in [words, "EXIT STATUS", "ENVIRONMENT", "FILES"] {
            let plain = text.replace("\\-", "-");
            assert!(
                plain.contains(&words.replace("\\-", "-")),
                "{page}: {words}\n{text}"
            );
        }
    }
    assert_eq!(home.run(&["man", "no-such-command"]).code, 2);
}

#[cfg(unix)]
#[test]
fn json_of_paths_that_are_not_utf8_does_not_panic() {
    use std::os::unix::ffi::OsStrExt as _;

    let home = working();
    let odd = home.path(std::ffi::OsStr::from_bytes(b"config\xff"));
    fs_err::rename(home.config(), &odd).expect("renamed");
    for arguments in [
        &["strip-thinking", SESSION, "-n", "--in-place", "--json"][..],
        &["strip-thinking", SESSION, "--turns", "2", "--json"],
        &["clone", SESSION, "--at", "1", "-o", "copy.jsonl", "--json"],
        &["clone", "no-such-session", "--json"],
    ] {
        let process = &mut home.command(arguments).process();
        let process = process.arg("--config-dir").arg(&odd);
        let output = process.output().expect("it runs");
        assert_ne!(output.status.code(), Some(101), "{arguments:?} {output:?}");
        let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
        assert!(document.is_object(), "{document}");
    }
}

/// The transcripts of the project, by name.
fn transcripts(home: &Home) -> usize {
    let files = fs_err::read_dir(home.transcript(SESSION).parent().expect("a folder"));
    files.expect("a folder").count()
}

#[test]
fn clone_is_made_although_nobody_reads_the_preview() {
    let home = Home::new();
    home.add(&small(&home));
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut process = home.command(&["clone", SESSION]).process();
    let status = process.stdout(writer).status().expect("it starts");
    assert_eq!(status.code(), Some(0));
    assert_eq!(transcripts(&home), 2);
}

#[test]
#[cfg(target_os = "linux")]
fn clone_that_cannot_be_reported_says_that_it_is_done() {
    let home = Home::new();
    home.add(&small(&home));
    let full = fs_err::OpenOptions::new().write(true).open("/dev/full");
    let full: std::fs::File = full.expect("a full device").into();
    let mut process = home.command(&["clone", SESSION, "-q"]).process();
    let output = process.stdout(full).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0));
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        told.contains("it is done, but the report could not be printed"),
        "{told}"
    );
    assert_eq!(transcripts(&home), 2);
}
