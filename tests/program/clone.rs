//! `clone`: a complete, independent copy.

use crate::harness;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use harness::{Home, Run, SESSION, Transcript, in_json, records};
use insta::assert_snapshot;
use serde_json::{Map, Value, json};

/// A session that nobody here has.
const ELSEWHERE: &str = "e15e0000-aaaa-4bbb-8ccc-fedcba987654";

/// A session with everything that belongs to one, in the config folder of a client that never was:
/// it has old and new layouts side by side.
fn everything(home: &Home) -> Transcript {
    let config = home.config();
    let own = home.folder().join(SESSION);
    let saved = own.join("tool-results/toolu_2.txt");
    let quoted = format!(
        "Output too large. Full output saved to: {}",
        saved.display()
    );
    let start = home.start(SESSION).slug("calm-river");
    let first = start.id(1);
    let main = start
        .line(json!({"type": "summary", "summary": "of another session", "leafUuid": harness::uuid(ELSEWHERE, 9)}))
        .line(json!({"type": "file-history-snapshot", "messageId": first, "snapshot": {"messageId": first, "trackedFileBackups": {"a.rs": {"backupFileName": "c0ffee@v1", "version": 1}}}, "isSnapshotUpdate": false}))
        .prompt("look at both files")
        .thinking("two calls at once")
        .answer("Reading them.")
        .call("toolu_1", "Read", &json!({"file_path": "a.rs"}))
        .call("toolu_2", "Read", &json!({"file_path": "b.rs"}))
        .result("toolu_1", "fn a() {}")
        .result("toolu_2", &quoted)
        .answer("Both are short.");
    let (anchor, tail) = (main.id(10), main.leaf());
    let unwritten = harness::uuid(ELSEWHERE, 77);
    let preserved = json!({
        "trigger": "manual", "preTokens": 1234,
        "preservedSegment": {"headUuid": tail, "anchorUuid": anchor, "tailUuid": tail},
        "preservedMessages": {"anchorUuid": anchor, "uuids": [tail], "allUuids": [tail, unwritten]},
    });
    let agent = harness::uuid(SESSION, 0x801);
    let words = format!("the id of this session is {SESSION}, its first entry is {first}");
    let main = main
        .compaction("Both files were read.", preserved)
        .attachment(json!({"type": "task_reminder", "content": []}))
        .prompt(&words)
        .call("toolu_3", "Task", &json!({"prompt": "go"}))
        .chain(json!({"type": "progress", "parentToolUseID": "toolu_3", "data": {"type": "agent_progress", "message": {"uuid": agent, "message": {"content": []}}, "normalizedMessages": [{"uuid": agent}]}}))
        .result("toolu_3", "agentId: abc1234 (in the old layout)")
        .answer("Done.");
    let leaf = main.leaf();
    let main = main
        .line(json!({"type": "next-month", "sessionId": SESSION, "supersedesUuids": [leaf, unwritten], "byEntry": {leaf.clone(): [first]}, "deep": [[{"named": leaf}]], "session_id": ELSEWHERE}))
        .line(json!({"type": "mode", "mode": "normal", "sessionId": SESSION}))
        .line(json!({"type": "resume-head-vouch", "sum": "0123", "sessionId": SESSION}))
        .last_prompt(&words);

    let new_agent = Transcript::of_agent(SESSION, "a5bdba0e123456789", &home.project())
        .prompt("go")
        .answer("gone");
    let old_agent = Transcript::of_agent(SESSION, "abc1234", &home.project())
        .prompt("warm up")
        .answer("warm");
    let mut old_agent = old_agent;
    // Its ids are its own.
    for line in &mut old_agent.lines {
        let text = line
            .to_string()
            .replace("-0801-", "-0901-")
            .replace("-0802-", "-0902-");
        *line = serde_json::from_str(&text).expect("a record");
    }
    home.write(
        own.join("subagents/agent-a5bdba0e123456789.jsonl"),
        new_agent.text(),
    );
    home.write(
        own.join("subagents/agent-a5bdba0e123456789.meta.json"),
        r#"{"agentType":"general"}"#,
    );
    home.write(home.folder().join("agent-abc1234.jsonl"), old_agent.text());
    home.write(&saved, "fn b() {}\n");
    home.write(own.join("resume-head.jsonl"), "offsets");
    home.write(
        config.join("file-history").join(SESSION).join("c0ffee@v1"),
        "old bytes of a.rs",
    );
    home.write(
        config.join(format!("todos/{SESSION}-agent-{SESSION}.json")),
        "[]",
    );
    home.write(
        config.join("tasks").join(SESSION).join("1.json"),
        r#"{"subject":"x"}"#,
    );
    home.write(
        config.join("session-env").join(SESSION).join("env.sh"),
        "A=1",
    );
    home.write(config.join("plans/calm-river.md"), "# The plan");
    home.add(&main);
    main
}

fn complete() -> (Home, Transcript) {
    let home = Home::new();
    let main = everything(&home);
    (home, main)
}

/// Old to new ids, read off two transcripts line by line.
fn pair(map: &mut BTreeMap<String, String>, old: &[Value], new: &[Value]) {
    for (old, new) in old.iter().zip(new) {
        if let (Some(old), Some(new)) = (old["uuid"].as_str(), new["uuid"].as_str()) {
            map.insert(old.to_owned(), new.to_owned());
        }
    }
}

/// What a record must be in the copy, told by a rule of the test's own.
fn expected(record: &Value, map: &BTreeMap<String, String>, chained: bool) -> Value {
    let mut out = renamed(record, map, "");
    if chained && record.get("forkedFrom").is_none() {
        out["forkedFrom"] = json!({"sessionId": SESSION, "messageUuid": record["uuid"]});
    }
    out
}

fn renamed(value: &Value, map: &BTreeMap<String, String>, parent: &str) -> Value {
    let id = |s: &str| map.get(s).cloned().unwrap_or_else(|| s.to_owned());
    match value {
        Value::String(s) => Value::String(id(s)),
        Value::Array(items) => items.iter().map(|i| renamed(i, map, parent)).collect(),
        Value::Object(fields) => {
            let renamed_field = |(key, value): (&String, &Value)| {
                let words = key == "content" && parent == "message"
                    || key == "toolUseResult"
                    || key == "forkedFrom";
                let value = if words {
                    value.clone()
                } else {
                    renamed(value, map, key)
                };
                (id(key), value)
            };
            Value::Object(fields.iter().map(renamed_field).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

#[test]
fn a_person_sees_what_is_copied_and_how_to_go_on() {
    let (home, _) = complete();
    let seen = home.run(&["clone", SESSION]).seen();
    let seen = seen.replace('\\', "/");
    let plan = seen.split_once("plans/").expect("the plan").1;
    let plan = plan.split_once(".md").expect("its name").0;
    let made = seen
        .split_once("Created session ")
        .expect("what was made")
        .1;
    let short = &made[..8];
    assert_snapshot!(seen.replace(plan, "[plan]").replace(short, "[fresh8]"), @r#"
    clone  5e551000  “look at both files”
    project  ~/work

      turns          2 →       2
      entries       22 →      22
      size     10.4 KB → 12.4 KB  +1.9 KB
      window     ~2.5k →   ~2.5k

      + title    +118 B  “look at both files (clone)”
      − 1 offset record  −93 B
      ~ new ids for 21 entries, each with a note of its origin (about 120 bytes)

      write 2 × subagent           1.8 KB  ~/.claude/projects/[slug]/[fresh]/subagents
      write transcript            12.4 KB  ~/.claude/projects/[slug]/[fresh].jsonl
      copy  plan                     10 B  ~/.claude/plans/[plan].md
      copy  2 × sidecar              33 B  ~/.claude/projects/[slug]/[fresh]/subagents
      copy  3 × tasks and todos      20 B  ~/.claude/session-env/[fresh]
      link  file history             17 B  ~/.claude/file-history/[fresh]/c0ffee@v1

    Created session [fresh8] “look at both files (clone)”. Resume it with:
    claude --resume [fresh]
    --- exit code 0
    "#);
}

#[test]
fn every_id_is_fresh_and_every_reference_is_kept() {
    let (home, main) = complete();
    let (id, path) = home.clone(&[SESSION]);
    let new = records(&path);
    let mut old = main.lines.clone();
    old.retain(|l| l["type"] != "resume-head-vouch");

    let old_agent = records(
        &home
            .folder()
            .join(SESSION)
            .join("subagents/agent-a5bdba0e123456789.jsonl"),
    );
    let new_agent = records(
        &home
            .folder()
            .join(&id)
            .join("subagents/agent-a5bdba0e123456789.jsonl"),
    );
    let mut map = BTreeMap::from([(SESSION.to_owned(), id.clone())]);
    pair(&mut map, &old, &new);
    pair(&mut map, &old_agent, &new_agent);
    let fresh: BTreeSet<&String> = map.values().collect();
    assert_eq!(fresh.len(), map.len(), "no two entries share an id");
    assert!(map.iter().all(|(old, new)| old != new && new.len() == 36));

    let new_slug = new[2]["slug"].as_str().expect("a slug").to_owned();
    map.insert("calm-river".to_owned(), new_slug);
    let new_name = records_of_old_agent(&home, &id).1;
    for (old, new) in old.iter().zip(&new) {
        let mut wanted = expected(old, &map, old.get("parentUuid").is_some());
        // Paths and names of files that the copy has its own of are renamed in words too.
        let text = wanted.to_string();
        let outputs = |id: &str| in_json(&PathBuf::from(id).join("tool-results").to_string_lossy());
        let text = text.replace(&outputs(SESSION), &outputs(&id));
        let text = text.replace("agentId: abc1234", &format!("agentId: {new_name}"));
        wanted = serde_json::from_str(&text).expect("a record");
        assert_eq!(*new, wanted);
    }
    for (old, new) in old_agent.iter().zip(&new_agent) {
        assert_eq!(*new, expected(old, &map, true));
    }
}

/// The copy's subagents in the old layout, and the name of the last.
fn records_of_old_agent(home: &Home, id: &str) -> (Vec<Value>, String) {
    let mut found = (Vec::new(), String::new());
    for entry in fs_err::read_dir(home.folder()).expect("the folder") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let Some(agent) = name
            .strip_prefix("agent-")
            .and_then(|n| n.strip_suffix(".jsonl"))
        else {
            continue;
        };
        let lines = records(&path);
        if lines[0]["sessionId"] == id {
            found = (lines, agent.to_owned());
        }
    }
    found
}

#[test]
fn subagents_of_the_old_layout_get_names_of_their_own() {
    let (home, main) = complete();
    let (id, path) = home.clone(&[SESSION]);
    let (lines, name) = records_of_old_agent(&home, &id);
    assert_eq!(lines.len(), 2);
    assert_ne!(name, "abc1234");
    assert!(
        lines
            .iter()
            .all(|l| l["agentId"] == name.as_str() && l["sessionId"] == id.as_str())
    );
    assert_eq!(lines[1]["parentUuid"], lines[0]["uuid"]);
    let text = fs_err::read_to_string(path).expect("the copy");
    assert!(
        text.contains(&format!("agentId: {name}")),
        "the result that tells the model its name"
    );
    let untouched =
        fs_err::read_to_string(home.folder().join("agent-abc1234.jsonl")).expect("the original's");
    assert!(untouched.contains(&main.session));
}

#[test]
fn ids_of_other_sessions_stay() {
    let (home, _) = complete();
    let (_, path) = home.clone(&[SESSION]);
    let new = records(&path);
    assert_eq!(new[0]["leafUuid"], harness::uuid(ELSEWHERE, 9));
    let future = new
        .iter()
        .find(|l| l["type"] == "next-month")
        .expect("kept");
    assert_eq!(future["session_id"], ELSEWHERE);
    assert_eq!(future["supersedesUuids"][1], harness::uuid(ELSEWHERE, 77));
}

#[test]
fn the_words_of_the_conversation_stay() {
    let (home, _) = complete();
    let (_, path) = home.clone(&[SESSION]);
    let said = format!(
        "the id of this session is {SESSION}, its first entry is {}",
        harness::uuid(SESSION, 1)
    );
    assert!(
        records(&path)
            .iter()
            .any(|l| l["message"]["content"] == said.as_str())
    );
}

#[test]
fn an_earlier_fork_is_remembered() {
    let home = Home::new();
    let origin = json!({"sessionId": ELSEWHERE, "messageUuid": harness::uuid(ELSEWHERE, 1)});
    let forked = home
        .start(SESSION)
        .user(
            json!({"role": "user", "content": "hi"}),
            json!({"forkedFrom": origin}),
        )
        .answer("hello");
    home.add(&forked);
    let (_, path) = home.clone(&[SESSION]);
    let new = records(&path);
    assert_eq!(new[0]["forkedFrom"], origin);
    assert_eq!(
        new[1]["forkedFrom"],
        json!({"sessionId": SESSION, "messageUuid": forked.id(2)})
    );
}

#[test]
fn the_title_is_last_and_the_leaf_is_named() {
    let (home, _) = complete();
    let (id, path) = home.clone(&[SESSION]);
    let new = records(&path);
    let title = new.last().expect("a line");
    assert_eq!(
        *title,
        json!({"type": "custom-title", "customTitle": "look at both files (clone)", "sessionId": id})
    );
    let leaf = new
        .iter()
        .rfind(|l| l.get("parentUuid").is_some())
        .expect("an entry");
    let named = new
        .iter()
        .rfind(|l| l["type"] == "last-prompt")
        .expect("a last prompt");
    assert_eq!(named["leafUuid"], leaf["uuid"]);
}

#[test]
fn a_title_can_be_given() {
    let (home, _) = complete();
    let (_, path) = home.clone(&[SESSION, "--title", "another try"]);
    assert_eq!(
        records(&path).last().expect("a line")["customTitle"],
        "another try"
    );
}

#[test]
fn all_that_belongs_to_it_is_copied() {
    let (home, _) = complete();
    let before: BTreeSet<String> = home.names().into_iter().collect();
    let (id, path) = home.clone(&[SESSION]);
    let slug = home
        .folder()
        .file_name()
        .expect("a slug")
        .to_string_lossy()
        .into_owned();
    let plan = records(&path)[2]["slug"]
        .as_str()
        .expect("a slug")
        .to_owned();
    let agent = records_of_old_agent(&home, &id).1;
    let mut made: Vec<String> = home
        .names()
        .into_iter()
        .filter(|n| !before.contains(n))
        .map(|n| {
            n.replace(&id, "[new]")
                .replace(&slug, "[slug]")
                .replace(&plan, "[plan]")
                .replace(&agent, "[agent]")
        })
        .collect();
    made.sort();
    assert_snapshot!(made.join("\n"), @r"
    file-history/[new]/
    file-history/[new]/c0ffee@v1
    plans/[plan].md
    projects/[slug]/[new].jsonl
    projects/[slug]/[new]/
    projects/[slug]/[new]/subagents/
    projects/[slug]/[new]/subagents/agent-a5bdba0e123456789.jsonl
    projects/[slug]/[new]/subagents/agent-a5bdba0e123456789.meta.json
    projects/[slug]/[new]/tool-results/
    projects/[slug]/[new]/tool-results/toolu_2.txt
    projects/[slug]/agent-[agent].jsonl
    session-env/[new]/
    session-env/[new]/env.sh
    tasks/[new]/
    tasks/[new]/1.json
    todos/[new]-agent-[new].json
    ");
    assert_eq!(
        fs_err::read_to_string(home.folder().join(&id).join("tool-results/toolu_2.txt"))
            .expect("the copy"),
        "fn b() {}\n"
    );
    assert_eq!(
        fs_err::read_to_string(home.config().join(format!("plans/{plan}.md"))).expect("the copy"),
        "# The plan"
    );
}

#[cfg(unix)]
#[test]
fn file_history_is_linked_not_doubled() {
    use std::os::unix::fs::MetadataExt as _;
    let (home, _) = complete();
    let (id, _) = home.clone(&[SESSION]);
    let history = home.config().join("file-history");
    let inode = |id: &str| {
        fs_err::metadata(history.join(id).join("c0ffee@v1"))
            .expect("a version")
            .ino()
    };
    assert_eq!(inode(SESSION), inode(&id));
}

#[cfg(unix)]
#[test]
fn what_is_made_is_private() {
    let (home, _) = complete();
    let before: BTreeSet<String> = home.everything().into_keys().collect();
    home.clone(&[SESSION]);
    for name in home
        .everything()
        .into_keys()
        .filter(|n| !before.contains(n))
    {
        let wanted = if name.ends_with('/') { 0o700 } else { 0o600 };
        assert_eq!(harness::mode(&home.path(&name)), wanted, "{name}");
    }
}

#[test]
fn the_original_is_not_touched() {
    let (home, _) = complete();
    let time = |p: &Path| {
        fs_err::metadata(p)
            .expect("a file")
            .modified()
            .expect("a time")
    };
    let stamps = |names: &mut dyn Iterator<Item = &String>| -> Vec<_> {
        names
            .filter(|n| !n.ends_with('/'))
            .map(|n| (n.clone(), time(&home.path(n))))
            .collect()
    };
    let before = home.everything();
    let times = stamps(&mut before.keys());
    home.clone(&[SESSION]);
    let mut after = home.everything();
    after.retain(|name, _| before.contains_key(name));
    assert!(before == after, "the bytes that were there are there");
    assert_eq!(times, stamps(&mut before.keys()));
}

#[test]
fn a_dry_run_writes_nothing_anywhere() {
    let (home, _) = complete();
    let before = home.everything();
    let run = home.run(&["clone", SESSION, "-n"]);
    assert!(
        run.stdout.ends_with("Dry run: nothing was written.\n"),
        "{run:?}"
    );
    home.json(&["clone", SESSION, "-n"]);
    assert!(before == home.everything(), "not even a state folder");
}

#[test]
fn the_document_for_scripts() {
    let (home, main) = complete();
    let document = home.json(&["clone", SESSION]);
    let path = Path::new(document["target"]["path"].as_str().expect("a path"));
    let keys: Vec<&String> = document.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "schema",
            "operation",
            "dry_run",
            "source",
            "target",
            "resume",
            "before",
            "after",
            "changes",
            "files",
            "warnings"
        ]
    );
    assert_eq!(
        document["source"],
        json!({"session_id": SESSION, "path": home.transcript(SESSION)})
    );
    assert_eq!(document["target"]["in_place"], false);
    assert_eq!(document["before"]["bytes"], main.text().len());
    assert_eq!(
        document["after"]["bytes"],
        fs_err::metadata(path).expect("the copy").len()
    );
    assert_eq!(document["after"]["entries"], records(path).len());
    assert_eq!(
        document["resume"]["command"],
        format!(
            "claude --resume {}",
            document["target"]["session_id"].as_str().expect("an id")
        )
    );
    for file in document["files"].as_array().expect("files") {
        assert!(
            Path::new(file["path"].as_str().expect("a path")).exists(),
            "{file}"
        );
    }
}

#[test]
fn a_preview_tells_the_size_that_the_copy_will_have() {
    let (home, _) = complete();
    let other = home.path("elsewhere");
    let more: [&[&str]; 3] = [
        &[],
        &["--at", "1"],
        &["--to-project", &other.to_string_lossy()],
    ];
    for more in more {
        let command = [&["clone", SESSION], more].concat();
        let previewed = home.json(&[&command[..], &["-n"]].concat());
        assert_eq!(previewed["target"], Value::Null);
        assert_eq!(previewed["resume"], Value::Null);
        let done = home.json(&command);
        assert_eq!(previewed["after"], done["after"], "{more:?}");
        assert_eq!(previewed["changes"], done["changes"], "{more:?}");
    }
}

#[test]
fn ends_after_a_turn() {
    let home = Home::with(&turns(&Home::new()));
    let (_, path) = home.clone(&["@", "--at", "1"]);
    let kinds: Vec<Value> = records(&path).iter().map(|l| l["type"].clone()).collect();
    assert_eq!(kinds, ["user", "assistant", "last-prompt", "custom-title"]);
}

fn turns(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt("first")
        .answer("one")
        .prompt("second")
        .answer("two")
        .prompt("third")
        .answer("three")
        .last_prompt("third")
}

#[test]
fn a_cut_before_a_compaction_shows_the_turns_not_their_summary() {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .prompt("first")
        .answer("one")
        .compaction("A summary.", json!({"trigger": "manual"}))
        .prompt("second")
        .answer("two");
    home.add(&session);
    let (_, path) = home.clone(&[SESSION, "--at", "1"]);
    let kinds: Vec<Value> = records(&path).iter().map(|l| l["type"].clone()).collect();
    assert_eq!(kinds, ["user", "assistant", "custom-title"]);
}

#[test]
fn a_cut_before_a_compaction_may_show_faults_that_were_there() {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .answer("an answer to nothing")
        .prompt("first")
        .answer("one")
        .compaction("A summary.", json!({"trigger": "manual"}))
        .prompt("second")
        .answer("two");
    home.add(&session);
    home.clone(&[SESSION, "--at", "1"]);
}

#[test]
fn a_shorter_copy_takes_less_of_the_window() {
    let home = Home::new();
    home.add(&turns(&home));
    let window = |at: &str| {
        home.json(&["clone", "-n", "--at", at])["after"]["tokens"]
            .as_u64()
            .expect("tokens")
    };
    // What the session's own record says of that turn's request, and the answer besides.
    assert_eq!([window("1"), window("2"), window("3")], [1104, 1304, 1505]);
}

#[test]
fn turns_have_many_names() {
    let home = Home::new();
    let session = turns(&home);
    home.add(&session);
    let entry = session.id(4);
    for name in ["2", "-2", entry.as_str()] {
        let (_, path) = home.clone(&[SESSION, "--at", name]);
        assert_eq!(
            records(&path)
                .iter()
                .filter(|l| l["type"] == "user")
                .count(),
            2,
            "--at {name}"
        );
    }
}

#[test]
fn goes_to_another_project() {
    let (home, _) = complete();
    let other = home.path("elsewhere");
    let run = home.run(&["clone", SESSION, "--to-project", &other.to_string_lossy()]);
    assert_eq!(run.code, 0, "{run:?}");
    let (front, id) = run
        .last_line()
        .rsplit_once(' ')
        .expect("the command to go on with");
    assert_eq!(front, format!("{} claude --resume", cd(&other)));
    let path = home.folder_of(&other).join(format!("{id}.jsonl"));
    for line in records(&path)
        .iter()
        .filter(|l| l.get("parentUuid").is_some())
    {
        assert_eq!(line["cwd"], *other.to_string_lossy());
    }
    let text = fs_err::read_to_string(&path).expect("the copy");
    let saved = home
        .folder_of(&other)
        .join(id)
        .join("tool-results/toolu_2.txt");
    assert!(
        text.contains(&in_json(&format!("saved to: {}", saved.display()))),
        "the output's path leads to the copy's own"
    );
    assert!(saved.exists());
}

/// How a person changes to a folder before the next command, in the shell of the system.
fn cd(folder: &Path) -> String {
    let how = if cfg!(windows) { "cd /d" } else { "cd" };
    format!("{how} {} &&", folder.display())
}

#[test]
fn the_last_line_goes_where_the_project_is() {
    let home = Home::new();
    home.add(&turns(&home));
    let from_elsewhere = home
        .command(&["clone", SESSION])
        .within(home.path("elsewhere"))
        .run();
    assert!(
        from_elsewhere
            .last_line()
            .starts_with(&format!("{} claude --resume ", cd(&home.project()))),
        "{from_elsewhere:?}"
    );
    let here = home.run(&["clone", SESSION, "--quiet"]);
    assert!(
        here.stdout.starts_with("claude --resume ") && here.stdout.lines().count() == 1,
        "{here:?}"
    );
}

#[test]
fn says_which_session_at_is() {
    let home = Home::new();
    home.add(&turns(&home));
    assert_snapshot!(home.run(&["clone", "-n"]).seen(), @r#"
    clone  5e551000  “first”
    project  ~/work

      turns         3 →      3
      entries       7 →      8  +1
      size     2.8 KB → 3.6 KB  +819 B
      window    ~1.5k →  ~1.5k

      + title    +105 B  “first (clone)”
      ~ new ids for 7 entries, each with a note of its origin (about 120 bytes)

      write transcript    3.6 KB  ~/.claude/projects/[slug]/[fresh].jsonl

    Dry run: nothing was written.
    --- exit code 0
    "#);
}

#[test]
fn writes_to_a_file() {
    let (home, _) = complete();
    let before = home.everything();
    let run = home.run(&["clone", SESSION, "-o", "copy.jsonl"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.ends_with("Written to copy.jsonl\n"), "{run:?}");
    let mut after = home.everything();
    let copy = after.remove("work/copy.jsonl").expect("the copy");
    assert!(before == after, "the file alone");
    assert!(
        !String::from_utf8(copy)
            .expect("text")
            .contains(&format!("\"sessionId\":\"{SESSION}\",\"version\"")),
        "only clone renames there, and this is one"
    );
}

#[test]
fn writes_to_standard_output() {
    let (home, _) = complete();
    let before = home.everything();
    let run = home.run(&["clone", SESSION, "-o", "-"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout
            .lines()
            .all(|l| serde_json::from_str::<Value>(l).is_ok()),
        "nothing but the transcript"
    );
    assert!(
        run.stderr.contains("clone"),
        "the preview is for the person"
    );
    assert!(before == home.everything());
}

#[test]
fn a_transcript_from_elsewhere_becomes_a_session_of_its_project() {
    let home = Home::new();
    home.write("downloads/shared.jsonl", turns(&home).text());
    let (id, path) = home.clone(&[&home.path("downloads/shared.jsonl").to_string_lossy()]);
    assert_eq!(path, home.transcript(&id));
    assert!(records(&path).iter().all(|l| l["sessionId"] == id.as_str()));
}

#[test]
fn a_file_name_that_is_a_word_is_no_id() {
    let home = Home::new();
    let session = turns(&home).line(json!({"type": "mode", "mode": "full", "sessionId": SESSION}));
    home.write("downloads/full.jsonl", session.text());
    let (_, path) = home.clone(&[&home.path("downloads/full.jsonl").to_string_lossy()]);
    let mode = records(&path).into_iter().find(|l| l["type"] == "mode");
    assert_eq!(mode.expect("kept")["mode"], "full");
}

#[test]
fn a_stale_last_prompt_is_corrected() {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .prompt("first")
        .answer("one")
        .last_prompt("first")
        .prompt("second")
        .answer("two");
    home.add(&session);
    let (_, path) = home.clone(&[SESSION, "--at", "1"]);
    let new = records(&path);
    let named = new
        .iter()
        .rfind(|l| l["type"] == "last-prompt")
        .expect("a last prompt");
    assert_eq!(named["leafUuid"], new[1]["uuid"]);
}

#[test]
fn at_takes_the_newest_that_holds_a_conversation() {
    let home = Home::new();
    home.add(&turns(&home));
    let bookkeeping = home
        .folder()
        .join("00000000-aaaa-4bbb-8ccc-000000000000.jsonl");
    home.write(
        &bookkeeping,
        "{\"type\":\"file-history-snapshot\",\"messageId\":\"x\"}\n",
    );
    let now = std::fs::File::options()
        .write(true)
        .open(bookkeeping)
        .expect("the file");
    now.set_modified(std::time::SystemTime::now())
        .expect("its time");
    assert_eq!(home.json(&["clone", "-n"])["source"]["session_id"], SESSION);
}

#[test]
fn sessions_are_found_by_prefix_title_and_path() {
    let home = Home::new();
    let path = home.add(&turns(&home).title("Weather station"));
    let by_path = path.to_string_lossy().into_owned();
    for name in [
        &SESSION[..4],
        SESSION,
        "Weather station",
        "@",
        "@1",
        &by_path,
    ] {
        assert_eq!(
            home.json(&["clone", "-n", name])["source"]["session_id"],
            SESSION,
            "{name}"
        );
    }
}

#[test]
fn the_old_index_gets_an_entry() {
    let home = Home::new();
    home.add(&turns(&home));
    let index = home.folder().join("sessions-index.json");
    let old = "{\n  \"version\": 1,\n  \"entries\": [\n    {\n      \"sessionId\": \"x\",\n      \"fileMtime\": 1794796290963.1245,\n      \"ofNextMonth\": 1E+5\n    }\n  ]\n}";
    home.write(&index, old);
    let (id, path) = home.clone(&[SESSION, "--title", "again"]);
    let text = fs_err::read_to_string(&index).expect("the index");
    let kept = old.strip_suffix("\n  ]\n}").expect("its end");
    assert!(
        text.starts_with(kept),
        "what was there is there byte for byte:\n{text}"
    );
    let mtime = fs_err::metadata(&path)
        .expect("the copy")
        .modified()
        .expect("a time");
    let mtime = mtime
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after 1970")
        .as_millis();
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(
        document["entries"][1],
        json!({
            "sessionId": id, "fullPath": path, "fileMtime": mtime as u64, "firstPrompt": "first", "customTitle": "again",
            "messageCount": 6, "created": "2026-03-04T05:00:01.000Z", "modified": "2026-03-04T05:00:06.000Z",
            "gitBranch": "main", "projectPath": home.project(), "isSidechain": false,
        })
    );
    assert!(
        text.ends_with("\n    }\n  ]\n}"),
        "as the client writes it:\n{text}"
    );
    #[cfg(unix)]
    assert_eq!(harness::mode(&index), 0o600);
}

#[test]
fn undo_takes_it_out_of_the_old_index() {
    let home = Home::new();
    home.add(&turns(&home));
    let index = home.folder().join("sessions-index.json");
    let old =
        "{\n  \"version\": 1,\n  \"entries\": [\n    {\n      \"sessionId\": \"x\"\n    }\n  ]\n}";
    home.write(&index, old);
    home.clone(&[SESSION]);
    let undone = home.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(fs_err::read_to_string(&index).expect("the index"), old);
}

#[test]
fn an_index_that_cannot_be_read_is_left_alone() {
    for text in [
        "",
        "[]",
        "{\"version\":2,\"entries\":[]}",
        "{\"version\":1}",
    ] {
        let home = Home::new();
        home.add(&turns(&home));
        let index = home.folder().join("sessions-index.json");
        home.write(&index, text);
        home.clone(&[SESSION]);
        assert_eq!(fs_err::read_to_string(&index).expect("the index"), text);
    }
}

#[test]
fn a_clone_of_a_clone_has_the_same_shape() {
    let (home, _) = complete();
    let (first, path) = home.clone(&[SESSION]);
    let (_, again) = home.clone(&[&first]);
    assert_eq!(shape(&path, 1), shape(&again, 2));
}

/// Kinds, parents by line, and words: all that is not an id. Titles at the end are left out.
fn shape(path: &Path, titles: usize) -> Vec<(Value, Option<usize>, Value)> {
    let lines = records(path);
    let at = |uuid: &Value| {
        lines
            .iter()
            .position(|l| uuid.is_string() && l["uuid"] == *uuid)
    };
    let all = lines.iter().map(|l| {
        (
            l["type"].clone(),
            at(&l["parentUuid"]),
            l["message"]["content"].clone(),
        )
    });
    all.take(lines.len() - titles)
        .map(|(kind, parent, words)| (kind, parent, without_names(words)))
        .collect()
}

/// Words with the names of the copy's own files taken out.
fn without_names(words: Value) -> Value {
    let text = words.to_string();
    if text.contains("tool-results") || text.contains("agentId: ") {
        Value::Null
    } else {
        words
    }
}

#[test]
fn a_killed_run_is_cleaned_up_by_the_next() {
    let home = Home::new();
    home.add(&turns(&home));
    let left = home.folder().join("dead0000-aaaa-4bbb-8ccc-000000000001");
    let half = left.join("tool-results/half.txt");
    let temp = home.folder().join(".ccsurgery-killed.tmp");
    let transcript = left.with_extension("jsonl");
    home.write(&half, "half");
    home.write(&temp, "half");
    let record = json!({
        "id": "20260101-000000000-dead", "time": "2026-01-01T00:00:00Z", "operation": "clone", "command": ["ccsurgery", "clone"],
        "source": home.transcript(SESSION), "source_id": SESSION, "target": transcript, "target_id": "dead0000-aaaa-4bbb-8ccc-000000000001",
        "state": "prepared", "pid": 4_000_000_000_u32, "pid_start": "1",
        "created": [half, transcript], "created_dirs": [left, left.join("tool-results")], "temporary": [temp],
    });
    home.write(
        "state/ops/20260101-000000000-dead/op.json",
        record.to_string(),
    );
    let run: Run = home.run(&["clone", SESSION, "-q"]);
    assert_eq!(run.code, 0, "{run:?}");
    for gone in [
        &half,
        &temp,
        &left,
        &home.path("state/ops/20260101-000000000-dead"),
    ] {
        assert!(!gone.exists(), "{}", gone.display());
    }
}
