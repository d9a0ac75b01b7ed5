//! Reads the beginning and the end of a transcript, where most of what a list shows can be found.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::document::Document;
use crate::session::Session;
use crate::store::fs::open_followed;
use crate::view::Overview;

/// How many bytes are read at each end, as many as the client's picker reads.
const END: usize = 64 << 10;

/// How many bytes at each end are parsed if that is enough.
const HEAD: usize = 6 << 10;
const TAIL: usize = 12 << 10;

/// Occurs in every line with a title.
static TITLE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("-title\""));

/// Occurs in every summary. Which session a summary names is known only from the entries.
static SUMMARY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"type\":\"summary\""));

/// Returns an overview of the transcript at `path` from its first and last bytes.
pub fn glance(path: &Path) -> io::Result<Overview> {
    let ends = Ends::read(path)?;
    if !ends.whole && ends.is_summarised() {
        // A summary is the session's title only if it names one of its entries, which may be anywhere.
        return Ok(Overview::of(&Session::open(path)?));
    }
    Ok(Overview::of(&ends.session()))
}

/// The beginning and the end of a transcript.
pub(crate) struct Ends {
    bytes: Vec<u8>,
    /// Whether that is the whole file.
    pub(crate) whole: bool,
}

impl Ends {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let file = open_followed(path)?;
        let len = file.metadata()?.len() as usize;
        let whole = len <= 2 * END;
        let mut bytes = vec![0; len.min(2 * END + 1)];
        if whole {
            let read = fill(&file, &mut bytes, 0)?;
            bytes.truncate(read);
        } else {
            fill(&file, &mut bytes[..END], 0)?;
            // The newline keeps the two pieces from forming a line together.
            bytes[END] = b'\n';
            fill(&file, &mut bytes[END + 1..], (len - END) as u64)?;
        }
        Ok(Self { bytes, whole })
    }

    /// Returns everything that was read as a session.
    pub(crate) fn session(self) -> Session {
        Session::new(Document::from_bytes(self.bytes))
    }

    /// Returns whether there are summaries among the lines.
    pub(crate) fn is_summarised(&self) -> bool {
        SUMMARY.find(&self.bytes).is_some()
    }

    /// Returns the outermost lines and those with titles as a session: enough for most of what a list shows.
    pub(crate) fn outermost(&self) -> Session {
        let bytes = &self.bytes;
        let next_line = |at: usize| {
            memchr::memchr(b'\n', &bytes[at.min(bytes.len())..]).map_or(bytes.len(), |n| at + n + 1)
        };
        let head = next_line(HEAD);
        let tail = next_line(bytes.len().saturating_sub(TAIL)).max(head);
        let mut kept = bytes[..head].to_vec();
        for found in TITLE.find_iter(&bytes[head..tail]) {
            let at = head + found;
            let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |n| n + 1);
            kept.extend_from_slice(&bytes[start..next_line(at)]);
        }
        kept.extend_from_slice(&bytes[tail..]);
        Session::new(Document::from_bytes(kept))
    }
}

/// Reads as many bytes as fit, in one call if possible.
fn fill(mut file: &std::fs::File, into: &mut [u8], offset: u64) -> io::Result<usize> {
    if offset > 0 {
        file.seek(SeekFrom::Start(offset))?;
    }
    let mut done = 0;
    while done < into.len() {
        match file.read(&mut into[done..])? {
            0 => break,
            n => done += n,
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> String {
        let line = |n| {
            format!(
                "{{\"type\":\"user\",\"uuid\":\"u{n}\",\"message\":{{\"content\":\"word {n}\"}}}}\n"
            )
        };
        (0..count).map(line).collect()
    }

    #[test]
    fn file_ends_include_titles_from_the_middle() {
        let title = "{\"type\":\"custom-title\",\"customTitle\":\"Here\"}\n";
        let text = lines(300) + title + &lines(300);
        let file = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(file.path(), &text).unwrap();
        let ends = Ends::read(file.path()).unwrap();
        assert!(ends.whole);
        let few = ends.outermost();
        assert!(few.entries().len() < 400, "{}", few.entries().len());
        let seen = Overview::of(&few);
        assert_eq!(seen.title, Some("Here".into()));
        assert_eq!(seen.first_prompt, Some("word 0".into()));
        assert_eq!(Overview::of(&ends.session()), seen);
    }

    #[test]
    fn file_ends_of_a_long_transcript_are_read() {
        let text = lines(9_000);
        let file = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(file.path(), &text).unwrap();
        let ends = Ends::read(file.path()).unwrap();
        assert!(!ends.whole);
        let session = ends.session();
        let first = &session.entries()[0];
        let last = session.entries().last().unwrap();
        assert_eq!(session.string(first, &["uuid"]).unwrap(), "u0");
        assert_eq!(session.string(last, &["uuid"]).unwrap(), "u8999");
    }
}
