//! Searches one transcript.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};
use rayon::prelude::*;

use crate::json::{BYTE_ORDER_MARK, decode};
use crate::secrets::find;
use crate::session::Session;
use crate::transcript::{Block, Entry, LineState, parse};

use super::hit::{Hit, HitText};
use super::pattern::Pattern;
use super::raw_pattern::unusual_escape;
use super::text_kind::{EntryText, TextKind, visit_texts};

/// How many bytes one core searches at a time.
const CHUNK: usize = 4 << 20;

/// What to search for, and in which texts.
#[derive(Debug, Clone)]
pub struct Search {
    /// The pattern.
    pub pattern: Pattern,
    /// Texts of other kinds are not searched.
    pub kinds: Vec<TextKind>,
    /// Whether the lines that match are kept; without them, matches can only be counted.
    pub with_text: bool,
}

/// A line of a text that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// Where the entry's line begins in the file.
    pub offset: usize,
    /// What the text is.
    pub kind: TextKind,
    /// The number of the text's block in its entry; `None` if it is not in a block.
    pub block: Option<usize>,
    /// The line of the text.
    pub text: HitText,
}

impl Search {
    /// Returns the matches in the bytes of a transcript, in the order of the file.
    pub fn transcript(&self, bytes: &[u8]) -> Vec<Match> {
        let chunks: Vec<Range<usize>> = chunks(bytes);
        let found: Vec<Vec<Match>> = chunks
            .into_par_iter()
            .map(|chunk| self.chunk(bytes, chunk))
            .collect();
        found.concat()
    }

    /// Whether there is a match in the bytes of a transcript. Ends at the first one.
    pub fn is_in(&self, bytes: &[u8]) -> bool {
        chunks(bytes).into_par_iter().any(|chunk| {
            let (mut found, mut blocks) = (Vec::new(), Vec::new());
            self.candidates(bytes, chunk).into_iter().any(|line| {
                let offset = line.start;
                self.line(&bytes[line], offset, &mut blocks, &mut found);
                !found.is_empty()
            })
        })
    }

    /// Returns the lines of a transcript that may hold a match, by their bytes.
    pub fn lines(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let chunks = chunks(bytes).into_par_iter();
        let found: Vec<Vec<Range<usize>>> =
            chunks.map(|chunk| self.candidates(bytes, chunk)).collect();
        found.concat()
    }

    /// Returns the hits in a session; `lines` are those that may hold one, and `agent` is the subagent whose transcript it is.
    /// This finds what [`Search::transcript`] finds, and reads no line again that the session has read.
    pub fn hits(&self, session: &Session, lines: &[Range<usize>], agent: Option<&str>) -> Vec<Hit> {
        let known = session.document().lines();
        let place = |line: &Range<usize>| {
            let start = Some(line.start as u64);
            known.binary_search_by_key(&start, |line| line.start_in_file())
        };
        let found = lines.par_iter().map(|line| {
            let Some(LineState::Entry(number)) = place(line).ok().map(|at| session.lines()[at])
            else {
                return Vec::new();
            };
            let entry = session.entry(number);
            let (text, blocks) = (session.text(entry), session.blocks(entry));
            let mut found = Vec::new();
            self.entry(text, entry, blocks, line.start, &mut found);
            let hit = |found| Hit::of(session, number, found, agent);
            found.into_iter().map(hit).collect()
        });
        found.collect::<Vec<Vec<Hit>>>().concat()
    }

    /// Searches a range of whole lines.
    fn chunk(&self, bytes: &[u8], chunk: Range<usize>) -> Vec<Match> {
        let (mut found, mut blocks) = (Vec::new(), Vec::new());
        for line in self.candidates(bytes, chunk) {
            let offset = line.start;
            self.line(&bytes[line], offset, &mut blocks, &mut found);
        }
        found
    }

    /// Returns the lines of a range of whole lines that may hold a match.
    fn candidates(&self, bytes: &[u8], chunk: Range<usize>) -> Vec<Range<usize>> {
        let json = &bytes[chunk.clone()];
        let mut lines = self.lines_like_it(json);
        lines.extend(self.odd_lines(json));
        lines.sort_unstable_by_key(|line| line.start);
        lines.dedup();
        let in_file = |line: Range<usize>| chunk.start + line.start..chunk.start + line.end;
        lines.into_iter().map(in_file).collect()
    }

    /// Returns the lines in which the pattern matches as they are.
    fn lines_like_it(&self, json: &[u8]) -> Vec<Range<usize>> {
        let (mut lines, mut at) = (Vec::new(), 0);
        while at < json.len()
            && let Some(found) = self.pattern.raw.find_at(json, at)
        {
            let line = line_around(json, found.start());
            at = line.end + 1;
            lines.push(line);
        }
        lines
    }

    /// Returns the lines in which a match may be written in another way than usual.
    fn odd_lines(&self, json: &[u8]) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let mut escapes = |escape: &[u8]| {
            let (finder, mut at) = (memmem::Finder::new(escape), 0);
            while at < json.len()
                && let Some(found) = finder.find(&json[at..])
            {
                at += found + escape.len();
                if unusual_escape(json, at - escape.len()) {
                    let line = line_around(json, at - 1);
                    at = line.end + 1;
                    lines.push(line);
                }
            }
        };
        escapes(br"\u");
        if self.pattern.has_slash {
            escapes(br"\/");
        }
        if self.pattern.has_replacement {
            let mut from = 0;
            while let Err(error) = simdutf8::compat::from_utf8(&json[from..]) {
                let line = line_around(json, from + error.valid_up_to());
                from = (line.end + 1).min(json.len());
                lines.push(line);
            }
        }
        lines
    }

    /// Searches the texts of one line.
    fn line(&self, line: &[u8], offset: usize, blocks: &mut Vec<Block>, found: &mut Vec<Match>) {
        if offset > 0 && line.starts_with(BYTE_ORDER_MARK) {
            return;
        }
        blocks.clear();
        let Ok((entry, _)) = parse(line, blocks) else {
            return;
        };
        self.entry(line, &entry, blocks, offset, found);
    }

    /// Searches the texts of an entry.
    fn entry(
        &self,
        line: &[u8],
        entry: &Entry,
        blocks: &[Block],
        offset: usize,
        found: &mut Vec<Match>,
    ) {
        let numbered = entry.flags.numbered_characters();
        let replaced = entry.flags.not_utf8() && self.pattern.has_replacement;
        let has = |raw: &[u8], escape: &[u8]| memmem::find(raw, escape).is_some();
        let is_odd = |raw: &[u8]| {
            replaced || numbered && has(raw, br"\u") || self.pattern.has_slash && has(raw, br"\/")
        };
        visit_texts(line, entry, blocks, |text| {
            let wanted = self.kinds.contains(&text.kind);
            if wanted && (self.pattern.raw.is_match(text.raw) || is_odd(text.raw)) {
                self.text(text, offset, blocks, found);
            }
        });
    }

    /// Searches the lines of one text.
    fn text(&self, text: EntryText<'_>, offset: usize, blocks: &[Block], found: &mut Vec<Match>) {
        let words = decode(text.raw);
        let mut secrets = SecretsNear::new(&words);
        let number = |block: &Block| blocks.iter().position(|b| std::ptr::eq(b, block));
        self.matching_lines(&words, |line| {
            let shown = &words[line.clone()];
            let text_of_hit = if self.with_text {
                HitText::new(shown, secrets.of(line))
            } else {
                HitText::default()
            };
            found.push(Match {
                offset,
                kind: text.kind,
                block: text.block.and_then(number),
                text: text_of_hit,
            });
        });
    }

    /// Calls `take` with the lines of a text that match, without their line breaks.
    fn matching_lines(&self, words: &str, mut take: impl FnMut(Range<usize>)) {
        let whole = |start: usize, end: usize| {
            let shown = words[start..end].strip_suffix('\r');
            start..shown.map_or(end, |shown| start + shown.len())
        };
        if let Some(literal) = &self.pattern.literal {
            let mut at = 0;
            while let Some(found) = words.get(at..).and_then(|w| literal.find(w.as_bytes())) {
                let line = line_around(words.as_bytes(), at + found);
                at = line.end + 1;
                take(whole(line.start, line.end));
            }
            return;
        }
        let mut start = 0;
        for line in words.split('\n') {
            let shown = whole(start, start + line.len());
            if self.pattern.text.is_match(&words[shown.clone()]) {
                take(shown);
            }
            start += line.len() + 1;
        }
    }
}

/// The secrets in a text, searched for only where lines match.
struct SecretsNear<'t> {
    text: &'t str,
    /// Those of the whole text, if a key in it may span many lines.
    all: Option<Vec<Range<usize>>>,
    has_key: Option<bool>,
}

impl<'t> SecretsNear<'t> {
    /// How far from a line the rest of its secret may be, unless it is a key of many lines.
    const NEAR: usize = 256;

    fn new(text: &'t str) -> Self {
        Self {
            text,
            all: None,
            has_key: None,
        }
    }

    /// Returns the secrets within a range of the text, counted from its start.
    fn of(&mut self, range: Range<usize>) -> Vec<Range<usize>> {
        let text = self.text;
        // Terminal codes may be within the words that announce a key.
        let signs: [&[u8]; 3] = [b"-----BEGIN", b"Private-Lines", b"\x1b"];
        let has = |sign: &&[u8]| memmem::find(text.as_bytes(), sign).is_some();
        let has_key = || signs.iter().any(has);
        let within = |secrets: &[Range<usize>], start: usize| {
            let cut = |at: usize| (start + at).clamp(range.start, range.end) - range.start;
            let cut = secrets.iter().map(|s| cut(s.start)..cut(s.end));
            cut.filter(|s| !s.is_empty()).collect()
        };
        if *self.has_key.get_or_insert_with(has_key) {
            let all = self.all.get_or_insert_with(|| ranges(text));
            return within(all, 0);
        }
        let mut start = range.start.saturating_sub(Self::NEAR);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let mut end = (range.end + Self::NEAR).min(text.len());
        while !text.is_char_boundary(end) {
            end += 1;
        }
        within(&ranges(&text[start..end]), start)
    }
}

fn ranges(text: &str) -> Vec<Range<usize>> {
    find(text).into_iter().map(|secret| secret.range).collect()
}

/// Returns the line around a position, without its line break.
fn line_around(json: &[u8], at: usize) -> Range<usize> {
    let start = memrchr(b'\n', &json[..at]).map_or(0, |i| i + 1);
    let end = memchr(b'\n', &json[at..]).map_or(json.len(), |i| at + i);
    start..end
}

/// Divides the bytes into ranges of whole lines.
fn chunks(bytes: &[u8]) -> Vec<Range<usize>> {
    let (mut chunks, mut start) = (Vec::new(), 0);
    while start < bytes.len() {
        let least = (start + CHUNK).min(bytes.len());
        let end = memchr(b'\n', &bytes[least..]).map_or(bytes.len(), |i| least + i + 1);
        chunks.push(start..end);
        start = end;
    }
    chunks
}
