//! What the estimates of the context window are worth, by the records of real sessions:
//! `CCSURGERY_CORPUS=FOLDER cargo bench --bench weights`.
//!
//! The usage of an answer records the true size of the context window. Between two answers, the record grows by what was
//! shown meanwhile: that is what removing it would save. Two questions are asked of each session.
//!
//! - The records of its second half are hidden: how far off are the window at its end, and what the second half takes?
//!   `truncate`, `delete` and `compact` save such stretches.
//! - The growth of all steps is fitted by the estimates of thinking, of calls with answers, of results, and of images: which
//!   factor would each need? `strip-thinking`, `drop-tools --stub`, `drop-tools` and `drop-images` save these. A kind is only
//!   judged in sessions that have enough of it. The errors are those of what is said to be saved, and then those of the
//!   window that the next request is said to have.

#![allow(missing_docs, clippy::print_stdout, clippy::disallowed_methods)]

use std::path::{Path, PathBuf};

use ccsurgery::session::{Session, Standing};
use ccsurgery::transcript::{EntryIx, Kind};
use ccsurgery::window::{Calibration, EntryWeights, payload};

/// Kinds of content: thinking, calls and answers, results and other messages of the user, images.
const KINDS: [&str; 4] = ["thinking", "calls", "results", "images"];

/// The least tokens of a kind in a session by which it is judged.
const ENOUGH: f64 = 4_000.0;

/// Between two records: by how much the window grew, and the estimates of what was shown meanwhile.
struct Step {
    grown: f64,
    estimated: [f64; KINDS.len()],
}

fn main() {
    let Some(folder) = std::env::var_os("CCSURGERY_CORPUS") else {
        println!("CCSURGERY_CORPUS names no folder with sessions");
        return;
    };
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files);
    files.sort();
    let verbose = std::env::args().any(|a| a == "--each");
    let mut table = Table::default();
    for file in files {
        let Ok(bytes) = std::fs::read(&file) else {
            continue;
        };
        let rows = measure(&bytes);
        if verbose && !rows.is_empty() {
            let cells = rows
                .iter()
                .map(|(what, error)| format!("{what} {:+.1} %", error * 100.0));
            println!(
                "{}: {}",
                file.display(),
                cells.collect::<Vec<_>>().join(", ")
            );
        }
        table.add(rows);
    }
    table.print();
}

/// Finds the transcripts below a folder, except for those of subagents.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_agent = path
            .file_name()
            .is_some_and(|n| n.to_string_lossy().starts_with("agent-"));
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "jsonl") && !is_agent {
            files.push(path);
        }
    }
}

/// Returns what was estimated of a session, and the error of each estimate as a part of the truth.
fn measure(bytes: &[u8]) -> Vec<(&'static str, f64)> {
    let session = Session::from_bytes(bytes.to_vec());
    let weights = EntryWeights::of(&session);
    let calibration = Calibration::of(&session);
    let records = records(&session, &weights);
    if records.len() < 12 || records.windows(2).any(|r| r[1].1 < r[0].1 * 0.75) {
        return Vec::new();
    }
    let mut out = half_hidden(bytes, &session, &records);
    let steps = steps(&session, &calibration, &records);
    out.extend(factors(&steps, records[records.len() - 1].1));
    out
}

/// The positions of the live path at which an answer recorded the window, with the tokens.
fn records(session: &Session, weights: &EntryWeights) -> Vec<(usize, f64)> {
    let (graph, entries) = (session.graph(), session.entries());
    let mut out = Vec::new();
    let mut message = None;
    for (position, &i) in graph.path().iter().enumerate() {
        let e = &entries[i];
        if position < graph.window_start() as usize || e.kind != Kind::Assistant {
            continue;
        }
        if let Some(tokens) = weights.window(i).filter(|_| message != Some(e.message_id)) {
            out.push((position, tokens as f64));
        }
        message = Some(e.message_id);
    }
    out
}

/// Hides the records of the second half.
fn half_hidden(
    bytes: &[u8],
    session: &Session,
    records: &[(usize, f64)],
) -> Vec<(&'static str, f64)> {
    let (from, until) = (records[records.len() / 2], records[records.len() - 1]);
    let first = session.entry(session.graph().path()[from.0]).line;
    let mut hidden = Vec::with_capacity(bytes.len());
    for number in session.document().numbers() {
        let line = String::from_utf8_lossy(session.document().text(number));
        if number > first {
            hidden.extend(line.replace("\"usage\":", "\"hidden\":").as_bytes());
        } else {
            hidden.extend(line.as_bytes());
        }
        hidden.push(b'\n');
    }
    let hidden = Session::from_bytes(hidden);
    let (known, guessed) = (Calibration::of(session), Calibration::of(&hidden));
    let truth = known.window() as f64;
    let grown = until.1 - from.1;
    let estimated = grown + guessed.window() as f64 - truth;
    let mut out = vec![(
        "window at the end, half hidden",
        guessed.window() as f64 / truth - 1.0,
    )];
    if grown > ENOUGH {
        out.push(("what the hidden half takes", estimated / grown - 1.0));
    }
    out
}

/// The steps from one record to the next.
fn steps(session: &Session, calibration: &Calibration, records: &[(usize, f64)]) -> Vec<Step> {
    let graph = session.graph();
    let position = |entry: EntryIx| match graph.place(entry) {
        Standing::Path(p) | Standing::Beside(p) => Some(p as usize),
        _ => None,
    };
    let mut steps: Vec<Step> = records
        .windows(2)
        .map(|r| Step {
            grown: r[1].1 - r[0].1,
            estimated: [0.0; KINDS.len()],
        })
        .collect();
    for message in payload(session, None) {
        for block in &message.blocks {
            let Some(at) = position(block.entry) else {
                continue;
            };
            let step = records.partition_point(|r| r.0 <= at);
            let Some(step) = step.checked_sub(1).and_then(|s| steps.get_mut(s)) else {
                continue;
            };
            let mut weight = block.weight();
            step.estimated[3] += weight.images;
            weight.images = 0.0;
            let by_model = session.entry(block.entry).kind == Kind::Assistant;
            let kind = if block.kind.is_thinking() {
                0
            } else if by_model {
                1
            } else {
                2
            };
            step.estimated[kind] += calibration.tokens(weight);
        }
    }
    steps
}

/// What each operation is said to save of a window, beside what it saves if each kind of content gets the factor that it needs.
fn factors(steps: &[Step], window: f64) -> Vec<(&'static str, f64)> {
    let plausible = |s: &&Step| {
        let sum: f64 = s.estimated.iter().sum();
        s.grown > 0.0 && (s.grown - sum).abs() < (sum * 0.5).max(400.0)
    };
    let steps: Vec<&Step> = steps.iter().filter(plausible).collect();
    let sum = |kind: usize| steps.iter().map(|s| s.estimated[kind]).sum::<f64>();
    let judged: Vec<usize> = (0..KINDS.len()).filter(|&k| sum(k) >= ENOUGH).collect();
    let factors = least_squares(&steps, &judged);
    let truth = |kind: usize| {
        let at = judged.iter().position(|&k| k == kind)?;
        Some(sum(kind) * factors[at])
    };
    let mut out = Vec::new();
    let mut add = |what: (&'static str, &'static str), estimate: f64, truth: f64| {
        out.push((what.0, estimate / truth - 1.0));
        out.push((what.1, (truth - estimate) / (window - truth)));
    };
    let names = [
        ("strip-thinking saves", "window after strip-thinking"),
        ("calls and answers take", "window without calls and answers"),
        ("drop-tools --stub saves", "window after drop-tools --stub"),
        ("drop-images saves", "window after drop-images"),
    ];
    for &kind in &judged {
        if let Some(truth) = truth(kind) {
            add(names[kind], sum(kind), truth);
        }
    }
    if let (Some(calls), Some(results)) = (truth(1), truth(2)) {
        let names = ("drop-tools saves", "window after drop-tools");
        add(names, sum(1) + sum(2), calls + results);
    }
    let grown: f64 = steps.iter().map(|s| s.grown).sum();
    if grown > ENOUGH {
        let names = ("compact, delete save", "window after compact, delete");
        add(names, (0..KINDS.len()).map(sum).sum(), grown);
    }
    out
}

/// Solves for one factor for each of these kinds; the other kinds count as they are estimated.
fn least_squares(steps: &[&Step], kinds: &[usize]) -> Vec<f64> {
    let n = kinds.len();
    let mut matrix = vec![vec![0.0; n + 1]; n];
    for step in steps {
        let others = (0..KINDS.len()).filter(|k| !kinds.contains(k));
        let rest = step.grown - others.map(|k| step.estimated[k]).sum::<f64>();
        // Large steps are less exact, in proportion.
        let weight = 1.0 / step.grown.max(200.0);
        for (row, &a) in kinds.iter().enumerate() {
            for (column, &b) in kinds.iter().enumerate() {
                matrix[row][column] += step.estimated[a] * step.estimated[b] * weight;
            }
            matrix[row][n] += step.estimated[a] * rest * weight;
        }
    }
    for pivot in 0..n {
        for row in 0..n {
            if row != pivot && matrix[pivot][pivot] != 0.0 {
                let part = matrix[row][pivot] / matrix[pivot][pivot];
                let above = matrix[pivot].clone();
                for (cell, above) in matrix[row].iter_mut().zip(above) {
                    *cell -= part * above;
                }
            }
        }
    }
    (0..n).map(|i| matrix[i][n] / matrix[i][i]).collect()
}

/// The errors of all sessions.
#[derive(Default)]
struct Table(Vec<(&'static str, Vec<f64>)>);

impl Table {
    fn add(&mut self, rows: Vec<(&'static str, f64)>) {
        for (what, error) in rows {
            match self.0.iter_mut().find(|(known, _)| *known == what) {
                Some((_, errors)) => errors.push(error),
                None => self.0.push((what, vec![error])),
            }
        }
    }

    fn print(&self) {
        println!(
            "{:32}{:>9}{:>9}{:>9}{:>9}",
            "", "sessions", "median", "p90", "bias"
        );
        for (what, errors) in &self.0 {
            let mut sizes: Vec<f64> = errors.iter().map(|e| e.abs() * 100.0).collect();
            sizes.sort_by(f64::total_cmp);
            let at = |part: f64| sizes[((sizes.len() - 1) as f64 * part).round() as usize];
            let bias = errors.iter().sum::<f64>() / errors.len() as f64 * 100.0;
            let count = sizes.len();
            println!(
                "{what:32}{count:>9}{:>7.1} %{:>7.1} %{bias:>+7.1} %",
                at(0.5),
                at(0.9)
            );
        }
    }
}
