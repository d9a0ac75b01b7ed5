//! `bundle` and `import`: sessions go to another machine with everything that belongs to them.

use crate::harness;
use crate::hostile_bundles::{forged, parts};
use crate::places::{home, without_state};
use crate::terminal::in_conversation;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use harness::{Home, SESSION, Transcript, assert_private, in_json, records, skipped};
use serde_json::{Value, json};

/// A key that every scanner knows.
fn key() -> String {
    format!("ghp_{}", "abcdefghijklmnopqrstuvwxyz0123456789")
}

/// Packs the session of a home, and returns where the bundle is.
fn bundle(home: &Home, more: &[&str]) -> String {
    let path = home.path("elsewhere/x.ccbundle");
    let path = path.to_string_lossy().into_owned();
    let run = home.run(&[&["bundle", SESSION, "-f", "-o", &path], more].concat());
    assert_eq!(run.code, 0, "{run:?}");
    path
}

fn path_in_json(path: &Path) -> String {
    in_json(&path.to_string_lossy())
}

fn assert_refused(run: &harness::Run, words: &str) {
    assert_eq!(run.code, 3, "{run:?}");
    assert!(run.stderr.contains(words), "{run:?}");
}

#[test]
fn import_takes_a_session_with_everything_to_another_machine() {
    let (there, here) = (home(), Home::new());
    let path = bundle(&there, &["--memory"]);
    assert_private(Path::new(&path));
    let before = here.everything();
    let shown = here.run(&["import", &path, "-n"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(here.everything(), before, "a dry run writes nothing");
    let run = here.run(&["import", &path]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        run.stdout.lines().last(),
        Some(&*format!("claude --resume {SESSION}"))
    );
    let names = here.names();
    for rest in [
        &*format!("file-history/{SESSION}/0123456789abcdef@v2"),
        &format!("todos/{SESSION}-agent-{SESSION}.json"),
        &format!("tasks/{SESSION}/1.json"),
        "plans/calm-windy-hill.md",
    ] {
        assert!(names.iter().any(|n| n == rest), "{rest}: {names:#?}");
    }
    for part in [
        "debug/",
        "session-env/",
        "image-cache/",
        "history.jsonl",
        "resume-head",
    ] {
        assert!(
            !names.iter().any(|n| n.contains(part)),
            "{part}: {names:#?}"
        );
    }
    let own = here.folder().join(SESSION);
    assert!(
        own.join("subagents/agent-a0123456789abcdef.jsonl")
            .is_file()
    );
    assert!(own.join("tool-results/t1.txt").is_file());
    assert!(here.folder().join("memory/MEMORY.md").is_file());
    let text = fs_err::read_to_string(here.transcript(SESSION)).unwrap();
    let old = path_in_json(&there.path(""));
    // Only what was said names the other machine.
    assert_eq!(text.matches(&old).count(), 1, "{text}");
    let lines = records(&here.transcript(SESSION));
    assert_eq!(
        lines[0]["message"]["content"],
        format!("look at {}", there.path("work/notes.txt").display())
    );
    let output = here.folder().join(SESSION).join("tool-results/t1.txt");
    assert!(
        text.contains(&format!("saved to: {}", path_in_json(&output))),
        "{text}"
    );
    let tracked = lines
        .iter()
        .find(|l| l["type"] == "file-history-snapshot")
        .unwrap();
    let file = &tracked["snapshot"]["trackedFileBackups"]["notes.txt"];
    assert_eq!(file["realParentDir"], *here.project().to_string_lossy());
    assert_eq!(here.run(&["undo", "--yes"]).code, 0);
    let mut after = without_state(&here);
    after.retain(|name, _| !name.ends_with('/'));
    assert!(after.is_empty(), "{:#?}", after.keys());
}

#[test]
fn import_gives_fresh_ids_where_the_id_is_taken() {
    let home = home();
    let path = bundle(&home, &[]);
    let before = fs_err::read(home.transcript(SESSION)).unwrap();
    let document = home.json(&["import", &path]);
    let id = document["sessions"][0]["session_id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_ne!(id, SESSION);
    assert_eq!(document["sessions"][0]["source_id"], SESSION);
    assert_eq!(fs_err::read(home.transcript(SESSION)).unwrap(), before);
    let text = fs_err::read_to_string(home.transcript(&id)).unwrap();
    let output = home.folder().join(&id).join("tool-results/t1.txt");
    assert!(
        output.is_file() && text.contains(&path_in_json(&output)),
        "{text}"
    );
    let (old, new) = (
        records(&home.transcript(SESSION)),
        records(&home.transcript(&id)),
    );
    assert_ne!(old[0]["uuid"], new[0]["uuid"]);
    let run = home.run(&["doctor", &id]);
    assert_eq!(run.code, 0, "{run:?}");
    let plans = home
        .names()
        .into_iter()
        .filter(|n| n.starts_with("plans/c"));
    assert_eq!(plans.count(), 2, "the copy has a plan of its own");
}

#[test]
fn import_changes_between_windows_and_unix() {
    let there = Home::new();
    let windows = r"C:\Users\ada\src\app";
    let slug = ccsurgery::store::slug(windows);
    let config = r"C:\Users\ada\.claude";
    let output = format!(r"{config}\projects\{slug}\{SESSION}\tool-results\t1.txt");
    let talk = Transcript::new(SESSION, Path::new(windows))
        .prompt(r"look at C:\Users\ada\src\app\notes.txt")
        .call("t1", "Bash", &json!({"command": "ls"}))
        .result("t1", &format!("Full output saved to: {output}\nbye"))
        .answer("done")
        .line(json!({"type": "file-history-delta", "trackingPath": r"src\main.rs", "backup":
            {"backupFileName": "0123456789abcdef@v1", "version": 1, "realParentDir": r"C:\Users\ada\src\app\src"}}));
    let folder = there.config().join("projects").join(&slug);
    there.write(folder.join(format!("{SESSION}.jsonl")), talk.text());
    there.write(folder.join(SESSION).join("tool-results/t1.txt"), "1\n");
    let path = bundle(&there, &[]);
    let (mut manifest, files) = parts(&fs_err::read(&path).unwrap());
    manifest["source"] = json!({"os": "windows", "home": r"C:\Users\ada", "config": config});
    fs_err::write(&path, forged(&manifest, &files)).unwrap();
    let here = Home::new();
    let run = here.run(&["import", &path]);
    assert_refused(&run, "does not exist here");
    let project = here.path("my code");
    fs_err::create_dir_all(&project).unwrap();
    let map = format!(r"C:\Users\ada\src\app={}", project.display());
    let document = here.json(&["import", &path, "--map", &map]);
    let target = document["sessions"][0]["path"].as_str().unwrap();
    let lines = records(Path::new(target));
    assert_eq!(lines[0]["cwd"], *project.to_string_lossy());
    assert_eq!(
        lines[0]["message"]["content"],
        r"look at C:\Users\ada\src\app\notes.txt"
    );
    let text = lines[2].to_string();
    let folder = here.folder_of(&project).join(SESSION);
    // Separators follow the system that the session is brought to.
    let output = folder.join("tool-results").join("t1.txt");
    assert!(
        output.is_file() && text.contains(&format!("saved to: {}\\n", path_in_json(&output))),
        "{text}"
    );
    let delta = lines.last().unwrap();
    let tracked: PathBuf = ["src", "main.rs"].iter().collect();
    assert_eq!(delta["trackingPath"], *tracked.to_string_lossy());
    assert_eq!(
        delta["backup"]["realParentDir"],
        *project.join("src").to_string_lossy()
    );
}

#[test]
fn bundle_replaces_secrets_in_every_file() {
    let home = home();
    let talk = home
        .start(SESSION)
        .slug("calm-windy-hill")
        .prompt(&format!("my key is {}", key()));
    home.add(&talk.answer("thanks").title(&format!("use {}", key())));
    let own = home.folder().join(SESSION);
    home.write(
        own.join("tool-results/t1.txt"),
        format!("token {}\n", key()),
    );
    home.write(
        home.config().join("plans/calm-windy-hill.md"),
        format!("# {}\n", key()),
    );
    let before = without_state(&home);
    let document = home.json(&["bundle", SESSION, "-o", "x.ccbundle"]);
    assert_eq!(document["masked"][0]["secrets"], 1, "{document}");
    let packed = fs_err::read(home.project().join("x.ccbundle")).unwrap();
    let all = zstd::decode_all(&packed[..]).unwrap();
    let holds = |all: &[u8]| all.windows(key().len()).any(|w| w == key().as_bytes());
    assert!(!holds(&all), "{}", String::from_utf8_lossy(&all));
    let mut after = without_state(&home);
    after.remove("work/x.ccbundle");
    assert_eq!(after, before, "the originals stay");
    let open = ["bundle", SESSION, "-o", "y.ccbundle", "--show-secrets"];
    assert_refused(&home.run(&open), "--show-secrets");
    assert_eq!(home.run(&[&open[..], &["--yes"]].concat()).code, 0);
    let packed = fs_err::read(home.project().join("y.ccbundle")).unwrap();
    assert!(holds(&zstd::decode_all(&packed[..]).unwrap()));
    let exists = home.run(&open[..4]);
    assert_refused(&exists, "exists already");
}

#[test]
fn bundle_encrypts_with_a_passphrase() {
    let (there, here) = (home(), Home::new());
    there.write("elsewhere/phrase", "correct horse\n");
    let phrase = there.path("elsewhere/phrase");
    let phrase = phrase.to_string_lossy();
    let path = bundle(&there, &["--encrypt", "--passphrase-file", &phrase]);
    let bytes = fs_err::read(&path).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1"));
    let before = here.everything();
    assert_refused(&here.run(&["import", &path]), "passphrase");
    here.write("wrong", "battery staple\n");
    let wrong = here.path("wrong");
    let wrong = wrong.to_string_lossy();
    assert_refused(
        &here.run(&["import", &path, "--passphrase-file", &wrong]),
        "decrypted",
    );
    fs_err::remove_file(here.path("wrong")).unwrap();
    assert_eq!(here.everything(), before);
    let run = here.run(&["import", &path, "--passphrase-file", &phrase]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(here.transcript(SESSION).is_file());
    let run = there.run(&["bundle", SESSION, "-o", "z.ccbundle", "--encrypt"]);
    assert_refused(&run, "no terminal");
}

#[test]
fn bundle_asks_for_a_passphrase_on_a_terminal() {
    let (there, here) = (home(), Home::new());
    let path = there.path("elsewhere/typed.ccbundle");
    let path = path.to_string_lossy().into_owned();
    let pack = ["bundle", SESSION, "-o", &path, "--encrypt"];
    let asked = "Passphrase for the bundle: ";
    let again = "The same again: ";
    let different = [(asked, "correct horse"), (again, "battery staple")];
    let Some(seen) = in_conversation(&there, &pack, &different) else {
        return skipped("bundle_asks_for_a_passphrase_on_a_terminal", &"no terminal");
    };
    assert!(seen.contains("the two passphrases differ"), "{seen}");
    assert!(!Path::new(&path).exists());
    let same = [(asked, "correct horse"), (again, "correct horse")];
    let seen = in_conversation(&there, &pack, &same).unwrap();
    let bytes = fs_err::read(&path).expect(&seen);
    assert!(bytes.starts_with(b"age-encryption.org/v1"));
    let question = "Passphrase of the bundle: ";
    let wrong = in_conversation(&here, &["import", &path], &[(question, "battery staple")]);
    assert!(wrong.unwrap().contains("decrypted"));
    assert!(!here.transcript(SESSION).exists());
    let right = in_conversation(&here, &["import", &path], &[(question, "correct horse")]);
    assert!(here.transcript(SESSION).is_file(), "{right:?}");
}

#[test]
fn import_reads_a_stream_and_sets_safe_times() {
    let (there, here) = (home(), Home::new());
    let old = SystemTime::now() - Duration::from_secs(200 * 86_400);
    let file = std::fs::File::options()
        .write(true)
        .open(there.transcript(SESSION))
        .unwrap();
    file.set_modified(old).unwrap();
    let path = bundle(&there, &[]);
    let mut process = here.command(&["import", "-"]).process();
    let output = process.stdin(std::fs::File::open(&path).unwrap()).output();
    let run = harness::Run::new(&here, &output.unwrap());
    assert_eq!(run.code, 0, "{run:?}");
    let modified = fs_err::metadata(here.transcript(SESSION))
        .unwrap()
        .modified()
        .unwrap();
    let age = SystemTime::now().duration_since(modified).unwrap();
    assert!(age < Duration::from_secs(24 * 86_400), "{age:?}");
}

#[test]
fn import_never_replaces_what_is_remembered_here() {
    let (there, here) = (home(), Home::new());
    let path = bundle(&there, &["--memory"]);
    here.write(here.folder().join("memory/MEMORY.md"), "my own\n");
    let document = here.json(&["import", &path]);
    assert_eq!(
        document["kept"].as_array().map(Vec::len),
        Some(1),
        "{document}"
    );
    let text = fs_err::read_to_string(here.folder().join("memory/MEMORY.md")).unwrap();
    assert_eq!(text, "my own\n");
}

#[test]
fn import_leaves_scripts_of_the_environment_out() {
    let (there, here) = (home(), Home::new());
    let path = bundle(&there, &[]);
    let (mut manifest, mut files) = parts(&fs_err::read(&path).unwrap());
    let name = format!("session-env/{SESSION}/hook.sh");
    let script = b"touch /tmp/owned\n".to_vec();
    manifest["files"]
        .as_array_mut()
        .unwrap()
        .push(json!({"name": name, "bytes": script.len(),
        "blake3": blake3::hash(&script).to_hex().as_str(), "modified": "2026-01-01T00:00:00Z"}));
    files.push((name, script));
    fs_err::write(&path, forged(&manifest, &files)).unwrap();
    let document: Value = here.json(&["import", &path]);
    assert_eq!(
        document["left_out"].as_array().map(Vec::len),
        Some(1),
        "{document}"
    );
    assert!(!here.config().join("session-env").exists());
}
