//! What happens in a made-up session, step by step: chosen at random from a seed, and small enough to be reduced.

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

impl Recipe {
    /// What is special about it, in words.
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
                Step::Compact(Kept::LastTurn) => {
                    out.push("preserved-turn");
                    Some("preserved")
                }
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
