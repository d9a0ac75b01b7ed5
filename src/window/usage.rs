//! The context size that an answer recorded, and how that record is lowered.

use crate::json::Edit;
use crate::session::Session;
use crate::transcript::{Entry, Kind, Usage, WindowUse};

/// Returns the context window at the request that an assistant entry answers, if it is recorded.
pub(crate) fn recorded_window(session: &Session, e: &Entry) -> Option<u64> {
    if e.kind != Kind::Assistant || e.flags.synthetic() || e.flags.api_error() {
        return None;
    }
    let window = match e.window_use() {
        WindowUse::RequestTokens(tokens) => u64::from(tokens),
        WindowUse::ShownBytes(_) | WindowUse::NeedsFullParse => usage_of(session, e)?.window(),
    };
    Some(window).filter(|&tokens| tokens > 0)
}

/// Returns the edits that lower the recorded context window of an answer to `window` tokens; none if the record is not larger.
pub(crate) fn lower_usage(session: &Session, e: &Entry, window: u64) -> Vec<Edit> {
    match recorded_window(session, e) {
        Some(_) => usage_of(session, e).map_or_else(Vec::new, |u| u.lowered(window)),
        None => Vec::new(),
    }
}

fn usage_of(session: &Session, e: &Entry) -> Option<Usage> {
    let at = session.lookup(e, &["message", "usage"])?;
    Some(Usage::at(session.text(e), at.start))
}
