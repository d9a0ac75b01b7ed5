//! The context size that an answer recorded, and how that record is lowered.

use crate::json::{Edit, Span};
use crate::session::Session;
use crate::transcript::{Entry, Kind, Usage, WindowUse};

use super::calibration::Overstated;

/// Returns the context window at the request that an assistant entry answers, if it is recorded.
pub(crate) fn recorded_window(session: &Session, e: &Entry) -> Option<u64> {
    if e.kind != Kind::Assistant || e.flags.synthetic() || e.flags.api_error() {
        return None;
    }
    let window = match e.window_use() {
        WindowUse::RequestTokens(tokens) => u64::from(tokens),
        WindowUse::ShownBytes(_) | WindowUse::NeedsFullParse => usage_of(session, e)?.0.window(),
    };
    Some(window).filter(|&tokens| tokens > 0)
}

/// Returns the edits that lower the recorded context window of an answer, and keep the measure of the session beside it;
/// none if the record is not larger.
pub(crate) fn lower_usage(session: &Session, e: &Entry, to: &Overstated) -> Vec<Edit> {
    let record = recorded_window(session, e).and_then(|_| usage_of(session, e));
    let Some((usage, span)) = record else {
        return Vec::new();
    };
    let mut edits = usage.lowered(to.window);
    if !edits.is_empty() {
        edits.push(to.measure.keep(session.text(e), span));
    }
    edits
}

/// Returns the usage of an answer, and where it is.
fn usage_of(session: &Session, e: &Entry) -> Option<(Usage, Span)> {
    let at = session.lookup(e, &["message", "usage"])?;
    Some((Usage::at(session.text(e), at.start), at))
}
