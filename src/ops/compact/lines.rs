//! The lines that a compaction adds to a transcript.

use crate::json::encode;
use crate::session::Session;
use crate::surgery::common_fields;
use crate::transcript::{EntryIx, format_timestamp};

/// What the new lines depend on.
pub(super) struct Compaction<'a> {
    /// The first entry that follows the summary, if there is one.
    pub(super) first_kept: Option<EntryIx>,
    /// The last entry that is summarised.
    pub(super) before: EntryIx,
    /// Entries of an earlier compaction's preserved messages that are shown after the summary.
    pub(super) preserved: &'a [EntryIx],
    /// The text of the summary.
    pub(super) summary: &'a str,
    /// The tokens in the window.
    pub(super) window: u64,
    /// Whether the summarised entries are removed from the file.
    pub(super) history_gone: bool,
}

/// The two new lines, as the client would have written them.
pub(super) struct CompactionLines {
    pub(super) boundary: String,
    pub(super) summary: String,
    pub(super) summary_uuid: String,
}

impl CompactionLines {
    pub(super) fn new(session: &Session, compaction: &Compaction<'_>) -> Self {
        let fresh = || uuid::Uuid::new_v4().to_string();
        let (boundary_uuid, summary_uuid) = (fresh(), fresh());
        let before = session.entry(compaction.before);
        let first_kept = compaction.first_kept.map(|i| session.entry(i));
        // Clients up to 2.1.45 go by time, the first of equals: boundary, summary and what is kept
        // must come one after the other.
        let times = match first_kept {
            Some(e) if e.time > i64::MIN => Some((e.time - 2, e.time - 1)),
            // What has a time is newer than all that has none.
            Some(_) => None,
            None => Some((before.time.saturating_add(1), before.time.saturating_add(2))),
        };
        let stamped = |time: Option<i64>| {
            time.map_or_else(String::new, |t| {
                format!(r#","timestamp":"{}""#, format_timestamp(t))
            })
        };
        let common = common_fields(session, first_kept.unwrap_or(before));
        let logical = if compaction.history_gone {
            None
        } else {
            session.uuid(before)
        };
        let logical = logical.map_or("null".to_owned(), |u| encode(&u));
        let window = compaction.window;
        let post = (compaction.summary.len() as u64 / 4).min(window);
        let preserved = preserved_fields(session, compaction.preserved, &summary_uuid);
        let boundary = format!(
            r#"{{"parentUuid":null,"logicalParentUuid":{logical},"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false{},"uuid":"{boundary_uuid}","level":"info","compactMetadata":{{"trigger":"manual","preTokens":{window},"durationMs":0,"postTokens":{post},"cumulativeDroppedTokens":{}{preserved}}}{common}}}"#,
            stamped(times.map(|t| t.0)),
            window - post,
        );
        let summary = format!(
            r#"{{"parentUuid":"{boundary_uuid}","isSidechain":false,"type":"user","message":{{"role":"user","content":{}}},"isVisibleInTranscriptOnly":true,"isCompactSummary":true,"uuid":"{summary_uuid}"{}{common}}}"#,
            encode(compaction.summary),
            stamped(times.map(|t| t.1)),
        );
        Self {
            boundary,
            summary,
            summary_uuid,
        }
    }
}

/// Returns the fields of a boundary that name the messages which it preserves, each after a comma.
///
/// Older clients know a segment by its first and last message, which must be connected by parents; newer ones know a
/// list.
fn preserved_fields(session: &Session, preserved: &[EntryIx], anchor: &str) -> String {
    let (entries, graph) = (session.entries(), session.graph());
    let uuid = |&i: &EntryIx| session.uuid(&entries[i]).map(|u| encode(&u));
    let uuids: Vec<String> = preserved.iter().filter_map(uuid).collect();
    let (Some(head), Some(tail)) = (uuids.first(), uuids.last()) else {
        return String::new();
    };
    let is_chain = preserved
        .windows(2)
        .all(|pair| graph.parent(pair[1]) == Some(pair[0]));
    let segment = if is_chain {
        format!(
            r#","preservedSegment":{{"headUuid":{head},"anchorUuid":"{anchor}","tailUuid":{tail}}}"#
        )
    } else {
        String::new()
    };
    let list = uuids.join(",");
    format!(
        r#"{segment},"preservedMessages":{{"anchorUuid":"{anchor}","uuids":[{list}],"allUuids":[{list}]}}"#
    )
}
