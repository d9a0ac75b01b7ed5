//! Fresh ids in lines of every kind.

use uuid::Uuid;

use crate::session::Session;

use super::substitute::KnownRenames;
use super::{FreshIds, emit};
use crate::document::Document;

const OLD: &str = "11111111-2222-4333-8444-555555555555";

fn uuid(n: u128) -> Uuid {
    Uuid::from_u128(0x4000_8000_0000_0000_0000 | n)
}

/// What becomes of a line between two entries of a session with usual ids.
fn renamed(line: &str) -> String {
    let entry = |n| {
        let uuid = uuid(n);
        format!(
            r#"{{"type":"user","uuid":"{uuid}","sessionId":"{OLD}","message":{{"content":"x"}}}}"#
        )
    };
    let lines = [entry(1), line.to_owned(), entry(2)].join("\n");
    let session = Session::new(Document::from_bytes(lines));
    let mut renames = FreshIds::default();
    renames.id(OLD, uuid(10));
    renames.session(OLD, uuid(10));
    renames.main_entries(&session);
    let mut out = Vec::new();
    emit(&session, Some(&renames), &mut out).expect("memory takes all");
    let text = String::from_utf8(out).expect("what it was is UTF-8");
    text.lines().nth(1).unwrap_or_default().to_owned()
}

#[test]
fn fresh_ids_make_every_line_one_of_the_new_session() {
    let new = uuid(10);
    for old in ["imported-7".to_owned(), uuid(1).to_string(), OLD.to_owned()] {
        for kind in ["custom-title", "user", "mode"] {
            let line = |id: &str| format!(r#"{{"type":"{kind}","sessionId":"{id}"}}"#);
            assert_eq!(renamed(&line(&old)), line(&new.to_string()));
        }
    }
}

#[test]
fn fresh_ids_leave_text_and_origins_alone() {
    for line in [
        format!(
            r#"{{"type":"progress","message":{{"message":{{"content":"{}"}}}}}}"#,
            uuid(1)
        ),
        format!(
            r#"{{"type":"progress","data":{{"message":{{"content":"{}"}}}}}}"#,
            uuid(1)
        ),
        format!(
            r#"{{"type":"note","data":{{"forkedFrom":{{"messageUuid":"{}"}}}}}}"#,
            uuid(1)
        ),
    ] {
        assert_eq!(renamed(&line), line);
    }
    let line = format!(
        r#"{{"type":"note","data":{{"messageUuid":"{}"}}}}"#,
        uuid(1)
    );
    assert!(!renamed(&line).contains(&uuid(1).to_string()));
}

#[test]
fn fresh_ids_notice_a_line_that_came_out_wrong() {
    let line = format!(
        r#"{{"parentUuid":"{}","type":"user","message":{{"role":"user","content":[{{"type":"text","text":"hi"}}]}},"uuid":"{}","timestamp":"2026-01-02T03:04:05.000Z","sessionId":"{OLD}"}}"#,
        uuid(1),
        uuid(2)
    );
    let session = Session::new(Document::from_bytes(line.clone()));
    let entry = &session.entries()[0];
    let mut renames = FreshIds::default();
    renames.id(OLD, uuid(10));
    renames.session(OLD, uuid(10));
    renames.id(&uuid(1).to_string(), uuid(11));
    renames.id(&uuid(2).to_string(), uuid(12));
    let mut out = Vec::new();
    let kin = KnownRenames::default();
    renames.line(line.as_bytes(), Some(entry), kin, &mut Vec::new(), &mut out);
    assert!(renames.is_as_meant(line.as_bytes(), entry, &out));

    let renamed = String::from_utf8(out).expect("what it was is UTF-8");
    let spoilt = [
        // An old name that was left, a wrong one, another kind, words that are cut, a torn line.
        (uuid(11), uuid(1)),
        (uuid(12), uuid(11)),
        (uuid(10), uuid(12)),
    ]
    .map(|(from, to)| renamed.replace(&from.to_string(), &to.to_string()))
    .into_iter()
    .chain([
        renamed.replace(r#""type":"user""#, r#""type":"system""#),
        renamed.replace(r#"{"type":"text","text":"hi"}"#, ""),
        renamed[..renamed.len() - 1].to_owned(),
    ]);
    for line_now in spoilt {
        let fine = renames.is_as_meant(line.as_bytes(), entry, line_now.as_bytes());
        assert!(!fine, "{line_now}");
    }
}
