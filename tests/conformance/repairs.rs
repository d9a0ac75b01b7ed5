//! Cells of repair: a recorded session is corrupted, repaired, and resumed.
//!
//! Promised is that the API takes it, that no prompt, answer or pair of call and result is lost which is in the file, and
//! that nothing is left to mend.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::case::{Case, PROBE};
use crate::cells::{self, Verdict};
use crate::corrupt::{ALL, Fault, MEDIA, corrupt};
use crate::view::{self, PayloadBlock};

/// What is done to a session before it is repaired.
pub(crate) struct Injury {
    pub(crate) name: String,
    pub(crate) scenario: &'static str,
    faults: Vec<Fault>,
    seed: u64,
}

/// How many cells have several faults at once, a scenario.
const SEVERAL: u64 = 6;

/// More tokens than any session has: the stand-in counts the letters of pictures.
const ANY: usize = 100_000_000;

pub(crate) const ONE: &str = "repair-one";
pub(crate) const MANY: &str = "repair-many";

pub(crate) static INJURIES: LazyLock<Vec<Injury>> = LazyLock::new(|| {
    let each = ALL.iter().chain(&MEDIA).map(|&fault| Injury {
        name: format!("{ONE}:{}", kebab(fault)),
        scenario: if fault.is_of_compaction() {
            "compacted"
        } else {
            "basic"
        },
        faults: vec![fault],
        seed: 1,
    });
    let several = ["basic", "compacted"].into_iter().flat_map(|scenario| {
        (1..=SEVERAL).map(move |seed| Injury {
            name: format!("{MANY}:{scenario}-{seed}"),
            scenario,
            faults: drawn(seed),
            seed,
        })
    });
    each.chain(several).collect()
});

/// Three faults, the same for the same seed.
fn drawn(seed: u64) -> Vec<Fault> {
    let mut dice = crate::corrupt::Dice(seed);
    (0..3).map(|_| ALL[dice.below(ALL.len())]).collect()
}

fn kebab(fault: Fault) -> String {
    let mut out = String::new();
    for c in format!("{fault:?}").chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// Judges one cell; `show` prints what the model is shown.
pub(crate) fn judge(case: &Case, injury: &Injury, show: bool) -> Verdict {
    match attempt(case, injury, show) {
        Ok(true) => Verdict::Passed,
        Ok(false) => Verdict::Skipped("the session gives no occasion".to_owned()),
        Err(error) => Verdict::Failed(format!("{:?}: {error:#}", injury.faults)),
    }
}

fn attempt(case: &Case, injury: &Injury, show: bool) -> Result<bool> {
    let recording = &case.recording;
    recording.restore()?;
    let path = recording.transcript();
    let lines: Vec<Value> = fs_err::read_to_string(&path)?
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    let ill = corrupt(&lines, &injury.faults, injury.seed);
    if ill == corrupt(&lines, &[], injury.seed) {
        return Ok(false);
    }
    fs_err::write(&path, &ill)?;
    let own = recording.session.clone();
    let report = cells::ccsurgery(case, &["repair", "--accept-guess", &own])?;
    let session = report["target"]["session_id"].as_str().unwrap_or(&own);
    ensure!(fs_err::read(&path)? == ill, "the original has changed");
    let left = repairable(&cells::told(case, &["doctor", session])?);
    ensure!(left.is_empty(), "left to mend: {}", left.join(", "));
    let again = cells::ccsurgery(case, &["repair", "--accept-guess", "--dry-run", session])?;
    let again = again["changes"].as_array().context("no list of changes")?;
    ensure!(again.is_empty(), "a second repair changes {again:?}");
    if session != own && injury.faults.iter().any(|f| f.closes_a_chain()) {
        // Client 2.1.9 looks through all sessions of a project, and never comes back from a chain that is closed: the
        // repaired one is not to wait for the ill one beside it.
        fs_err::remove_file(&path)?;
    }
    let seen = case.look_within(ANY, session, &recording.work())?;
    if show {
        seen.shown.iter().for_each(|s| println!("{}", s.line()));
    }
    cells::accepted(case, &seen)?;
    let mut records = records(&ill);
    if injury.faults.iter().any(|f| f.forgets_what_is_kept()) {
        // Which messages a compaction kept was told by what is gone.
        let behind = |r: &Value| r["isCompactSummary"] == true;
        let at = records.iter().rposition(behind).unwrap_or(0);
        records.drain(..at);
    }
    words(case, &records, &seen.shown)?;
    calls(case, &records, &seen.shown)?;
    Ok(true)
}

/// What a report of the doctor's says can be mended.
fn repairable(report: &Value) -> Vec<String> {
    let sessions = report["sessions"].as_array().into_iter().flatten();
    let found = sessions.flat_map(|s| [&s["findings"], &s["healed"]]);
    found
        .flat_map(|list| list.as_array().into_iter().flatten())
        .filter(|f| f["repairable"] == true)
        .map(|f| f["message"].to_string())
        .collect()
}

/// Every record that is whole in a file, wherever it stands.
fn records(bytes: &[u8]) -> Vec<Value> {
    let mut out = Vec::new();
    for line in String::from_utf8_lossy(bytes).lines() {
        // Half of a pair is no string to a parser.
        let line = line.replace(r"\ud83d", r"\ufffd");
        let mut starts = line.match_indices('{').map(|(at, _)| &line[at..]);
        let whole = |text: &str| -> Option<Vec<Value>> {
            serde_json::Deserializer::from_str(text.trim_end_matches('\0'))
                .into_iter()
                .collect::<Result<_, _>>()
                .ok()
        };
        let found = starts.find_map(whole).into_iter().flatten();
        // The client's notes of its requests hold copies.
        out.extend(found.filter(|record| record["uuid"].is_string()));
    }
    out
}

/// The words of a text, without what no text may hold.
fn plain(text: &str) -> String {
    text.replace(['\0', '\u{fffd}'], "").trim().to_owned()
}

/// The blocks of a record's message.
fn blocks(record: &Value) -> impl Iterator<Item = &Value> {
    record["message"]["content"]
        .as_array()
        .into_iter()
        .flatten()
}

/// Whether every text that was shown of the healthy session, and is in the file, is shown in its order, and none besides
/// but notes of the program's own and what the client makes up at the end of an unfinished turn.
fn words(case: &Case, records: &[Value], shown: &[PayloadBlock]) -> Result<()> {
    let recording = &case.recording;
    let names = view::names(recording, &recording.session, &recording.work());
    let kept: Vec<String> = records
        .iter()
        .flat_map(|r| {
            let own = r["message"]["content"].as_str();
            own.into_iter()
                .chain(blocks(r).filter_map(|b| b["text"].as_str()))
        })
        .map(|text| {
            let bare = |text: String, (from, to): &(String, String)| text.replace(from, to);
            plain(&names.iter().fold(text.to_owned(), bare))
        })
        .collect();
    let texts =
        |shown: &[PayloadBlock], wanted: &dyn Fn(&PayloadBlock, &str) -> bool| -> Vec<String> {
            let all = shown.iter().filter(|s| !s.is_reminder());
            all.filter_map(|s| Some((s, plain(s.text()?))))
                .filter(|(s, text)| wanted(s, text))
                .map(|(s, text)| format!("{}: {text}\n", s.role))
                .collect()
        };
    let in_file = |text: &str| text == PROBE || kept.iter().any(|k| k == text);
    let promised = texts(&case.untouched.shown, &|_, text| in_file(text));
    // What the client leaves out of the healthy session by itself may come back, like what a cut makes the newest.
    let comes_back = |text: &str| case.lost_words().any(|lost| lost == text);
    let told = texts(shown, &|s, text| {
        !comes_back(text) && (in_file(text) || !text.starts_with('[') && !case.is_filler(s))
    });
    ensure!(
        promised == told,
        "other words are shown:\n{}",
        similar::TextDiff::from_lines(promised.concat().as_str(), told.concat().as_str())
            .unified_diff()
    );
    Ok(())
}

/// Whether every call of which both halves are in the file, and which was shown of the healthy session, is shown.
fn calls(case: &Case, records: &[Value], shown: &[PayloadBlock]) -> Result<()> {
    let named = |kind: &str, field: &str| -> Vec<&str> {
        let all = records.iter().flat_map(blocks);
        all.filter(|b| b["type"] == kind)
            .filter_map(|b| b[field].as_str())
            .collect()
    };
    let (made, answered) = (named("tool_use", "id"), named("tool_result", "tool_use_id"));
    for call in case.untouched.shown.iter().filter(|s| s.is("tool_use")) {
        let id = call.call().unwrap_or_default();
        let whole = made.contains(&id) && answered.contains(&id);
        let halves = shown.iter().filter(|s| s.call() == Some(id)).count();
        ensure!(!whole || halves == 2, "call {id} is shown {halves} times");
    }
    Ok(())
}
