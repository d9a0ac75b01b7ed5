//! Reads a line of a transcript into an [`Entry`] and its blocks, in one pass.

mod attachment;
mod fields;
mod message;
#[cfg(test)]
mod tests;
mod values;

use crate::json::{Cursor, Edit, Malformed, Span};

use super::block::Block;
use super::entry::Entry;
use super::id::Id;
use super::ids::{ID_LEN, IdPositions, LEADING_PARENT};
use super::numbers::{BlockIx, BlockRange};
use super::repeated_fields::RepeatedFields;

pub(crate) use values::id_of_string;
use values::unquoted;

/// Where a line has the fields that most lines repeat; empty spans where it does not have them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Repeated {
    /// `cwd`.
    pub(crate) cwd: Span,
    /// `slug`.
    pub(crate) slug: Span,
    /// `version`.
    pub(crate) version: Span,
    /// `message.model`.
    pub(crate) model: Span,
}

/// Reads a line that holds one JSON object; its blocks are appended to `blocks`.
pub(crate) fn parse(line: &[u8], blocks: &mut Vec<Block>) -> Result<(Entry, Repeated), Malformed> {
    let end = |c: &mut Cursor<'_>| c.finish().map(|()| (line.len(), ()));
    let (entry, repeated, _, ()) = read(line, Cursor::new(line), blocks, Known::Nothing, end)?;
    Ok((entry, repeated))
}

/// Reads the first line of `rest`, whose end need not be known; fields that are as in the lines before are not read again.
///
/// Also returns where the line's newline is, if it has one.
pub(crate) fn parse_first(
    rest: &[u8],
    blocks: &mut Vec<Block>,
    cache: &mut RepeatedFields,
) -> Result<(Entry, Repeated, Option<usize>), Malformed> {
    let rest = &rest[..rest.len().min(u32::MAX as usize)];
    let end = |c: &mut Cursor<'_>| {
        let (len, newline) = c.finish_line()?;
        // A carriage return was skipped as white space, but is part of the line's ending.
        let ending = newline && rest[..len].ends_with(b"\r");
        Ok((len - usize::from(ending), newline.then_some(len)))
    };
    let known = Known::RepeatedFields(cache);
    let (entry, repeated, _, newline) = read(rest, Cursor::line(rest), blocks, known, end)?;
    Ok((entry, repeated, newline))
}

/// Reads a line that was edited, with the same result as [`parse`]; `old` is the line before the edit, its entry and blocks.
///
/// Content that is the same is not read again. Returns true if the blocks are the same, at the same place; they are not
/// appended to `blocks` then.
pub(crate) fn parse_edited(
    line: &[u8],
    old: (&[u8], &Entry, &[Block]),
    blocks: &mut Vec<Block>,
) -> Result<(Entry, Repeated, bool), Malformed> {
    let in_full = |blocks: &mut Vec<Block>| {
        let parsed = parse(line, blocks);
        parsed.map(|(entry, repeated)| (entry, repeated, false))
    };
    let (old_line, old_entry, old_blocks) = old;
    // The odd bytes may be in content that would be skipped.
    if old_entry.flags.not_utf8() || old_entry.flags.numbered_characters() {
        return in_full(blocks);
    }
    let first = blocks.len();
    let end = |c: &mut Cursor<'_>| c.finish().map(|()| (line.len(), ()));
    let known = Known::Line(old_line, old_entry);
    let (mut entry, repeated, same, ()) = read(line, Cursor::new(line), blocks, known, end)?;
    // Whether the text is a prompt depends on more than the content.
    let prompt_facts = |e: &Entry| {
        let flags = e.flags;
        (
            e.kind,
            flags.meta(),
            flags.compact_summary(),
            flags.not_by_person(),
            flags.by_person(),
        )
    };
    if same && prompt_facts(&entry) != prompt_facts(old_entry) {
        return in_full(blocks);
    }
    let stays = same && entry.content.start == old_entry.content.start;
    if same && !stays {
        let by = i64::from(entry.content.start) - i64::from(old_entry.content.start);
        blocks.extend(old_blocks.iter().map(|b| b.moved(by)));
        entry.blocks = blocks_from(first, blocks);
    }
    Ok((entry, repeated, stays))
}

/// Returns the parent that these edits give to the line of an entry, if they do nothing else: the line need not be read
/// then. Clients write the parent first.
pub(crate) fn other_parent(edits: &[Edit], old: &Entry) -> Option<Id> {
    let [edit] = edits else {
        return None;
    };
    let quoted = Span {
        start: LEADING_PARENT.start - 1,
        end: LEADING_PARENT.end + 1,
    };
    if edit.span != quoted || !old.flags.leading_parent() {
        return None;
    }
    Id::of_uuid(unquoted(&edit.with))
}

/// Reads the entry of a line that was made from another one. Content that is the same is not read again, and no blocks are
/// returned.
pub fn reread(line: &[u8], made_from: (&[u8], &Entry)) -> Result<Entry, Malformed> {
    let end = |c: &mut Cursor<'_>| c.finish().map(|()| (line.len(), ()));
    let mut blocks = Vec::new();
    let known = Known::Line(made_from.0, made_from.1);
    let read = read(line, Cursor::new(line), &mut blocks, known, end)?;
    Ok(read.0)
}

/// Returns the numbers of the blocks from `first` on.
fn blocks_from(first: usize, blocks: &[Block]) -> BlockRange {
    BlockRange::new(BlockIx::new(first), BlockIx::new(blocks.len()))
}

/// What is known before a line is read.
enum Known<'a> {
    Nothing,
    /// The line that this one was made from.
    Line(&'a [u8], &'a Entry),
    /// Fields of the lines before.
    RepeatedFields(&'a mut RepeatedFields),
}

/// Reads the object that `text` begins with; `end` returns the length of its line and whatever else the caller needs.
///
/// Also returns whether the content is that of the known line.
fn read<'a, T>(
    text: &'a [u8],
    mut cursor: Cursor<'a>,
    blocks: &mut Vec<Block>,
    known: Known<'_>,
    end: impl FnOnce(&mut Cursor<'a>) -> Result<(usize, T), Malformed>,
) -> Result<(Entry, Repeated, bool, T), Malformed> {
    if text.len() > u32::MAX as usize {
        return Err(Malformed {
            at: u32::MAX as usize,
        });
    }
    let first = blocks.len();
    let mut reader = Reader::new(text, blocks, known);
    cursor.record_strings(ID_LEN);
    let ended = reader.entry(&mut cursor).and_then(|()| end(&mut cursor));
    let (mut entry, repeated, same) = (reader.entry, reader.repeated, reader.same_content);
    let copy = reader.skipped_copy;
    let (len, more) = ended.inspect_err(|_| blocks.truncate(first))?;
    if entry.blocks == BlockRange::default() {
        entry.blocks = blocks_from(first, blocks);
    }
    // The skipped copy begins and ends between characters, and is valid if the text it repeats is.
    let is_utf8 = |bytes: &[u8]| simdutf8::basic::from_utf8(bytes).is_ok();
    let (before, after) = (&text[..copy.start as usize], &text[copy.end as usize..len]);
    let not_utf8 = cursor.saw_high_bytes() && !(is_utf8(before) && is_utf8(after));
    entry.head.flags.set_not_utf8(not_utf8);
    let numbered = cursor.saw_numbered_characters();
    entry.head.flags.set_numbered_characters(numbered);
    entry.ids = IdPositions::of(cursor.recorded(), len);
    Ok((entry, repeated, same, more))
}

/// The entry under construction, and what the rest of the line needs of the part that was read.
struct Reader<'a> {
    line: &'a [u8],
    entry: Entry,
    blocks: &'a mut Vec<Block>,
    /// Where this entry's blocks begin.
    first: usize,
    /// The line that this one was made from, and its entry.
    known: Option<(&'a [u8], &'a Entry)>,
    cache: Option<&'a mut RepeatedFields>,
    /// The content is that of the known line.
    same_content: bool,
    repeated: Repeated,
    /// `sourceToolAssistantUUID`.
    calling_message: Id,
    /// The output of a call, as a string, and where the client's copy of it was skipped because it is the same.
    output: Span,
    skipped_copy: Span,
    /// There was an `attachment`.
    attached: bool,
    /// How many bytes the attachment shows, unless it has a `rendered`; `None` where that needs a full parse.
    shown_bytes: Option<u32>,
    /// There is a `rendered`.
    rendered: bool,
}

type Step = Result<(), Malformed>;

impl<'a> Reader<'a> {
    fn new(line: &'a [u8], blocks: &'a mut Vec<Block>, known: Known<'a>) -> Self {
        let first = blocks.len();
        let (known, cache) = match known {
            Known::Nothing => (None, None),
            Known::Line(line, entry) => (Some((line, entry)), None),
            Known::RepeatedFields(cache) => (None, Some(cache)),
        };
        Self {
            line,
            entry: Entry::without_time(),
            blocks,
            first,
            known,
            cache,
            same_content: false,
            repeated: Repeated::default(),
            calling_message: Id::NONE,
            output: Span::default(),
            skipped_copy: Span::default(),
            attached: false,
            shown_bytes: None,
            rendered: false,
        }
    }
}
