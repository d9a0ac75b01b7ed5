//! What is fuzzed: each takes any bytes, and must neither panic nor break its promise.
//!
//! Shared by the replay in `cargo test` and by the programs in `fuzz/`.

use std::hint::black_box;

use ccsurgery::doctor::{Judgement, diagnose};
use ccsurgery::document::{Document, LineSource};
use ccsurgery::ops::{
    Compact, DropHidden, DropImages, DropTools, RepairOptions, StripThinking, Trim, Truncate,
    passes,
};
use ccsurgery::render::{clean, clean_lines, mask, wrap};
use ccsurgery::session::Session;
use ccsurgery::store::{Journal, index_file, remove_from_index};
use ccsurgery::surgery::Finish;
use ccsurgery::surgery::{Detail, Plan, Renaming, Transform, emit, emitted_len};
use ccsurgery::transcript::Kind;
use ccsurgery::view::{Comparison, Overview, Status, entry_text, prompt_text, turn_items};
use ccsurgery::window::{
    Calibration, EntryWeights, Tools, WindowBreakdown, file_parts, largest, payload,
};

/// A target and its name.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All of them.
pub(crate) const TARGETS: [Target; 6] = [
    ("parse", parse),
    ("index", index),
    ("transform", transform),
    ("rename", rename),
    ("repair", repair),
    ("journal", journal),
];

fn session(bytes: &[u8]) -> Session {
    Session::new(Document::from_bytes(bytes))
}

/// Any bytes are emitted again as they were.
pub(crate) fn parse(data: &[u8]) {
    let document = Document::from_bytes(data);
    assert!(document.to_vec() == data, "read and emitted, it differs");
    let session = Session::new(document);
    let mut out = Vec::new();
    emit(&session, None, &mut out).expect("memory can be written to");
    assert!(out == data, "emitted as a session, it differs");
    assert_eq!(emitted_len(&session, None), data.len() as u64);
}

/// All that is ever seen of a session.
pub(crate) fn index(data: &[u8]) {
    let session = session(data);
    let path = session.graph().path();
    let mut seen = vec![false; session.entries().len()];
    for &entry in path {
        let was = std::mem::replace(&mut seen[entry as usize], true);
        assert!(!was, "an entry is on the live path twice");
    }
    let shown = payload(&session, None);
    for message in &shown {
        let text = message.json();
        if std::str::from_utf8(&text).is_ok() {
            black_box(serde_json::from_slice::<serde::de::IgnoredAny>(&text).ok());
        }
    }
    for turn in 1..=session.turns().len().min(8) as u32 {
        black_box((payload(&session, Some(turn)), turn_items(&session, turn)));
    }
    for entry in session.entries() {
        let words = prompt_text(&session, entry).unwrap_or_default();
        assert!(!clean(&words).chars().any(char::is_control));
        let lines = clean_lines(&mask(&words));
        assert!(!lines.chars().any(|c| c.is_control() && c != '\n'));
        black_box(wrap(&lines, 30));
        black_box(entry_text(&session, entry));
    }
    black_box((Overview::of(&session), Status::of(&session)));
    let (ledger, tools) = (EntryWeights::of(&session), Tools::of(&session));
    let measured = Calibration::by(&session, &ledger);
    black_box(file_parts(&session, &tools));
    black_box(WindowBreakdown::of(&session, &tools).parts(&measured));
    black_box(largest(&session, &measured, &ledger, &tools, 5));
    black_box(diagnose(&session, &[Judgement::of(&session).next]));
    black_box(Comparison::of(&session, &session));
}

/// A transform that the first byte chooses, carried out as the program does it.
pub(crate) fn transform(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else {
        return;
    };
    let before = session(data);
    let keep_last = Some(u32::from(choice >> 4) % 3);
    let turn = || (u32::from(choice >> 4) % 4 + 1).to_string();
    let at = || turn().parse().expect("a turn");
    let drop_tools = DropTools {
        keep_last,
        ..DropTools::default()
    };
    let transform: Box<dyn Transform> = match choice % 10 {
        0 => Box::new(StripThinking {
            turns: None,
            keep_last,
        }),
        1 => Box::new(drop_tools),
        2 => Box::new(DropTools {
            stub: true,
            head: 1,
            tail: 1,
            ..drop_tools
        }),
        3 => Box::new(DropTools {
            errors: true,
            ..drop_tools
        }),
        4 => Box::new(DropImages {
            turns: None,
            keep_last,
        }),
        5 => Box::new(DropHidden { keep_last }),
        6 => Box::new(Truncate { at: at() }),
        7 | 8 => Box::new(Compact {
            at: None,
            keep_last,
            summary: None,
            max_tokens: None,
            drop_history: choice % 10 == 8,
            window: None,
        }),
        _ => {
            let to = "10".parse().expect("a count");
            let trim = Trim {
                to,
                keep_last: 1,
                disk: false,
            };
            black_box(trim.find(&before).ok());
            return;
        }
    };
    let Ok(plan) = transform.plan(&before, Detail::Full) else {
        return;
    };
    if plan.is_empty() {
        return;
    }
    let made = carry_out(&before, plan);
    let finish = Finish {
        title: None,
        name_leaf: before.entries().iter().any(|e| e.kind == Kind::LastPrompt),
        leaf_was: before.graph().leaf().map(|i| before.entries()[i].uuid),
        overstated: None,
    };
    if let Ok(plan) = finish.plan(&made, Detail::Full) {
        carry_out(&made, plan);
    }
}

/// Carries a plan out; lines that it does not name stay as they are.
fn carry_out(before: &Session, mut plan: Plan) -> Session {
    let (document, lines) = plan.apply(before).expect("a plan that fits itself");
    let own = before.document();
    for (line, source) in lines.sources().iter().enumerate() {
        if let LineSource::Kept(old) = *source {
            let same = own.text(old as usize) == document.text(line);
            assert!(same, "a line that was kept differs");
        }
    }
    let after = before.derived(document.clone(), &lines);
    let again = Session::new(Document::from_bytes(document.to_vec()));
    assert_eq!(after.entries().len(), again.entries().len());
    assert_eq!(after.graph().path(), again.graph().path());
    after
}

/// Fresh ids for all: the same lines, each with its ending, and a length that is known beforehand.
pub(crate) fn rename(data: &[u8]) {
    let session = session(data);
    let mut renames = Renaming::default();
    let old = "5e551000-aaaa-4bbb-8ccc-0123456789ab";
    let new = uuid::Uuid::from_u128(0xf000_0000_0000_4000_8000_0000_0000_0001);
    renames.id(old, new);
    renames.session(old, new);
    renames.main_entries(&session);
    renames.mark_forks();
    renames.paths(old, &new.to_string(), "-a", "-b");
    renames.slug("calm-windy-hill", "calm-windy-abcd");
    renames.agent("a0123456789abcdef", "b0123456789abcdef");
    renames.cwd("/home/user/project", "/srv/other");
    let mut out = Vec::new();
    if emit(&session, Some(&renames), &mut out).is_err() {
        return;
    }
    assert_eq!(out.len() as u64, emitted_len(&session, Some(&renames)));
    let count = |bytes: &[u8]| memchr::memchr_iter(b'\n', bytes).count();
    assert_eq!(count(&out), count(data), "a line more or less");
}

/// The repairs, one after the other, until there is nothing left to mend.
pub(crate) fn repair(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else {
        return;
    };
    let mut current = session(data);
    black_box(Judgement::of(&current));
    let options = RepairOptions {
        only: Vec::new(),
        accept_guess: choice & 1 != 0,
        linearize: choice & 2 != 0,
        drop_errors: choice & 4 != 0,
        drop_references: choice & 8 != 0,
    };
    for pass in passes(&options) {
        if let Ok(plan) = pass.plan(&current, Detail::Full)
            && !plan.is_empty()
        {
            current = carry_out(&current, plan);
        }
    }
}

/// A record of the journal, and the list that some clients keep.
pub(crate) fn journal(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("ops/x");
    fs_err::create_dir_all(&own).expect("a folder");
    fs_err::write(own.join("op.json"), data).expect("a record");
    let journal = Journal::new(folder.path());
    // Only read: a record may name any file, and what it says is believed.
    black_box(
        journal
            .operations()
            .expect("what cannot be read is passed over"),
    );
    fs_err::write(folder.path().join("sessions-index.json"), data).expect("a list");
    black_box(index_file(folder.path()));
    let known = "5e551000-aaaa-4bbb-8ccc-0123456789ab";
    black_box(remove_from_index(folder.path(), known).expect("it can be written"));
}
