//! A compaction whose summary somebody else writes.

use std::fmt::Debug;

use crate::session::Session;
use crate::surgery::{Detail, Plan, Refusal, Transform};

use super::Compact;
use crate::ops::digest::summarised_text;

/// Writes summaries.
pub trait Summarizer: Debug {
    /// Returns the summary of turns; `text` returns their text.
    fn summary(&self, text: &dyn Fn() -> String) -> Result<String, Refusal>;
}

/// A compaction that asks for its summary when the turns are known.
#[derive(Debug)]
pub struct CompactWith<S> {
    /// What is compacted.
    pub options: Compact,
    /// Who writes the summary.
    pub summarizer: S,
}

impl<S: Summarizer> CompactWith<S> {
    /// Returns the options with the summary; without one where there is nothing to summarise.
    pub fn summarised(&self, session: &Session) -> Result<Compact, Refusal> {
        let mut options = self.options.clone();
        if let Some(cut) = self.options.cut(session)? {
            let text = || summarised_text(session, cut);
            options.summary = Some(self.summarizer.summary(&text)?);
        }
        Ok(options)
    }
}

impl<S: Summarizer> Transform for CompactWith<S> {
    fn name(&self) -> &'static str {
        self.options.name()
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        self.summarised(session)?.plan(session, Detail::Full)
    }
}
