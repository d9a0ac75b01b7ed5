//! A transcript that was written on Windows, operated on on this system.

use std::path::PathBuf;

use serde_json::json;

use crate::harness::{Home, SESSION, Transcript, in_json, records};

const PROJECT: &str = r"E:\ws\app";
const CONFIG: &str = r"C:\Users\ada\.claude";

/// The folder that a client makes for the project.
const SLUG: &str = "E--ws-app";

fn output() -> String {
    format!(r"{CONFIG}\projects\{SLUG}\{SESSION}\tool-results\t1.txt")
}

/// A home with a session of Windows in it, and the session's transcript. The first letter of paths is not always a capital.
fn home() -> (Home, PathBuf) {
    let home = Home::new();
    let talk = Transcript::new(SESSION, PROJECT.as_ref())
        .attachment(json!({"type": "environment", "snapshot": {"workingDirectory": r"e:\ws\app"}}))
        .prompt(r"look at E:\ws\app\notes.txt")
        .call("t1", "Bash", &json!({"command": "dir"}))
        .result("t1", &format!("Full output saved to: {}\nbye", output()))
        .call(
            "t2",
            "Read",
            &json!({"file_path": r"e:\ws\app\src\main.rs"}),
        )
        .result("t2", "fn main() {}")
        .call(
            "t3",
            "Read",
            &json!({"file_path": r"E:\ws\app\src\notes.md"}),
        )
        .result("t3", "notes")
        .answer("done");
    let folder = home.config().join("projects").join(SLUG);
    let path = folder.join(format!("{SESSION}.jsonl"));
    home.write(&path, talk.text());
    home.write(folder.join(SESSION).join("tool-results/t1.txt"), "1\n");
    (home, path)
}

#[test]
fn windows_transcript_is_cloned_and_its_copy_compares_as_the_same() {
    let (home, path) = home();
    let (id, copy) = home.clone(&[SESSION]);
    assert_eq!(copy.parent(), path.parent());
    let saved = in_json(&output());
    let of_copy = saved.replace(SESSION, &id);
    let text = fs_err::read_to_string(&copy).unwrap();
    assert!(text.contains(&of_copy) && !text.contains(&saved), "{text}");
    assert_eq!(home.json(&["diff", SESSION, &id])["same"], true);
}

#[test]
fn windows_transcript_goes_on_in_a_project_of_this_system() {
    let (home, _) = home();
    let project = home.project();
    let (id, copy) = home.clone(&[SESSION, "--to-project", &project.to_string_lossy()]);
    let lines = records(&copy);
    let name = project.to_string_lossy().into_owned();
    assert_eq!(
        lines[0]["attachment"]["snapshot"]["workingDirectory"],
        *name
    );
    for line in lines.iter().filter(|l| l.get("uuid").is_some()) {
        assert_eq!(line["cwd"], *name);
    }
    assert_eq!(
        lines[1]["message"]["content"], r"look at E:\ws\app\notes.txt",
        "what was said stays"
    );
    assert_eq!(copy, home.transcript(&id));
    let findings = home.run(&["doctor", &id]);
    assert_eq!(findings.code, 0, "{findings:?}");
}

#[test]
fn windows_transcript_has_paths_that_patterns_fit() {
    for (pattern, dropped) in [
        ("*.rs", 1),
        ("src/*.rs", 1),
        ("E:/ws/app/src/*", 2),
        (r"e:\ws\app\src\*", 2),
        (r"\\?\E:\ws\app\**", 2),
        ("/ws/app/**", 0),
    ] {
        let (home, path) = home();
        let before = fs_err::read(&path).unwrap();
        let run = home.run(&["delete", SESSION, "--path", pattern, "--in-place", "--yes"]);
        let text = fs_err::read_to_string(&path).unwrap();
        let left = ["main.rs", "notes.md"].map(|name| text.contains(name));
        let gone = left.iter().filter(|left| !**left).count();
        assert_eq!(gone, dropped, "{pattern}: {run:?}");
        if dropped > 0 {
            let undone = home.run(&["undo", "--yes"]);
            assert_eq!(undone.code, 0, "{undone:?}");
        }
        assert_eq!(fs_err::read(&path).unwrap(), before, "{pattern}");
    }
}
