//! Judges images as the API does.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const LARGEST: usize = 5 * 1024 * 1024;

/// What the API says of this image, if it refuses it; `many` when the request has more than twenty.
pub(crate) fn fault(base64: &str, many: bool) -> Option<String> {
    if base64.len() > LARGEST {
        return Some(format!(
            "image exceeds 5 MB maximum: {} bytes > {LARGEST} bytes",
            base64.len()
        ));
    }
    let Some((width, height)) = STANDARD
        .decode(base64)
        .ok()
        .and_then(|bytes| dimensions(&bytes))
    else {
        return Some("Could not process image".to_owned());
    };
    let side = width.max(height);
    if side > 8000 {
        return Some(
            "At least one of the image dimensions exceed max allowed size: 8000 pixels".to_owned(),
        );
    }
    (many && side > 2000).then(|| {
        "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels".to_owned()
    })
}

/// Width and height of a PNG, GIF, JPEG or WebP; nothing for other bytes.
fn dimensions(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some((big(bytes.get(16..20)?), big(bytes.get(20..24)?)));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((little(bytes.get(6..8)?), little(bytes.get(8..10)?)));
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return jpeg(bytes);
    }
    (bytes.starts_with(b"RIFF") && bytes.get(8..12)? == b"WEBP").then(|| webp(bytes))?
}

fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let marker = *bytes.get(at + 1)?;
        let length = big(bytes.get(at + 2..at + 4)?) as usize;
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return Some((
                big(bytes.get(at + 7..at + 9)?),
                big(bytes.get(at + 5..at + 7)?),
            ));
        }
        at += 2 + length;
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((
            little(bytes.get(24..27)?) + 1,
            little(bytes.get(27..30)?) + 1,
        )),
        b"VP8L" => {
            let packed = little(bytes.get(21..25)?);
            Some(((packed & 0x3fff) + 1, ((packed >> 14) & 0x3fff) + 1))
        }
        b"VP8 " => Some((
            little(bytes.get(26..28)?) & 0x3fff,
            little(bytes.get(28..30)?) & 0x3fff,
        )),
        _ => None,
    }
}

fn big(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |n, b| n << 8 | u32::from(*b))
}

fn little(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b))
}
