//! JSON text and nothing else: a cursor that yields spans, field lookup, splicing of edits, string escapes.
//!
//! Knows nothing of lines, files or sessions.

mod cursor;
mod fields;
mod nesting;
mod scalar;
mod scan;
mod span;
mod splice;
mod string;
mod text;

pub(crate) use cursor::BYTE_ORDER_MARK;
pub use cursor::{Cursor, MAX_RECORDED, RecordedStrings, Token};
pub use fields::{Field, elements, fields, fields_around, lookup, lookup_around};
pub use span::{Malformed, Span};
pub use splice::{
    Edit, Edits, OverlapError, apply_edits, insert_field, remove_elements, remove_field,
};
pub(crate) use splice::{make_edits, put_in_order};
pub use text::{begins_with_text, decode, decode_head, decoded_len, encode, plain_len};
