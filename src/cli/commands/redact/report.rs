//! What is reported of a redaction: kinds, places and numbers, never a value.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::render::{BOLD, DIM, GREEN, RED, YELLOW, bytes, clean, count, paint, short_path};
use crate::secrets::{Source, rotation};
use crate::store::{Found, RedactTarget};

use super::super::super::context::Context;
use super::super::super::operations::plural;
use super::super::super::report::SCHEMA;
use super::Hunt;
use super::in_place::Elsewhere;

/// How many places of a secret are listed for people.
const MOST_PLACES: usize = 6;

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

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    searched: Extent,
    secrets: &'a [Secret],
    suggestions: &'a [Suggestion],
    /// Files outside of what was searched that have one of the secrets.
    elsewhere: Vec<Held>,
    /// Earlier operations whose saved bytes or command lines have one.
    operations: Vec<HeldOperation>,
    unreadable: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<DoneDocument>,
}

#[derive(Serialize)]
struct DoneDocument {
    files: usize,
    operations_cleaned: usize,
    sessions_left_out: Vec<String>,
    can_be_undone: bool,
    searched_again: Extent,
}

#[derive(Serialize, Clone, Copy)]
struct Extent {
    files: usize,
    bytes: u64,
}

#[derive(Serialize)]
struct Held {
    path: String,
    count: usize,
}

#[derive(Serialize)]
struct HeldOperation {
    id: String,
    operation: String,
    session_id: String,
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
        for found in &hunt.searched.found {
            if let Some(at) = hunt.vault.position(&found.finding) {
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
                rotate: rotation(&secret.kind),
                places,
            }
        });
        let suggestion = |found: &Found| Suggestion {
            kind: found.finding.kind.clone(),
            description: hunt.scanner.description(&found.finding.kind).to_owned(),
            begins_with: found.finding.beginning(),
            length: found.finding.value_len(),
            path: text(&hunt.targets[found.target].path),
            line: found.line,
        };
        Self {
            secrets: secrets.collect(),
            suggestions: hunt.suggestions.iter().map(suggestion).collect(),
            extent: Extent {
                files: hunt.searched.files,
                bytes: hunt.searched.bytes,
            },
            unreadable: hunt.searched.unread.iter().map(|(p, _)| text(p)).collect(),
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

    fn document(&self, elsewhere: &Elsewhere, done: Option<&Done>) -> Document<'_> {
        let held = self.held_files(elsewhere, done.is_some());
        Document {
            schema: SCHEMA,
            operation: "redact",
            dry_run: self.dry_run,
            searched: self.extent,
            secrets: &self.secrets,
            suggestions: &self.suggestions,
            elsewhere: held
                .into_iter()
                .map(|(path, count)| Held {
                    path: text(path),
                    count,
                })
                .collect(),
            operations: elsewhere
                .records
                .iter()
                .map(|r| HeldOperation {
                    id: r.operation.id.clone(),
                    operation: r.operation.operation.clone(),
                    session_id: r.operation.target_id.clone(),
                })
                .collect(),
            unreadable: self.unreadable.clone(),
            done: done.map(|done| DoneDocument {
                files: done.files,
                operations_cleaned: done.forgotten,
                sessions_left_out: done.live.clone(),
                can_be_undone: done.is_kept,
                searched_again: Extent {
                    files: elsewhere.sweep.files,
                    bytes: elsewhere.sweep.bytes,
                },
            }),
        }
    }

    /// Returns the files that have secrets; before anything is written, those that are not about to change.
    fn held_files<'e>(&self, elsewhere: &'e Elsewhere, done: bool) -> Vec<(&'e Path, usize)> {
        let left = elsewhere.sweep.left.iter();
        let is_listed = |path: &Path| !done && self.searched.contains(path);
        left.filter(|place| !is_listed(&place.path))
            .map(|place| (place.path.as_path(), place.count))
            .collect()
    }

    fn found_text(&self, context: &Context, elsewhere: &Elsewhere, home: Option<&Path>) -> String {
        let mut out = String::new();
        let extent = format!(
            "searched {}, {}",
            plural(self.extent.files as u64, "file", "files"),
            bytes(self.extent.bytes)
        );
        if self.secrets.is_empty() {
            let _ = writeln!(out, "{} {extent}", paint(GREEN, "No secrets:"));
        } else {
            let all = self.secrets.len() as u64;
            let head = paint(BOLD, plural(all, "secret", "secrets"));
            let _ = writeln!(out, "{head} ({extent})");
        }
        for secret in &self.secrets {
            self.secret_text(&mut out, secret, home);
        }
        self.suggestion_text(&mut out, context, home);
        self.held_text(&mut out, elsewhere, false, home);
        for path in &self.unreadable {
            let note = paint(YELLOW, "note:");
            let _ = writeln!(
                out,
                "{note} {} cannot be read, and was not searched",
                clean(path)
            );
        }
        if self.dry_run && !self.secrets.is_empty() {
            let name = clean(&self.name);
            let _ = writeln!(
                out,
                "Nothing was written. To replace them: ccsurgery redact {name} --in-place"
            );
        }
        out
    }

    fn secret_text(&self, out: &mut String, secret: &Secret, home: Option<&Path>) {
        let begins = if secret.begins_with.is_empty() {
            String::new()
        } else {
            format!("{}…, ", clean(&secret.begins_with))
        };
        let times = if secret.count == 1 { "once" } else { "" };
        let times = match times {
            "" => format!("{} times", count(secret.count as u64)),
            once => once.to_owned(),
        };
        let _ = writeln!(
            out,
            "\n  {}  {} ({begins}{} characters, {times})",
            paint(RED, &secret.placeholder),
            clean(&secret.description),
            secret.length,
        );
        for place in secret.places.iter().take(MOST_PLACES) {
            let turn = place
                .turn
                .map_or_else(String::new, |t| format!(", turn {t}"));
            let path = short(&place.path, home);
            let _ = writeln!(out, "    {}{turn}: {}", place.what, clean(&path));
        }
        if secret.places.len() > MOST_PLACES {
            let more = (secret.places.len() - MOST_PLACES) as u64;
            let _ = writeln!(out, "    and {} more places", count(more));
        }
        let _ = writeln!(
            out,
            "    {}",
            paint(DIM, format!("replace it: {}", secret.rotate))
        );
    }

    fn suggestion_text(&self, out: &mut String, context: &Context, home: Option<&Path>) {
        if self.suggestions.is_empty() {
            return;
        }
        let all = self.suggestions.len() as u64;
        let words = plural(all, "text might be a secret", "texts might be secrets");
        let note = paint(YELLOW, words);
        let _ = writeln!(
            out,
            "\n{note}; such a text is replaced only if you confirm it on a terminal, or name it with --literal"
        );
        let most = if context.verbose {
            usize::MAX
        } else {
            MOST_PLACES
        };
        for suggestion in self.suggestions.iter().take(most) {
            let path = short(&suggestion.path, home);
            let _ = writeln!(
                out,
                "    {} ({} characters): {}, line {}",
                clean(&suggestion.description),
                suggestion.length,
                clean(&path),
                suggestion.line
            );
        }
        if self.suggestions.len() > most {
            let _ = writeln!(
                out,
                "    and {} more; -v lists all",
                count(all - most as u64)
            );
        }
    }

    /// Lists the files and records that have a secret and were not, or are not to be, changed.
    fn held_text(&self, out: &mut String, elsewhere: &Elsewhere, done: bool, home: Option<&Path>) {
        let files = self.held_files(elsewhere, done);
        if files.is_empty() && elsewhere.records.is_empty() {
            return;
        }
        let _ = writeln!(
            out,
            "\n{}",
            paint(YELLOW, if done { "Still in:" } else { "Also in:" })
        );
        for (path, n) in files {
            let path = short(&path.to_string_lossy(), home);
            let _ = writeln!(out, "    {} ({n}×)", clean(&path));
        }
        for record in &elsewhere.records {
            let o = &record.operation;
            let what = if record.in_kept_bytes {
                "saved bytes"
            } else {
                "command line"
            };
            let _ = writeln!(
                out,
                "    {what} of operation {} ({})",
                o.letters(),
                clean(&o.operation)
            );
        }
        if !self.is_all {
            let _ = writeln!(
                out,
                "  Clean other sessions and earlier operations with: ccsurgery redact --all --in-place"
            );
        }
    }

    fn done_text(&self, elsewhere: &Elsewhere, done: &Done, home: Option<&Path>) -> String {
        let mut out = String::new();
        let secrets = plural(self.secrets.len() as u64, "secret", "secrets");
        let files = plural(done.files as u64, "file", "files");
        let _ = writeln!(out, "\nReplaced {secrets} in {files}.");
        if done.forgotten > 0 {
            let _ = writeln!(
                out,
                "Cleaned {}; those with secrets in their saved bytes can no longer be undone.",
                plural(
                    done.forgotten as u64,
                    "earlier operation",
                    "earlier operations"
                )
            );
        }
        let extent = format!(
            "{}, {}, raw and decoded",
            plural(elsewhere.sweep.files as u64, "file", "files"),
            bytes(elsewhere.sweep.bytes)
        );
        let is_clean = elsewhere.sweep.left.is_empty() && elsewhere.records.is_empty();
        if is_clean {
            let _ = writeln!(
                out,
                "{} searched {extent}.",
                paint(GREEN, "Nothing is left:")
            );
        } else {
            let _ = writeln!(out, "Searched again: {extent}.");
            self.held_text(&mut out, elsewhere, true, home);
        }
        for id in &done.live {
            let note = paint(YELLOW, "warning:");
            let _ = writeln!(
                out,
                "{note} session {} is open in Claude Code, and was left as it is",
                clean(id)
            );
        }
        if done.is_kept {
            let note = paint(YELLOW, "warning:");
            let _ = writeln!(
                out,
                "{note} the journal keeps the old bytes, secrets included, for `ccsurgery undo`"
            );
        }
        let _ = writeln!(
            out,
            "Whoever read them before still knows them: replace each at its provider."
        );
        out
    }
}

fn add_place(places: &mut Vec<Place>, target: &RedactTarget, found: &Found) {
    let place = Place {
        path: text(&target.path),
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

/// Returns a path with the home folder as `~`.
fn short(path: &str, home: Option<&Path>) -> String {
    short_path(Path::new(path), home, usize::MAX / 2)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
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
