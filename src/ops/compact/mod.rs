//! Puts a compaction boundary and a summary before the messages that are kept.

mod cut;
mod history;
mod lines;
mod refusals;
mod steps;
mod summarizer;

use serde::Deserialize;

use crate::session::{Session, TurnSpec};
use crate::surgery::{ChangeKind, Detail, InsertAt, Plan, Refusal, RefusalKind, Remedy, Transform};
use crate::transcript::EntryIx;
use crate::view::prompt_text;
use crate::window::{Calibration, shown_entries};

use super::agents::agents_gone;
use super::digest::{DigestSize, digest};
use super::token_count::TokenCount;
use history::{drop_leaf_records, hide_before, note_hidden};

pub(super) use history::separate_midstream;
use lines::{Compaction, CompactionLines};
use refusals::{refuse_compacted, refuse_split_message};

pub use cut::Cut;
pub(crate) use history::{drop_history, first_line};
pub(crate) use steps::step_starts;
pub use summarizer::{CompactWith, Summarizer};

/// The size of a digest where none is asked for.
const DIGEST_TOKENS: usize = 2_800;

/// The bytes that such a digest has at most.
pub(crate) const DIGEST_BYTES: usize = DIGEST_TOKENS * super::digest::BYTES_PER_TOKEN;

/// Compacts what comes before the messages that are kept. One of `at`, `keep_last`, `keep_tokens` and `before` states
/// which messages these are.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Compact {
    /// The last turn that is summarised. Of a turn with calls that still run, the message with these calls is kept.
    pub at: Option<TurnSpec>,
    /// How many turns are kept.
    pub keep_last: Option<u32>,
    /// How many tokens the newest messages that are kept take at most.
    pub keep_tokens: Option<TokenCount>,
    /// The first message that is kept, by its uuid or the beginning of one: a prompt, or an answer that follows results.
    pub before: Option<String>,
    /// The summary; a digest of the transcript if `None`.
    pub summary: Option<String>,
    /// The size of the digest; with `whole_words`, of what is beside the words of the person.
    pub max_tokens: Option<usize>,
    /// Whether the digest quotes everything that the person wrote in full.
    pub whole_words: bool,
    /// Whether the summarised entries are removed from the file too.
    pub drop_history: bool,
    /// The tokens in the window, where they were counted already.
    #[serde(skip)]
    pub window: Option<u64>,
}

impl Compact {
    /// Returns the summary of what comes before a cut: the one that was given, or a digest.
    pub fn summary_of(&self, session: &Session, cut: Cut) -> Result<String, Refusal> {
        match &self.summary {
            Some(text) if text.trim().is_empty() => Err(Refusal::usage(
                RefusalKind::EmptySummary,
                "the summary is empty",
                "leave it out to get a digest of the transcript",
            )),
            Some(text) => Ok(text.clone()),
            None if self.max_tokens == Some(0) => Err(Refusal::with(
                RefusalKind::EmptySummary,
                "a summary of 0 tokens would be empty",
                [Remedy::MaxTokens(DIGEST_TOKENS)],
            )
            .as_usage()),
            None => {
                let size = DigestSize {
                    tokens: self.max_tokens.unwrap_or(DIGEST_TOKENS),
                    whole_words: self.whole_words,
                };
                // The API does not accept NUL characters, which a damaged session may have.
                Ok(digest(session, cut, size).replace('\0', ""))
            }
        }
    }

    /// Whether the model is shown nothing but a summary before the messages that are kept, and that summary may stay.
    fn is_done(&self, session: &Session, position: u32) -> bool {
        let (entries, graph) = (session.entries(), session.graph());
        let window = graph.window_start();
        let Some(&first) = graph.path().get(position as usize) else {
            return false;
        };
        if window == 0 && !entries[graph.path()[0]].is_boundary()
            || window >= position
            || self.drop_history && window > 0
        {
            return false;
        }
        let shown = shown_entries(session);
        let mut before = shown.iter().take_while(|&&i| i != first);
        let mut summary = None;
        let only_summary = before.all(|&i| {
            let e = &entries[i];
            if e.flags.compact_summary() {
                summary = prompt_text(session, e);
            }
            e.flags.compact_summary() || e.is_boundary()
        });
        let unchanged = match (&self.summary, summary) {
            (None, Some(_)) => true,
            (Some(new), Some(old)) => new.trim() == old.trim(),
            (_, None) => false,
        };
        only_summary && unchanged
    }

    /// Adds the boundary and the summary to a plan.
    fn insert(&self, session: &Session, position: u32, summary: String, plan: &mut Plan) {
        let path = session.graph().path();
        // Messages that the last compaction preserved, and that are kept, stay where they are: the new boundary names them.
        let preserved = preserved_from(session, position);
        let after = position + preserved.len() as u32;
        let first_kept = path.get(after as usize).copied();
        let lines = CompactionLines::new(
            session,
            &Compaction {
                first_kept,
                before: history::end_of_history(session, position),
                preserved,
                summary: &summary,
                window: self
                    .window
                    .unwrap_or_else(|| Calibration::of(session).window()),
                history_gone: self.drop_history,
            },
        );
        let spot = match first_kept {
            Some(_) => InsertAt::Before(first_line(session, after)),
            None => InsertAt::End,
        };
        plan.note_insert(ChangeKind::Boundary, lines.boundary.len() + 1, 0, "");
        plan.note_insert(
            ChangeKind::Summary,
            lines.summary.len() + 1,
            summary.len(),
            summary,
        );
        plan.insert_line(spot, lines.boundary);
        plan.insert_line(spot, lines.summary);
        if let Some(first) = first_kept {
            plan.set_parent(first, Some(&lines.summary_uuid));
        }
        if !self.drop_history {
            separate_midstream(session, position, plan);
        }
        drop_leaf_records(session, position, spot, plan);
    }
}

impl Transform for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn plan(&self, session: &Session, say: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::with_detail(say);
        let Some(cut) = self.cut(session)? else {
            return Ok(plan);
        };
        let position = cut.position();
        if self.is_done(session, position) {
            return Ok(plan);
        }
        refuse_compacted(session, position)?;
        if !self.drop_history {
            refuse_split_message(session, position)?;
        }
        let summary = self.summary_of(session, cut)?;
        hide_before(session, position, &mut plan);
        if self.drop_history {
            drop_history(session, position, |_| false, &mut plan);
            plan.dropped_agents = agents_gone(session, &plan);
        } else if !plan.wants_no_changes() {
            note_hidden(session, position, &mut plan);
        }
        self.insert(session, position, summary, &mut plan);
        Ok(plan)
    }
}

/// Returns the entries from a position on that the last compaction preserved.
fn preserved_from(session: &Session, position: u32) -> &[EntryIx] {
    let graph = session.graph();
    match graph.preserved_end() {
        Some(end) if position < end => &graph.path()[position as usize..end as usize],
        _ => &[],
    }
}
