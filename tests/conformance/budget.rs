//! The cell of trim: an API that takes no more than the budget refuses the session before, and answers after.

use anyhow::{Context as _, Result, ensure};

use crate::case::{Case, Seen};
use crate::cells::{self, Verdict};
use crate::view::PayloadBlock;

pub(crate) const NAME: &str = "trim";

/// How many tokens fewer the API takes than the session needs.
const LESS: usize = 500;

/// How many of them the next prompt may need.
const ROOM: usize = 500;

/// Judges the cell; `show` prints what the model is shown.
pub(crate) fn judge(case: &Case, show: bool) -> Verdict {
    match attempt(case, show) {
        Ok(true) => Verdict::Passed,
        Ok(false) => Verdict::Skipped("the session gives no occasion".to_owned()),
        Err(error) => Verdict::Failed(format!("{error:#}")),
    }
}

fn attempt(case: &Case, show: bool) -> Result<bool> {
    let recording = &case.recording;
    recording.restore()?;
    let own = recording.session.clone();
    let work = recording.work();
    let outputs = case.untouched.shown.iter().filter(|s| s.is("tool_result"));
    let room: usize = outputs
        .map(|s| s.block["content"].to_string().len() / 4)
        .sum();
    if room < 2 * (LESS + ROOM) {
        return Ok(false);
    }
    let needed = needed_by(&case.look_within(1, &own, &work)?)
        .context("the API takes the session in one token")?;
    let budget = needed - LESS;
    // A client that is refused may compact the session.
    recording.restore()?;
    let before = case.look_within(budget, &own, &work)?;
    ensure!(
        needed_by(&before).is_some(),
        "{budget} tokens are enough for the untouched session"
    );
    recording.restore()?;
    let to = (budget - ROOM).to_string();
    let report = cells::ccsurgery(case, &["trim", "--to", &to, "--keep-last", "0", &own])?;
    let session = report["target"]["session_id"]
        .as_str()
        .context("trim made no session")?;
    let after = case.look_within(budget, session, &work)?;
    if show {
        after.shown.iter().for_each(|s| println!("{}", s.line()));
    }
    cells::accepted(case, &after)?;
    let words = |shown: &[PayloadBlock]| -> Vec<String> {
        let own = shown.iter().filter(|s| !s.is_reminder());
        own.filter_map(|s| s.text().map(str::to_owned)).collect()
    };
    ensure!(
        words(&case.untouched.shown) == words(&after.shown),
        "words were lost where outputs are large enough"
    );
    Ok(true)
}

/// The tokens that the API counted when it refused the session. Clients also ask for small things, like a title.
fn needed_by(seen: &Seen) -> Option<usize> {
    let told = |fault: &String| -> Option<usize> {
        let words = fault.split_once("prompt is too long: ")?.1;
        words.split(' ').next()?.parse().ok()
    };
    let all = || seen.faults.iter().filter_map(told);
    let most = all().max()?;
    all().find(|tokens| *tokens > most / 2)
}
