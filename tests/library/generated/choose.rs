//! Chooses recipes at random.

use std::sync::LazyLock;

use fastrand::Rng;

use super::recipe::{
    Answer, Call, End, Kept, Links, Note, Output, Prompt, Recipe, Step, TOOLS, Thinking,
};

/// Versions that link results to their own calls.
const NEW: [&str; 3] = ["2.1.156", "2.1.207", "2.1.325"];
/// Versions that chain results, or show only chained ones whole.
const OLD: [&str; 3] = ["2.0.50", "2.0.76", "2.1.45"];

impl Recipe {
    /// Chooses a session.
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let old = rng.u8(..4) == 0;
        let links = match rng.u8(..3) {
            _ if old => Links::Chained,
            0 => Links::OwnCallReversed,
            _ => Links::OwnCall,
        };
        let version = *choose(&mut rng, if old { &OLD } else { &NEW });
        let mut steps = Vec::new();
        for _ in 0..rng.usize(1..=6) {
            turn(&mut rng, &mut steps);
        }
        // Only some sessions have rare things, so that failures have few causes.
        for _ in 0..rng.usize(..if *OFTEN { 8 } else { 4 }) {
            let at = rng.usize(..=steps.len());
            steps.insert(at, rare(&mut rng));
        }
        let end = match rng.u8(..16) {
            0..=2 => End::Open,
            3 => End::Rewound,
            _ => End::Answered,
        };
        Self {
            version,
            links,
            split: rng.u8(..4) > 0,
            steps,
            end,
        }
    }
}

/// Whether `CCSURGERY_RARE` asks for many rare things.
static OFTEN: LazyLock<bool> = LazyLock::new(|| std::env::var_os("CCSURGERY_RARE").is_some());

/// Whether a rare thing happens, one time in so many.
fn rarely(rng: &mut Rng, one_in: u8) -> bool {
    rng.u8(..if *OFTEN { one_in.min(4) } else { one_in }) == 0
}

fn choose<'a, T>(rng: &mut Rng, all: &'a [T]) -> &'a T {
    &all[rng.usize(..all.len())]
}

fn turn(rng: &mut Rng, steps: &mut Vec<Step>) {
    steps.push(Step::Prompt(match rng.u8(..12) {
        0 => Prompt::Picture,
        1 => Prompt::Command,
        2 => Prompt::Pasted,
        _ => Prompt::Words,
    }));
    if rng.u8(..3) == 0 {
        let notes = [
            Note::Rendered,
            Note::RenderedBySystem,
            Note::Plain,
            Note::Hidden,
        ];
        steps.push(Step::Note(*choose(rng, &notes)));
    }
    for _ in 0..rng.usize(..3) {
        steps.push(Step::Answer(answer(rng, true)));
        match rng.u8(..12) {
            0 => steps.push(Step::Queued),
            1 => steps.push(Step::Notification),
            2 => steps.push(Step::Note(Note::Rendered)),
            3 => steps.push(Step::Note(Note::Hook)),
            _ => {}
        }
    }
    if rng.u8(..8) > 0 {
        steps.push(Step::Answer(answer(rng, false)));
    }
}

fn answer(rng: &mut Rng, calls: bool) -> Answer {
    let kinds = [
        Thinking::None,
        Thinking::Readable,
        Thinking::Empty,
        Thinking::Redacted,
    ];
    let count = if calls { rng.usize(1..=3) } else { 0 };
    let outputs = [
        Output::Short,
        Output::Short,
        Output::Long,
        Output::Error,
        Output::Image,
    ];
    let calls: Vec<Call> = (0..count)
        .map(|_| {
            let output = if rng.u8(..30) == 0 {
                Output::WithWords
            } else {
                *choose(rng, &outputs)
            };
            Call {
                tool: rng.usize(..TOOLS.len()),
                output,
            }
        })
        .collect();
    Answer {
        thinking: *choose(rng, &kinds),
        text: calls.is_empty() || rng.bool(),
        calls,
        logged: rarely(rng, 6),
        names_result: rarely(rng, 16),
        disturbed: rarely(rng, 30),
    }
}

fn rare(rng: &mut Rng) -> Step {
    let kept = [Kept::Nothing, Kept::Segment, Kept::Messages, Kept::LastTurn];
    match rng.u8(..17) {
        0 => Step::Interrupt,
        1 | 2 => Step::Rewind {
            turns: rng.usize(1..=2),
            named: rng.bool(),
        },
        3..=5 => Step::Compact(*choose(rng, &kept)),
        6 => Step::LocalCommand,
        7 => Step::Sidechain,
        8 => Step::Progress,
        9 => Step::Snapshot,
        10 => Step::Title,
        11 => Step::StaleLastPrompt,
        12 => Step::Duplicate,
        13 => Step::ChildFirst,
        14 => Step::ClockBack,
        15 => {
            let mut answer = answer(rng, true);
            if let Some(last) = answer.calls.last_mut() {
                last.output = Output::Missing;
            }
            Step::Answer(answer)
        }
        _ => Step::Queued,
    }
}
