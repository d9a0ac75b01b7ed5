//! JSON lines, and nothing of sessions: bytes to lines and back, the spans of fields, and edits of spans.

mod cursor;
mod document;
mod fields;
mod line;
mod marks;
mod splice;
mod text;

pub(crate) use cursor::BYTE_ORDER_MARK;
pub use cursor::{Cursor, Malformed, Span, Token, WATCHED, Watched};
pub use document::{Document, Source, Stretch, Successor};
pub use fields::{Field, elements, fields, fields_around, lookup, lookup_around};
pub use line::{Ending, Line};
pub use splice::{
    Edit, Edits, OverlapError, apply_edits, insert_field, remove_elements, remove_field,
};
pub use text::{begins_with_words, decode, decode_head, decoded_len, encode, plain_len};
