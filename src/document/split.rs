//! Splitting bytes into lines, on all cores.

use std::ops::Range;

use memchr::memchr;
use rayon::prelude::*;

use super::line::{Ending, Line};

/// How many bytes one core splits into lines at a time.
const CHUNK: usize = 1 << 20;

/// How many chunks each core gets before the results of the previous ones are collected.
const CHUNKS_PER_CORE: usize = 16;

/// A run of whole lines that one core splits and reads.
#[derive(Debug)]
pub struct LineChunk<'a> {
    /// All bytes of the file up to the end of this chunk.
    bytes: &'a [u8],
    /// Where the next line begins.
    at: usize,
    lines: Vec<Line>,
}

impl<'a> LineChunk<'a> {
    /// Returns the bytes from the next line on, or `None` after the last line.
    pub fn rest(&self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        (!rest.is_empty()).then_some(rest)
    }

    /// Whether the next line is the first of the file.
    pub fn is_at_start(&self) -> bool {
        self.at == 0
    }

    /// Ends the next line and returns its text.
    ///
    /// A caller that already knows how many bytes away the newline is passes that as `newline`.
    pub fn end_line(&mut self, newline: Option<usize>) -> Option<&'a [u8]> {
        let rest = self.rest()?;
        let newline = newline.or_else(|| memchr(b'\n', rest));
        let (len, ending) = match newline {
            Some(n) if n > 0 && rest[n - 1] == b'\r' => (n - 1, Ending::CrLf),
            Some(n) => (n, Ending::Lf),
            None => (rest.len(), Ending::None),
        };
        self.lines.push(Line::in_file(self.at, len, ending));
        self.at += len + ending.bytes().len();
        Some(&rest[..len])
    }
}

/// Returns the range of the lines that begin in chunk `number`.
fn chunk_range(bytes: &[u8], number: usize) -> Range<usize> {
    let (from, to) = (number * CHUNK, ((number + 1) * CHUNK).min(bytes.len()));
    // A line may span several chunks: only the chunk in which it begins searches for its end.
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

/// Splits bytes into lines while `read` reads them: see [`Document::read`](super::Document::read).
pub(super) fn split<T: Send>(
    bytes: &[u8],
    read: impl Fn(&mut LineChunk<'_>) -> T + Sync,
    mut take: impl FnMut(T) + Send,
) -> Vec<Line> {
    let chunks: Vec<usize> = (0..bytes.len().div_ceil(CHUNK)).collect();
    let read = |number: &usize| {
        let range = chunk_range(bytes, *number);
        let mut chunk = LineChunk {
            bytes: &bytes[..range.end],
            at: range.start,
            lines: Vec::new(),
        };
        let result = read(&mut chunk);
        (chunk.lines, result)
    };
    let mut lines = Vec::new();
    let mut take = |results: Vec<(Vec<Line>, T)>| {
        for (some, result) in results {
            lines.extend_from_slice(&some);
            take(result);
        }
    };
    // Some chunks at a time, so that few results are in memory twice; the previous ones are taken meanwhile.
    let mut last = Vec::new();
    for some in chunks.chunks(rayon::current_num_threads() * CHUNKS_PER_CORE) {
        let next = || some.par_iter().map(read).collect();
        (last, ()) = rayon::join(next, || take(last));
    }
    take(last);
    lines.shrink_to_fit();
    lines
}

#[cfg(test)]
mod tests {
    use super::super::Document;
    use super::*;

    #[test]
    fn split_puts_every_line_into_the_chunk_in_which_it_begins() {
        let lengths = [
            CHUNK - 2,
            0,
            0,
            3 * CHUNK,
            5,
            CHUNK - 1,
            CHUNK,
            2 * CHUNK - 9,
            7,
        ];
        let lines = lengths.map(|n| [vec![b'a'; n], b"\n".to_vec()].concat());
        for cut in 0..2 {
            let mut bytes = lines.concat();
            bytes.truncate(bytes.len() - cut);
            let chunks = bytes.len().div_ceil(CHUNK);
            let ranges = (0..chunks).map(|n| chunk_range(&bytes, n));
            let mut at = 0;
            for range in ranges.filter(|r| !r.is_empty()) {
                assert_eq!(range.start, at);
                at = range.end;
            }
            assert_eq!(at, bytes.len());
            assert_eq!(Document::from_bytes(bytes).lines().len(), lengths.len());
        }
    }
}
