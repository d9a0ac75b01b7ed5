//! What must hold for any transcript, whatever is in it.

use crate::harness;

use std::collections::{BTreeMap, BTreeSet};

use ccsurgery::document::Document;
use ccsurgery::ops::Truncate;
use ccsurgery::session::Session;
use ccsurgery::store::write_stream;
use ccsurgery::surgery::{CopyNames, FreshIds, Surgery};
use ccsurgery::transcript::EntryIx;
use proptest::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

const SESSION: &str = "5e551000-aaaa-4bbb-8ccc-0123456789ab";

fn id(n: usize) -> String {
    harness::uuid(SESSION, n)
}

/// An entry in short: its kind, its parent among the entries or beyond, another id in a field and in words.
type Sketch = (u8, Option<usize>, usize, usize);

fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
    let parent = prop_oneof![1 => Just(None), 6 => (0usize..24).prop_map(Some)];
    proptest::collection::vec((0u8..8, parent, 0usize..30, 0usize..30), 1..20)
}

/// A transcript whose graph may be anything: parents before and behind, missing ones, cycles.
fn transcript(sketches: &[Sketch], orderly: bool) -> Vec<Value> {
    let mut lines = Vec::new();
    for (n, &(kind, parent, named, said)) in sketches.iter().enumerate() {
        let parent = if orderly { n.checked_sub(1) } else { parent };
        let words = format!("{} said of {SESSION}", id(said));
        let mut line = json!({"parentUuid": parent.map(id), "isSidechain": kind == 7});
        let more = match kind {
            0 | 1 => json!({"type": "user", "message": {"role": "user", "content": words}}),
            2 | 3 => {
                json!({"type": "assistant", "message": {"id": format!("msg_{}", n / 2), "role": "assistant", "content": [{"type": "text", "text": words}]}})
            }
            4 => {
                json!({"type": "attachment", "attachment": {"type": "x", "about": [id(named)], "session": SESSION}})
            }
            5 => {
                json!({"type": "system", "subtype": "compact_boundary", "logicalParentUuid": id(named), "compactMetadata": {"preservedMessages": {"uuids": [id(named)]}}})
            }
            6 => {
                json!({"type": "of-next-month", "by": {id(named): {"deep": [id(named), SESSION]}}})
            }
            _ => {
                json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": words}]}, "toolUseResult": {"of": id(said)}})
            }
        };
        extend(&mut line, more);
        extend(
            &mut line,
            json!({"uuid": id(n), "timestamp": format!("2026-03-04T05:06:{n:02}.000Z"), "sessionId": SESSION}),
        );
        lines.push(line);
    }
    lines
}

fn extend(line: &mut Value, more: Value) {
    if let (Value::Object(line), Value::Object(more)) = (line, more) {
        line.extend(more);
    }
}

fn text(lines: &[Value]) -> Vec<u8> {
    let lines = lines.iter().flat_map(|l| {
        [
            l.to_string(),
            "
"
            .to_owned(),
        ]
    });
    lines.collect::<String>().into_bytes()
}

fn session(bytes: &[u8]) -> Session {
    Session::new(Document::from_bytes(bytes))
}

fn path(bytes: &[u8]) -> Vec<EntryIx> {
    session(bytes).graph().path().to_vec()
}

fn clone(original: &Session, new_id: &str) -> Vec<u8> {
    let own = original
        .entries()
        .iter()
        .find_map(|e| original.string(e, &["sessionId"]))
        .expect("an id");
    let names = CopyNames {
        old_id: own,
        new_id: Uuid::try_parse(new_id).expect("a uuid"),
        ..CopyNames::default()
    };
    let surgery = Surgery::on(session(&original.document().to_vec())).as_copy(names.clone());
    let verified = surgery
        .operate()
        .expect("a copy")
        .verify()
        .expect("no fault");
    let ids = FreshIds::for_copy(&names, verified.session());
    let mut out = Vec::new();
    write_stream(&mut out, &verified, Some(&ids)).expect("memory takes all");
    out
}

fn records(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|&b| b == b'\n').filter(|l| !l.is_empty());
    lines
        .map(|l| serde_json::from_slice(l).expect("a record"))
        .collect()
}

/// Takes out what may hold ids of the original: the words, and where it was forked from.
fn without_words(record: &Value) -> Value {
    let mut record = record.clone();
    let fields = record.as_object_mut().expect("an object");
    fields.remove("forkedFrom");
    fields.remove("toolUseResult");
    if let Some(Value::Object(message)) = fields.get_mut("message") {
        message.remove("content");
    }
    record
}

fn words(record: &Value) -> (Value, Value) {
    (
        record["message"]["content"].clone(),
        record["toolUseResult"].clone(),
    )
}

/// Which lines share an id, and where: the shape that renaming must keep.
fn shape(lines: &[Value]) -> Vec<Vec<usize>> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let strings = |line: &Value| {
        let text = without_words(line).to_string();
        text.split('"')
            .filter(|s| s.len() == 36)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let number = |lines: &[Value], seen: &mut BTreeMap<String, usize>| -> Vec<Vec<usize>> {
        lines
            .iter()
            .map(|l| {
                let own = strings(l).into_iter();
                own.map(|s| {
                    let next = seen.len();
                    *seen.entry(s).or_insert(next)
                })
                .collect()
            })
            .collect()
    };
    number(lines, &mut seen)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_id_of_the_original_is_left_but_in_words(sketches in sketches()) {
        let lines = transcript(&sketches, false);
        let original = session(&text(&lines));
        let copy = records(&clone(&original, "c0000000-0000-4bbb-8ccc-00000000000c"));
        let own: BTreeSet<String> = (0..lines.len()).map(id).chain([SESSION.to_owned()]).collect();
        for (old, new) in lines.iter().zip(&copy) {
            let rest = without_words(new).to_string();
            prop_assert!(!rest.split('"').any(|s| own.contains(s)), "{rest}");
            prop_assert_eq!(words(old), words(new));
        }
        prop_assert_eq!(shape(&lines), shape(&copy));
    }

    #[test]
    fn a_clone_of_a_clone_has_the_same_shape(sketches in sketches()) {
        let original = session(&text(&transcript(&sketches, false)));
        let once = clone(&original, "c0000000-0000-4bbb-8ccc-00000000000c");
        let twice = clone(&session(&once), "d0000000-0000-4bbb-8ccc-00000000000d");
        prop_assert_eq!(once.len(), twice.len(), "an earlier origin is kept, none is added");
        prop_assert_eq!(shape(&records(&once)), shape(&records(&twice)));
        prop_assert_eq!(path(&once), path(&twice));
        prop_assert_eq!(path(&once), original.graph().path().to_vec());
    }

    #[test]
    fn a_cut_adds_no_fault_and_touches_nothing_that_stays(sketches in sketches(), at in 1u32..6) {
        let bytes = text(&transcript(&sketches, true));
        let original = session(&bytes);
        let Ok(operated) = Surgery::on(original).then(Truncate { at: at.into() }).operate() else { return Ok(()) };
        let verified = operated.verify();
        prop_assert!(verified.is_ok(), "{verified:?}");
        prop_assert_eq!(verified.expect("no fault").session().turns().len(), at as usize);
    }

    #[test]
    fn any_bytes_are_a_session(bytes in proptest::collection::vec(prop_oneof![Just(b'{'), Just(b'}'), Just(b'"'), Just(b':'), Just(b'\n'), any::<u8>()], 0..300)) {
        let session = session(&bytes);
        prop_assert_eq!(session.document().to_vec(), bytes.clone());
        let verified = Surgery::on(session).operate().expect("nothing to do").verify().expect("no fault");
        let mut out = Vec::new();
        write_stream(&mut out, &verified, None).expect("memory takes all");
        prop_assert_eq!(out, bytes);
    }
}
