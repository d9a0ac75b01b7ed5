//! One run of a client: what is asked of it, and what came of it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::script::Script;

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<String>,
    pub(crate) home: PathBuf,
    pub(crate) work: PathBuf,
    pub(crate) script: Script,
    /// What the stand-in knows of the session from earlier runs.
    pub(crate) ledger: PathBuf,
    /// Where requests, output and outcome go.
    pub(crate) log: PathBuf,
    /// Makes message ids of this run differ from those of other runs of the session.
    pub(crate) run: String,
    /// The most tokens that a request may have.
    pub(crate) limit: usize,
    /// Whether earlier messages are held to the rules of the latest.
    pub(crate) strict: bool,
    pub(crate) seconds: u64,
    /// Kills the client shortly after this file appears.
    pub(crate) kill_at: Option<PathBuf>,
    /// Interrupts it instead, and waits for it to end.
    #[serde(default)]
    pub(crate) interrupts: bool,
    /// Prompts to be typed one after the other, each when the one before is answered.
    pub(crate) typed: Vec<String>,
    /// The last of them is typed when this file appears, while the one before is answered.
    #[serde(default)]
    pub(crate) type_at: Option<PathBuf>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum End {
    Code(i32),
    Killed,
    TimedOut,
}

/// A request that the client sent.
#[derive(Deserialize)]
pub(crate) struct Sent {
    pub(crate) path: String,
    pub(crate) faults: Vec<String>,
    pub(crate) body: Value,
}

pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) output: String,
    pub(crate) requests: Vec<Sent>,
}

impl Outcome {
    pub(crate) fn read(log: &Path) -> Result<Self> {
        let mut requests = Vec::new();
        for file in crate::folders::files(log)? {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            if name.bytes().all(|b| b.is_ascii_digit())
                && file.extension().is_some_and(|e| e == "json")
            {
                requests.push(serde_json::from_slice(&fs_err::read(&file)?)?);
            }
        }
        let output = String::from_utf8_lossy(&fs_err::read(log.join("output"))?).into_owned();
        Ok(Self {
            end: serde_json::from_slice(&fs_err::read(log.join("end.json"))?)?,
            output,
            requests,
        })
    }

    /// What the stand-in refused.
    pub(crate) fn faults(&self) -> Vec<&str> {
        self.requests
            .iter()
            .flat_map(|r| &r.faults)
            .map(String::as_str)
            .collect()
    }
}
