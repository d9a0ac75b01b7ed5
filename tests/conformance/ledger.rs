//! What the stand-in has streamed, kept beside the recording: a later run must know it to judge what is replayed.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};

/// The calls that followed each piece of thinking in its message.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct EntryWeights {
    /// By signature; the same thought may have been streamed in several messages.
    followers: BTreeMap<String, Vec<Vec<String>>>,
}

impl EntryWeights {
    pub(crate) fn load(path: &Path) -> Result<Self> {
        if path.exists() {
            Ok(serde_json::from_slice(&fs_err::read(path)?)?)
        } else {
            Ok(Self::default())
        }
    }

    pub(crate) fn save(&self, path: &Path) -> Result<()> {
        Ok(fs_err::write(path, serde_json::to_vec_pretty(self)?)?)
    }

    /// Notes that a message had thinking with these signatures before these calls.
    pub(crate) fn note(&mut self, signatures: &[String], calls: &[String]) {
        for signature in signatures {
            let known = self.followers.entry(signature.clone()).or_default();
            if !known.iter().any(|k| k == calls) {
                known.push(calls.to_vec());
            }
        }
    }

    /// Whether thinking with this signature may stand in a message with these calls.
    pub(crate) fn intact(&self, signature: &str, calls: &[&str]) -> bool {
        self.followers.get(signature).is_none_or(|lists| {
            lists
                .iter()
                .any(|list| list.iter().all(|id| calls.contains(&id.as_str())))
        })
    }

    /// Whether this call was streamed behind thinking.
    pub(crate) fn was_thought_about(&self, call: &str) -> bool {
        self.followers
            .values()
            .flatten()
            .flatten()
            .any(|id| id == call)
    }
}
