//! All commands of the program, each with arguments that make sense, for tests of what must hold of every command.

use crate::harness;

use harness::{Home, SESSION, uuid};
use serde_json::json;

/// A second session of the project.
pub(crate) const OTHER: &str = "07e20000-aaaa-4bbb-8ccc-0123456789ab";

/// The arguments of each command. `S` is a session, `O` another one, `M` a message of the first, `P` a plan, and `B` a bundle.
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("ls", &["ls", "ls --all --grep first"]),
    (
        "show",
        &["show S", "show S --turns 1..", "show S --branches"],
    ),
    ("diff", &["diff S O"]),
    (
        "drop-tools",
        &["drop-tools S", "drop-tools S --stub --head 1"],
    ),
    ("truncate", &["truncate S --at 1"]),
    ("compact", &["compact S --keep-last 1"]),
    ("trim", &["trim S --to 100", "trim S --to 100 --explain"]),
    ("delete", &["delete S --turns 1"]),
    ("edit", &["edit M S --text new"]),
    ("extract", &["extract S --turns 1"]),
    ("restore-branch", &["restore-branch M S"]),
    ("title", &["title new S"]),
    ("run", &["run P S"]),
    (
        "doctor",
        &["doctor S", "doctor --all", "doctor --explain torn-line"],
    ),
    ("history", &["history", "history gc --older-than 0d --yes"]),
    ("undo", &["undo --yes"]),
    ("redo", &["redo --yes"]),
    ("completions", &["completions bash"]),
    ("bundle", &["bundle S", "bundle S -n"]),
    (
        "import",
        &[
            "import B",
            "import B -n",
            "import B --to-project . --map /a=/b",
        ],
    ),
    (
        "archive",
        &["archive S --yes", "archive S -n", "archive --list"],
    ),
    ("restore", &["restore S", "restore B -n"]),
    ("keep", &["keep S", "keep --again", "keep --list"]),
];

/// Makes a home with two sessions, a plan, a bundle, an operation that can be undone and one that can be redone.
pub(crate) fn home() -> Home {
    let home = home_without_history();
    for arguments in [["clone", OTHER], ["clone", OTHER], ["undo", "--yes"]] {
        let run = home.run(&arguments);
        assert_eq!(run.code, 0, "{run:?}");
    }
    home
}

/// Makes a home with two sessions, a plan and a bundle.
pub(crate) fn home_without_history() -> Home {
    let home = Home::in_memory();
    for id in [SESSION, OTHER] {
        let session = home
            .start(id)
            .prompt("first words")
            .thinking("a thought")
            .call("toolu_1", "Bash", &json!({"command": "ls"}))
            .result("toolu_1", "one\ntwo\nthree\nfour")
            .answer("first answer")
            .prompt("second words")
            .answer("second answer");
        home.add(&session);
    }
    home.write(
        home.project().join("plan.toml"),
        "[[step]]\nop = \"strip-thinking\"\n",
    );
    let run = home.run(&["bundle", OTHER, "-o", "made.ccbundle"]);
    assert_eq!(run.code, 0, "{run:?}");
    home
}

/// Returns the names of all commands.
fn names() -> Vec<String> {
    let home = Home::new();
    let pages = home.path("pages");
    let run = home.run(&["man", "--out", &pages.to_string_lossy()]);
    assert_eq!(run.code, 0, "{run:?}");
    let files = fs_err::read_dir(pages).expect("a folder");
    let files = files.map(|f| {
        f.expect("a page")
            .file_name()
            .to_string_lossy()
            .into_owned()
    });
    let name = |file: String| {
        Some(
            file.strip_prefix("ccsurgery-")?
                .strip_suffix(".1")?
                .to_owned(),
        )
    };
    let mut names: Vec<String> = files.filter_map(name).collect();
    names.sort();
    let is_nested = |name: &&String| {
        let mut others = names.iter();
        others.any(|o| {
            name.strip_prefix(o.as_str())
                .is_some_and(|r| r.starts_with('-'))
        })
    };
    let nested: Vec<String> = names.iter().filter(is_nested).cloned().collect();
    names.retain(|name| !nested.contains(name));
    assert!(names.len() > 20, "{names:?}");
    names
}

/// Returns the words of every command. One that is not in the table gets a session and nothing else.
pub(crate) fn commands() -> Vec<Vec<String>> {
    let message = uuid(SESSION, 1);
    let words = |line: &str| -> Vec<String> {
        let words = line.split(' ').map(|word| match word {
            "S" => SESSION,
            "O" => OTHER,
            "M" => &message,
            "P" => "plan.toml",
            "B" => "made.ccbundle",
            word => word,
        });
        words.map(str::to_owned).collect()
    };
    let mut all = Vec::new();
    for name in names() {
        match ARGUMENTS.iter().find(|(command, _)| *command == name) {
            Some((_, lines)) => all.extend(lines.iter().map(|line| words(line))),
            None => all.push(words(&format!("{name} S"))),
        }
    }
    all
}
