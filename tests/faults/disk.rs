//! Disks that are full, odd or gone: an error, the old file as it was, and nothing left over.

use std::path::Path;
use std::time::SystemTime;

use super::cases::{CLEAN_UP, fill};
use super::halted::Halted;
use super::world::assert_tidy;
use crate::harness::{Home, Run, SESSION, mode, set_mode};

const STRIP: [&str; 4] = ["strip-thinking", SESSION, "--in-place", "--yes"];

/// A home whose session is large enough not to fit twice on a small disk.
fn large_home() -> Home {
    let home = Home::new();
    let mut session = home.start(SESSION);
    for n in 0..200 {
        session = session
            .prompt(&format!("{n} {}", "words ".repeat(60)))
            .thinking("hm")
            .answer("so");
    }
    home.add(&session);
    home
}

/// Runs shell words in front of the program, which is `"$@"` there; nothing where they cannot be run.
fn under(home: &Home, front: &[&str], arguments: &[&str]) -> Option<Run> {
    let command = home.command(arguments);
    let output = command.process_under(front).output();
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

/// Runs a command with a small file system at `place`, and says what is there afterwards.
fn on_a_small_disk(home: &Home, place: &Path, kilobytes: u64, arguments: &[&str]) -> Option<Run> {
    let script = format!(
        "mount -t tmpfs -o size={kilobytes}k,mode=755 none \"$0\" 2>/dev/null || exit 99; \
         cp -a \"$1\"/. \"$0\"/ && aside=$1 && shift && \"$@\"; code=$?; \
         find \"$0\" -type f | sed 's|.*/|left: |' | sort >&2; diff -r \"$aside\" \"$0\" >/dev/null && echo same >&2; exit $code"
    );
    let aside = home.path("aside");
    fs_err::create_dir_all(place).expect("a folder");
    fs_err::rename(place, &aside).expect("moved aside");
    fs_err::create_dir(place).expect("a folder to mount on");
    let (place, aside) = (place.to_string_lossy(), aside.to_string_lossy());
    let front = [
        "unshare",
        "--mount",
        "--map-root-user",
        "sh",
        "-c",
        &script,
        &place,
        &aside,
    ];
    under(home, &front, arguments)
}

#[test]
fn full_disk_under_the_session_changes_nothing() {
    let home = large_home();
    let size = fs_err::metadata(home.transcript(SESSION))
        .expect("the session")
        .len();
    let run = on_a_small_disk(&home, &home.folder(), size / 1024 + 40, &STRIP);
    let Some(run) = run else { return };
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.tells("the disk is full"), "{run:?}");
    assert!(run.stderr.ends_with("same\n"), "all is as it was: {run:?}");
}

#[test]
fn full_disk_under_the_journal_changes_nothing() {
    let home = large_home();
    let before = fs_err::read(home.transcript(SESSION)).expect("the session");
    // Another file system, so that the old bytes must be copied there.
    let Some(run) = on_a_small_disk(&home, &home.state(), 60, &STRIP) else {
        return;
    };
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.tells("the disk is full"), "{run:?}");
    assert!(!run.tells("left: before"), "{run:?}");
    assert!(!run.tells("left: op.json"), "{run:?}");
    assert!(fs_err::read(home.transcript(SESSION)).expect("the session") == before);
    assert_eq!(
        home.names().iter().filter(|n| n.contains(".tmp")).count(),
        0
    );
}

#[test]
fn full_disk_during_undo_changes_nothing() {
    let home = large_home();
    let run = home.run(&STRIP);
    assert_eq!(run.code, 0, "{run:?}");
    // The journal is elsewhere, so that the old bytes must be copied back.
    let size = fs_err::metadata(home.transcript(SESSION))
        .expect("the session")
        .len();
    let place = home.folder();
    let run = on_a_small_disk(&home, &place, size / 1024 + 40, &["undo", "--yes"]);
    let Some(run) = run else { return };
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.tells("the disk is full"), "{run:?}");
    assert!(run.stderr.ends_with("same\n"), "all is as it was: {run:?}");
    let history = home.json(&["history"]);
    assert_eq!(history["operations"][0]["state"], "committed", "{history}");
}

#[test]
fn file_size_limit_changes_nothing() {
    for (trap, code) in [("trap '' XFSZ;", 1), ("", -1)] {
        let home = large_home();
        let before = home.everything();
        let script = format!("{trap} ulimit -f 40; exec \"$@\"");
        let Some(run) = under(&home, &["sh", "-c", &script, "sh"], &STRIP) else {
            return;
        };
        assert_eq!(run.code, code, "{run:?}");
        if code == -1 {
            // The system's own answer is a signal; then the next run cleans up.
            home.run(CLEAN_UP);
        }
        assert_tidy(&home, "files may not grow");
        let name = home.transcript(SESSION);
        let name = name.strip_prefix(home.path("")).expect("inside");
        let name = name.to_string_lossy().into_owned();
        assert!(home.everything()[&name] == before[&name]);
    }
}

#[test]
fn read_only_folder_changes_nothing() {
    if !rustix::process::geteuid().is_root() {
        crate::harness::skipped("other-user", &"only root can be another user");
        return;
    }
    let home = large_home();
    for name in ["", "work", "elsewhere", ".claude", ".claude/projects"] {
        set_mode(&home.path(name), 0o777);
    }
    set_mode(&home.transcript(SESSION), 0o666);
    set_mode(&home.folder(), 0o555);
    let before = home.names();
    let bytes = fs_err::read(home.transcript(SESSION)).expect("the session");
    let run = home.command(&STRIP).run_unprivileged();
    set_mode(&home.folder(), 0o755);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.tells("Permission denied"), "{run:?}");
    assert_eq!(before, home.names());
    assert!(fs_err::read(home.transcript(SESSION)).expect("the session") == bytes);
    assert_tidy(&home, "a read-only folder");
}

#[test]
fn vanished_folder_is_reported() {
    let in_place = (&STRIP[..], ["write", "swap:looked", "sync-folder"]);
    let new = (
        &["clone", SESSION][..],
        ["write", "rename-new", "sync-folder"],
    );
    for (command, points) in [in_place, new] {
        for point in points {
            let home = Home::new();
            fill(&home);
            let before = fs_err::read(home.transcript(SESSION)).expect("the session");
            let aside = home.path("aside");
            let halted = Halted::at(&home, command, point);
            fs_err::rename(home.folder(), &aside).expect("moved away");
            let code = halted.go_on();
            let what = format!("{command:?} at {point}");
            assert!([0, 1].contains(&code), "{what}: {code}");
            let moved = fs_err::read(aside.join(format!("{SESSION}.jsonl")));
            assert!(moved.expect("the session") == before, "{what}");
            fs_err::remove_dir_all(&aside).expect("removed");
            home.run(CLEAN_UP);
            assert_tidy(&home, &what);
        }
    }
}

#[test]
fn config_folder_behind_a_link_is_used() {
    let home = Home::new();
    fill(&home);
    let before = home.everything();
    fs_err::rename(home.config(), home.path("elsewhere/real")).expect("moved");
    std::os::unix::fs::symlink("elsewhere/real", home.config()).expect("a link");
    for (command, back) in [
        (&STRIP[..], ["undo", "--yes"]),
        (&["clone", SESSION], ["undo", "--yes"]),
    ] {
        assert_eq!(home.run(command).code, 0, "{command:?}");
        assert_eq!(home.run(&back).code, 0, "{command:?}");
    }
    fs_err::remove_file(home.config()).expect("the link is still one");
    fs_err::rename(home.path("elsewhere/real"), home.config()).expect("moved back");
    assert_tidy(&home, "behind a link");
    let after = home.everything();
    for (name, bytes) in before.iter().filter(|(n, _)| !n.ends_with("index.json")) {
        assert!(after.get(name) == Some(bytes), "{name}");
    }
}

#[test]
fn transcript_with_two_names_can_be_rewritten_and_undone() {
    let home = Home::new();
    fill(&home);
    let (path, other) = (home.transcript(SESSION), home.path("elsewhere/other.jsonl"));
    fs_err::hard_link(&path, &other).expect("a second name");
    let before = fs_err::read(&path).expect("the session");
    assert_eq!(home.run(&STRIP).code, 0);
    assert!(fs_err::read(&path).expect("the session") != before);
    assert!(fs_err::read(&other).expect("the other") == before);
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    assert!(fs_err::read(&path).expect("the session") == before);
    assert!(fs_err::read(&other).expect("the other") == before);
}

/// What a file is.
fn state(path: &Path) -> (Vec<u8>, SystemTime, u32) {
    let time = fs_err::metadata(path).expect("a file").modified();
    let bytes = fs_err::read(path).expect("a file");
    (bytes, time.expect("a time"), mode(path))
}

/// The journal on another file system: old bytes are copied, and all holds that holds otherwise.
#[test]
fn undo_works_with_the_journal_on_another_file_system() {
    use std::os::unix::fs::MetadataExt as _;
    let device = |p: &Path| fs_err::metadata(p).expect("a folder").dev();
    let there = Home::new();
    let home = Home::in_memory();
    if device(&there.path("")) == device(&home.path("")) {
        crate::harness::skipped("two-file-systems", &"there is only one file system");
        return;
    }
    fill(&home);
    fs_err::create_dir(there.path("state")).expect("a folder");
    std::os::unix::fs::symlink(there.path("state"), home.state()).expect("a link");
    let path = home.transcript(SESSION);
    let before = state(&path);
    assert_eq!(home.run(&STRIP).code, 0);
    let after = state(&path);
    for (command, wanted) in [
        (&["undo", "--yes"][..], &before),
        (&["redo", "--yes"], &after),
        (&["undo", "--yes"], &before),
    ] {
        assert_eq!(home.run(command).code, 0, "{command:?}");
        assert!(state(&path) == *wanted, "{command:?}");
    }
    let mut killed = 0;
    for command in [&STRIP[..], &["undo", "--yes"], &["redo", "--yes"]] {
        for step in 1.. {
            // What the command needs to find.
            let old = state(&path).0 == before.0;
            match command[0] {
                "undo" if old => assert_eq!(home.run(&STRIP).code, 0),
                "redo" => {
                    if old {
                        assert_eq!(home.run(&STRIP).code, 0);
                    }
                    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
                }
                "strip-thinking" if !old => assert_eq!(home.run(&["undo", "--yes"]).code, 0),
                _ => {}
            }
            let fault = format!("kill@{step}");
            let run = home.command(command).env("CCSURGERY_FAULT", fault).run();
            let what = format!("{command:?} killed at step {step}");
            home.run(CLEAN_UP);
            let now = state(&path).0;
            assert!(now == before.0 || now == after.0, "{what}");
            assert_tidy(&home, &what);
            if run.code == 0 {
                break;
            }
            killed += 1;
        }
    }
    assert!(killed > 50, "killed {killed} times only");
}
