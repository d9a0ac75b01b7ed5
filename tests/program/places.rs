//! `rm`, `du` and `move`: everything that belongs to a session or a project, in all places.

use crate::harness;

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use harness::{Home, SESSION, Transcript, in_json, records};
use serde_json::{Value, json};

const OTHER: &str = "07e21000-aaaa-4bbb-8ccc-0123456789ab";

/// A session with something in every place, and another one without.
pub(crate) fn home() -> Home {
    let home = Home::new();
    let work = home.project();
    let at = |rest: &str| work.join(rest).to_string_lossy().into_owned();
    let output = home.folder().join(SESSION).join("tool-results/t1.txt");
    let talk = home
        .start(SESSION)
        .slug("calm-windy-hill")
        .prompt(&format!("look at {}", at("notes.txt")))
        .call("t1", "Bash", &json!({"command": "ls"}))
        .result("t1", &format!("Full output saved to: {}", output.display()))
        .answer("done")
        .line(json!({"type": "file-history-snapshot", "messageId": "m", "isSnapshotUpdate": false,
            "snapshot": {"messageId": "m", "trackedFileBackups": {"notes.txt": {
                "backupFileName": "0123456789abcdef@v2", "version": 2, "realParentDir": at("")
                    .trim_end_matches(MAIN_SEPARATOR)}}}}))
        .line(json!({"type": "worktree-state", "sessionId": SESSION,
            "worktreeSession": {"originalCwd": at(""), "worktreePath": at(".claude/worktrees/x")}}));
    home.add(&talk);
    home.add(&home.start(OTHER).prompt("something else").answer("yes"));
    home.write(&output, "1\n2\n3\n");
    let agent = Transcript::of_agent(SESSION, "a0123456789abcdef", &work)
        .prompt("say hi")
        .answer("hi");
    let own = home.folder().join(SESSION);
    home.write(
        own.join("subagents/agent-a0123456789abcdef.jsonl"),
        agent.text(),
    );
    home.write(own.join("resume-head.jsonl"), "{}\n");
    let config = home.config();
    for (rest, text) in [
        (
            format!("file-history/{SESSION}/0123456789abcdef@v2"),
            "alpha\n",
        ),
        (format!("todos/{SESSION}-agent-{SESSION}.json"), "[]"),
        (format!("tasks/{SESSION}/1.json"), "{}"),
        (format!("debug/{SESSION}.txt"), "a log\n"),
        (format!("dump-prompts/{SESSION}.jsonl"), "{}\n"),
        (format!("image-cache/{SESSION}/1.png"), "png"),
        (
            format!("telemetry/1p_failed_events.{SESSION}.run.json"),
            "{}",
        ),
        (format!("usage-data/facets/{SESSION}.json"), "{}"),
        ("plans/calm-windy-hill.md".to_owned(), "# A plan\n"),
        ("paste-cache/aaaa1111.txt".to_owned(), "pasted here\n"),
        ("paste-cache/bbbb2222.txt".to_owned(), "pasted twice\n"),
    ] {
        home.write(config.join(rest), text);
    }
    fs_err::create_dir_all(config.join("session-env").join(SESSION)).unwrap();
    home.write(home.folder().join("memory/MEMORY.md"), "remember\n");
    let prompt = |n: u32, id: &str, paste: &str| {
        json!({"display": format!("prompt {n}"), "pastedContents": {"1": {"id": 1, "type": "text",
            "contentHash": paste}}, "timestamp": n, "project": work, "sessionId": id})
        .to_string()
    };
    let prompts = [
        prompt(1, SESSION, "aaaa1111"),
        prompt(2, OTHER, "bbbb2222"),
        prompt(3, SESSION, "bbbb2222"),
    ];
    home.write(config.join("history.jsonl"), prompts.join("\n") + "\n");
    let state = json!({"numStartups": 3, "projects": {
        at("").trim_end_matches(MAIN_SEPARATOR): {"hasTrustDialogAccepted": true}, "/some/where": {}}});
    home.write(
        ".claude.json",
        serde_json::to_string_pretty(&state).unwrap(),
    );
    home
}

pub(crate) fn without_state(home: &Home) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut all = home.everything();
    all.retain(|name, _| !name.starts_with("state"));
    all
}

#[test]
fn rm_removes_a_session_in_all_places() {
    let home = home();
    let before = without_state(&home);
    let document = home.json(&["rm", SESSION, "--yes"]);
    assert_eq!(document["sessions"][0]["session_id"], SESSION);
    let left: Vec<String> = without_state(&home).into_keys().collect();
    assert!(!left.iter().any(|name| name.contains(SESSION)), "{left:?}");
    assert!(!left.iter().any(|name| name.contains("calm-windy-hill")));
    assert!(!left.iter().any(|name| name.contains("aaaa1111")));
    assert!(left.iter().any(|name| name.contains("bbbb2222")));
    assert!(left.iter().any(|name| name.contains("memory/MEMORY.md")));
    let prompts = fs_err::read_to_string(home.config().join("history.jsonl")).unwrap();
    assert_eq!(prompts.lines().count(), 1);
    assert!(prompts.contains(OTHER));
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    assert_eq!(without_state(&home), before);
    assert_eq!(home.run(&["redo", "--yes"]).code, 0);
    assert_eq!(without_state(&home).into_keys().collect::<Vec<_>>(), left);
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    assert_eq!(without_state(&home), before);
}

#[test]
fn rm_undo_restores_time_and_mode() {
    let home = home();
    let path = home.transcript(SESSION);
    let state = |path: &Path| {
        let metadata = fs_err::metadata(path).unwrap();
        (metadata.modified().unwrap(), metadata.permissions())
    };
    let before = state(&path);
    home.run(&["rm", SESSION, "--yes"]);
    assert!(!path.exists());
    home.run(&["undo", "--yes"]);
    assert_eq!(state(&path), before);
}

#[test]
fn rm_cannot_be_undone_once_history_is_collected() {
    let home = home();
    home.run(&["rm", SESSION, "--yes"]);
    let gc = home.run(&["history", "gc", "--older-than", "0d", "--yes"]);
    assert_eq!(gc.code, 0, "{gc:?}");
    assert_ne!(home.run(&["undo", "--yes"]).code, 0);
    let all = home.everything();
    let kept = all
        .values()
        .any(|b| b.windows(7).any(|w| w == b"alpha\n\0" || w == b"pasted "));
    assert!(kept, "the other paste is still there");
    assert!(!all.keys().any(|name| name.contains("removed-")));
}

#[test]
fn rm_previews_and_asks() {
    let home = home();
    let before = home.everything();
    let dry = home.run(&["rm", SESSION, "-n"]);
    assert_eq!(dry.code, 0);
    assert!(dry.stdout.contains("rewind data"), "{dry:?}");
    assert!(
        dry.stdout.contains("2 prompts of the prompt history"),
        "{dry:?}"
    );
    let unasked = home.run(&["rm", SESSION]);
    assert_eq!(unasked.code, 3, "{unasked:?}");
    let unnamed = home.run(&["rm", "--yes"]);
    assert_eq!(unnamed.code, 2, "{unnamed:?}");
    let after = home.everything();
    assert_eq!(before, after);
}

#[cfg(target_os = "linux")]
#[test]
fn rm_and_move_refuse_a_session_that_is_open() {
    let home = home();
    let note = json!({"pid": std::process::id(), "sessionId": SESSION});
    home.write(home.config().join("sessions/1.json"), note.to_string());
    let before = home.everything();
    for command in [
        &["rm", SESSION, "--yes"][..],
        &["move", ".", "../elsewhere", "--yes"],
    ] {
        let run = home.run(command);
        assert_eq!(run.code, 3, "{run:?}");
        assert!(run.stderr.contains("open in Claude Code"), "{run:?}");
    }
    let mut after = home.everything();
    after.retain(|name, _| !name.starts_with("state"));
    assert_eq!(before, after);
}

#[test]
fn rm_names_forks_and_keeps_their_plan() {
    let home = home();
    let text = fs_err::read_to_string(home.transcript(SESSION)).unwrap();
    let fork = "f0421000-aaaa-4bbb-8ccc-0123456789ab";
    let text = text.replace(
        &format!("\"sessionId\":\"{SESSION}\""),
        &format!("\"sessionId\":\"{fork}\""),
    );
    home.write(home.transcript(fork), text);
    let document = home.json(&["rm", SESSION, "-n"]);
    assert_eq!(document["sessions"][0]["mentioned_by"], json!([fork]));
    home.run(&["rm", SESSION, "--yes"]);
    assert!(home.config().join("plans/calm-windy-hill.md").exists());
}

#[test]
fn rm_older_than_selects_by_age() {
    let home = home();
    assert_eq!(
        home.json(&["rm", "--older-than", "2h", "-n"])["sessions"],
        json!([])
    );
    let both = home.json(&["rm", "--older-than", "1h", "--yes"]);
    assert_eq!(both["sessions"].as_array().map(Vec::len), Some(2));
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    assert!(home.transcript(SESSION).exists() && home.transcript(OTHER).exists());
}

#[test]
fn rm_orphans_removes_files_of_sessions_that_are_gone() {
    let home = home();
    fs_err::remove_file(home.transcript(SESSION)).unwrap();
    let document = home.json(&["rm", "--orphans", "--yes"]);
    assert_eq!(document["files"], 11, "{document}");
    let left: Vec<String> = without_state(&home).into_keys().collect();
    let files = left.iter().filter(|n| n.contains(SESSION));
    assert_eq!(
        files.collect::<Vec<_>>(),
        [&format!(".claude/session-env/{SESSION}/")]
    );
    assert!(home.transcript(OTHER).exists());
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    assert!(
        home.config()
            .join("tasks")
            .join(SESSION)
            .join("1.json")
            .exists()
    );
}

#[test]
fn du_measures_sessions_by_kind() {
    let home = home();
    let document = home.json(&["du", "--all"]);
    let session = &document["projects"][0]["sessions"][0];
    assert_eq!(session["session_id"], SESSION);
    assert_eq!(session["kinds"]["rewind data"], 6);
    assert_eq!(session["kinds"]["outputs"], 9);
    assert_eq!(session["kinds"]["debug logs"], 8);
    assert_eq!(document["projects"][0]["kinds"]["memory"], 9);
    assert_eq!(document["orphans"], json!([]));
    let run = home.run(&["du"]);
    assert!(run.stdout.contains("2 sessions, "), "{run:?}");
}

/// Everything that moved, with the paths of the home's own folders shortened.
fn moved_home() -> (Home, PathBuf) {
    let home = home();
    let new = home.path("elsewhere");
    let run = home.run(&["move", ".", "../elsewhere", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    (home, new)
}

#[test]
fn move_takes_everything_of_a_project_along_and_undo_brings_it_back() {
    let home = home();
    let before = without_state(&home);
    let run = home.run(&["move", ".", "../elsewhere", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let old = home.folder();
    assert!(!old.exists(), "nothing is left of {old:?}");
    let new = home.folder_of(&home.path("elsewhere"));
    for rest in [
        format!("{SESSION}.jsonl"),
        format!("{OTHER}.jsonl"),
        format!("{SESSION}/tool-results/t1.txt"),
        format!("{SESSION}/subagents/agent-a0123456789abcdef.jsonl"),
        "memory/MEMORY.md".to_owned(),
    ] {
        assert!(new.join(&rest).exists(), "{rest}");
    }
    assert!(!new.join(SESSION).join("resume-head.jsonl").exists());
    let after = without_state(&home);
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    assert_eq!(without_state(&home), before);
    assert_eq!(home.run(&["redo", "--yes"]).code, 0);
    assert_eq!(without_state(&home), after);
}

#[test]
fn move_changes_recorded_paths_and_keeps_what_was_said() {
    let (home, new) = moved_home();
    let (old, new) = (home.project(), new.to_string_lossy().into_owned());
    let below = |folder: &Path, rest: &str| in_json(&folder.join(rest).to_string_lossy());
    let folder = home.folder_of(Path::new(&new));
    let all = records(&folder.join(format!("{SESSION}.jsonl")));
    for record in all.iter().filter(|r| r["cwd"].is_string()) {
        assert_eq!(record["cwd"], new.as_str());
    }
    let text = Value::from(all.clone()).to_string();
    let occurrences: Vec<usize> = text
        .match_indices(&in_json(&old.to_string_lossy()))
        .map(|(at, _)| at)
        .collect();
    assert_eq!(
        occurrences.len(),
        1,
        "only the prompt names the old path: {text}"
    );
    assert!(text.contains(&format!("look at {}", below(&old, "notes.txt"))));
    let output = folder.join(SESSION).join("tool-results/t1.txt");
    assert!(
        text.contains(&in_json(&format!("saved to: {}", output.display()))),
        "{text}"
    );
    assert!(text.contains(&format!(r#""realParentDir":"{}""#, in_json(&new))));
    assert!(text.contains(&below(Path::new(&new), ".claude/worktrees/x")));
    let before = home_lines(&home, SESSION);
    assert_eq!(before, all.len());
    let agent = folder
        .join(SESSION)
        .join("subagents/agent-a0123456789abcdef.jsonl");
    assert!(records(&agent).iter().all(|r| r["cwd"] == new.as_str()));
}

/// How many lines the session has where it was made.
fn home_lines(home: &Home, id: &str) -> usize {
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    let lines = records(&home.transcript(id)).len();
    assert_eq!(home.run(&["redo", "--yes"]).code, 0);
    lines
}

#[test]
fn move_takes_prompts_and_settings_along() {
    let (home, new) = moved_home();
    let prompts = records(&home.config().join("history.jsonl"));
    assert!(
        prompts
            .iter()
            .all(|p| p["project"] == new.to_string_lossy().as_ref())
    );
    let state = fs_err::read(home.path(".claude.json")).unwrap();
    let state: Value = serde_json::from_slice(&state).unwrap();
    let entry = &state["projects"][new.to_string_lossy().as_ref()];
    assert_eq!(entry["hasTrustDialogAccepted"], true);
    assert!(
        state["projects"]
            .get(home.project().to_string_lossy().as_ref())
            .is_none()
    );
    assert!(state["projects"].get("/some/where").is_some());
}

#[test]
fn move_undo_keeps_what_clients_wrote_to_shared_files() {
    let (home, _) = moved_home();
    let path = home.path(".claude.json");
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::write(
        &path,
        text.replace("\"numStartups\": 3", "\"numStartups\": 4"),
    )
    .unwrap();
    let history = home.config().join("history.jsonl");
    let mut text = fs_err::read_to_string(&history).unwrap();
    text.push_str("{\"display\":\"new\",\"timestamp\":9,\"project\":\"/some/where\"}\n");
    fs_err::write(&history, text).unwrap();
    let run = home.run(&["undo", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let state = fs_err::read_to_string(&path).unwrap();
    assert!(state.contains("\"numStartups\": 4"));
    assert!(state.contains(&in_json(&home.project().to_string_lossy())));
    let prompts = records(&history);
    assert_eq!(prompts.len(), 4);
    assert_eq!(
        prompts[0]["project"],
        home.project().to_string_lossy().as_ref()
    );
    assert_eq!(prompts[3]["project"], "/some/where");
}

#[test]
fn move_merges_by_session_and_overwrites_nothing() {
    let home = home();
    let new = home.path("elsewhere");
    let taken = home.folder_of(&new).join(format!("{OTHER}.jsonl"));
    home.write(
        &taken,
        Transcript::new(OTHER, &new)
            .prompt("mine")
            .answer("yes")
            .text(),
    );
    let before = fs_err::read(&taken).unwrap();
    let document = home.json(&["move", ".", "../elsewhere", "--yes"]);
    assert_eq!(document["collisions"], json!([OTHER]));
    assert_eq!(document["sessions"].as_array().map(Vec::len), Some(1));
    assert_eq!(fs_err::read(&taken).unwrap(), before);
    assert!(home.transcript(OTHER).exists());
    assert!(home.folder().join("memory/MEMORY.md").exists());
}

#[test]
fn move_takes_folders_below_the_project_along() {
    let home = home();
    let below = home.project().join("sub");
    let id = "5b001000-aaaa-4bbb-8ccc-0123456789ab";
    let text = Transcript::new(id, &below)
        .prompt("below")
        .answer("yes")
        .text();
    home.write(home.folder_of(&below).join(format!("{id}.jsonl")), text);
    // Another project whose folder has the same name to Claude Code.
    let alike = home.path("work-sub");
    let other = "a11c1000-aaaa-4bbb-8ccc-0123456789ab";
    let text = Transcript::new(other, &alike)
        .prompt("alike")
        .answer("yes")
        .text();
    home.write(home.folder_of(&alike).join(format!("{other}.jsonl")), text);
    let document = home.json(&["move", ".", "../elsewhere", "--yes"]);
    assert_eq!(document["sessions"].as_array().map(Vec::len), Some(3));
    let moved = home
        .folder_of(&home.path("elsewhere/sub"))
        .join(format!("{id}.jsonl"));
    assert!(moved.exists());
    assert!(
        home.folder_of(&alike)
            .join(format!("{other}.jsonl"))
            .exists()
    );
}

#[test]
fn move_takes_a_project_of_windows_to_this_machine() {
    if cfg!(windows) {
        return;
    }
    let home = Home::new();
    let old = r"C:\Users\Ada\app";
    let talk = home.start(SESSION).prompt("hello").answer("hi");
    let text = talk.text();
    let here = harness::in_json(&home.project().to_string_lossy());
    let there = text.replace(&here, &harness::in_json(old));
    let folder = home.folder_of(Path::new(old));
    home.write(folder.join(format!("{SESSION}.jsonl")), there);
    let run = home.run(&["move", old, ".", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        fs_err::read_to_string(home.transcript(SESSION)).unwrap(),
        text
    );
    assert!(!folder.exists());
}

#[test]
fn move_refuses_a_folder_that_does_not_exist() {
    let home = home();
    let run = home.run(&["move", ".", "nowhere", "--yes"]);
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.stderr.contains("`nowhere` is not a folder"), "{run:?}");
    assert!(
        run.stderr
            .contains("move or create the project's folder first"),
        "{run:?}"
    );
    assert_eq!(
        home.run(&["move", "/not/known", "../elsewhere", "--yes"])
            .code,
        1
    );
}

#[test]
fn move_orphans_finds_where_a_project_went() {
    let home = home();
    fs_err::create_dir_all(home.path("elsewhere/deep/work")).unwrap();
    let all = home.path("");
    fs_err::rename(home.project(), home.path("gone")).unwrap();
    fs_err::remove_dir_all(home.path("gone")).unwrap();
    let run = home.command(&["move", "--orphans"]).within(&all).run();
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("2 sessions"), "{run:?}");
    assert!(run.seen().contains("elsewhere/deep/work"), "{run:?}");
}

#[test]
fn move_and_rm_take_a_subagent_of_two_sessions_once() {
    let home = Home::new();
    for id in [SESSION, OTHER] {
        home.add(&home.start(id).prompt("hello").answer("hi"));
    }
    let agent = |id: &str| Transcript::of_agent(id, "218ae7e2", &home.project()).prompt("warm up");
    let both = agent(SESSION).text() + &agent(OTHER).text();
    home.write(home.folder().join("agent-218ae7e2.jsonl"), both);
    let before = without_state(&home);
    for command in [
        &["move", ".", "../elsewhere", "--yes"][..],
        &["rm", SESSION, OTHER, "--yes"],
        &["archive", SESSION, OTHER, "--yes"],
    ] {
        let run = home.run(command);
        assert_eq!(run.code, 0, "{run:?}");
        assert!(!home.folder().join("agent-218ae7e2.jsonl").exists());
        assert_eq!(home.run(&["undo", "--yes"]).code, 0);
        assert_eq!(without_state(&home), before, "{command:?}");
    }
}

#[test]
fn du_shows_what_forks_repeat() {
    let home = Home::new();
    home.add(&home.start(SESSION).prompt("hello there").answer("hi"));
    assert_eq!(home.json(&["du"])["projects"][0]["duplicated_bytes"], 0);
    home.clone(&[SESSION]);
    let repeated = home.json(&["du"])["projects"][0]["duplicated_bytes"].clone();
    assert!(repeated.as_u64() > Some(300), "{repeated}");
    assert!(home.run(&["du"]).stdout.contains("2 sessions are forks"));
}

#[cfg(unix)]
#[test]
fn rm_and_bundle_name_a_transcript_that_is_a_link() {
    let home = Home::new();
    let real = home.path("elsewhere/real.jsonl");
    home.write(
        &real,
        home.start(SESSION).prompt("hello").answer("hi").text(),
    );
    fs_err::create_dir_all(home.folder()).unwrap();
    std::os::unix::fs::symlink(&real, home.transcript(SESSION)).unwrap();
    for command in [
        &["rm", SESSION, "--yes"][..],
        &["bundle", SESSION],
        &["archive", SESSION, "--yes"],
    ] {
        let run = home.run(command);
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains("is a link"), "{run:?}");
        assert!(real.is_file() && home.transcript(SESSION).is_symlink());
    }
}

#[test]
fn rm_takes_a_session_off_the_list_and_undo_puts_it_back() {
    let home = home();
    let entry =
        |id: &str| json!({"sessionId": id, "fullPath": home.transcript(id), "isSidechain": false});
    let list = json!({"version": 1, "entries": [entry(SESSION), entry(OTHER)]});
    let path = home.folder().join("sessions-index.json");
    home.write(&path, serde_json::to_string_pretty(&list).unwrap());
    let before = without_state(&home);
    assert_eq!(home.run(&["rm", SESSION, "--yes"]).code, 0);
    let text = fs_err::read_to_string(&path).unwrap();
    assert!(!text.contains(SESSION) && text.contains(OTHER), "{text}");
    assert_eq!(home.run(&["undo", "--yes"]).code, 0);
    assert_eq!(without_state(&home), before);
    assert_eq!(home.run(&["redo", "--yes"]).code, 0);
    assert_eq!(fs_err::read_to_string(&path).unwrap(), text);
}
