//! Holds a scenario's conversation with a client, and keeps what it wrote for later runs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::client::{self, VERSIONS};
use crate::folders;
use crate::job::{End, Job};
use crate::scenarios::{How, MakeUp, SUMMARY, Scenario, Step};
use crate::script::{Script, Turn};
use crate::view::{self, PayloadBlock};

/// Raised when recordings of an older suite are of no use any more.
const EDITION: u32 = 2;

/// The most tokens that the stand-in takes where nothing else is asked.
pub(crate) const LIMIT: usize = 200_000;

/// How often a scenario is recorded until its times tell its lines apart.
const ATTEMPTS: usize = 5;

/// The run that only looks at what a client makes of a session.
const PROBE: &str = "p";

/// A recorded session. Paths inside it are absolute, so it is always put back to where it was recorded to be used.
pub(crate) struct Recording {
    pub(crate) version: String,
    pub(crate) session: String,
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Note {
    edition: u32,
    session: String,
}

impl Recording {
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.home().join(".claude")
    }

    pub(crate) fn transcript(&self) -> PathBuf {
        self.config()
            .join("projects")
            .join(slug(&self.work()))
            .join(format!("{}.jsonl", self.session))
    }

    /// A file or folder of the suite's own, kept with the recording.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The request that carried a prompt when it was recorded; it shows the session as it was then.
    fn asked(&self, prompt: &str) -> PathBuf {
        self.folder
            .join(format!("asked {}.json", prompt.replace('/', " ")))
    }

    /// What the model was shown when this prompt was first asked.
    pub(crate) fn shown_at(&self, prompt: &str) -> Result<Vec<PayloadBlock>> {
        let body = serde_json::from_slice(&fs_err::read(self.asked(prompt))?)?;
        Ok(view::of(
            &body,
            &view::names(self, &self.session, &self.work()),
        ))
    }

    /// The recorded state, to which [`Recording::restore`] goes back.
    pub(crate) fn pristine(&self) -> PathBuf {
        self.folder.join("pristine")
    }

    /// Puts home and work folder back to the state in which they were recorded.
    pub(crate) fn restore(&self) -> Result<()> {
        for name in ["home", "work"] {
            folders::clear(&self.folder.join(name))?;
            folders::copy(&self.pristine().join(name), &self.folder.join(name))?;
        }
        fs_err::copy(
            self.pristine().join("ledger.json"),
            self.folder.join("ledger.json"),
        )?;
        Ok(())
    }

    /// The run in which a client of this version resumes a session with one prompt.
    pub(crate) fn resume(
        &self,
        version: &str,
        session: &str,
        work: &Path,
        turn: &Turn,
    ) -> Result<Job> {
        let args = vec!["--resume".to_owned(), session.to_owned()];
        let step = Step {
            how: How::Ask,
            turns: vec![turn.clone()],
            helpers: Vec::new(),
        };
        self.job(version, work, args, &step, PROBE)
    }

    fn job(
        &self,
        version: &str,
        work: &Path,
        mut args: Vec<String>,
        step: &Step,
        run: &str,
    ) -> Result<Job> {
        let typed = matches!(step.how, How::Typed | How::Queued(_));
        args.extend(["-p", "--dangerously-skip-permissions"].map(str::to_owned));
        if typed {
            let flags = [
                "--input-format",
                "stream-json",
                "--output-format",
                "stream-json",
                "--verbose",
            ];
            args.extend(flags.map(str::to_owned));
        } else {
            args.push(step.turns[0].prompt.clone());
        }
        let kill_at = match step.how {
            How::Killed(file) | How::Interrupted(file) => Some(work.join(file)),
            _ => None,
        };
        Ok(Job {
            program: client::program(version)?,
            args,
            home: self.home(),
            work: work.to_owned(),
            script: Script {
                turns: step.turns.iter().chain(&step.helpers).cloned().collect(),
                summary: SUMMARY.to_owned(),
            },
            ledger: self.folder.join("ledger.json"),
            log: self.folder.join("log"),
            run: run.to_owned(),
            limit: LIMIT,
            strict: false,
            seconds: if typed { 300 } else { 60 },
            kill_at,
            interrupts: matches!(step.how, How::Interrupted(_)),
            typed: if typed {
                step.turns.iter().map(|t| t.prompt.clone()).collect()
            } else {
                Vec::new()
            },
            type_at: match step.how {
                How::Queued(file) => Some(work.join(file)),
                _ => None,
            },
        })
    }
}

/// The name of a project's folder among the projects.
pub(crate) fn slug(work: &Path) -> String {
    work.to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect()
}

/// An id that looks random and is the same each time.
pub(crate) fn made_up_id(seed: &str) -> String {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Sha256::digest(seed)[..16]);
    uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string()
}

/// The recording of a scenario with a client, made on first use.
pub(crate) fn recording(version: &str, scenario: &Scenario) -> Result<Recording> {
    let folder = folders::recordings()?.join(version).join(scenario.name);
    let session = made_up_id(&format!("{version}/{}", scenario.name));
    let recording = Recording {
        version: version.to_owned(),
        session: session.clone(),
        folder,
    };
    let note_path = recording.folder.join("note.json");
    if let Ok(bytes) = fs_err::read(&note_path)
        && let Ok(note) = serde_json::from_slice::<Note>(&bytes)
        && note.edition == EDITION
    {
        return Ok(recording);
    }
    for attempt in 1..=ATTEMPTS {
        folders::clear(&recording.folder)?;
        fs_err::create_dir_all(recording.work())?;
        hold(&recording, scenario)
            .with_context(|| format!("recording {} with {version}", scenario.name))?;
        if attempt == ATTEMPTS || !is_blurred(&recording)? {
            break;
        }
    }
    for name in ["home", "work"] {
        folders::copy(
            &recording.folder.join(name),
            &recording.pristine().join(name),
        )?;
    }
    fs_err::copy(
        recording.folder.join("ledger.json"),
        recording.pristine().join("ledger.json"),
    )?;
    let note = Note {
        edition: EDITION,
        session,
    };
    fs_err::write(&note_path, serde_json::to_vec_pretty(&note)?)?;
    Ok(recording)
}

/// Whether two lines of one answer have the same time. On a busy machine what the stand-in says bit by bit reaches the
/// client at once, and one that goes by the newest time then leaves out the end of its own session.
fn is_blurred(recording: &Recording) -> Result<bool> {
    if client::number(&recording.version) >= client::number("2.1.156") {
        return Ok(false);
    }
    let mut last = Value::Null;
    for line in fs_err::read_to_string(recording.transcript())?.lines() {
        let entry: Value = serde_json::from_str(line)?;
        let same = |field: &str| !entry[field].is_null() && entry[field] == last[field];
        if entry["type"] == "assistant" && same("type") && same("timestamp") {
            return Ok(true);
        }
        last = entry;
    }
    Ok(false)
}

fn hold(recording: &Recording, scenario: &Scenario) -> Result<()> {
    let work = recording.work();
    for (i, step) in scenario.steps(&work)?.iter().enumerate() {
        if let How::MadeUp { make_up, .. } = step.how {
            rewrite(&recording.transcript(), make_up)?;
            continue;
        }
        let mut args = if i == 0 {
            vec!["--session-id".to_owned(), recording.session.clone()]
        } else {
            vec!["--resume".to_owned(), recording.session.clone()]
        };
        if let How::Rewound(prompt) = step.how {
            let answer = last_answer(&recording.transcript(), prompt)?;
            // Older clients name the message, newer ones the entry.
            let old = client::number(&recording.version) < client::number("2.0.50");
            let id = if old {
                &answer["message"]["id"]
            } else {
                &answer["uuid"]
            };
            args.extend(
                ["--resume-session-at", id.as_str().unwrap_or_default()].map(str::to_owned),
            );
        }
        let version = if matches!(step.how, How::Older) {
            VERSIONS[0]
        } else {
            &recording.version
        };
        let outcome = client::run(&recording.job(version, &work, args, step, &format!("r{i}"))?)?;
        if let [turn] = &step.turns[..]
            && let Some(body) = view::request(&outcome, &turn.prompt)
        {
            fs_err::write(recording.asked(&turn.prompt), serde_json::to_vec(body)?)?;
        }
        let expected = matches!(
            (&step.how, &outcome.end),
            (How::Killed(_), End::Killed)
                | (How::Interrupted(_), End::Code(_))
                | (
                    How::Ask | How::Typed | How::Older | How::Rewound(_) | How::Queued(_),
                    End::Code(0)
                )
        );
        let faults = outcome.faults();
        if !expected || !faults.is_empty() {
            bail!(
                "step {i}: {:?}, refused: {faults:?}, {}",
                outcome.end,
                outcome.output
            );
        }
    }
    anyhow::ensure!(
        recording.transcript().exists(),
        "no transcript at {}",
        recording.transcript().display()
    );
    Ok(())
}

/// Writes a transcript anew with other entries.
fn rewrite(transcript: &Path, make_up: MakeUp) -> Result<()> {
    let text = fs_err::read_to_string(transcript)?;
    let entries: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    let mut entries = entries?;
    make_up(&mut entries)?;
    let lines: Vec<String> = entries.iter().map(Value::to_string).collect();
    Ok(fs_err::write(transcript, lines.join("\n") + "\n")?)
}

/// The last entry of the model's before the prompt that follows this one.
fn last_answer(transcript: &Path, prompt: &str) -> Result<Value> {
    let mut found = None;
    let mut inside = false;
    for line in fs_err::read_to_string(transcript)?.lines() {
        let entry: Value = serde_json::from_str(line)?;
        let content = &entry["message"]["content"];
        if entry["type"] == "user" && (content.is_string() || content[0]["type"] == "text") {
            inside = content == prompt || content[0]["text"] == prompt;
        } else if inside && entry["type"] == "assistant" {
            found = Some(entry);
        }
    }
    found.with_context(|| format!("no answer to {prompt:?}"))
}
