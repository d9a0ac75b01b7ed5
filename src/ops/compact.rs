//! A boundary and a summary in front of the turns that are kept.

use std::fmt::Write as _;

use serde::Deserialize;

use crate::json::{Edit, Span, encode, lookup};
use crate::session::{Session, Standing, TurnSpec};
use crate::surgery::{Action, Detail, InsertAt as Spot, Plan, Refusal, Transform};
use crate::transcript::{BlockKind, Entry, Kind, format_timestamp};
use crate::view::prompt_text;
use crate::window::Calibration;

use super::agents::agents_gone;
use super::digest::digest;
use super::truncate::is_unfinished;

/// The size of a digest where none is asked for.
const DIGEST_TOKENS: usize = 4_000;

/// Compacts the turns before those that are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Compact {
    /// The last turn that is summarised.
    pub at: Option<TurnSpec>,
    /// How many turns are kept, where `at` is not given.
    pub keep_last: Option<u32>,
    /// The summary; a digest of the transcript if `None`.
    pub summary: Option<String>,
    /// The size of the digest.
    pub max_tokens: Option<usize>,
    /// Whether what is summarised leaves the file too.
    pub drop_history: bool,
    /// The tokens in the window, where they were counted already.
    #[serde(skip)]
    pub window: Option<u64>,
}

impl Compact {
    /// The last turn that is summarised; 0 if none is.
    pub fn last_summarised(&self, session: &Session) -> Result<u32, Refusal> {
        let count = session.turns().len() as u32;
        match (&self.at, self.keep_last) {
            (Some(at), None) => Ok(at.resolve(session)?),
            (None, Some(keep)) => Ok(count.saturating_sub(keep)),
            _ => Err(Refusal::usage(
                "bad-options",
                "say what is kept: either --at TURN or --keep-last N",
                "--keep-last 3 keeps the last three turns as they are",
            )),
        }
    }
}

impl Transform for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn plan(&self, session: &Session, say: Detail) -> Result<Plan, Refusal> {
        let upto = self.last_summarised(session)?;
        let mut plan = Plan::with_detail(say);
        let Some(turn) = session.turns().get(upto) else {
            return Ok(plan);
        };
        let path = session.graph().path();
        let position = turn.path.1;
        refuse_compacted(session, position)?;
        refuse_running(session, upto)?;
        let summary = match &self.summary {
            Some(text) if text.trim().is_empty() => {
                return Err(Refusal::usage(
                    "empty-summary",
                    "the summary is empty",
                    "leave it out to get a digest of the transcript",
                ));
            }
            Some(text) => text.clone(),
            None => digest(session, upto, self.max_tokens.unwrap_or(DIGEST_TOKENS)),
        };
        if self.drop_history {
            drop_history(session, position, &mut plan);
            plan.dropped_agents = agents_gone(session, &plan);
        }
        if !self.drop_history && !plan.wants_no_changes() {
            note_hidden(session, position, &mut plan);
        }
        let first_kept = path
            .get(position as usize)
            .map(|&i| &session.entries()[i as usize]);
        let before = &session.entries()[path[position as usize - 1] as usize];
        let window = self
            .window
            .unwrap_or_else(|| Calibration::of(session).window());
        let lines = Lines::new(
            session,
            first_kept,
            before,
            &summary,
            window,
            self.drop_history,
        );
        let spot = match first_kept {
            Some(_) => Spot::Before(first_line(session, position)),
            None => Spot::End,
        };
        plan.note_insert("compaction boundary", lines.boundary.len() + 1, 0, "");
        plan.note_insert("summary", lines.summary.len() + 1, summary.len(), summary);
        plan.insert_line(spot, lines.boundary);
        plan.insert_line(spot, lines.summary);
        if let Some(first) = first_kept {
            plan.edit_line(
                first.line,
                [parent_edit(session, first, &lines.summary_uuid)],
            );
        }
        Ok(plan)
    }
}

/// Where a boundary stands after the cut already, a second one before it would change nothing.
fn refuse_compacted(session: &Session, position: u32) -> Result<(), Refusal> {
    let window = session.graph().window_start();
    if window == 0 || window < position {
        return Ok(());
    }
    let kept = session.turns().len() as u32 - session.turns().at_position(window);
    Err(Refusal::new(
        "already-compacted",
        format!(
            "the session was compacted after that: only its last {} shown to the model",
            if kept == 1 {
                "turn is".to_owned()
            } else {
                format!("{kept} turns are")
            }
        ),
        if kept > 1 {
            format!("keep fewer: --keep-last {}", kept - 1)
        } else {
            "there is nothing left to compact".to_owned()
        },
    ))
}

/// A summary that follows calls without results would leave them open for good.
fn refuse_running(session: &Session, upto: u32) -> Result<(), Refusal> {
    if session.unfinished_turn() != Some(upto) || !is_unfinished(session, upto) {
        return Ok(());
    }
    Err(Refusal::new(
        "unfinished-turn",
        format!(
            "turn {upto} is unfinished: it has calls without results, of which nothing can be told"
        ),
        "keep it as it is: --keep-last 1",
    ))
}

/// The first line of the file that belongs to what is kept.
pub(crate) fn first_line(session: &Session, position: u32) -> u32 {
    let kept = session.entries().iter().enumerate().filter(|&(i, _)| matches!(session.graph().place(i), Standing::Path(p) | Standing::Beside(p) if p >= position));
    kept.map(|(_, e)| e.line).min().unwrap_or(0)
}

/// The edit that gives an entry its parent.
fn parent_edit(session: &Session, e: &Entry, parent: &str) -> Edit {
    let text = session.text(e);
    match lookup(text, &["parentUuid"]) {
        Some(span) => Edit::new(span, encode(parent)),
        None => {
            let brace = text.iter().position(|&b| b == b'{').unwrap_or(0) + 1;
            Edit::new(
                Span::new(brace, brace),
                format!("\"parentUuid\":{},", encode(parent)),
            )
        }
    }
}

/// The two lines that are put in, as the client would have written them.
struct Lines {
    boundary: String,
    summary: String,
    summary_uuid: String,
}

impl Lines {
    fn new(
        session: &Session,
        first_kept: Option<&Entry>,
        before: &Entry,
        summary: &str,
        window: u64,
        history_gone: bool,
    ) -> Self {
        let fresh = || uuid::Uuid::new_v4().to_string();
        let (boundary_uuid, summary_uuid) = (fresh(), fresh());
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
        let logical = if history_gone {
            None
        } else {
            session.uuid(before)
        };
        let logical = logical.map_or("null".to_owned(), |u| encode(&u));
        let post = (summary.len() as u64 / 4).min(window);
        let boundary = format!(
            r#"{{"parentUuid":null,"logicalParentUuid":{logical},"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false{},"uuid":"{boundary_uuid}","level":"info","compactMetadata":{{"trigger":"manual","preTokens":{window},"durationMs":0,"postTokens":{post},"cumulativeDroppedTokens":{}}}{common}}}"#,
            stamped(times.map(|t| t.0)),
            window - post,
        );
        let summary = format!(
            r#"{{"parentUuid":"{boundary_uuid}","isSidechain":false,"type":"user","message":{{"role":"user","content":{}}},"isVisibleInTranscriptOnly":true,"isCompactSummary":true,"uuid":"{summary_uuid}"{}{common}}}"#,
            encode(summary),
            stamped(times.map(|t| t.1)),
        );
        Self {
            boundary,
            summary,
            summary_uuid,
        }
    }
}

/// Fields that every entry of a session carries, as its neighbour spells them.
fn common_fields(session: &Session, neighbour: &Entry) -> String {
    let text = session.text(neighbour);
    let mut out = String::new();
    for key in [
        "userType",
        "entrypoint",
        "cwd",
        "sessionId",
        "version",
        "gitBranch",
        "slug",
    ] {
        if let Some(value) = lookup(text, &[key]) {
            let _ = write!(
                out,
                ",\"{key}\":{}",
                String::from_utf8_lossy(value.of(text))
            );
        }
    }
    out
}

/// Says what the model is no longer shown, turn by turn.
fn note_hidden(session: &Session, position: u32, plan: &mut Plan) {
    let mut hidden = vec![0; session.turns().len() + 1];
    for (i, e) in session.entries().iter().enumerate() {
        if e.is_message()
            && session.graph().is_shown(i)
            && let Some(turn) = session.turns().of(session.graph(), i)
        {
            hidden[turn as usize] += e.content.len() as i64;
        }
    }
    for turn in session
        .turns()
        .iter()
        .filter(|t| t.path.0 < position && t.path.1 > session.graph().window_start())
    {
        let hidden = hidden[turn.number as usize];
        let e = &session.entries()[turn.prompt as usize];
        plan.note(
            session,
            e,
            Action::Drop,
            "from the window",
            0,
            -hidden,
            prompt_text(session, e).unwrap_or_default(),
        );
    }
}

/// Everything of the conversation before a position leaves the file, and what only told of it.
pub(crate) fn drop_history(session: &Session, position: u32, plan: &mut Plan) {
    let first_line = if (position as usize) < session.graph().path().len() {
        first_line(session, position)
    } else {
        u32::MAX
    };
    for (i, e) in session.entries().iter().enumerate() {
        let goes = match session.graph().place(i) {
            Standing::Path(p) | Standing::Beside(p) | Standing::Branch(p) => p < position,
            Standing::Apart => e.line < first_line,
            Standing::Metadata => match e.kind {
                Kind::QueueOperation | Kind::ApiRequest | Kind::ApiRequestBlob => e.line < first_line,
                Kind::FileHistorySnapshot | Kind::FileHistoryDelta | Kind::Summary | Kind::LastPrompt => e
                    .refers_to
                    .some()
                    .and_then(|id| session.find(id))
                    .is_some_and(|n| matches!(session.graph().place(n), Standing::Path(p) | Standing::Beside(p) | Standing::Branch(p) if p < position)),
                _ => false,
            },
        };
        if goes {
            plan.drop_line(e.line);
        }
        if goes && !plan.wants_no_changes() {
            let shown = if session.graph().is_shown(i) && e.is_message() {
                -(e.content.len() as i64)
            } else {
                0
            };
            let gist = if e.is_message() && shown != 0 {
                prompt_text(session, e).unwrap_or_default()
            } else {
                String::new()
            };
            plan.note(
                session,
                e,
                Action::Drop,
                "history",
                -(session.text(e).len() as i64 + 1),
                shown,
                gist,
            );
        }
    }
}

/// What a summarizer reads: the prompts, answers, calls and outputs of the turns up to and with `upto`.
pub fn summarised_text(session: &Session, upto: u32) -> String {
    let mut out = String::new();
    for (i, e) in session.entries().iter().enumerate() {
        let within = session
            .turns()
            .of(session.graph(), i)
            .is_some_and(|n| n <= upto);
        if !within
            || !e.is_message()
            || !session.graph().is_shown(i) && session.graph().window_start() > 0
        {
            continue;
        }
        let role = if e.kind == Kind::User {
            "User"
        } else {
            "Assistant"
        };
        let text = session.text(e);
        if e.flags.string_content() {
            let _ = writeln!(out, "{role}: {}\n", crate::json::decode(e.content.of(text)));
            continue;
        }
        for block in session.blocks(e) {
            let inner = block.span.of(text);
            let field = |key: &str| {
                lookup(inner, &[key])
                    .map(|s| crate::json::decode(s.of(inner)).into_owned())
                    .unwrap_or_default()
            };
            let _ = match block.kind {
                BlockKind::Text => writeln!(out, "{role}: {}\n", field("text")),
                BlockKind::ToolUse => {
                    writeln!(out, "{role} calls {}: {}\n", field("name"), field("input"))
                }
                BlockKind::ToolResult => writeln!(out, "Result: {}\n", field("content")),
                _ => Ok(()),
            };
        }
    }
    out
}
