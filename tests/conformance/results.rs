//! What cells came to, kept between runs so that a long one can be taken up again.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::cells::Verdict;
use crate::folders;

/// A cell's name: the client that recorded, the one that resumed, scenario, operation with its form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Key {
    pub(crate) version: String,
    pub(crate) by: String,
    pub(crate) scenario: String,
    pub(crate) operation: String,
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let by = if self.by == self.version {
            String::new()
        } else {
            format!(">{}", self.by)
        };
        write!(
            f,
            "{}{by} {} {}",
            self.version, self.scenario, self.operation
        )
    }
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) key: Key,
    /// The program that was judged.
    program: String,
    pub(crate) passed: bool,
    pub(crate) skipped: bool,
    pub(crate) why: String,
    /// Faults of the client's own, seen with the untouched session.
    #[serde(default)]
    pub(crate) asides: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Results {
    pub(crate) cells: BTreeMap<Key, Kept>,
    program: String,
}

impl Results {
    /// The results so far, of which those of another program count for nothing.
    pub(crate) fn load(program: &str) -> Result<Self> {
        let path = folders::recordings()?.join("results.json");
        let kept: Vec<Kept> = if path.exists() {
            serde_json::from_slice(&fs_err::read(path)?)?
        } else {
            Vec::new()
        };
        let cells = kept.into_iter().map(|k| (k.key.clone(), k)).collect();
        Ok(Self {
            cells,
            program: program.to_owned(),
        })
    }

    /// Whether a cell need not be judged again.
    pub(crate) fn settled(&self, key: &Key) -> bool {
        self.cells
            .get(key)
            .is_some_and(|k| k.program == self.program && k.passed)
    }

    /// What was found with this program.
    pub(crate) fn current(&self) -> impl Iterator<Item = &Kept> {
        self.cells.values().filter(|k| k.program == self.program)
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "nothing of a user's is published here"
    )]
    pub(crate) fn note(&mut self, key: Key, verdict: &Verdict, asides: Vec<String>) -> Result<()> {
        let (passed, skipped, why) = match verdict {
            Verdict::Passed => (true, false, String::new()),
            Verdict::Failed(why) => (false, false, why.clone()),
            Verdict::Skipped(why) => (false, true, why.clone()),
        };
        self.cells.insert(
            key.clone(),
            Kept {
                key,
                program: self.program.clone(),
                passed,
                skipped,
                why,
                asides,
            },
        );
        let all: Vec<&Kept> = self.cells.values().collect();
        // In one step, for a run may be broken off at any time.
        let path = folders::recordings()?.join("results.json");
        let next = path.with_extension("new");
        fs_err::write(&next, serde_json::to_vec_pretty(&all)?)?;
        Ok(fs_err::rename(next, path)?)
    }
}
