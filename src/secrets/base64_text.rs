//! Text that is encoded in base64.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// The shortest run of base64 that is looked into.
const LEAST: usize = 16;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Returns the runs of base64 in a text that decode to text, with that text.
pub(super) fn base64_texts(text: &[u8]) -> Vec<(Range<usize>, Vec<u8>)> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let run = text[at..].iter().take_while(|b| is_digit(**b)).count();
        let padding = text[at + run..].iter().take(2).take_while(|b| **b == b'=');
        let end = at + run + padding.count();
        if run >= LEAST {
            let digits = &text[at..at + run];
            let engine = if digits.iter().any(|b| matches!(b, b'-' | b'_')) {
                &URL
            } else {
                &STANDARD
            };
            // A last digit alone holds no byte.
            let whole = if run % 4 == 1 { run - 1 } else { run };
            if let Ok(words) = engine.decode(&digits[..whole])
                && is_text(&words)
            {
                out.push((at..end, words));
            }
        }
        at = end.max(at + 1);
    }
    out
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Returns whether bytes are text that a person could have written.
fn is_text(bytes: &[u8]) -> bool {
    let is_control = |b: &u8| b.is_ascii_control() && !b.is_ascii_whitespace();
    !bytes.is_empty() && !bytes.iter().any(is_control) && std::str::from_utf8(bytes).is_ok()
}
