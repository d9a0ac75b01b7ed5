//! Cuts long outputs to their beginning and end.

use std::borrow::Cow;

use crate::human::bytes;
use crate::view::back_to_boundary;

/// Outputs up to this many bytes are exported whole.
const WHOLE: usize = 24 << 10;

/// What is kept of a longer output: bytes of its beginning and of its end.
const HEAD: usize = 12 << 10;
const TAIL: usize = 4 << 10;

/// Returns an output, without its middle if it is long. Lines stay whole where that is possible.
pub(super) fn cut_output(text: &str, uncut: bool) -> Cow<'_, str> {
    if uncut || text.len() <= WHOLE {
        return Cow::Borrowed(text);
    }
    let head = back_to_boundary(text, HEAD);
    let head = text[..head]
        .rfind('\n')
        .filter(|at| *at > HEAD / 2)
        .unwrap_or(head);
    let tail = back_to_boundary(text, text.len() - TAIL);
    let line = text[tail..].find('\n').filter(|at| *at < TAIL / 2);
    let tail = line.map_or(tail, |at| tail + at + 1);
    let left_out = bytes((tail - head) as u64);
    Cow::Owned(format!(
        "{}\n[… {left_out} left out; an export as JSON has all of it …]\n{}",
        &text[..head],
        &text[tail..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_output_keeps_beginning_and_end() {
        assert_eq!(cut_output("short", false), "short");
        let lines: Vec<String> = (0..9000).map(|n| format!("line {n}")).collect();
        let long = lines.join("\n") + "\n";
        let cut = cut_output(&long, false);
        assert!(cut.len() < WHOLE && cut.starts_with("line 0\n") && cut.ends_with("line 8999\n"));
        assert!(cut.contains(" left out; an export as JSON has all of it …]\nline "));
        assert_eq!(cut_output(&long, true), long);
        let wide = "日".repeat(20_000);
        assert!(cut_output(&wide, false).len() < WHOLE);
    }
}
