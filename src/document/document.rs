//! Bytes to lines and back.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use memchr::memchr;
use memmap2::Mmap;
#[cfg(unix)]
use memmap2::UncheckedAdvice;
use rayon::prelude::*;

use super::line::{Ending, Line};
use crate::json::{Edit, Edits, OverlapError, make_edits, put_in_order};

/// Files from this size on are mapped rather than read, so that memory does not grow with them.
const MAP_FROM: u64 = 1 << 20;

/// How many bytes one core splits into lines at a time.
const SPLIT: usize = 1 << 20;

/// How many of these stretches each core gets before what was made of them is taken.
const WINDOW: usize = 16;

/// How many bytes of a mapping one core gives back at a time.
#[cfg(unix)]
const GIVEN_BACK: usize = 1 << 25;

/// Where a document's bytes are held.
#[derive(Debug)]
pub enum Source {
    /// On the heap.
    Owned(Vec<u8>),
    /// A mapping of the file.
    Mapped(Mmap),
}

impl Source {
    /// Reads a file, by mapping where it is large.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = fs_err::File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::IsADirectory,
                format!("`{}` is a directory", path.display()),
            ));
        }
        if metadata.len() < MAP_FROM {
            return fs_err::read(path).map(Self::Owned);
        }
        // SAFETY: the mapping is read-only and private. The client only ever appends, and we
        // replace files by renaming, never by truncating; should another program truncate the file
        // while it is mapped, this process ends with SIGBUS, before anything was published.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(file.file()) }?;
        Ok(Self::Mapped(map))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Source::Owned(bytes) => bytes,
            Source::Mapped(map) => map,
        }
    }
}

impl Source {
    /// Gives the pages of a mapping back to the system on all cores. Who ends the mapping, or the program, does so too, but on
    /// one core alone: at 1 GiB that is a twentieth of what looking through it takes. Should its bytes be asked for again,
    /// they are read from the file again.
    fn give_back(&self) {
        #[cfg(unix)]
        if let Source::Mapped(map) = self
            && map.len() > GIVEN_BACK
        {
            let parts = (0..map.len()).into_par_iter().step_by(GIVEN_BACK);
            parts.for_each(|at| {
                let len = GIVEN_BACK.min(map.len() - at);
                // SAFETY: the mapping is read-only, so there is nothing in its pages that is not in the file.
                #[allow(unsafe_code)]
                let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, at, len) };
            });
        }
    }
}

impl Drop for Source {
    // On a worker of the pool, other work may be done meanwhile: nobody should hold a lock while a document goes.
    fn drop(&mut self) {
        self.give_back();
    }
}

/// The lines that begin in one part of the bytes, of about a size that one core reads at a time.
fn stretch(bytes: &[u8], number: usize) -> Range<usize> {
    let (from, to) = (number * SPLIT, ((number + 1) * SPLIT).min(bytes.len()));
    // A line may go on for several parts. Where it begins it is looked through to its end, elsewhere as far as the part goes.
    let start = match from {
        0 => 0,
        from => match memchr(b'\n', &bytes[from - 1..to - 1]) {
            Some(i) => from + i,
            None => return to..to,
        },
    };
    let end = memchr(b'\n', &bytes[to - 1..]).map_or(bytes.len(), |i| to + i);
    start..end
}

/// A stretch of whole lines that is being split.
#[derive(Debug)]
pub struct Stretch<'a> {
    /// All bytes up to its end.
    bytes: &'a [u8],
    /// Where the next line begins.
    at: usize,
    lines: Vec<Line>,
}

impl<'a> Stretch<'a> {
    /// What was not split yet: it begins with the next line. Nothing where no line is left.
    pub fn rest(&self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        (!rest.is_empty()).then_some(rest)
    }

    /// Whether the next line is the first of all.
    pub fn is_first(&self) -> bool {
        self.at == 0
    }

    /// Ends the next line at the newline that is known to be so many bytes further, else at the next one; its text.
    pub fn end_line(&mut self, newline: Option<usize>) -> Option<&'a [u8]> {
        let rest = self.rest()?;
        let newline = newline.or_else(|| memchr(b'\n', rest));
        let (len, ending) = match newline {
            Some(n) if n > 0 && rest[n - 1] == b'\r' => (n - 1, Ending::CrLf),
            Some(n) => (n, Ending::Lf),
            None => (rest.len(), Ending::None),
        };
        self.lines
            .push(Line::new(self.at as u64, len as u64, ending));
        self.at += len + ending.bytes().len();
        Some(&rest[..len])
    }
}

/// A file as lines, or what becomes of one: any bytes are a document, and emit the same bytes again.
///
/// A document that was made from another shares its bytes; only what differs is held beside them. So a plan's
/// result can be looked at before, and without, being written.
#[derive(Debug, Clone)]
pub struct Document {
    source: Arc<Source>,
    /// Lines that are not in the source: those of each document on the way here.
    made: Vec<Part>,
    lines: Vec<Line>,
    /// For each line, the line of the file that it came from; `None` while that is itself.
    origins: Option<Vec<u32>>,
}

/// Lines that a document had not from the one that it was made from.
#[derive(Debug, Clone)]
struct Part {
    /// The number of the first.
    first: usize,
    made: Arc<Vec<Made>>,
}

/// The origin of a line that no file had.
const NOWHERE: u32 = u32::MAX;

impl Document {
    /// Reads the file at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        Source::open(path).map(Self::new)
    }

    /// Splits bytes into lines.
    pub fn new(source: Source) -> Self {
        let split = |stretch: &mut Stretch<'_>| while stretch.end_line(None).is_some() {};
        Self::read(source, split, |()| ())
    }

    /// Splits bytes into lines while they are read: `read` is given stretches of whole lines, on all cores, and ends one
    /// line after the other; what it makes of them is taken in order.
    pub fn read<T: Send>(
        source: Source,
        read: impl Fn(&mut Stretch<'_>) -> T + Sync,
        mut take: impl FnMut(T) + Send,
    ) -> Self {
        let stretches: Vec<usize> = (0..source.bytes().len().div_ceil(SPLIT)).collect();
        let mut lines = Vec::new();
        let read = |number: &usize| {
            let range = stretch(source.bytes(), *number);
            let mut stretch = Stretch {
                bytes: &source.bytes()[..range.end],
                at: range.start,
                lines: Vec::new(),
            };
            let made = read(&mut stretch);
            (stretch.lines, made)
        };
        let mut take = |made: Vec<(Vec<Line>, T)>| {
            for (some, made) in made {
                lines.extend_from_slice(&some);
                take(made);
            }
        };
        // Not all at once, so that little of what is read is held twice; what was read last is taken meanwhile.
        let mut last = Vec::new();
        for window in stretches.chunks(rayon::current_num_threads() * WINDOW) {
            let next = || window.par_iter().map(read).collect();
            (last, ()) = rayon::join(next, || take(last));
        }
        take(last);
        lines.shrink_to_fit();
        Self {
            source: Arc::new(source),
            made: Vec::new(),
            lines,
            origins: None,
        }
    }

    /// A document of bytes on the heap.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Source::Owned(bytes.into()))
    }

    /// Starts a document that shares this one's bytes.
    pub fn derived(&self) -> DocumentBuilder<'_> {
        DocumentBuilder {
            from: self,
            next: Self {
                source: Arc::clone(&self.source),
                made: self.made.clone(),
                lines: Vec::with_capacity(self.lines.len()),
                origins: Some(Vec::with_capacity(self.lines.len())),
            },
            first: self.made_so_far(),
            made: Vec::new(),
        }
    }

    /// The lines in order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The text of line `index`, without its ending.
    ///
    /// One that was made from another is kept once it was asked for.
    pub fn text(&self, index: usize) -> &[u8] {
        let line = self.lines[index];
        let Some(number) = line.number() else {
            return self.of_source(line);
        };
        match self.made(number) {
            Made::Whole(text) => text,
            Made::Edited { from, edits, text } => text.get_or_init(|| {
                let mut made = Vec::with_capacity(line.len());
                self.put_together(*from, edits, &mut made);
                made.into()
            }),
        }
    }

    /// The same for who looks at many lines but once: one that was made from another is put together in `room`.
    pub fn text_in<'a>(&'a self, index: usize, room: &'a mut Vec<u8>) -> &'a [u8] {
        self.look_at(self.lines[index], room)
    }

    fn look_at<'a>(&'a self, line: Line, room: &'a mut Vec<u8>) -> &'a [u8] {
        match line.number().map(|number| self.made(number)) {
            None => self.of_source(line),
            Some(Made::Whole(text)) => text,
            Some(Made::Edited { from, edits, text }) => match text.get() {
                Some(text) => text,
                None => {
                    room.clear();
                    self.put_together(*from, edits, room);
                    room
                }
            },
        }
    }

    fn put_together(&self, from: Line, edits: &[Edit], out: &mut Vec<u8>) {
        make_edits(self.look_at(from, &mut Vec::new()), edits, out);
    }

    fn made(&self, number: usize) -> &Made {
        let part = self.made.iter().rfind(|part| part.first <= number);
        let part = part.expect("a line that was made is in one of the parts");
        &part.made[number - part.first]
    }

    fn made_so_far(&self) -> usize {
        let last = self.made.last();
        last.map_or(0, |part| part.first + part.made.len())
    }

    fn of_source(&self, line: Line) -> &[u8] {
        &self.source.bytes()[line.start() as usize..line.end() as usize]
    }

    /// The line of the file that line `index` came from.
    pub fn origin(&self, index: usize) -> Option<usize> {
        match &self.origins {
            None => Some(index),
            Some(origins) => (origins[index] != NOWHERE).then_some(origins[index] as usize),
        }
    }

    /// Whether line `index` is in the file as it stands here.
    pub fn is_original(&self, index: usize) -> bool {
        self.lines[index].number().is_none()
    }

    /// Whether line `index` was made when this document was made from `before`.
    pub fn is_added_since(&self, index: usize, before: &Document) -> bool {
        let number = self.lines[index].number();
        number.is_some_and(|number| number >= before.made_so_far())
    }

    /// The line that line `index` was made from, of the document that this one was made from.
    pub fn made_from(&self, index: usize) -> Option<Line> {
        match self.made(self.lines[index].number()?) {
            Made::Whole(_) => None,
            Made::Edited { from, .. } => Some(*from),
        }
    }

    /// The edits by which line `index` was made from another, in order.
    pub fn edits(&self, index: usize) -> Option<&[Edit]> {
        match self.made(self.lines[index].number()?) {
            Made::Whole(_) => None,
            Made::Edited { edits, .. } => Some(edits),
        }
    }

    /// The bytes of the file that this document was read from, or that its ancestor was.
    pub fn source(&self) -> &[u8] {
        self.source.bytes()
    }

    /// How many bytes it emits.
    pub fn len(&self) -> u64 {
        self.lines.iter().map(|l| l.raw_end() - l.start()).sum()
    }

    /// Gives the memory that its file takes back to the system, on all cores; what is asked for later is read again.
    pub fn give_back(&self) {
        self.source.give_back();
    }

    /// Whether it has no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Cuts the lines into stretches of about `size` bytes, to be worked on side by side.
    pub fn pieces(&self, size: usize) -> Vec<Range<usize>> {
        let mut out = Vec::new();
        let (mut from, mut held) = (0, 0);
        for (i, line) in self.lines.iter().enumerate() {
            held += line.len();
            if held >= size {
                out.push(from..i + 1);
                (from, held) = (i + 1, 0);
            }
        }
        if from < self.lines.len() {
            out.push(from..self.lines.len());
        }
        out
    }

    /// Writes lines `from..to` with their endings, contiguous stretches at once.
    pub fn write(&self, from: usize, to: usize, out: &mut impl Write) -> io::Result<()> {
        let mut room = Vec::new();
        let mut at = from;
        while at < to {
            let first = self.lines[at];
            at += 1;
            if first.number().is_some() {
                out.write_all(self.look_at(first, &mut room))?;
                out.write_all(first.ending().bytes())?;
                continue;
            }
            let mut end = first.raw_end();
            // An ending that was put in is not in the source: such a line is made, ending and all.
            while at < to && self.lines[at].start() == end {
                end = self.lines[at].raw_end();
                at += 1;
            }
            out.write_all(&self.source.bytes()[first.start() as usize..end as usize])?;
        }
        Ok(())
    }

    /// All bytes on the heap; for tests and small things.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len() as usize);
        self.write(0, self.lines.len(), &mut out)
            .expect("writing to memory cannot fail");
        out
    }
}

/// A line that is in no file.
#[derive(Debug)]
enum Made {
    /// It has nothing of another.
    Whole(Box<[u8]>),
    /// It is another line, edited. Many thousands differ from theirs in an id alone, and most of them nobody reads, so
    /// they are put together where they are asked for.
    Edited {
        /// That other line.
        from: Line,
        /// In order.
        edits: Edits,
        text: OnceLock<Box<[u8]>>,
    },
}

/// Builds a document from another, line by line.
#[derive(Debug)]
pub struct DocumentBuilder<'a> {
    from: &'a Document,
    next: Document,
    /// What is made for it, and the number of the first.
    first: usize,
    made: Vec<Made>,
}

impl DocumentBuilder<'_> {
    /// Makes room for so many lines that are not taken over as they are.
    pub fn reserve(&mut self, lines: usize) {
        self.made.reserve_exact(lines);
    }

    /// Takes a line over as it is.
    pub fn keep(&mut self, index: usize) {
        self.next.lines.push(self.from.lines[index]);
        self.origin(self.from.origin(index));
    }

    /// Takes a line over with edits.
    pub fn edit(&mut self, index: usize, mut edits: Edits) -> Result<(), OverlapError> {
        let from = self.from.lines[index];
        let grown = put_in_order(&mut edits)?;
        let text = OnceLock::new();
        let made = Made::Edited { from, edits, text };
        self.add(made, from.len() as i64 + grown, from.ending());
        self.origin(self.from.origin(index));
        Ok(())
    }

    /// Takes a line over with another text.
    pub fn replace(&mut self, index: usize, text: &[u8]) {
        let ending = self.from.lines[index].ending();
        self.add(Made::Whole(text.into()), text.len() as i64, ending);
        self.origin(self.from.origin(index));
    }

    /// Puts in a line of its own.
    pub fn insert(&mut self, text: &[u8]) {
        self.add(Made::Whole(text.into()), text.len() as i64, Ending::Lf);
        self.origin(None);
    }

    /// The document. Every line of it ends, so that what is appended later stays on its own.
    pub fn finish(mut self) -> Document {
        for i in 0..self.next.lines.len() {
            let from = self.next.lines[i];
            if from.ending() == Ending::None {
                // It is the last line of the file, as it was.
                let (edits, text) = (Edits::new(), OnceLock::new());
                let made = Made::Edited { from, edits, text };
                self.add(made, from.len() as i64, Ending::Lf);
                if let Some(line) = self.next.lines.pop() {
                    self.next.lines[i] = line;
                }
            }
        }
        if !self.made.is_empty() {
            self.made.shrink_to_fit();
            self.next.made.push(Part {
                first: self.first,
                made: Arc::new(self.made),
            });
        }
        self.next
    }

    fn add(&mut self, made: Made, len: i64, ending: Ending) {
        // What is made is never the open end of a file.
        let ending = match ending {
            Ending::None => Ending::Lf,
            ending => ending,
        };
        let number = self.first + self.made.len();
        self.made.push(made);
        let line = Line::made(number, len as u64, ending);
        self.next.lines.push(line);
    }

    fn origin(&mut self, line: Option<usize>) {
        if let Some(origins) = &mut self.next.origins {
            origins.push(line.map_or(NOWHERE, |l| l as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_line_is_in_the_stretch_in_which_it_begins() {
        let lengths = [
            SPLIT - 2,
            0,
            0,
            3 * SPLIT,
            5,
            SPLIT - 1,
            SPLIT,
            2 * SPLIT - 9,
            7,
        ];
        let lines = lengths.map(|n| [vec![b'a'; n], b"\n".to_vec()].concat());
        for cut in 0..2 {
            let mut bytes = lines.concat();
            bytes.truncate(bytes.len() - cut);
            let parts = bytes.len().div_ceil(SPLIT);
            let mut at = 0;
            for range in (0..parts)
                .map(|n| stretch(&bytes, n))
                .filter(|r| !r.is_empty())
            {
                assert_eq!(range.start, at);
                at = range.end;
            }
            assert_eq!(at, bytes.len());
            assert_eq!(Document::from_bytes(bytes).lines().len(), lengths.len());
        }
    }

    #[test]
    fn endings_are_told_apart() {
        let document = Document::from_bytes(*b"a\r\n\r\n\nb");
        let seen: Vec<_> = (0..4)
            .map(|i| (document.text(i), document.lines()[i].ending()))
            .collect();
        assert_eq!(
            seen,
            [
                (&b"a"[..], Ending::CrLf),
                (b"", Ending::CrLf),
                (b"", Ending::Lf),
                (b"b", Ending::None)
            ]
        );
    }

    #[test]
    fn nothing_is_no_lines() {
        assert!(Document::from_bytes(*b"").lines().is_empty());
    }

    #[test]
    fn a_successor_shares_what_it_keeps() {
        let document = Document::from_bytes(*b"a\r\nb\n\nc");
        let mut next = document.derived();
        next.keep(0);
        next.insert(b"new");
        next.replace(1, b"B");
        next.keep(2);
        next.keep(3);
        let next = next.finish();
        assert_eq!(next.to_vec(), b"a\r\nnew\nB\n\nc\n");
        assert_eq!(
            (0..5).map(|i| next.origin(i)).collect::<Vec<_>>(),
            [Some(0), None, Some(1), Some(2), Some(3)]
        );
        let mut again = next.derived();
        (1..5).for_each(|i| again.keep(i));
        let again = again.finish();
        assert_eq!(again.to_vec(), b"new\nB\n\nc\n");
        let mut changed = document.derived();
        (0..3).for_each(|i| changed.keep(i));
        changed.replace(3, b"C");
        assert_eq!(changed.finish().to_vec(), b"a\r\nb\n\nC\n");
        assert_eq!(again.origin(1), Some(1));
        assert_eq!(again.len(), 9);
    }

    proptest! {
        #[test]
        fn emits_what_it_read(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(0u8), any::<u8>()], 0..200)) {
            let document = Document::from_bytes(bytes.clone());
            prop_assert_eq!(document.to_vec(), bytes.clone());
            prop_assert_eq!(document.len(), bytes.len() as u64);
        }

        #[test]
        fn keeping_every_line_only_ends_the_last(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 1..200)) {
            let document = Document::from_bytes(bytes.clone());
            let mut next = document.derived();
            (0..document.lines().len()).for_each(|i| next.keep(i));
            let mut expected = bytes;
            if !expected.ends_with(b"\n") {
                expected.push(b'\n');
            }
            prop_assert_eq!(next.finish().to_vec(), expected);
        }
    }
}
