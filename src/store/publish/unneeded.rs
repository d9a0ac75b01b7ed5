//! Finds the files of a session that only a removed part of it needed.

use std::io;
use std::path::Path;

use aho_corasick::AhoCorasick;

use crate::document::Source;
use crate::store::fs::is_regular;
use crate::store::sessions::{Config, Located, SessionPlaces, Sidecar, SidecarKind};
use crate::surgery::Verified;

use super::copy_plan::file_name;

/// Returns the files of a session that is rewritten in place that nothing needs any more: neither the result, nor another
/// session of the project. A fork that Claude Code made names the files of the session that it began as.
pub fn unneeded_files(
    config: &Config,
    source: &Located,
    result: &Verified,
) -> io::Result<Vec<Sidecar>> {
    if !result.operated().record().takes_files {
        return Ok(Vec::new());
    }
    let places = SessionPlaces {
        config,
        folder: source.folder(),
        id: &source.id,
    };
    let mut files = places.files(&[])?.files;
    let mut unneeded = take_unneeded(&mut files, &source.path, result)?;
    let names = Names::of(&unneeded)?;
    let mut elsewhere = vec![false; unneeded.len()];
    if !unneeded.is_empty() {
        for entry in fs_err::read_dir(source.folder())? {
            let path = entry?.path();
            let is_other = path.extension().is_some_and(|x| x == "jsonl")
                && path != source.path
                && !unneeded.iter().any(|file| file.path == path);
            if is_other && is_regular(&path)? {
                names.mark(Source::open(&path)?.bytes(), &mut elsewhere);
            }
        }
    }
    let mut elsewhere = elsewhere.into_iter();
    unneeded.retain(|_| elsewhere.next() == Some(false));
    Ok(unneeded)
}

/// Takes the files out of a list that only the removed part of a session needed: those of subagents that it launched, and
/// the outputs and versions of files that it named.
///
/// A file that the original transcript does not name stays, because nothing shows what it belongs to.
pub(super) fn take_unneeded(
    files: &mut Vec<Sidecar>,
    original: &Path,
    result: &Verified,
) -> io::Result<Vec<Sidecar>> {
    let record = result.operated().record();
    let is_dropped = |file: &Sidecar| {
        let name = file_name(&file.path);
        let mut agents = record.dropped_agents.iter();
        agents.any(|agent| is_of_agent(&name, agent))
    };
    let all = std::mem::take(files);
    let (mut unneeded, kept): (Vec<_>, Vec<_>) = all.into_iter().partition(is_dropped);
    if !record.takes_files || !kept.iter().any(is_named_file) {
        *files = kept;
        return Ok(unneeded);
    }
    let names = Names::of(&kept)?;
    let mut before = vec![false; kept.len()];
    names.mark(Source::open(original)?.bytes(), &mut before);
    for file in unneeded.iter().filter(|file| file.kind.is_transcript()) {
        names.mark(Source::open(&file.path)?.bytes(), &mut before);
    }
    let mut after = vec![false; kept.len()];
    let document = result.session().document();
    let mut room = Vec::new();
    for line in document.numbers() {
        names.mark(document.text_in(line, &mut room), &mut after);
    }
    for file in kept.iter().filter(|file| file.kind.is_transcript()) {
        names.mark(Source::open(&file.path)?.bytes(), &mut after);
    }
    for (n, file) in kept.into_iter().enumerate() {
        if is_named_file(&file) && before[n] && !after[n] {
            unneeded.push(file);
        } else {
            files.push(file);
        }
    }
    Ok(unneeded)
}

/// Whether a file is one that transcripts name: an output, or a version of a file for rewinding.
fn is_named_file(file: &Sidecar) -> bool {
    matches!(file.kind, SidecarKind::Own | SidecarKind::FileHistory)
}

/// Whether a file is the transcript of a subagent, or describes one.
fn is_of_agent(name: &str, agent: &str) -> bool {
    let part = format!("agent-{agent}.");
    name.starts_with(&part) || name.contains(&format!("-{part}"))
}

/// The names of files, as transcripts have them.
struct Names(AhoCorasick);

impl Names {
    fn of(files: &[Sidecar]) -> io::Result<Self> {
        let name = |file: &Sidecar| match file.kind {
            // One version's name can begin with another's: `x@v1` and `x@v10`.
            SidecarKind::FileHistory => format!("\"{}\"", file_name(&file.path)),
            _ => file_name(&file.path),
        };
        let names = AhoCorasick::new(files.iter().map(name));
        names.map(Self).map_err(io::Error::other)
    }

    /// Marks the files whose names are in a text.
    fn mark(&self, text: &[u8], found: &mut [bool]) {
        for name in self.0.find_overlapping_iter(text) {
            found[name.pattern().as_usize()] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_subagent_are_known_by_their_names() {
        assert!(is_of_agent("agent-ab12.jsonl", "ab12"));
        assert!(is_of_agent("agent-ab12.meta.json", "ab12"));
        assert!(is_of_agent("5e55-agent-ab12.json", "ab12"));
        assert!(!is_of_agent("agent-ab123.jsonl", "ab12"));
    }
}
