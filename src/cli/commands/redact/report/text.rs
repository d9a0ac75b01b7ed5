//! The report as text for people.

use std::fmt::Write as _;
use std::path::Path;

use crate::render::{BOLD, DIM, GREEN, RED, YELLOW, bytes, clean, count, paint, short_path};

use super::super::super::super::context::Context;
use super::super::super::super::operations::plural;
use super::super::in_place::Elsewhere;
use super::{Done, Place, Report, Secret};

/// How many files with a secret are listed for people.
const MOST_PLACES: usize = 6;

/// How many turns of a file are listed for people.
const MOST_TURNS: usize = 12;

impl Report {
    pub(super) fn found_text(
        &self,
        context: &Context,
        elsewhere: &Elsewhere,
        home: Option<&Path>,
    ) -> String {
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
        let times = match secret.count {
            1 => "once".to_owned(),
            n => format!("{} times", count(n as u64)),
        };
        let _ = writeln!(
            out,
            "\n  {}  {} ({begins}{} characters, {times})",
            paint(RED, &secret.placeholder),
            clean(&secret.description),
            secret.length,
        );
        let files = by_file(&secret.places);
        for (place, turns) in files.iter().take(MOST_PLACES) {
            let path = short(&place.path, home);
            let _ = writeln!(
                out,
                "    {}{}: {}",
                place.what,
                in_turns(turns),
                clean(&path)
            );
        }
        if files.len() > MOST_PLACES {
            let more = (files.len() - MOST_PLACES) as u64;
            let _ = writeln!(out, "    and {}", plural(more, "more file", "more files"));
        }
        if secret.numbers > 0 {
            let times = plural(secret.numbers as u64, "number", "numbers");
            let _ = writeln!(out, "    {times} of JSON among these: a number becomes 0");
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

    pub(super) fn done_text(
        &self,
        elsewhere: &Elsewhere,
        done: &Done,
        home: Option<&Path>,
    ) -> String {
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

/// Returns each file once, with the turns in which it has the secret.
fn by_file(places: &[Place]) -> Vec<(&Place, Vec<u32>)> {
    let mut out: Vec<(&Place, Vec<u32>)> = Vec::new();
    for place in places {
        match out.iter_mut().find(|(known, _)| known.path == place.path) {
            Some((_, turns)) => turns.extend(place.turn),
            None => out.push((place, place.turn.into_iter().collect())),
        }
    }
    for (_, turns) in &mut out {
        turns.sort_unstable();
    }
    out
}

/// Returns the turns of a file in words.
fn in_turns(turns: &[u32]) -> String {
    let listed: Vec<String> = turns.iter().take(MOST_TURNS).map(u32::to_string).collect();
    let listed = listed.join(", ");
    match turns.len() {
        0 => String::new(),
        1 => format!(", turn {listed}"),
        2..=MOST_TURNS => format!(", turns {listed}"),
        all => format!(
            ", turns {listed} and {} more",
            count((all - MOST_TURNS) as u64)
        ),
    }
}

/// Returns a path with the home folder as `~`.
pub(in super::super) fn short(path: &str, home: Option<&Path>) -> String {
    short_path(Path::new(path), home, usize::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redact_report_lists_a_file_once_with_its_turns() {
        let place = |path: &str, turn| Place {
            path: path.to_owned(),
            what: "transcript",
            session_id: None,
            turn,
            count: 1,
        };
        let places = [place("a", Some(2)), place("b", None), place("a", Some(1))];
        let files = by_file(&places);
        let shown = files
            .iter()
            .map(|(p, turns)| format!("{}{}", p.path, in_turns(turns)));
        assert_eq!(shown.collect::<Vec<_>>(), ["a, turns 1, 2", "b"]);
        let many: Vec<u32> = (1..=20).collect();
        assert!(in_turns(&many).ends_with("11, 12 and 8 more"));
        assert_eq!(in_turns(&[7]), ", turn 7");
    }
}
