//! What is fuzzed: each takes any bytes, and must neither panic nor break its promise.
//!
//! Shared by the replay in `cargo test` and by the programs in `fuzz/`.

use std::collections::BTreeSet;
use std::hint::black_box;

use ccsurgery::doctor::{Judgement, Version, diagnose};
use ccsurgery::document::Document;
use ccsurgery::ops::{
    Compact, DropHidden, DropImages, DropTools, RepairOptions, StripThinking, TokenCount, Trim,
    Truncate, passes,
};
use ccsurgery::render::{clean, clean_lines, wrap};
use ccsurgery::secrets::mask;
use ccsurgery::session::Session;
use ccsurgery::store::{Config, Journal, index_file, remove_from_index, write_stream};
use ccsurgery::surgery::{CopyNames, FreshIds, Surgery, Transform};
use ccsurgery::view::{Comparison, Overview, Status, TurnContent, entry_text, prompt_text};
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
    assert_eq!(session.document().to_vec(), data);
    assert_eq!(session.document().len(), data.len() as u64);
}

/// All that is ever seen of a session.
pub(crate) fn index(data: &[u8]) {
    let session = session(data);
    let path = session.graph().path();
    let mut seen = BTreeSet::new();
    for &entry in path {
        assert!(seen.insert(entry), "an entry is on the live path twice");
    }
    let shown = payload(&session, None);
    for message in &shown {
        let text = message.json();
        if std::str::from_utf8(&text).is_ok() {
            black_box(serde_json::from_slice::<serde::de::IgnoredAny>(&text).ok());
        }
    }
    for turn in 1..=session.turns().len().min(8) as u32 {
        black_box((
            payload(&session, Some(turn)),
            TurnContent::of(&session, turn, turn),
        ));
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
    black_box(diagnose(&session, Judgement::of(&session).client));
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
            keep_last,
            ..StripThinking::default()
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
        7 | 8 if choice / 10 % 2 == 1 => Box::new(Compact {
            keep_tokens: Some(TokenCount(u64::from(choice))),
            drop_history: choice % 10 == 8,
            ..Compact::default()
        }),
        7 | 8 => Box::new(Compact {
            keep_last,
            drop_history: choice % 10 == 8,
            ..Compact::default()
        }),
        _ => {
            let to = "10".parse().expect("a count");
            let trim = Trim {
                to,
                keep_tokens: None,
                keep_last: Some(1),
                disk: false,
                shorten_words: false,
            };
            black_box(trim.find(&before).ok());
            return;
        }
    };
    let Ok(operated) = Surgery::on(before).then(&*transform).operate() else {
        return;
    };
    // Any bytes may be anything; what healthy sessions are promised, tests/library/generated looks at.
    check_reading(operated.session());
    black_box(operated.verify().ok());
}

/// What was derived step by step is what would be read from its bytes.
fn check_reading(after: &Session) {
    let again = Session::from_bytes(after.document().to_vec());
    assert_eq!(after.entries().len(), again.entries().len());
    assert_eq!(after.graph().path(), again.graph().path());
}

/// Fresh ids for all: the same lines, each with its ending, and a length that is known beforehand.
pub(crate) fn rename(data: &[u8]) {
    let new_id = uuid::Uuid::from_u128(0xf000_0000_0000_4000_8000_0000_0000_0001);
    let names = CopyNames {
        old_id: "5e551000-aaaa-4bbb-8ccc-0123456789ab".to_owned(),
        new_id,
        folders: ("-a".to_owned(), "-b".to_owned()),
        slugs: vec![("calm-windy-hill".to_owned(), "calm-windy-abcd".to_owned())],
        agents: vec![(
            "a0123456789abcdef".to_owned(),
            "b0123456789abcdef".to_owned(),
        )],
        project: Some(("/home/user/project".to_owned(), "/srv/other".to_owned())),
    };
    let surgery = Surgery::on(session(data)).as_copy(names.clone());
    let operated = surgery.operate().expect("a copy is never declined");
    let verified = operated.verify().expect("a copy has no faults of its own");
    let ids = FreshIds::for_copy(&names, verified.session());
    let mut out = Vec::new();
    if write_stream(&mut out, &verified, Some(&ids)).is_err() {
        return;
    }
    let lines = verified.session().document().lines().len();
    assert_eq!(
        session(&out).document().lines().len(),
        lines,
        "a line more or less"
    );
}

/// The repairs, one after the other, until there is nothing left to mend.
pub(crate) fn repair(data: &[u8]) {
    let Some((&choice, data)) = data.split_first() else {
        return;
    };
    let current = session(data);
    black_box(Judgement::of(&current));
    let options = RepairOptions {
        only: Vec::new(),
        typed: Vec::new(),
        subagents: Vec::new(),
        accept_guess: choice & 1 != 0,
        linearize: choice & 2 != 0,
        client: if choice & 4 != 0 {
            Version(2, 0, 36)
        } else {
            Version::NEWEST
        },
    };
    let operated = Surgery::on(current).then_all(passes(&options)).operate();
    check_reading(operated.expect("repairs are never declined").session());
}

/// A record of the journal, and the list that some clients keep.
pub(crate) fn journal(data: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("ops/19700101-000000000-0000");
    fs_err::create_dir_all(&own).expect("a folder");
    fs_err::write(own.join("op.json"), data).expect("a record");
    let config = Config::new(folder.path().join("config"));
    let journal = Journal::new(folder.path(), &config, std::time::SystemTime::now);
    black_box(journal.records().expect("unusable records are listed"));
    fs_err::write(folder.path().join("sessions-index.json"), data).expect("a list");
    black_box(index_file(folder.path()));
    let known = "5e551000-aaaa-4bbb-8ccc-0123456789ab";
    black_box(remove_from_index(folder.path(), known).expect("it can be written"));
}
