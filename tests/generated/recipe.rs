//! What happens in a made-up session, step by step: chosen at random from a seed, and small enough to be reduced.

use fastrand::Rng;

/// How the results of one message's calls are linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// Each result follows its own call (clients from 2.1 on), so all but one are side branches.
    OwnCall,
    /// The same, and the results arrive in reverse order.
    OwnCallReversed,
    /// Each result follows the previous one (clients up to 2.0).
    Chained,
}

/// One call of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    /// Index into [`TOOLS`].
    pub(crate) tool: usize,
    pub(crate) output: Output,
}

/// What a call returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Short,
    Long,
    Error,
    Image,
    /// A short output, and a person's words in the same entry.
    WithWords,
    /// Nothing: the client was killed while the tool ran.
    Missing,
}

/// The thinking at the start of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thinking {
    None,
    Readable,
    /// An empty text with a signature, as newer clients store it.
    Empty,
    Redacted,
}

/// One message of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) thinking: Thinking,
    pub(crate) text: bool,
    pub(crate) calls: Vec<Call>,
    /// Whether a request log repeats the message.
    pub(crate) logged: bool,
    /// Whether a last prompt names the first of several results.
    pub(crate) names_result: bool,
    /// Whether a prompt arrives between two lines of the message.
    pub(crate) disturbed: bool,
}

/// What a person sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prompt {
    Words,
    /// Words with a picture.
    Picture,
    /// Words that look like a text of the client, marked as typed.
    Pasted,
    /// A slash command that the model answers.
    Command,
}

/// What a compaction keeps besides its summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Nothing,
    /// The last message, by its first and last line.
    Segment,
    /// The last message, by a list of its lines.
    Messages,
    /// The last turn: "summarize up to here".
    LastTurn,
}

/// A note that the client adds for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    Rendered,
    RenderedBySystem,
    Plain,
    /// Not shown to the model.
    Hidden,
    /// The report of a hook, which belongs to a call and is not shown either.
    Hook,
}

/// One step of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    Prompt(Prompt),
    Answer(Answer),
    /// The person stops the model.
    Interrupt,
    /// The conversation continues before an earlier prompt; `named` writes a last prompt for that place.
    Rewind {
        turns: usize,
        named: bool,
    },
    Compact(Kept),
    Note(Note),
    /// A prompt that was typed while the model worked.
    Queued,
    /// A background task reports its end.
    Notification,
    /// A command that the model does not answer, such as `/model`.
    LocalCommand,
    Sidechain,
    Progress,
    Snapshot,
    Title,
    /// A last prompt that names an ancestor of the leaf.
    StaleLastPrompt,
    /// The last entry is written twice.
    Duplicate,
    /// The last entry and its parent change places in the file.
    ChildFirst,
    /// The next entry has an earlier time than the last.
    ClockBack,
}

/// How a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// With an answer of the model.
    Answered,
    /// As the last step left it.
    Open,
    /// With an answer, and then the person goes back before the last prompt.
    Rewound,
}

/// A whole session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recipe {
    pub(crate) version: &'static str,
    pub(crate) links: Links,
    /// Whether every block is a line of its own.
    pub(crate) split: bool,
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
}

pub(crate) const TOOLS: [&str; 4] = ["Bash", "Read", "Edit", "mcp__db__query"];

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
        for _ in 0..rng.usize(..4) {
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

    /// Every session that is this one with one thing less.
    pub(crate) fn smaller(&self) -> Vec<Self> {
        let mut out = Vec::new();
        for n in 0..self.steps.len() {
            let mut less = self.clone();
            less.steps.remove(n);
            out.push(less);
        }
        for (n, step) in self.steps.iter().enumerate() {
            let Step::Answer(answer) = step else {
                continue;
            };
            let mut simpler = Vec::new();
            for call in 0..answer.calls.len() {
                let mut less = answer.clone();
                less.calls.remove(call);
                simpler.push(less);
                let mut less = answer.clone();
                less.calls[call].output = Output::Short;
                simpler.push(less);
            }
            let thinking = Thinking::None;
            simpler.extend([
                Answer { thinking, ..answer.clone() },
                Answer { text: false, ..answer.clone() },
                Answer { logged: false, ..answer.clone() },
                Answer { names_result: false, ..answer.clone() },
                Answer { disturbed: false, ..answer.clone() },
            ]);
            for answer in simpler {
                let mut less = self.clone();
                less.steps[n] = Step::Answer(answer);
                out.push(less);
            }
        }
        out.push(Self { end: End::Answered, ..self.clone() });
        out.push(Self { split: true, ..self.clone() });
        if self.links == Links::OwnCallReversed {
            out.push(Self { links: Links::OwnCall, ..self.clone() });
        }
        out.retain(|less| less != self);
        out
    }

    /// What is special about it, in words that [`KNOWN`](super::known::KNOWN) may ask for.
    pub(crate) fn features(&self) -> Vec<&'static str> {
        let mut out = Vec::new();
        for step in &self.steps {
            let feature = match step {
                Step::Answer(answer) => {
                    let has = |output| answer.calls.iter().any(|c| c.output == output);
                    out.extend(has(Output::Missing).then_some("killed"));
                    out.extend(has(Output::WithWords).then_some("words-beside-result"));
                    out.extend(answer.names_result.then_some("names-result"));
                    out.extend(answer.disturbed.then_some("disturbed"));
                    answer.logged.then_some("logged")
                }
                Step::Prompt(Prompt::Pasted) => Some("pasted"),
                Step::Prompt(Prompt::Command) => Some("command"),
                Step::Prompt(Prompt::Picture) => Some("picture"),
                Step::Rewind { .. } => Some("rewind"),
                Step::Compact(Kept::Nothing) => Some("compact"),
                Step::Compact(_) => Some("preserved"),
                Step::Note(_) => Some("note"),
                Step::Interrupt => Some("interrupt"),
                Step::Queued => Some("queued"),
                Step::Notification => Some("notification"),
                Step::LocalCommand => Some("local-command"),
                Step::Sidechain => Some("sidechain"),
                Step::Progress => Some("progress"),
                Step::StaleLastPrompt => Some("stale-last-prompt"),
                Step::Duplicate => Some("duplicate"),
                Step::ChildFirst => Some("child-first"),
                Step::ClockBack => Some("clock-back"),
                Step::Prompt(Prompt::Words) | Step::Snapshot | Step::Title => None,
            };
            out.extend(feature);
        }
        out.extend((self.end == End::Open).then_some("open"));
        out.extend((self.end == End::Rewound).then_some("rewound"));
        out.extend((!self.split).then_some("whole-lines"));
        out.sort_unstable();
        out.dedup();
        out
    }
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
        let notes = [Note::Rendered, Note::RenderedBySystem, Note::Plain, Note::Hidden];
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
    let kinds = [Thinking::None, Thinking::Readable, Thinking::Empty, Thinking::Redacted];
    let count = if calls { rng.usize(1..=3) } else { 0 };
    let outputs = [Output::Short, Output::Short, Output::Long, Output::Error, Output::Image];
    let calls: Vec<Call> = (0..count)
        .map(|_| {
            let output = if rng.u8(..30) == 0 { Output::WithWords } else { *choose(rng, &outputs) };
            Call { tool: rng.usize(..TOOLS.len()), output }
        })
        .collect();
    Answer {
        thinking: *choose(rng, &kinds),
        text: calls.is_empty() || rng.bool(),
        calls,
        logged: rng.u8(..6) == 0,
        names_result: rng.u8(..16) == 0,
        disturbed: rng.u8(..30) == 0,
    }
}

fn rare(rng: &mut Rng) -> Step {
    let kept = [Kept::Nothing, Kept::Segment, Kept::Messages, Kept::LastTurn];
    match rng.u8(..17) {
        0 => Step::Interrupt,
        1 | 2 => Step::Rewind { turns: rng.usize(1..=2), named: rng.bool() },
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
