//! Replaces secrets in plain text.

use std::borrow::Cow;

use super::find::find;

/// What stands in place of a secret.
pub(super) const MASK: &str = "[masked]";

/// How often the text is searched again after something was masked.
const ROUNDS: usize = 4;

/// Returns the text with every secret replaced; the part of a token that tells its kind stays.
///
/// Masked text stays as it is when it is masked again. For JSON use [`super::mask_json`], which keeps it valid.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut out = Cow::Borrowed(text);
    for _ in 0..ROUNDS {
        match masked_once(&out) {
            Some(next) => out = Cow::Owned(next),
            None => break,
        }
    }
    out
}

/// Masks the pieces of a text between masks that are there already; `None` if there is nothing to mask.
fn masked_once(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut any = false;
    for (i, piece) in text.split(MASK).enumerate() {
        if i > 0 {
            out.push_str(MASK);
        }
        let mut kept = 0;
        for secret in find(piece) {
            out.push_str(&piece[kept..secret.range.start]);
            out.push_str(MASK);
            kept = secret.range.end;
            any = true;
        }
        out.push_str(&piece[kept..]);
    }
    any.then_some(out)
}
