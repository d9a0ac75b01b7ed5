//! One recorded session as the matrix uses it: its turns, what the client shows of it untouched, what was called.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::agents;
use crate::client;
use crate::joins;
use crate::record::{self, LIMIT, Recording};
use crate::scenarios::{How, Scenario};
use crate::script::{Turn, text, turn};
use crate::seen;
use crate::view::{self, PayloadBlock};

/// What is asked to see what a client makes of a session.
pub(crate) const PROBE: &str = "what now?";

pub(crate) struct Case {
    pub(crate) scenario: &'static Scenario,
    pub(crate) recording: Recording,
    /// The client that resumes.
    pub(crate) by: String,
    /// Prompts along the live path.
    pub(crate) prompts: Vec<String>,
    /// How many of them lie before the last compaction.
    pub(crate) compacted: usize,
    /// How many of them a summary hides or keeps; between those that it keeps nothing can be inserted.
    pub(crate) summarized: usize,
    /// Calls of each message that has any, with their tools' names.
    pub(crate) calls: Vec<Vec<(String, String)>>,
    /// Those that the model should be shown, by turn.
    live: Vec<(usize, String)>,
    /// The calls of the last turn, where the client was killed before it ended.
    pub(crate) awaited: Vec<String>,
    /// All that the model said.
    said: Vec<String>,
    /// What of that the model should be shown, by turn.
    live_words: Vec<(usize, String)>,
    pub(crate) untouched: Seen,
    /// Whether what the client showed before is taken for what it would show now.
    remembers: bool,
    /// Whether some of that was so taken.
    recalled: Cell<bool>,
}

/// What a client showed the model, and what the stand-in said to it.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Seen {
    pub(crate) shown: Vec<PayloadBlock>,
    pub(crate) faults: Vec<String>,
}

impl Case {
    /// Records the scenario if need be, and asks the client for its view of it.
    pub(crate) fn new(version: &str, scenario: &'static Scenario, by: &str) -> Result<Self> {
        Self::open(version, scenario, by, true)
    }

    /// The same case with nothing remembered.
    pub(crate) fn afresh(&self) -> Result<Self> {
        Self::open(&self.recording.version, self.scenario, &self.by, false)
    }

    /// Whether anything that the client showed before was taken for what it would show now.
    pub(crate) fn has_recalled(&self) -> bool {
        self.recalled.get()
    }

    fn open(version: &str, scenario: &'static Scenario, by: &str, remembers: bool) -> Result<Self> {
        let recording = record::recording(version, scenario)?;
        let mut case = Self {
            scenario,
            by: by.to_owned(),
            prompts: Vec::new(),
            compacted: 0,
            summarized: 0,
            calls: Vec::new(),
            live: Vec::new(),
            awaited: Vec::new(),
            said: Vec::new(),
            live_words: Vec::new(),
            untouched: Seen::default(),
            remembers,
            recalled: Cell::new(false),
            recording,
        };
        case.lay_out(scenario)?;
        case.recording.restore()?;
        case.untouched = case.look(&case.recording.session, &case.recording.work())?;
        Ok(case)
    }

    fn lay_out(&mut self, scenario: &Scenario) -> Result<()> {
        self.recording.restore()?;
        for step in scenario.steps(&self.recording.work())? {
            if let How::Rewound(prompt) = step.how {
                let at = self
                    .prompts
                    .iter()
                    .position(|p| p == prompt)
                    .context("rewound to no turn")?;
                self.prompts.truncate(at + 1);
                self.live.retain(|(turn, _)| *turn <= at + 1);
                self.live_words.retain(|(turn, _)| *turn <= at + 1);
            }
            if let How::MadeUp { hides, .. } = step.how {
                if hides > 0 {
                    (self.compacted, self.summarized) = (hides, self.prompts.len());
                }
                self.live.retain(|(turn, _)| *turn > hides);
                self.live_words.retain(|(turn, _)| *turn > hides);
            }
            let mut turns = step.turns;
            if let How::Queued(_) = step.how {
                // Some clients hand it to the model and write nothing of it down.
                turns.retain(|turn| joins::mentions(&self.recording, &turn.prompt));
            }
            for turn in turns {
                if turn.prompt == "/compact" {
                    self.compacted = self.prompts.len();
                    self.live.clear();
                    self.live_words.clear();
                    continue;
                }
                let calls: Vec<Vec<_>> = turn.answers.iter().map(|blocks| calls(blocks)).collect();
                self.prompts.push(turn.prompt);
                let blocks = turn.answers.iter().flatten();
                let texts = blocks.filter_map(|b| Some(b["text"].as_str()?.to_owned()));
                let texts: Vec<String> = texts.collect();
                let number = self.prompts.len();
                self.live_words
                    .extend(texts.iter().map(|t| (number, t.clone())));
                self.said.extend(texts);
                let ids = calls.iter().flatten().map(|(id, _)| id.clone());
                match step.how {
                    How::Killed(_) => self.awaited.extend(ids),
                    // Older clients leave calls out that were interrupted.
                    How::Interrupted(_) => {}
                    _ => self.live.extend(ids.map(|id| (self.prompts.len(), id))),
                }
                self.calls.extend(calls);
            }
        }
        self.calls.retain(|calls| !calls.is_empty());
        self.recording.restore()
    }

    /// What the model is shown of a session: by the client, or as remembered where it was asked about these very bytes.
    pub(crate) fn look(&self, session: &str, work: &Path) -> Result<Seen> {
        self.view("", session, work, LIMIT, true)
    }

    /// What the model is shown of a session by an API that takes so many tokens, and holds only the latest message to
    /// the rules for it, as the real one does.
    pub(crate) fn look_within(&self, limit: usize, session: &str, work: &Path) -> Result<Seen> {
        let by = format!(" within {limit}");
        self.view(&by, session, work, limit, false)
    }

    /// What the client shows when it is asked about the same bytes a second time.
    pub(crate) fn look_again(&self, session: &str, work: &Path) -> Result<Seen> {
        self.view(" again", session, work, LIMIT, true)
    }

    fn view(
        &self,
        what: &str,
        session: &str,
        work: &Path,
        limit: usize,
        strict: bool,
    ) -> Result<Seen> {
        let mut seen: Seen = self.remembered(what, session, work, || {
            self.resume(session, work, limit, strict)
        })?;
        agents::rename(&self.recording, session, work, &mut seen.shown)?;
        Ok(seen)
    }

    /// What `ask` came to when the session was last in this state, else what it comes to now.
    pub(crate) fn remembered<T: Serialize + DeserializeOwned>(
        &self,
        what: &str,
        session: &str,
        work: &Path,
        ask: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let by = format!("{}{what}", self.by);
        let place = seen::place(&self.recording, &by, session, work)?;
        if self.remembers
            && let Some(seen) = seen::recall(&place)
        {
            self.recalled.set(true);
            return Ok(seen);
        }
        let seen = ask()?;
        seen::keep(&place, &seen)?;
        Ok(seen)
    }

    /// Resumes a session with the probe, and tells what the model was shown.
    fn resume(&self, session: &str, work: &Path, limit: usize, strict: bool) -> Result<Seen> {
        let probe: Turn = turn(PROBE, vec![vec![text("Noted.")]]);
        let mut job = self.recording.resume(&self.by, session, work, &probe)?;
        (job.limit, job.strict) = (limit, strict);
        let outcome = client::run(&job)?;
        let body = view::request(&outcome, PROBE).with_context(|| {
            format!(
                "the client sent no prompt: {:?} {}",
                outcome.end,
                outcome.output.trim()
            )
        })?;
        let mut names = view::names(&self.recording, session, work);
        names.extend(view::names(
            &self.recording,
            &self.recording.session,
            &self.recording.work(),
        ));
        let faults = outcome.faults().into_iter().map(str::to_owned).collect();
        Ok(Seen {
            shown: view::of(body, &names),
            faults,
        })
    }

    /// What the client does wrong with the untouched session already.
    pub(crate) fn own_faults(&self) -> Vec<String> {
        let mut found = Vec::new();
        if self.lost().next().is_some() {
            found.push(format!(
                "client {} loses some of several parallel calls from sessions that nobody touched",
                self.by
            ));
        }
        if self.scenario.name == "rewound" && self.lost_words().next().is_some() {
            found.push(format!(
                "client {} leaves out the end of the answer at which a session was rewound",
                self.by
            ));
        }
        let faults = &self.untouched.faults;
        if faults.iter().any(|f| f.contains("`thinking`")) {
            found.push(format!(
                "client {} sends thinking without the calls that it lost or left out, from sessions that nobody touched; the \
                 stand-in, which holds all messages to the rule for the latest, refuses",
                self.by
            ));
        } else if let Some(fault) = faults.first() {
            found.push(format!(
                "client {}'s request from a session that nobody touched is refused: {fault}",
                self.by
            ));
        }
        found
    }

    /// Whether the client made up a text for a person or the model, as it does at the end of an unfinished turn.
    pub(crate) fn is_filler(&self, shown: &PayloadBlock) -> bool {
        let among = |list: &[String], text: &str| list.iter().any(|s| s == text.trim());
        shown.text().is_some_and(|text| match shown.role.as_str() {
            "assistant" => !among(&self.said, text),
            _ => !among(&self.prompts, text) && text != PROBE && !shown.is_reminder(),
        })
    }

    /// Whether a block is a call of an unfinished last turn, or its result.
    pub(crate) fn is_awaited(&self, shown: &PayloadBlock) -> bool {
        let call = shown.call();
        self.awaited.iter().any(|id| call == Some(id))
    }

    /// Calls that the client loses by itself, with their tools' names.
    pub(crate) fn lost(&self) -> impl Iterator<Item = &(String, String)> {
        let is_live = |id: &str| self.live.iter().any(|(_, live)| live == id);
        let is_shown = |id: &str| self.untouched.shown.iter().any(|s| s.block["id"] == id);
        let all = self.calls.iter().flatten();
        all.filter(move |(id, _)| is_live(id) && !is_shown(id))
    }

    /// Words of answers that the client leaves out by itself.
    pub(crate) fn lost_words(&self) -> impl Iterator<Item = &str> {
        let is_shown = |text: &str| self.untouched.shown.iter().any(|s| s.text() == Some(text));
        let all = self.live_words.iter().map(|(_, text)| text.as_str());
        all.filter(move |text| !is_shown(text))
    }

    /// Where the probe begins in a view; reminders right before it came with it.
    pub(crate) fn probe_at(shown: &[PayloadBlock]) -> usize {
        let mut at = shown
            .iter()
            .rposition(|s| s.text() == Some(PROBE))
            .unwrap_or(shown.len());
        while at > 0 && shown[at - 1].role == "user" && shown[at - 1].is_reminder() {
            at -= 1;
        }
        at
    }

    /// Where a turn's prompt stands in a view.
    pub(crate) fn turn_at(&self, shown: &[PayloadBlock], turn: usize) -> Option<usize> {
        let prompt = self.prompts.get(turn - 1)?;
        shown
            .iter()
            .position(|s| s.role == "user" && s.text().map(str::trim) == Some(prompt))
    }

    pub(crate) fn plan_path(&self) -> PathBuf {
        self.recording.file("plan.toml")
    }
}

/// The calls among blocks, with their tools' names.
fn calls(blocks: &[serde_json::Value]) -> Vec<(String, String)> {
    let field = |b: &serde_json::Value, name: &str| b[name].as_str().unwrap_or_default().to_owned();
    let calls = blocks.iter().filter(|b| b["type"] == "tool_use");
    calls.map(|b| (field(b, "id"), field(b, "name"))).collect()
}
