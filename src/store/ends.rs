//! A look at a session without reading all of it.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::document::Document;
use crate::session::Session;
use crate::view::Overview;

/// How much of a file's head and tail is looked at, as the client's picker does.
const WINDOW: usize = 64 << 10;

/// How much of either end is understood where that will do.
const HEAD: usize = 6 << 10;
const TAIL: usize = 12 << 10;

/// What is in every line with a title, wherever it stands.
static TITLE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("-title\""));

/// What is in every summary: whose session it names is seen only with the entries.
static SUMMARY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"type\":\"summary\""));

/// Glances at the session file at `path`: its head and tail only.
pub fn glance(path: &Path) -> io::Result<Overview> {
    let ends = Ends::read(path)?;
    Ok(Overview::of(&ends.session()))
}

/// The head and the tail of a session's file.
pub(crate) struct Ends {
    bytes: Vec<u8>,
    /// Whether that is all of it.
    pub(crate) whole: bool,
}

impl Ends {
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let file = fs_err::File::open(path)?;
        let len = file.metadata()?.len() as usize;
        let whole = len <= 2 * WINDOW;
        let mut bytes = vec![0; len.min(2 * WINDOW + 1)];
        if whole {
            let read = fill(&file, &mut bytes, 0)?;
            bytes.truncate(read);
        } else {
            fill(&file, &mut bytes[..WINDOW], 0)?;
            // Between the two pieces a newline: a line cut in half is not one of either.
            bytes[WINDOW] = b'\n';
            fill(&file, &mut bytes[WINDOW + 1..], (len - WINDOW) as u64)?;
        }
        Ok(Self { bytes, whole })
    }

    /// All that was read.
    pub(crate) fn session(self) -> Session {
        Session::new(Document::from_bytes(self.bytes))
    }

    /// Whether there are summaries among the lines.
    pub(crate) fn is_summarised(&self) -> bool {
        SUMMARY.find(&self.bytes).is_some()
    }

    /// The outermost lines alone, and those with titles: most of what a list says is there.
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

/// Reads as much as fits, in one call where the system lets us.
fn fill(mut file: &fs_err::File, into: &mut [u8], offset: u64) -> io::Result<usize> {
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
    fn titles_count_wherever_they_stand() {
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
    fn of_a_long_file_the_ends_are_read() {
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
