//! Regressions in `store`, and in `undo`, `redo` and `history`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::{Home, Run, SESSION, in_json};

const STRIP: [&str; 5] = ["strip-thinking", SESSION, "--in-place", "--yes", "-q"];
const UNDO: [&str; 2] = ["undo", "--yes"];

fn home() -> Home {
    let home = Home::new();
    home.add(
        &home
            .start(SESSION)
            .prompt("first")
            .thinking("hm")
            .answer("one")
            .prompt("second")
            .thinking("so")
            .answer("two"),
    );
    home
}

#[track_caller]
fn ok(home: &Home, arguments: &[&str]) -> Run {
    let run = home.run(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    run
}

#[track_caller]
fn fails(home: &Home, arguments: &[&str], code: i32, words: &str) -> Run {
    let run = home.run(arguments);
    assert_eq!(run.code, code, "{arguments:?}: {run:?}");
    assert!(run.stderr.contains(words), "{arguments:?}: {run:?}");
    run
}

/// Returns the folders of all operations, oldest first.
fn operations(home: &Home) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(home.state().join("ops")).expect("the journal");
    let mut all: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    all.sort();
    all
}

/// Changes the newest record.
fn tamper(home: &Home, change: impl FnOnce(&mut Value)) {
    let path = operations(home).pop().expect("a record").join("op.json");
    let mut record = serde_json::from_slice(&fs_err::read(&path).expect("a record")).expect("JSON");
    change(&mut record);
    fs_err::write(&path, record.to_string()).expect("written");
}

#[test]
fn undo_of_a_clone_whose_path_was_given_with_parent_folders() {
    let home = home();
    let before = home.names();
    let session = format!(
        "../{}",
        home.transcript(SESSION)
            .strip_prefix(home.path(""))
            .expect("below")
            .display()
    );
    let run = home.command(&["clone", &session, "-q"]).run();
    assert_eq!(run.code, 0, "{run:?}");
    ok(&home, &UNDO);
    assert_eq!(home.names(), before);

    let config = home.config().join("projects/..");
    let clone = home.command(&["clone", SESSION, "-q"]);
    let run = clone.env("CLAUDE_CONFIG_DIR", config).run();
    assert_eq!(run.code, 0, "{run:?}");
    ok(&home, &UNDO);
    assert_eq!(home.names(), before);
}

fn text(path: &Path) -> String {
    fs_err::read_to_string(path).expect("a file")
}

#[test]
fn undo_of_a_session_that_was_restored_by_hand_changes_nothing() {
    let home = home();
    let path = home.transcript(SESSION);
    let original = text(&path);
    ok(
        &home,
        &["truncate", SESSION, "--at", "1", "--in-place", "--yes"],
    );
    fs_err::write(&path, &original).expect("restored by hand");
    for arguments in [&UNDO[..], &["undo", "--yes", "--onto-current"]] {
        let run = home.run(arguments);
        assert!([0, 1].contains(&run.code), "{run:?}");
        assert_eq!(text(&path), original);
    }
    let history = home.json(&["history"]);
    assert_eq!(history["operations"][0]["state"], "undone");
}

#[test]
fn undo_stops_at_a_record_that_is_torn_or_newer() {
    let spoil: [fn(&Path); 3] = [
        |path| {
            let text = fs_err::read(path).expect("a record");
            fs_err::write(path, &text[..50]).expect("written");
        },
        |path| {
            let text = fs_err::read_to_string(path).expect("a record");
            fs_err::write(path, text.replace("\"committed\"", "\"paused\"")).expect("written");
        },
        |path| {
            let text = fs_err::read_to_string(path).expect("a record");
            fs_err::write(path, text.replace("\"version\": 1", "\"version\": 9")).expect("written");
        },
    ];
    for spoil in spoil {
        let home = home();
        home.clone(&[SESSION]);
        home.clone(&[SESSION]);
        let before = home.names();
        let record = operations(&home)[1].join("op.json");
        spoil(&record);
        let name = record.to_string_lossy().into_owned();
        fails(&home, &UNDO, 1, &name);
        fails(&home, &["undo", "-n"], 1, &name);
        assert_eq!(home.names(), before);
        assert!(ok(&home, &["history"]).stdout.contains(&name));
        assert_eq!(
            home.json(&["history"])["unreadable"][0]["path"],
            json!(record)
        );
        // The other operation can still be undone by its name, and new ones can be made.
        let first = home.json(&["history"])["operations"][0]["name"].clone();
        ok(&home, &["undo", first.as_str().expect("a name"), "--yes"]);
        home.clone(&[SESSION]);
        ok(&home, &UNDO);
        assert!(record.exists());
    }
}

#[test]
fn redo_publishes_only_the_bytes_that_were_recorded() {
    let home = home();
    let path = home.transcript(SESSION);
    ok(&home, &STRIP);
    ok(&home, &UNDO);
    let before = text(&path);
    let kept = operations(&home)[0].join("after-0.jsonl");
    fs_err::remove_file(&kept).expect("removed");
    fails(&home, &["redo", "--yes"], 3, "missing from the journal");
    fs_err::write(&kept, "garbage\n").expect("written");
    fails(&home, &["redo", "--yes"], 1, "not what was recorded");
    assert_eq!(text(&path), before);

    home.clone(&[SESSION]);
    ok(&home, &UNDO);
    let names = home.names();
    let kept = operations(&home)[1].join("created-0");
    fs_err::remove_file(&kept).expect("removed");
    fs_err::write(&kept, "garbage\n").expect("written");
    fails(&home, &["redo", "--yes"], 1, "not what was recorded");
    assert_eq!(home.names(), names);
}

#[test]
fn undo_checks_old_bytes_of_the_right_size_and_time() {
    let home = home();
    let path = home.transcript(SESSION);
    ok(&home, &STRIP);
    let after = text(&path);
    let kept = operations(&home)[0].join("before-0.jsonl");
    let time = fs_err::metadata(&kept)
        .expect("a file")
        .modified()
        .expect("a time");
    let mut bytes = fs_err::read(&kept).expect("a file");
    bytes[20] ^= 1;
    fs_err::write(&kept, bytes).expect("written");
    let file = std::fs::File::options()
        .write(true)
        .open(&kept)
        .expect("a file");
    file.set_modified(time).expect("its time");
    fails(&home, &UNDO, 1, "not what was recorded");
    assert_eq!(text(&path), after);
}

#[test]
fn redo_of_a_clone_enters_it_in_the_index_again() {
    let home = home();
    let index = home.folder().join("sessions-index.json");
    home.write(&index, json!({"version": 1, "entries": []}).to_string());
    let (id, _) = home.clone(&[SESSION]);
    assert!(text(&index).contains(&id));
    ok(&home, &UNDO);
    assert!(!text(&index).contains(&id));
    ok(&home, &["redo", "--yes"]);
    assert!(text(&index).contains(&id));
    assert!(text(&index).contains(&in_json(&home.project().to_string_lossy())));
}

#[cfg(unix)]
#[test]
fn index_that_is_a_link_stays_a_link() {
    let home = home();
    let (index, real) = (
        home.folder().join("sessions-index.json"),
        home.path("elsewhere/index"),
    );
    home.write(&real, json!({"version": 1, "entries": []}).to_string());
    std::os::unix::fs::symlink(&real, &index).expect("a link");
    let before = text(&real);
    home.clone(&[SESSION]);
    ok(&home, &UNDO);
    assert!(index.is_symlink());
    assert_eq!(text(&real), before);
}

/// Thousands of files, with a limit of open files far below their number.
#[cfg(unix)]
#[test]
fn undo_and_redo_of_five_thousand_files_open_few_at_a_time() {
    let home = Home::in_memory();
    home.add(&home.start(SESSION).prompt("hi").answer("hello"));
    let history = home.config().join("file-history").join(SESSION);
    fs_err::create_dir_all(&history).expect("a folder");
    for n in 0..5_000 {
        fs_err::write(history.join(format!("{n}@v1")), n.to_string()).expect("a file");
    }
    let before = home.names();
    for arguments in [&["clone", SESSION][..], &UNDO, &["redo", "--yes"], &UNDO] {
        let front = ["sh", "-c", "ulimit -n 128; exec \"$@\"", "sh"];
        let output = home.command(arguments).process_under(&front).output();
        let run = Run::new(&home, &output.expect("it runs"));
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
    }
    assert_eq!(home.names(), before);
}

/// Old bytes are copied between file systems, and the mode of the copy forbids writing.
#[cfg(target_os = "linux")]
#[test]
fn undo_restores_a_read_only_session_from_another_file_system() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let home = home();
    let path = home.transcript(SESSION);
    crate::harness::set_mode(&path, 0o444);
    let original = text(&path);
    let state = tempfile::tempdir_in("/dev/shm").expect("a folder");
    for folder in [home.path(""), state.path().to_owned()] {
        let mut chown = std::process::Command::new("chown");
        let given = chown.args(["-R", "65534:65534"]).arg(folder).status();
        assert!(given.expect("chown").success());
    }
    for arguments in [&STRIP[..], &UNDO] {
        let command = home.command(arguments);
        let run = command
            .env("CCSURGERY_STATE_DIR", state.path().join("s"))
            .run_unprivileged();
        assert_eq!(run.code, 0, "{arguments:?}: {run:?}");
    }
    assert_eq!(text(&path), original);
    assert_eq!(crate::harness::mode(&path), 0o444);
}

#[test]
fn undo_refuses_a_record_without_the_states_of_created_files() {
    let home = home();
    home.clone(&[SESSION]);
    let before = home.names();
    tamper(&home, |record| {
        record
            .as_object_mut()
            .expect("a record")
            .remove("created_states");
    });
    fails(&home, &UNDO, 3, "does not describe all files");
    assert_eq!(home.names(), before);
}

#[cfg(unix)]
#[test]
fn sidecars_that_are_links_are_neither_rewritten_nor_copied() {
    let home = home();
    let outside = home.path("elsewhere/outside.jsonl");
    home.write(&outside, text(&home.transcript(SESSION)));
    let before = text(&outside);
    let link = |to: &Path, at: PathBuf| {
        fs_err::create_dir_all(at.parent().expect("a folder")).expect("a folder");
        std::os::unix::fs::symlink(to, at).expect("a link");
    };
    link(&outside, home.folder().join("agent-abc1234.jsonl"));
    link(
        &outside,
        home.config().join(format!("todos/{SESSION}-agent-a.json")),
    );
    link(&home.path("elsewhere"), home.folder().join(SESSION));
    home.write("elsewhere/resume-head.jsonl", "{}\n");
    ok(
        &home,
        &[
            "strip-thinking",
            SESSION,
            "--subagents",
            "--in-place",
            "--yes",
        ],
    );
    assert_eq!(text(&outside), before);
    assert!(home.path("elsewhere/resume-head.jsonl").exists());
    let (id, _) = home.clone(&[SESSION]);
    assert!(
        !home
            .names()
            .iter()
            .any(|n| n.contains(&format!("todos/{id}")))
    );
    assert!(!home.folder().join(id).exists());
}

#[test]
fn clone_of_a_file_called_dots_takes_no_other_sessions_along() {
    for name in ["...jsonl", "..jsonl"] {
        let home = home();
        let odd = home.folder().join(name);
        fs_err::copy(home.transcript(SESSION), &odd).expect("a session");
        let other = home.folder_of(&home.path("elsewhere")).join("secret.jsonl");
        home.write(&other, "secret\n");
        let before = home.names().len();
        ok(&home, &["clone", &odd.to_string_lossy()]);
        let names = home.names();
        let copies = names.iter().filter(|n| n.ends_with("secret.jsonl")).count();
        assert_eq!(copies, 1, "{names:?}");
        assert!(
            names.iter().filter(|n| !n.starts_with("state")).count() <= before + 1,
            "{names:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn pipes_do_not_block_commands() {
    let pipe = |path: PathBuf| {
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo").success());
    };
    let home = home();
    pipe(home.folder().join("x.jsonl"));
    pipe(home.folder().join("agent-x.jsonl"));
    pipe(home.folder().join("sessions-index.json"));
    pipe(home.config().join(format!("todos/{SESSION}-agent-x.json")));
    pipe(home.config().join("sessions/1.json"));
    pipe(home.state().join("ops/20260101-000000000-aaaa/op.json"));
    for arguments in [
        &["ls", "--all"][..],
        &["show", "no such title"],
        &["clone", SESSION],
        &["history"],
        &["undo", "-n"],
        &UNDO,
    ] {
        let front = ["timeout", "20"];
        let output = home.command(arguments).process_under(&front).output();
        let code = output.expect("it runs").status.code();
        assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {code:?}");
    }
    fails(&home, &["show", "/dev/null"], 1, "is not a regular file");
}

#[test]
fn undo_dry_run_writes_nothing() {
    let home = home();
    home.clone(&[SESSION]);
    home.write(
        home.folder().join(".ccsurgery-4000000-a.tmp"),
        "left by a killed run",
    );
    tamper(&home, |record| {
        record["state"] = json!("undoing");
        record["pid"] = json!(4_000_000);
    });
    let before = home.everything();
    home.run(&["undo", "-n"]);
    home.run(&["redo", "-n"]);
    assert!(home.everything() == before);
}

#[cfg(target_os = "linux")]
#[test]
fn undo_and_redo_refuse_a_session_that_is_open() {
    let home = home();
    let (id, path) = home.clone(&[SESSION]);
    let note = home.config().join("sessions/1.json");
    let pid = std::process::id();
    home.write(&note, json!({"pid": pid, "sessionId": id}).to_string());
    let run = fails(&home, &UNDO, 3, "is open in Claude Code");
    assert!(run.stderr.contains("--allow-live"), "{run:?}");
    assert!(path.exists());
    ok(&home, &["undo", "--yes", "--allow-live"]);
    assert!(!path.exists());
    fails(&home, &["redo", "--yes"], 3, "is open in Claude Code");
    ok(&home, &["redo", "--yes", "--allow-live"]);
    assert!(path.exists());
}

#[test]
fn journal_records_cannot_reach_files_elsewhere() {
    let home = home();
    let victim = home.path("victim");
    home.write(victim.join("notes.txt"), "mine");
    home.write(home.config().join("settings.json"), "{}");
    let paths = [
        victim.join("notes.txt"),
        home.config().join("settings.json"),
    ];
    for path in &paths {
        home.clone(&[SESSION]);
        tamper(&home, |record| {
            record["created"] = json!([path]);
            record["created_states"] = json!([]);
            record["created_dirs"] = json!([]);
            record["state"] = json!("prepared");
            record["pid"] = json!(4_000_000);
        });
        ok(&home, &["clone", SESSION]);
        assert!(path.exists(), "{path:?}");
        tamper(&home, |record| record["state"] = json!("committed"));
    }
    home.clone(&[SESSION]);
    tamper(&home, |record| record["id"] = json!("../../../victim"));
    ok(&home, &["history", "gc", "--older-than", "0d", "--yes"]);
    assert!(victim.join("notes.txt").exists());
}

#[test]
fn journal_leaves_folders_of_the_user_alone() {
    let home = home();
    home.clone(&[SESSION]);
    home.write(home.state().join("ops/my notes/list.txt"), "mine");
    let named = home.state().join("ops/20260101-000000000-aaaa");
    home.write(named.join("list.txt"), "mine");
    let leftover = home.state().join("ops/20260101-000000000-bbbb");
    home.write(leftover.join("before-0.jsonl"), "left by a killed run");
    ok(&home, &UNDO);
    assert!(home.state().join("ops/my notes/list.txt").exists());
    assert!(named.join("list.txt").exists());
    assert!(!leftover.exists());
}

#[cfg(unix)]
#[test]
fn journal_in_a_folder_that_others_may_write_to_is_refused() {
    let home = home();
    home.clone(&[SESSION]);
    crate::harness::set_mode(&home.state(), 0o777);
    let before = home.names();
    let run = fails(&home, &["clone", SESSION], 3, "is not private");
    assert!(run.stderr.contains("chmod 700"), "{run:?}");
    fails(&home, &UNDO, 3, "is not private");
    assert_eq!(home.names(), before);
}

#[test]
fn undo_restores_a_session_that_was_deleted_after_a_rewrite() {
    let home = home();
    let path = home.transcript(SESSION);
    let original = text(&path);
    ok(&home, &STRIP);
    fs_err::remove_dir_all(home.folder()).expect("removed");
    let run = ok(&home, &UNDO);
    assert!(run.stdout.contains("which was deleted"), "{run:?}");
    assert_eq!(text(&path), original);
}

#[test]
fn undo_of_a_deleted_clone_does_not_block_earlier_operations() {
    let home = home();
    let original = text(&home.transcript(SESSION));
    ok(&home, &STRIP);
    let (_, path) = home.clone(&[SESSION]);
    fs_err::remove_file(path).expect("removed");
    ok(&home, &UNDO);
    ok(&home, &UNDO);
    assert_eq!(text(&home.transcript(SESSION)), original);
}

#[test]
fn undo_works_after_the_state_folder_was_moved() {
    let home = home();
    let original = text(&home.transcript(SESSION));
    ok(&home, &STRIP);
    // As older versions recorded it.
    let backup = operations(&home)[0].join("before-0.jsonl");
    tamper(&home, |record| {
        record["replaced"][0]["backup"] = json!(backup);
    });
    let moved = home.path("moved");
    fs_err::rename(home.state(), &moved).expect("moved");
    let run = home.command(&UNDO).env("CCSURGERY_STATE_DIR", &moved).run();
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(text(&home.transcript(SESSION)), original);
}

#[cfg(target_os = "linux")]
#[test]
fn journal_records_paths_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = home();
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff.txt");
    let own = home.folder().join(SESSION).join("tool-results");
    fs_err::create_dir_all(&own).expect("a folder");
    fs_err::write(own.join(odd), "x").expect("a file");
    ok(&home, &["clone", SESSION, "-q"]);
    ok(&home, &UNDO);
    ok(&home, &["redo", "--yes"]);
}

#[cfg(unix)]
#[test]
fn unreadable_project_folders_do_not_hide_the_others() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let home = home();
    for name in ["", "work", ".claude", ".claude/projects"] {
        crate::harness::set_mode(&home.path(name), 0o755);
    }
    crate::harness::set_mode(&home.folder(), 0o755);
    crate::harness::set_mode(&home.transcript(SESSION), 0o644);
    let closed = home.config().join("projects/closed");
    fs_err::create_dir(&closed).expect("a folder");
    crate::harness::set_mode(&closed, 0o000);
    let run = home.command(&["ls", "--all"]).run_unprivileged();
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains(&SESSION[..4]), "{run:?}");
    crate::harness::set_mode(&home.transcript(SESSION), 0o000);
    let run = home.command(&["show"]).run_unprivileged();
    assert!(
        run.stderr.contains(SESSION) && run.stderr.contains("denied"),
        "{run:?}"
    );
}

#[test]
fn history_recommends_only_what_works() {
    let home = home();
    ok(&home, &STRIP);
    home.clone(&[SESSION]);
    let advice = |home: &Home| ok(home, &["history"]).last_line().to_owned();
    let run_advice = |home: &Home| {
        let line = advice(home);
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = words
            .iter()
            .position(|w| *w == "ccsurgery")
            .expect("a command");
        ok(home, &[&words[at + 1..], &["--yes"]].concat());
    };
    run_advice(&home);
    run_advice(&home);
    assert!(advice(&home).contains("redo"), "{}", advice(&home));
    run_advice(&home);
    let shown = ok(&home, &["history"]).stdout;
    assert!(
        shown.contains("“first") || shown.contains("first"),
        "{shown}"
    );
    let gone = ok(&home, &["history", "gc", "--older-than", "0d", "--yes"]);
    assert!(
        gone.stdout.starts_with("2 operations forgotten"),
        "{gone:?}"
    );
    home.clone(&[SESSION]);
    let gone = ok(&home, &["history", "gc", "--older-than", "0d", "--yes"]);
    assert!(gone.stdout.starts_with("1 operation forgotten"), "{gone:?}");
}

#[test]
fn undo_redo_and_gc_without_a_terminal_need_yes() {
    let home = home();
    home.clone(&[SESSION]);
    let before = home.everything();
    fails(&home, &["undo"], 3, "--yes");
    fails(&home, &["undo", "--json"], 3, "");
    fails(&home, &["history", "gc", "--older-than", "0d"], 3, "--yes");
    assert!(home.everything() == before);
    ok(&home, &UNDO);
    fails(&home, &["redo"], 3, "--yes");
}

#[test]
fn redo_after_undo_onto_current_says_what_to_do() {
    let home = home();
    let path = home.transcript(SESSION);
    ok(&home, &STRIP);
    let used = text(&path) + "{\"type\":\"x\"}\n";
    fs_err::write(&path, used).expect("as a client appends");
    ok(&home, &["undo", "--yes", "--onto-current"]);
    let run = fails(&home, &["redo", "--yes"], 3, "1 entry was added");
    assert!(run.stderr.contains("ccsurgery strip-thinking"), "{run:?}");
    assert!(!run.stderr.contains("--onto-current"), "{run:?}");
}
