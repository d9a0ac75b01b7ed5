//! What is reported of a redaction: kinds, places and numbers, never a value.

mod document;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::secrets::{Source, rotation};
use crate::store::{Found, RedactTarget};

use super::super::super::context::Context;
use super::Hunt;
use super::in_place::Elsewhere;
use document::Extent;
pub(super) use text::short;

/// What was written.
pub(super) struct Done {
    /// How many files were replaced.
    pub(super) files: usize,
    /// How many records of the journal were cleaned or forgotten.
    pub(super) forgotten: usize,
    /// Sessions that were left out because Claude Code has them open.
    pub(super) live: Vec<String>,
    /// Whether the old bytes are kept.
    pub(super) is_kept: bool,
}

/// A secret, without its value.
#[derive(Serialize)]
struct Secret {
    placeholder: String,
    kind: String,
    description: String,
    found_by: &'static str,
    begins_with: String,
    length: usize,
    fingerprint: String,
    count: usize,
    /// How many of these are numbers of JSON, which become 0.
    #[serde(skip_serializing_if = "is_zero")]
    numbers: usize,
    rotate: &'static str,
    places: Vec<Place>,
}

/// What only might be a secret.
#[derive(Serialize)]
struct Suggestion {
    kind: String,
    description: String,
    begins_with: String,
    length: usize,
    path: String,
    line: u32,
}

#[derive(Serialize, Clone, PartialEq, Eq)]
struct Place {
    path: String,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<u32>,
    count: usize,
}

/// Everything that was found.
pub(super) struct Report {
    secrets: Vec<Secret>,
    suggestions: Vec<Suggestion>,
    extent: Extent,
    unreadable: Vec<String>,
    dry_run: bool,
    is_all: bool,
    /// The files that were searched.
    searched: BTreeSet<PathBuf>,
    name: String,
}

impl Report {
    pub(super) fn new(context: &Context, hunt: &Hunt, dry_run: bool) -> Self {
        let key = fingerprint_key(context.journal.root());
        let mut places: BTreeMap<usize, Vec<Place>> = BTreeMap::new();
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for found in &hunt.searched.found {
            if let Some(at) = hunt.vault.position(&found.finding) {
                *numbers.entry(at).or_default() += usize::from(found.finding.is_number);
                add_place(
                    places.entry(at).or_default(),
                    &hunt.targets[found.target],
                    found,
                );
            }
        }
        let secrets = hunt.vault.secrets().iter().enumerate().map(|(at, secret)| {
            let places = places.remove(&at).unwrap_or_default();
            Secret {
                placeholder: secret.placeholder(),
                kind: secret.kind.clone(),
                description: hunt.scanner.description(&secret.kind).to_owned(),
                found_by: match secret.source {
                    Source::Given => "you",
                    Source::Shape => "form",
                    Source::Context | Source::Guess => "context",
                },
                begins_with: secret.beginning(),
                length: secret.len(),
                fingerprint: secret.fingerprint(&key),
                count: places.iter().map(|p| p.count).sum(),
                numbers: numbers.get(&at).copied().unwrap_or_default(),
                rotate: rotation(&secret.kind),
                places,
            }
        });
        let suggestion = |found: &Found| Suggestion {
            kind: found.finding.kind.clone(),
            description: hunt.scanner.description(&found.finding.kind).to_owned(),
            begins_with: found.finding.beginning(),
            length: found.finding.value_len(),
            path: lossy(&hunt.targets[found.target].path),
            line: found.line,
        };
        Self {
            secrets: secrets.collect(),
            suggestions: hunt.suggestions.iter().map(suggestion).collect(),
            extent: Extent {
                files: hunt.searched.files,
                bytes: hunt.searched.bytes,
            },
            unreadable: hunt.searched.unread.iter().map(|(p, _)| lossy(p)).collect(),
            dry_run,
            is_all: hunt.is_all,
            searched: hunt.targets.iter().map(|t| t.path.clone()).collect(),
            name: hunt
                .session
                .as_ref()
                .map_or_else(|| "--all".to_owned(), |s| s.id.clone()),
        }
    }

    /// Prints the report: before anything is written, or after it.
    pub(super) fn show(
        &self,
        context: &mut Context,
        elsewhere: &Elsewhere,
        done: Option<&Done>,
    ) -> io::Result<()> {
        if context.json {
            let document = self.document(elsewhere, done);
            let document = serde_json::to_value(&document).map_err(io::Error::other)?;
            context.print_json(&document)?;
            return Ok(());
        }
        let home = context.home.clone();
        let text = match done {
            None => self.found_text(context, elsewhere, home.as_deref()),
            Some(done) => self.done_text(elsewhere, done, home.as_deref()),
        };
        context.out.write_all(text.as_bytes())?;
        Ok(())
    }

    /// Returns the files that have secrets; before anything is written, those that are not about to change.
    fn held_files<'e>(&self, elsewhere: &'e Elsewhere, done: bool) -> Vec<(&'e Path, usize)> {
        let left = elsewhere.sweep.left.iter();
        let is_listed = |path: &Path| !done && self.searched.contains(path);
        left.filter(|place| !is_listed(&place.path))
            .map(|place| (place.path.as_path(), place.count))
            .collect()
    }
}

fn add_place(places: &mut Vec<Place>, target: &RedactTarget, found: &Found) {
    let place = Place {
        path: lossy(&target.path),
        what: target.what,
        session_id: target.session.clone(),
        turn: found.turn,
        count: 1,
    };
    match places
        .iter_mut()
        .find(|p| p.path == place.path && p.turn == place.turn)
    {
        Some(known) => known.count += 1,
        None => places.push(place),
    }
}

fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Returns the key of the fingerprints. It is made at the first redaction; until then fingerprints are of this run only.
fn fingerprint_key(state: &Path) -> [u8; 32] {
    let path = state.join("fingerprint.key");
    if let Some(key) = fs_err::read(&path).ok().and_then(|key| key.try_into().ok()) {
        return key;
    }
    let halves = [uuid::Uuid::new_v4(), uuid::Uuid::new_v4()];
    let mut key = [0; 32];
    for (half, id) in key.chunks_mut(16).zip(halves) {
        half.copy_from_slice(id.as_bytes());
    }
    if state.is_dir() {
        let _ = crate::store::write_private(&path, &key);
    }
    key
}
