//! Every operation on every fixture: whatever is wrong with a session, an operation gives a sound result or refuses with a
//! reason. It never has to report a bug.

use std::path::{Path, PathBuf};

use ccsurgery::doctor::Judgement;
use ccsurgery::ops::{
    Compact, Delete, DropHidden, DropImages, DropTools, EditText, Extract, RepairOptions,
    RestoreBranch, Selector, StripThinking, Title, Truncate, Uncompact, passes,
};
use ccsurgery::session::{Session, TurnRange};
use ccsurgery::surgery::{Fault, Surgery, SurgeryError, Transform};

/// How many turns and messages of a fixture are tried one by one.
const TURNS: usize = 6;
const MESSAGES: usize = 16;

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut folders = vec![root];
    let mut out = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "jsonl") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

type Named = (String, Vec<Box<dyn Transform>>);

fn one(name: String, transform: impl Transform + 'static) -> Named {
    (name, vec![Box::new(transform)])
}

fn delete(name: String, selector: Selector) -> Named {
    one(format!("delete {name}"), Delete { selector })
}

/// The operations that are tried on a session.
fn operations(session: &Session) -> Vec<Named> {
    let mut out = Vec::new();
    for n in 1..=session.turns().len().min(TURNS) {
        let number = u32::try_from(n).expect("a small number");
        for range in [format!("{n}"), format!("..{n}"), format!("{n}..")] {
            let turns: TurnRange = range.parse().expect("a range");
            let selector = Selector {
                turns: Some(turns.clone()),
                ..Selector::default()
            };
            out.push(delete(format!("--turns {range}"), selector));
            out.push(one(format!("extract --turns {range}"), Extract { turns }));
        }
        let at = number.into();
        out.push(one(format!("truncate --at {n}"), Truncate { at }));
        for drop_history in [false, true] {
            let compact = Compact {
                keep_last: Some(number),
                drop_history,
                ..Compact::default()
            };
            out.push(one(format!("compact --keep-last {n}"), compact));
        }
    }
    for pattern in ["[aeiou]", "e", "o", "the", "^.", "a$", "x"] {
        let selector = Selector {
            matching: Some(pattern.to_owned()),
            ..Selector::default()
        };
        out.push(delete(format!("--match {pattern}"), selector));
    }
    let selector = Selector {
        tool: vec!["*".to_owned()],
        ..Selector::default()
    };
    out.push(delete("--tool *".to_owned(), selector));
    let entries = session.entries().iter().filter_map(|e| session.uuid(e));
    for uuid in entries.take(MESSAGES) {
        let selector = Selector {
            message: vec![uuid.clone()],
            ..Selector::default()
        };
        out.push(delete(format!("--message {uuid}"), selector));
        let entry = uuid.clone();
        out.push(one(
            format!("restore-branch {uuid}"),
            RestoreBranch { entry },
        ));
        let text = "other words".to_owned();
        let name = format!("edit {uuid}");
        out.push(one(
            name,
            EditText {
                message: uuid,
                text,
            },
        ));
    }
    out.push(one("drop-tools".to_owned(), DropTools::default()));
    let stub = DropTools {
        stub: true,
        ..DropTools::default()
    };
    out.push(one("drop-tools --stub".to_owned(), stub));
    out.push(one("strip-thinking".to_owned(), StripThinking::default()));
    out.push(one("drop-images".to_owned(), DropImages::default()));
    out.push(one("drop-hidden".to_owned(), DropHidden::default()));
    out.push(one("uncompact".to_owned(), Uncompact::default()));
    let text = "a title".to_owned();
    out.push(one("title".to_owned(), Title { text }));
    let options = RepairOptions {
        client: Judgement::of(session).client,
        ..RepairOptions::default()
    };
    out.push(("repair".to_owned(), passes(&options)));
    out
}

/// The transcript that transforms make; the fault if there is one, and nothing if they refuse.
fn carried_out(
    session: Session,
    transforms: Vec<Box<dyn Transform>>,
) -> Result<Vec<u8>, Option<Fault>> {
    match Surgery::on(session).then_all(transforms).operate() {
        Ok(operated) => Ok(operated.verify().map_err(Some)?.to_vec()),
        Err(SurgeryError::Refused(_)) => Err(None),
        Err(error) => panic!("{error}"),
    }
}

/// What is still wrong with an operation once the session is repaired, as the refusal advises: with a guess where a plain
/// repair leaves a choice.
fn after_repair(session: Session, name: &str) -> Option<Fault> {
    let options = RepairOptions {
        client: Judgement::of(&session).client,
        accept_guess: true,
        ..RepairOptions::default()
    };
    let repaired = match carried_out(session, passes(&options)) {
        Ok(bytes) => Session::from_bytes(bytes),
        Err(fault) => return fault,
    };
    let mut operations = operations(&repaired).into_iter();
    let (_, transforms) = operations.find(|(n, _)| n == name)?;
    carried_out(repaired, transforms).err().flatten()
}

#[test]
fn no_operation_reports_a_bug_on_any_fixture() {
    let mut bugs = Vec::new();
    for path in fixtures() {
        let bytes = fs_err::read(&path).expect("a fixture");
        let session = || Session::from_bytes(bytes.clone());
        for (name, transforms) in operations(&session()) {
            let bug = match carried_out(session(), transforms) {
                Ok(_) | Err(None) => continue,
                Err(Some(Fault::Damaged { .. })) => match after_repair(session(), &name) {
                    Some(bug) => format!("after a repair: {bug}"),
                    None => continue,
                },
                Err(Some(fault)) => fault.to_string(),
            };
            bugs.push(format!("{}: {name}: {bug}", path.display()));
        }
    }
    assert!(bugs.is_empty(), "{}", bugs.join("\n"));
}
