//! The matrix: which cells there are, and the run through them.

use std::sync::Mutex;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::budget;
use crate::case::Case;
use crate::cells::{Form, Verdict};
use crate::client::{self, VERSIONS};
use crate::interactive;
use crate::repairs::INJURIES;
use crate::results::{Key, Results};
use crate::scenarios::{SCENARIOS, Scenario, scenario};
use crate::tasks::Task;

/// The cell in which a clone is chosen from the interactive client's list, and rewound.
pub(crate) const TYPED: &str = "picker-and-rewind";

/// Scenarios that old sessions are also resumed with in the newest client.
const CARRIED: &[&str] = &["basic", "edits", "compacted"];

/// Scenarios of the slice; with them every operation has an occasion.
const SLICE: &[&str] = &["basic", "compacted", "big"];

/// Of repairs, the slice holds every so manieth.
const REPAIRS: usize = 6;

/// Whether the slice holds a cell. Every operation is in it in every form, and each form where it says most.
fn in_slice(scenario: &str, task: Task) -> bool {
    if let Task::Repair(injury) = task {
        let at = INJURIES.iter().position(|i| std::ptr::eq(i, injury));
        return at.is_some_and(|at| at % REPAIRS == 0);
    }
    match scenario {
        "big" => matches!(task.column(), "drop-tools-stub" | budget::NAME),
        "compacted" => task.form() == Form::New || task.column() == "truncate-early",
        _ => true,
    }
}

/// A recorded session, the client that resumes it, and what is done to it.
struct Row {
    version: &'static str,
    by: &'static str,
    scenario: &'static Scenario,
    cells: Vec<Task>,
}

/// What a run is narrowed to, each kind of name where any of it is given.
struct Only<'a> {
    versions: Vec<&'a str>,
    scenarios: Vec<&'a str>,
    operations: Vec<&'a str>,
    forms: Vec<&'a str>,
}

impl<'a> Only<'a> {
    fn new(named: &[&'a str]) -> Result<Self> {
        let of = |known: &dyn Fn(&str) -> bool| -> Vec<&'a str> {
            named.iter().copied().filter(|n| known(n)).collect()
        };
        let only = Self {
            versions: of(&|n| VERSIONS.contains(&n)),
            scenarios: of(&|n| scenario(n).is_some()),
            operations: of(&|n| tasks().any(|t| t.column() == n || t.name() == n)),
            forms: of(&|n| Form::ALL.iter().any(|f| f.name() == n)),
        };
        let lists = [
            &only.versions,
            &only.scenarios,
            &only.operations,
            &only.forms,
        ];
        if lists.iter().map(|l| l.len()).sum::<usize>() < named.len() {
            bail!(
                "no version, scenario or operation has one of these names: {}",
                named.join(" ")
            );
        }
        Ok(only)
    }

    fn allows(names: &[&str], name: &str) -> bool {
        names.is_empty() || names.contains(&name)
    }

    fn narrow(&self, rows: &mut Vec<Row>) {
        rows.retain_mut(|row| {
            row.cells.retain(|t| {
                let named = Self::allows(&self.operations, t.column())
                    || Self::allows(&self.operations, &t.name());
                named && Self::allows(&self.forms, t.form().name())
            });
            Self::allows(&self.versions, row.version)
                && Self::allows(&self.scenarios, row.scenario.name)
                && !row.cells.is_empty()
        });
    }
}

fn newest() -> &'static str {
    VERSIONS[VERSIONS.len() - 1]
}

fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    for version in VERSIONS {
        for scenario in SCENARIOS {
            if client::number(version) < client::number(scenario.since) {
                continue;
            }
            let row = |by| Row {
                version,
                by,
                scenario,
                cells: Task::all(scenario.name, by == *version).collect(),
            };
            rows.push(row(version));
            if *version != newest() && CARRIED.contains(&scenario.name) {
                rows.push(row(newest()));
            }
        }
    }
    rows
}

/// How many cells the whole matrix has.
pub(crate) fn size() -> usize {
    all().iter().map(|r| r.cells.len()).sum::<usize>() + 1
}

fn slice() -> Vec<Row> {
    let versions = [VERSIONS[0], VERSIONS[VERSIONS.len() / 2], newest()];
    let mut rows = all();
    rows.retain(|r| {
        r.version == r.by && versions.contains(&r.version) && SLICE.contains(&r.scenario.name)
    });
    for row in &mut rows {
        row.cells.retain(|task| in_slice(row.scenario.name, *task));
    }
    rows
}

/// Runs the whole matrix, or the slice of it; what has passed with this program already is not run again.
///
/// Where versions, scenarios or operations are named, others are left out.
pub(crate) fn run(whole: bool, program: &str, named: &[&str]) -> Result<()> {
    let mut rows = if whole { all() } else { slice() };
    Only::new(named)?.narrow(&mut rows);
    let total = rows.iter().map(|r| r.cells.len()).sum::<usize>() + usize::from(named.is_empty());
    let state = Mutex::new(Tally {
        results: Results::load(program)?,
        done: 0,
        total,
        passed: 0,
        failed: 0,
        skipped: 0,
    });
    // Rows of one recording use the same folders, so they go one after the other.
    let groups = rows.chunk_by(|a, b| a.version == b.version && a.scenario.name == b.scenario.name);
    let queue = Mutex::new(groups);
    let jobs = std::env::var("CCSURGERY_JOBS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(2);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let Some(group) = queue.lock().unwrap().next() else {
                        return;
                    };
                    for row in group {
                        run_row(row, &state);
                    }
                }
            });
        }
    });
    let mut tally = state.into_inner().unwrap();
    if named.is_empty() {
        tally.type_into(newest());
    }
    tally.end()
}

struct Tally {
    results: Results,
    done: usize,
    total: usize,
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Tally {
    /// Says what it came to.
    fn end(&self) -> Result<()> {
        println!(
            "{} passed, {} failed, {} skipped",
            self.passed, self.failed, self.skipped
        );
        if self.failed > 0 {
            bail!("{} cells failed", self.failed);
        }
        Ok(())
    }

    /// Judges the cell of the interactive client.
    fn type_into(&mut self, version: &str) {
        let key = Key {
            version: version.to_owned(),
            by: version.to_owned(),
            scenario: "typed".to_owned(),
            operation: TYPED.to_owned(),
        };
        let began = Instant::now();
        let (verdict, asides) = if self.results.settled(&key) {
            (Verdict::Passed, None)
        } else {
            let verdict = interactive::judge(version);
            let known = !matches!(verdict, Verdict::Skipped(_));
            (verdict, known.then(Vec::new))
        };
        self.note(key, &verdict, asides, began.elapsed().as_secs_f64());
    }

    fn note(&mut self, key: Key, verdict: &Verdict, asides: Option<Vec<String>>, seconds: f64) {
        self.done += 1;
        let place = format!("[{}/{}] {key}", self.done, self.total);
        match verdict {
            Verdict::Passed => {
                self.passed += 1;
                println!("{place}: passed ({seconds:.1} s)");
            }
            Verdict::Failed(why) => {
                self.failed += 1;
                println!("{place}: FAILED {why}");
            }
            Verdict::Skipped(why) => {
                self.skipped += 1;
                println!("{place}: skipped, {why}");
            }
        }
        // Without a client at hand, what is known of the cell already stands.
        if let Some(asides) = asides
            && let Err(error) = self.results.note(key, verdict, asides)
        {
            eprintln!("results could not be kept: {error:#}");
        }
    }
}

fn run_row(row: &Row, state: &Mutex<Tally>) {
    let mut case = None;
    for &task in &row.cells {
        let key = Key {
            version: row.version.to_owned(),
            by: row.by.to_owned(),
            scenario: row.scenario.name.to_owned(),
            operation: task.name(),
        };
        let began = Instant::now();
        let settled = state.lock().unwrap().results.settled(&key);
        let (verdict, asides) = if settled {
            (Verdict::Passed, None)
        } else {
            match case.get_or_insert_with(|| open(row)) {
                Ok(case) => {
                    let verdict = task.judge(case, false);
                    let own = task.column() == "untouched";
                    (
                        verdict,
                        Some(if own { case.own_faults() } else { Vec::new() }),
                    )
                }
                Err(verdict @ Verdict::Skipped(_)) => (verdict.clone(), None),
                Err(verdict) => (verdict.clone(), Some(Vec::new())),
            }
        };
        state
            .lock()
            .unwrap()
            .note(key, &verdict, asides, began.elapsed().as_secs_f64());
    }
}

/// Nobody can be asked where the client is not to be had; all else that goes wrong is a fault.
fn open(row: &Row) -> Result<Case, Verdict> {
    for version in [row.version, row.by] {
        client::program(version).map_err(|e| Verdict::Skipped(format!("{e:#}")))?;
    }
    Case::new(row.version, row.scenario, row.by).map_err(|e| Verdict::Failed(format!("{e:#}")))
}

/// Judges the cell of the interactive client alone.
pub(crate) fn typed(version: &str, program: &str) -> Result<()> {
    let mut tally = Tally {
        results: Results::load(program)?,
        done: 0,
        total: 1,
        passed: 0,
        failed: 0,
        skipped: 0,
    };
    tally.type_into(version);
    tally.end()
}

/// Judges one cell and prints what the model is shown; `version` may be `recorded>resumed`.
pub(crate) fn one(version: &str, name: &str, operation: &str) -> Result<()> {
    let scenario = scenario(name).with_context(|| format!("no scenario {name}"))?;
    let task = tasks()
        .find(|t| t.name() == operation)
        .with_context(|| format!("no operation {operation}"))?;
    let (version, by) = version.split_once('>').unwrap_or((version, version));
    match task.judge(&Case::new(version, scenario, by)?, true) {
        Verdict::Passed => println!("1 passed, 0 failed, 0 skipped"),
        Verdict::Failed(why) => bail!("{why}\n0 passed, 1 failed, 0 skipped"),
        Verdict::Skipped(why) => println!("{why}\n0 passed, 0 failed, 1 skipped"),
    }
    Ok(())
}

/// Every task of any scenario.
fn tasks() -> impl Iterator<Item = Task> {
    SCENARIOS.iter().flat_map(|s| Task::all(s.name, true))
}
