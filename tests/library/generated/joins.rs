//! Operations that undo each other, or that come to the same, on made-up sessions.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ccsurgery::ops::{
    Compact, Delete, DonorError, DonorTurns, DropTools, EditText, EditableText, Excised, Extract,
    Graft, Selector, Truncate, Uncompact,
};
use ccsurgery::session::{Session, TurnRange};
use ccsurgery::surgery::{CopyNames, Detail, Surgery, SurgeryError, Transform};
use serde_json::Value;

use super::conversation::Conversation;
use super::recipe::{Recipe, TOOLS};
use super::writer;

/// How many sessions are tried in every run.
const SESSIONS: u64 = 120;

/// The result of an operation: a transcript, `None` if the library refuses, or what is wrong.
type Outcome = Result<Option<String>, String>;

fn applied(text: &str, transform: impl Transform) -> Outcome {
    let session = Session::from_bytes(text);
    let operated = match Surgery::on(session).then(transform).operate() {
        Ok(operated) => operated,
        Err(SurgeryError::Refused(_)) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let verified = operated.verify().map_err(|fault| fault.to_string())?;
    String::from_utf8(verified.to_vec())
        .map(Some)
        .map_err(|e| e.to_string())
}

fn extracted(text: &str, turns: (u32, u32)) -> Outcome {
    let turns = turns.into();
    applied(text, Extract { turns })
}

/// Prepares the insertion of all turns of a donor.
pub(crate) fn graft(target: &Session, donor: &str, at: Option<u32>) -> Result<Graft, DonorError> {
    let names = CopyNames {
        old_id: "another".to_owned(),
        new_id: id_for(target),
        ..CopyNames::default()
    };
    let id = target.session_id_text().unwrap_or_default();
    let turns = DonorTurns::default();
    let excised = Excised::new(Session::from_bytes(donor), &turns, names)?;
    let donor = excised.named_for(target, &id, Vec::new(), &[])?;
    let at = at.map(Into::into);
    Ok(Graft { donor, at })
}

/// Returns an id that no earlier insertion into the session had. The program draws it at random; here the same session gives
/// the same id.
fn id_for(target: &Session) -> uuid::Uuid {
    let mut hasher = DefaultHasher::new();
    target.document().to_vec().hash(&mut hasher);
    uuid::Uuid::from_u64_pair(0x1234_5678_4bbb_4ccc, hasher.finish())
}

fn grafted(text: &str, donor: &str, at: Option<u32>) -> Outcome {
    match graft(&Session::from_bytes(text), donor, at) {
        Ok(graft) => applied(text, graft),
        Err(DonorError::Surgery(SurgeryError::Refused(_))) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// What the model is shown of a transcript.
fn shown(text: &str) -> Vec<Value> {
    let blocks = Conversation::new(text).blocks();
    blocks.into_iter().map(|block| block.json).collect()
}

/// Tries a property on made-up sessions, and returns how often it was tried. The function returns `None` where a session
/// gives no occasion, else two transcripts that must show the same.
///
/// A prompt that was queued while the model worked is an attachment of the turn before it, so it cannot begin a session:
/// sessions with one are left out.
fn try_all(same: impl Fn(&str, u32) -> Result<Option<(String, String)>, String>) -> u32 {
    let mut tried = 0;
    for seed in 0..SESSIONS {
        let text = writer::write(&Recipe::new(seed));
        let conversation = Conversation::new(&text);
        let turns = u32::try_from(conversation.turns()).expect("few turns");
        let is_queued = text.contains("queued_command");
        if is_queued || conversation.has_words_beside_results() || turns != count(&text) {
            continue;
        }
        match same(&text, turns) {
            Ok(None) => {}
            Ok(Some((one, other))) => {
                tried += 1;
                assert_eq!(shown(&one), shown(&other), "session {seed}");
            }
            Err(words) => panic!("session {seed}: {words}"),
        }
    }
    tried
}

fn count(text: &str) -> u32 {
    u32::try_from(Session::from_bytes(text).turns().len()).expect("few turns")
}

/// Carries on with a result, or ends the trial where there is none.
macro_rules! some {
    ($outcome:expr) => {
        match $outcome? {
            Some(text) => text,
            None => return Ok(None),
        }
    };
}

#[test]
fn graft_of_two_extracted_halves_is_the_conversation() {
    let tried = try_all(|text, turns| {
        if turns < 2 {
            return Ok(None);
        }
        let middle = turns / 2;
        let first = some!(extracted(text, (1, middle)));
        let second = some!(extracted(text, (middle + 1, turns)));
        let joined = some!(grafted(&first, &second, None));
        let all = some!(extracted(text, (1, turns)));
        Ok(Some((joined, all)))
    });
    assert!(tried >= 20, "{tried}");
}

#[test]
fn graft_of_a_turn_back_into_its_place_is_the_conversation() {
    let tried = try_all(|text, turns| {
        if turns < 3 {
            return Ok(None);
        }
        let turn = some!(extracted(text, (2, 2)));
        let some_turns: TurnRange = (2, 2).into();
        let selector = Selector {
            turns: Some(some_turns),
            ..Selector::default()
        };
        let rest = some!(applied(text, Delete { selector }));
        let joined = some!(grafted(&rest, &turn, Some(1)));
        Ok(Some((joined, text.to_owned())))
    });
    assert!(tried >= 10, "{tried}");
}

#[test]
fn graft_of_turns_that_the_session_has_already_shows_them_twice() {
    let tried = try_all(|text, turns| {
        let twice = some!(grafted(text, text, None));
        let words = |text: &str| {
            let texts = shown(text).into_iter();
            texts.filter_map(|b| b["text"].as_str().map(str::to_owned))
        };
        let all = some!(extracted(text, (1, turns)));
        let expected: Vec<String> = words(text).chain(words(&all)).collect();
        let found: Vec<String> = words(&twice).collect();
        if found != expected {
            return Err(format!("{found:?} instead of {expected:?}"));
        }
        let first = some!(applied(&twice, Truncate { at: turns.into() }));
        Ok(Some((first, text.to_owned())))
    });
    assert!(tried >= 20, "{tried}");
}

#[test]
fn uncompact_of_compact_is_the_conversation() {
    let tried = try_all(|text, turns| {
        if text.contains("compact_boundary") || turns < 2 {
            return Ok(None);
        }
        let compact = Compact {
            keep_last: Some(turns / 2),
            summary: Some("in short".to_owned()),
            ..Compact::default()
        };
        let compacted = some!(applied(text, compact));
        let restored = some!(applied(&compacted, Uncompact::default()));
        let keep_summary = true;
        let with_summary = Uncompact {
            keep_summary,
            ..Uncompact::default()
        };
        let kept = some!(applied(&compacted, with_summary));
        if !kept.contains("in short") || shown(&kept) != shown(text) {
            return Err("the summary that was kept is shown, or lost".to_owned());
        }
        Ok(Some((restored, text.to_owned())))
    });
    assert!(tried >= 20, "{tried}");
}

#[test]
fn delete_of_the_last_turns_equals_truncate() {
    let tried = try_all(|text, turns| {
        if turns < 2 {
            return Ok(None);
        }
        // A compaction stays, and what it hides stays hidden.
        if text.contains("compact_boundary") {
            return Ok(None);
        }
        let at = turns / 2;
        let truncated = some!(applied(text, Truncate { at: at.into() }));
        let selector = Selector {
            turns: Some(TurnRange::from_first(at + 1)),
            ..Selector::default()
        };
        let deleted = some!(applied(text, Delete { selector }));
        Ok(Some((deleted, truncated)))
    });
    assert!(tried >= 20, "{tried}");
}

#[test]
fn delete_of_a_tool_equals_drop_tools() {
    let tried = try_all(|text, _| {
        let tool = vec![TOOLS[0].to_owned()];
        let dropped = DropTools {
            tool: tool.clone(),
            ..DropTools::default()
        };
        let dropped = some!(applied(text, dropped));
        let selector = Selector {
            tool,
            ..Selector::default()
        };
        let deleted = some!(applied(text, Delete { selector }));
        Ok(Some((deleted, dropped)))
    });
    assert!(tried >= 20, "{tried}");
}

#[test]
fn edit_with_the_same_text_plans_nothing() {
    let mut tried = 0;
    for seed in 0..SESSIONS {
        let text = writer::write(&Recipe::new(seed));
        let session = Session::from_bytes(text);
        let all = EditableText::selected(
            &session,
            &Selector {
                turns: Some(TurnRange::from_first(1)),
                ..Selector::default()
            },
        );
        for EditableText { message, text, .. } in all.unwrap_or_default() {
            let edit = EditText { message, text };
            let plan = edit.plan(&session, Detail::Full).expect("a plan");
            assert!(plan.is_empty(), "session {seed}: {}", edit.message);
            tried += 1;
        }
    }
    assert!(tried >= 200, "{tried}");
}
