//! Judges documents as the API does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// What the API says of this PDF, if it refuses it.
pub(crate) fn fault(base64: &str) -> Option<&'static str> {
    let bytes = STANDARD.decode(base64).unwrap_or_default();
    let holds = |word: &[u8]| bytes.windows(word.len()).any(|w| w == word);
    if !bytes.starts_with(b"%PDF-") || !holds(b"%%EOF") {
        Some("The PDF specified was not valid.")
    } else if holds(b"/Encrypt") {
        Some("The PDF specified is password protected.")
    } else {
        None
    }
}
