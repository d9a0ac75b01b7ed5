//! Estimates the tokens of images and documents, which do not follow from the number of bytes.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::json::lookup;

/// How much of an image's base64 is decoded. JPEG files have their dimensions after their metadata.
const HEAD: usize = 96 << 10;

/// Bytes of a PDF per token; each page is sent as text and as an image. Measured: between 8 and 16.
const DOCUMENT: u64 = 12;

/// The properties of an image that its header shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Picture {
    /// Width and height in pixels, if the format is known.
    pub size: Option<(u32, u32)>,
    /// The format, as the media type names it: `png`.
    pub format: String,
    /// The bytes of the picture itself.
    pub bytes: u64,
}

impl Picture {
    /// Looks at an image block.
    pub fn of(block: &[u8]) -> Self {
        let field = |path: &[&str]| lookup(block, path).map(|s| s.of(block)).unwrap_or_default();
        let media = crate::json::decode(field(&["source", "media_type"])).into_owned();
        let data = field(&["source", "data"]);
        let data = data
            .strip_prefix(b"\"")
            .and_then(|d| d.strip_suffix(b"\""))
            .unwrap_or_default();
        let padding = data.iter().rev().take(2).filter(|&&b| b == b'=').count();
        Self {
            size: dimensions(&head(data)),
            format: media.rsplit('/').next().unwrap_or_default().to_owned(),
            bytes: (data.len() as u64 / 4 * 3).saturating_sub(padding as u64),
        }
    }

    /// Returns its tokens in the context window: for an image by its dimensions, up to the size to which the API scales it; for a
    /// document by its bytes, because its pages cannot be counted without unpacking it.
    pub fn tokens(&self) -> u64 {
        match self.size {
            None if self.format == "pdf" => (self.bytes / DOCUMENT).clamp(1_500, 300_000),
            Some((w, h)) => (u64::from(w) * u64::from(h) / 750).clamp(1, 1600),
            None => 1500,
        }
    }
}

/// Returns the image blocks in `raw`, which is an image block or a result that may hold some.
pub fn images(raw: &[u8]) -> Vec<&[u8]> {
    blocks_of(raw, &[b"\"image\""])
}

/// Returns the blocks in `raw` whose weight does not follow from their bytes: images, and documents in base64.
pub(crate) fn heavy(raw: &[u8]) -> Vec<&[u8]> {
    let mut out = blocks_of(raw, &[b"\"image\"", b"\"document\""]);
    out.retain(|b| {
        lookup(b, &["source", "data"]).is_some()
            && lookup(b, &["source", "type"]).is_some_and(|t| t.of(b) == b"\"base64\"")
    });
    out
}

fn blocks_of<'a>(raw: &'a [u8], kinds: &[&[u8]]) -> Vec<&'a [u8]> {
    static NAMES: LazyLock<[Finder<'static>; 2]> =
        LazyLock::new(|| [Finder::new("\"image\""), Finder::new("\"document\"")]);
    // Most blocks hold none; this is the fastest way to find out.
    if NAMES.iter().all(|name| name.find(raw).is_none()) {
        return Vec::new();
    }
    let wanted =
        |block: &[u8]| lookup(block, &["type"]).is_some_and(|s| kinds.contains(&s.of(block)));
    if wanted(raw) {
        return vec![raw];
    }
    let Some(content) = lookup(raw, &["content"])
        .map(|s| s.of(raw))
        .filter(|c| c.starts_with(b"["))
    else {
        return Vec::new();
    };
    let inner = crate::json::elements(content).unwrap_or_default();
    inner
        .into_iter()
        .map(|s| s.of(content))
        .filter(|b| b.starts_with(b"{") && wanted(b))
        .collect()
}

/// Decodes the beginning of some base64.
fn head(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bits: u32 = 0;
    let mut have = 0;
    for &c in &data[..data.len().min(HEAD)] {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        have += 6;
        if have >= 8 {
            have -= 8;
            out.push((bits >> have) as u8);
        }
    }
    out
}

fn dimensions(b: &[u8]) -> Option<(u32, u32)> {
    let be16 = |at: usize| {
        Some(u32::from(u16::from_be_bytes(
            b.get(at..at + 2)?.try_into().ok()?,
        )))
    };
    let le16 = |at: usize| {
        Some(u32::from(u16::from_le_bytes(
            b.get(at..at + 2)?.try_into().ok()?,
        )))
    };
    if b.starts_with(b"\x89PNG\r\n\x1a\n") {
        let be32 = |at: usize| Some(u32::from_be_bytes(b.get(at..at + 4)?.try_into().ok()?));
        return Some((be32(16)?, be32(20)?));
    }
    if b.starts_with(b"GIF8") {
        return Some((le16(6)?, le16(8)?));
    }
    if b.starts_with(b"RIFF") && b.get(8..12)? == b"WEBP" {
        return match b.get(12..16)? {
            b"VP8 " => Some((le16(26)? & 0x3fff, le16(28)? & 0x3fff)),
            b"VP8L" => {
                let bits = u32::from_le_bytes(b.get(21..25)?.try_into().ok()?);
                Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
            }
            _ => {
                let le24 = |at: usize| Some(le16(at)? | u32::from(*b.get(at + 2)?) << 16);
                Some((le24(24)? + 1, le24(27)? + 1))
            }
        };
    }
    if b.starts_with(b"\xff\xd8") {
        let mut at = 2;
        loop {
            let marker = *b.get(at + 1)?;
            if b[at] != 0xff {
                return None;
            }
            if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
                return Some((be16(at + 7)?, be16(at + 5)?));
            }
            at += 2 + be16(at + 2)? as usize;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;

    fn block(bytes: &[u8], media: &str) -> Vec<u8> {
        let data = base64::engine::general_purpose::STANDARD.encode(bytes);
        format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"{media}","data":"{data}"}}}}"#).into_bytes()
    }

    #[test]
    fn sizes_of_known_formats() {
        let png = [
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(),
            &640u32.to_be_bytes(),
            &480u32.to_be_bytes(),
        ]
        .concat();
        let picture = Picture::of(&block(&png, "image/png"));
        assert_eq!(
            (picture.size, picture.format.as_str(), picture.bytes),
            (Some((640, 480)), "png", 24)
        );
        assert_eq!(picture.tokens(), 409);
        let jpeg = b"\xff\xd8\xff\xe0\0\x04xx\xff\xc0\0\x0b\x08\0\x20\0\x10\x01";
        assert_eq!(Picture::of(&block(jpeg, "image/jpeg")).size, Some((16, 32)));
        assert_eq!(
            Picture::of(&block(b"GIF89a\x05\0\x06\0", "image/gif")).size,
            Some((5, 6))
        );
        assert_eq!(Picture::of(&block(b"nonsense", "image/x")).tokens(), 1500);
    }

    #[test]
    fn documents_go_by_their_bytes() {
        let pdf = block(&vec![0; 120_000], "application/pdf");
        assert_eq!(Picture::of(&pdf).tokens(), 10_000);
        let document = String::from_utf8(pdf)
            .unwrap()
            .replace("\"image\"", "\"document\"");
        assert_eq!(
            (
                heavy(document.as_bytes()).len(),
                images(document.as_bytes()).len()
            ),
            (1, 0)
        );
    }

    #[test]
    fn finds_images_in_results() {
        let image = String::from_utf8(block(b"x", "image/png")).unwrap();
        let result = format!(
            r#"{{"type":"tool_result","content":[{{"type":"text","text":"image"}},{image}]}}"#
        );
        assert_eq!(images(result.as_bytes()), [image.as_bytes()]);
        assert!(images(br#"{"type":"tool_result","content":"an image"}"#).is_empty());
    }
}
