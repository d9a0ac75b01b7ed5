//! What is interrupted.

use serde_json::json;

use crate::harness::{Home, SESSION, Transcript};

/// One run that is interrupted, and what comes before and after it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Runs that come before it.
    pub(crate) before: &'static [&'static [&'static str]],
    /// What is appended to the session behind those, as a client would.
    pub(crate) used: bool,
    pub(crate) command: &'static [&'static str],
    /// A run that takes it back.
    pub(crate) back: Option<&'static [&'static str]>,
    /// The next run, which cleans up and does nothing else.
    pub(crate) next: &'static [&'static str],
}

const STRIP: &[&str] = &["strip-thinking", SESSION, "--in-place", "--yes"];
const ALL: &[&str] = &[
    "strip-thinking",
    SESSION,
    "--subagents",
    "--in-place",
    "--yes",
];
const CLONE: &[&str] = &["clone", SESSION];
const UNDO: &[&str] = &["undo", "--yes"];
/// Cleans up after an interrupted run, and does nothing else.
pub(crate) const CLEAN_UP: &[&str] = &["undo", "no-such-operation", "--yes"];
const RM: &[&str] = &["rm", SESSION, "--yes"];
const MOVE: &[&str] = &["move", ".", "../elsewhere", "--yes"];
const BUNDLE: &[&str] = &["bundle", SESSION, "-o", "../elsewhere/x.ccbundle"];
const IMPORT: &[&str] = &["import", "../elsewhere/x.ccbundle"];
const ARCHIVE: &[&str] = &["archive", SESSION, "--yes"];
const RESTORE: &[&str] = &["restore", SESSION];
const REPAIR: &[&str] = &["repair", TORN, "--in-place", "--yes"];
const FILE: &[&str] = &["clone", SESSION, "-o", "../elsewhere/copy.jsonl"];

/// A session with a line that is no record.
pub(crate) const TORN: &str = "70a71000-aaaa-4bbb-8ccc-0123456789ab";

const fn case(
    name: &'static str,
    before: &'static [&'static [&'static str]],
    command: &'static [&'static str],
    back: &'static [&'static str],
) -> Case {
    Case {
        name,
        before,
        used: false,
        command,
        back: Some(back),
        next: CLEAN_UP,
    }
}

pub(crate) const CASES: &[Case] = &[
    case("in place", &[], STRIP, UNDO),
    case("in place, with subagents", &[], ALL, UNDO),
    case("repair in place", &[], REPAIR, UNDO),
    case("clone", &[], CLONE, UNDO),
    case("repair to a new session", &[], &["repair", TORN], UNDO),
    case("undo in place", &[STRIP], UNDO, &["redo", "--yes"]),
    case("undo with subagents", &[ALL], UNDO, &["redo", "--yes"]),
    case("undo a clone", &[CLONE], UNDO, &["redo", "--yes"]),
    case("redo in place", &[STRIP, UNDO], &["redo", "--yes"], UNDO),
    case(
        "redo with subagents",
        &[ALL, UNDO],
        &["redo", "--yes"],
        UNDO,
    ),
    case("redo a clone", &[CLONE, UNDO], &["redo", "--yes"], UNDO),
    case("remove", &[], RM, UNDO),
    case("undo a removal", &[RM], UNDO, &["redo", "--yes"]),
    case("redo a removal", &[RM, UNDO], &["redo", "--yes"], UNDO),
    case("move", &[], MOVE, UNDO),
    case("undo a move", &[MOVE], UNDO, &["redo", "--yes"]),
    case("redo a move", &[MOVE, UNDO], &["redo", "--yes"], UNDO),
    case("import", &[BUNDLE, RM], IMPORT, UNDO),
    case("import with fresh ids", &[BUNDLE], IMPORT, UNDO),
    case(
        "redo an import",
        &[BUNDLE, RM, IMPORT, UNDO],
        &["redo", "--yes"],
        UNDO,
    ),
    case("archive", &[], ARCHIVE, UNDO),
    case("restore", &[ARCHIVE], RESTORE, UNDO),
    Case {
        used: true,
        back: None,
        ..case(
            "undo onto what was added",
            &[STRIP],
            &["undo", "--yes", "--onto-current"],
            &[],
        )
    },
    Case {
        back: None,
        ..case(
            "forget",
            &[STRIP],
            &["history", "gc", "--older-than", "0d", "--yes"],
            &[],
        )
    },
    Case {
        back: None,
        next: FILE,
        ..case("to a file", &[], FILE, &[])
    },
];

/// A session with all kinds of files beside it, one that is torn, and the list that some clients keep.
pub(crate) fn fill(home: &Home) {
    home.add(&talk(home).slug("calm-windy-hill").title("Weather station"));
    let agent = Transcript::of_agent(SESSION, "a0123456789abcdef", &home.project())
        .prompt("look at the wind")
        .thinking("where does it come from?")
        .answer("from the west");
    let own = home.folder().join(SESSION);
    home.write(
        own.join("subagents/agent-a0123456789abcdef.jsonl"),
        agent.text(),
    );
    home.write(own.join("tool-results/toolu_ls.txt"), "rain\n");
    let history = home.config().join("file-history").join(SESSION);
    home.write(history.join("0123456789abcdef@v1"), "pin = 6\n");
    home.write(home.config().join("plans/calm-windy-hill.md"), "# A plan\n");
    home.write(home.folder().join("memory/MEMORY.md"), "remember\n");
    let prompt = json!({"display": "thanks", "timestamp": 1, "project": home.project(),
        "sessionId": SESSION});
    home.write(home.config().join("history.jsonl"), format!("{prompt}\n"));
    let project = home.project().to_string_lossy().into_owned();
    let state = json!({"projects": {project: {"hasTrustDialogAccepted": true}}});
    home.write(home.config().join(".claude.json"), state.to_string());
    let index = json!({"version": 1, "entries": []});
    let index = serde_json::to_string_pretty(&index).expect("a list");
    home.write(home.folder().join("sessions-index.json"), index);
    let torn = home
        .start(TORN)
        .prompt("first")
        .thinking("hm")
        .answer("one");
    let text = torn.text() + "{\"type\":\"user\",\"mess\n";
    home.write(home.transcript(TORN), text);
}

fn talk(home: &Home) -> Transcript {
    home.start(SESSION)
        .prompt("which sensors are there?")
        .thinking("I should look at the folder.")
        .call("toolu_ls", "Bash", &json!({"command": "ls sensors"}))
        .result("toolu_ls", "rain\nsun\nwind")
        .answer("Rain, sun and wind.")
        .prompt("thanks")
        .thinking("How kind.")
        .answer("You are welcome.")
}

/// Lines that a client would append: they hang on the last answer.
pub(crate) fn more(home: &Home) -> String {
    let all = talk(home).prompt("one more").answer("Yes?").lines;
    let new = all[all.len() - 2..].iter();
    new.flat_map(|l| [l.to_string(), "\n".to_owned()]).collect()
}

pub(crate) fn called(name: &str) -> &'static Case {
    CASES.iter().find(|c| c.name == name).expect("a case")
}

/// Makes a test of each case, which calls a function with it.
macro_rules! for_each_case {
    ($check:path) => {
        $crate::cases::for_each_case! { $check =>
            in_place => "in place",
            in_place_with_subagents => "in place, with subagents",
            repair_in_place => "repair in place",
            clone => "clone",
            repair_to_a_new_session => "repair to a new session",
            undo_in_place => "undo in place",
            undo_with_subagents => "undo with subagents",
            undo_a_clone => "undo a clone",
            redo_in_place => "redo in place",
            redo_with_subagents => "redo with subagents",
            redo_a_clone => "redo a clone",
            remove => "remove",
            undo_a_removal => "undo a removal",
            redo_a_removal => "redo a removal",
            move_project => "move",
            undo_a_move => "undo a move",
            redo_a_move => "redo a move",
            import => "import",
            import_with_fresh_ids => "import with fresh ids",
            redo_an_import => "redo an import",
            archive => "archive",
            restore => "restore",
            undo_onto_what_was_added => "undo onto what was added",
            forget => "forget",
            to_a_file => "to a file",
        }
    };
    ($check:path => $($name:ident => $case:literal),* $(,)?) => {
        $(#[test] fn $name() { $check($crate::cases::called($case)); })*

        #[test]
        fn every_case_is_here() {
            let all = $crate::cases::CASES.iter().map(|c| c.name);
            assert_eq!([$($case),*], *all.collect::<Vec<_>>());
        }
    };
}
pub(crate) use for_each_case;
