//! Where a text can be cut.

/// Returns the last beginning of a character at or before a byte, or the end of the text.
pub(crate) fn back_to_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rfind(|&i| text.is_char_boundary(i)).unwrap_or(0)
}
