//! Operations on made-up healthy sessions, judged by an independent model of what Claude Code shows the model.
//!
//! A fixed set of sessions is tried in every run. `CCSURGERY_SESSIONS=5000` tries that many others,
//! from `CCSURGERY_SEED` on if that is set; `CCSURGERY_OPERATIONS=1000000` does the same with the library in memory, which
//! is far faster, above all with `cargo test --release`. `CCSURGERY_DAMAGED` is the
//! number of damaged sessions. `CCSURGERY_RARE=1` makes rare things, such as prompts that arrive in the middle of an
//! answer, frequent; a seed then means another session. `CCSURGERY_FOUND=DIR` writes reduced examples of failures there.

mod choose;
mod compare;
mod conversation;
mod damaged;
mod entry;
mod found;
mod joins;
mod judge;
mod library;
mod message;
mod operation;
mod promise;
mod recipe;
mod reduce;
mod shown;
mod writer;

use std::collections::BTreeMap;

use fastrand::Rng;

use compare::Verdict;
use conversation::Conversation;
use judge::Judge;
use operation::Operation;
use recipe::Recipe;

/// How many sessions are tried in every run.
const SESSIONS: u64 = 150;

/// How many operations of the library are tried in every run, and how many on each session.
const OPERATIONS: u64 = 4000;
const OPERATIONS_EACH: u64 = 10;

/// How many of them follow each other.
const IN_SEQUENCE: u64 = 4;

/// How many failures of one kind are reduced for the report.
const EXAMPLES: usize = 5;

/// What is tried with one session.
#[derive(Debug, Clone)]
enum Trial {
    Session,
    Operation(Operation),
    Undo(Operation),
    /// Operations of the library in memory, each on what the one before it made.
    Library(Vec<Operation>),
}

impl Trial {
    fn command(&self) -> &'static str {
        match self {
            Self::Session => "",
            Self::Operation(operation) | Self::Undo(operation) => operation.name(),
            Self::Library(operations) => operations.last().map_or("", Operation::name),
        }
    }

    fn verdict(&self, judge: &Judge, recipe: &Recipe) -> Verdict {
        let text = writer::write(recipe);
        match self {
            Self::Session => judge.session(&text),
            Self::Operation(operation) => judge.operation(&text, operation),
            Self::Undo(operation) => judge.undo(&text, operation),
            Self::Library(operations) => library::sequence(&text, operations),
        }
    }
}

/// One failure, and what is needed to look into it.
struct Failure {
    seed: u64,
    trial: Trial,
    words: String,
    recipe: Recipe,
}

fn trials(seed: u64, recipe: &Recipe) -> Vec<Trial> {
    let mut rng = Rng::with_seed(seed ^ 0x5eed);
    let conversation = Conversation::new(&writer::write(recipe));
    let mut operation =
        || Operation::new(&mut rng, conversation.turns(), conversation.calls().len());
    let mut out = vec![
        Trial::Session,
        Trial::Operation(operation()),
        Trial::Operation(operation()),
    ];
    let last = operation();
    if seed.is_multiple_of(4) && last.keeps_ids() {
        out.push(Trial::Undo(last));
    }
    out
}

/// The kind of a failure: its words up to the first colon, or the finding of the doctor.
fn kind(words: &str) -> &str {
    let end = if words.starts_with("doctor") {
        '('
    } else {
        ':'
    };
    words.split(end).next().unwrap_or_default()
}

/// Removes from a recipe what the failure does not need.
fn reduce(judge: &Judge, failure: &Failure) -> (Recipe, String) {
    let (mut recipe, mut words) = (failure.recipe.clone(), failure.words.clone());
    'again: loop {
        for less in recipe.smaller() {
            if let Err(now) = failure.trial.verdict(judge, &less)
                && kind(&now) == kind(&failure.words)
            {
                (recipe, words) = (less, now);
                continue 'again;
            }
        }
        return (recipe, words);
    }
}

/// Tries some seeds, and returns the failures.
fn try_seeds(seeds: impl Iterator<Item = u64>) -> Vec<Failure> {
    let judge = Judge::new();
    let mut failures = Vec::new();
    for seed in seeds {
        let recipe = Recipe::new(seed);
        for trial in trials(seed, &recipe) {
            let Err(words) = trial.verdict(&judge, &recipe) else {
                continue;
            };
            failures.push(Failure {
                seed,
                trial,
                words,
                recipe: recipe.clone(),
            });
        }
    }
    failures
}

/// Tries operations of the library on the sessions of some seeds, and returns the failures. The first operations are each
/// tried on the session itself, the last ones one after the other.
fn try_library(seeds: impl Iterator<Item = u64>) -> Vec<Failure> {
    let mut failures = Vec::new();
    for seed in seeds {
        let recipe = Recipe::new(seed);
        let text = writer::write(&recipe);
        let before = Conversation::new(&text);
        let mut rng = Rng::with_seed(seed ^ 0x11b);
        let mut failed = |operations: Vec<Operation>, words: String| {
            failures.push(Failure {
                seed,
                trial: Trial::Library(operations),
                words,
                recipe: recipe.clone(),
            });
        };
        for _ in IN_SEQUENCE..OPERATIONS_EACH {
            let operation = Operation::new(&mut rng, before.turns(), before.calls().len());
            if let Err(words) = library::operation(&text, &before, &operation) {
                failed(vec![operation], words);
            }
        }
        let (mut text, mut done) = (text, Vec::new());
        for _ in 0..IN_SEQUENCE {
            let before = Conversation::new(&text);
            let operation = Operation::new(&mut rng, before.turns(), before.calls().len());
            done.push(operation.clone());
            match library::operation(&text, &before, &operation) {
                Ok(result) => text = result,
                Err(words) => {
                    failed(done, words);
                    break;
                }
            }
        }
    }
    failures
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The folder for reduced examples.
fn found_folder() -> Option<std::path::PathBuf> {
    std::env::var_os("CCSURGERY_FOUND").map(Into::into)
}

/// Reduces a few failures of each kind, writes them where that is asked for, and returns a list of them.
fn report(failures: &[Failure]) -> String {
    let judge = Judge::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut examples: BTreeMap<String, String> = BTreeMap::new();
    for failure in failures {
        let key = format!("{} {}", failure.trial.command(), kind(&failure.words));
        let count = counts.entry(key).or_default();
        *count += 1;
        if *count > EXAMPLES {
            continue;
        }
        let (recipe, words) = reduce(&judge, failure);
        let key = format!(
            "{} {} {:?}",
            failure.trial.command(),
            kind(&words),
            recipe.features()
        );
        let text = format!(
            "seed {}: {:?}\n{words}\nreduced to {recipe:?}\n",
            failure.seed, failure.trial
        );
        if let Some(folder) = found_folder() {
            let name: String = key
                .chars()
                .map(|c| if c.is_alphanumeric() { c } else { '-' })
                .collect();
            fs_err::write(folder.join(format!("{name}.jsonl")), writer::write(&recipe))
                .expect("an example");
        }
        examples.insert(key, text);
    }
    let counts = counts
        .iter()
        .map(|(key, count)| format!("{count:5} {key}\n"));
    let examples = examples
        .iter()
        .map(|(key, text)| format!("\n=== {key}\n{text}"));
    counts.chain(examples).collect()
}

/// Tries seeds on two threads: as many as an environment variable asks for, or the first few.
fn assert_no_failures(
    asked: Option<u64>,
    usual: u64,
    try_seeds: fn(&mut dyn Iterator<Item = u64>) -> Vec<Failure>,
) {
    let count = asked.unwrap_or(usual);
    let from = number("CCSURGERY_SEED").unwrap_or_else(|| {
        if asked.is_some() {
            fastrand::u64(..1 << 40)
        } else {
            0
        }
    });
    let failures = std::thread::scope(|scope| {
        let halves = [0, 1].map(|half| {
            scope.spawn(move || try_seeds(&mut (from..from + count).filter(move |s| s % 2 == half)))
        });
        halves
            .map(|h| h.join().expect("a thread"))
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
    });
    assert!(
        failures.is_empty(),
        "{} failures from seed {from} on\n{}",
        failures.len(),
        report(&failures)
    );
}

#[test]
fn operations_keep_their_promises_on_generated_sessions() {
    assert_no_failures(number("CCSURGERY_SESSIONS"), SESSIONS, |seeds| {
        try_seeds(seeds)
    });
}

#[test]
fn library_keeps_its_promises_on_generated_sessions() {
    let asked = number("CCSURGERY_OPERATIONS").map(|n| n.div_ceil(OPERATIONS_EACH));
    assert_no_failures(asked, OPERATIONS / OPERATIONS_EACH, |seeds| {
        try_library(seeds)
    });
}
