//! Finds images and documents in messages, and what is wrong with them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, ImageReader};
use memchr::memmem;
use rayon::prelude::*;

use crate::json::{Span, decode, elements, lookup};
use crate::session::Session;
use crate::transcript::{BlockKind, EntryIx};

use super::super::super::check::is_live;

/// The most bytes of base64 that the API accepts.
pub(crate) const MOST_BYTES: usize = 5 << 20;
/// The most pixels on each side.
pub(crate) const MOST_PIXELS: u32 = 8000;
/// The most pixels on each side if there are many images.
pub(crate) const MOST_PIXELS_OF_MANY: u32 = 2000;
/// More images than this are many.
pub(crate) const MANY: usize = 20;

/// An image or document, by spans in its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Medium {
    /// The entry.
    pub(crate) entry: EntryIx,
    /// The whole block.
    pub(crate) block: Span,
    /// Its data, quotes included.
    pub(crate) data: Span,
    /// Its `media_type`, quotes included.
    pub(crate) media_type: Option<Span>,
    /// Whether it is a document, not an image.
    pub(crate) document: bool,
}

/// What is wrong with an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ImageFault {
    /// It is not an image.
    NotAnImage,
    /// Its media type is wrong; the right one.
    OtherKind(&'static str),
    /// It has too many bytes.
    Bytes(usize),
    /// It has too many pixels on a side.
    Pixels(u32, u32),
}

/// Returns all images and documents of the conversation, those inside results included.
pub(crate) fn media(session: &Session) -> Vec<Medium> {
    let mut out = Vec::new();
    if !session.flags_of_any().media() {
        return out;
    }
    for (i, e) in session.numbered() {
        if !e.is_message() || !is_live(session, i) {
            continue;
        }
        for block in session.blocks(e).iter().filter(|b| b.may_hold_media()) {
            let text = session.text(e);
            match block.kind {
                BlockKind::Image | BlockKind::Document => out.extend(medium(text, i, block.span)),
                BlockKind::ToolResult => {
                    let inner = block.span.of(text);
                    let Some(list) =
                        lookup(inner, &["content"]).filter(|s| s.of(inner).starts_with(b"["))
                    else {
                        continue;
                    };
                    let all = elements(list.of(inner)).unwrap_or_default();
                    out.extend(
                        all.into_iter().filter_map(|s| {
                            medium(text, i, s.shift(list.start + block.span.start))
                        }),
                    );
                }
                _ => {}
            }
        }
    }
    out
}

fn medium(text: &[u8], entry: EntryIx, block: Span) -> Option<Medium> {
    let inner = block.of(text);
    let kind = lookup(inner, &["type"])?.of(inner);
    let document = kind == b"\"document\"";
    if !document && kind != b"\"image\""
        || lookup(inner, &["source", "type"])?.of(inner) != b"\"base64\""
    {
        return None;
    }
    let data = lookup(inner, &["source", "data"])?.shift(block.start);
    let media_type = lookup(inner, &["source", "media_type"]).map(|s| s.shift(block.start));
    Some(Medium {
        entry,
        block,
        data,
        media_type,
        document,
    })
}

/// Decodes an image or document.
pub(crate) fn bytes(text: &[u8], medium: &Medium) -> Option<Vec<u8>> {
    STANDARD
        .decode(decode(medium.data.of(text)).as_bytes())
        .ok()
}

/// Returns the images that the API refuses.
pub(crate) fn faulty_images(session: &Session) -> Vec<(Medium, ImageFault)> {
    let images: Vec<Medium> = media(session).into_iter().filter(|m| !m.document).collect();
    let most = if images.len() > MANY {
        MOST_PIXELS_OF_MANY
    } else {
        MOST_PIXELS
    };
    images
        .into_par_iter()
        .filter_map(|m| {
            judge(session.text(session.entry(m.entry)), &m, most).map(|fault| (m, fault))
        })
        .collect()
}

fn judge(text: &[u8], medium: &Medium, most: u32) -> Option<ImageFault> {
    let Some(raw) = bytes(text, medium) else {
        return Some(ImageFault::NotAnImage);
    };
    let Some((format, mime)) = format(&raw) else {
        return Some(ImageFault::NotAnImage);
    };
    let Ok((width, height)) =
        ImageReader::with_format(std::io::Cursor::new(&raw), format).into_dimensions()
    else {
        return Some(ImageFault::NotAnImage);
    };
    if medium.data.len() - 2 > MOST_BYTES {
        return Some(ImageFault::Bytes(medium.data.len() - 2));
    }
    if width > most || height > most {
        return Some(ImageFault::Pixels(width, height));
    }
    let said = medium.media_type.map(|s| decode(s.of(text)).into_owned());
    said.is_some_and(|s| s != mime && !(s == "image/jpg" && mime == "image/jpeg"))
        .then_some(ImageFault::OtherKind(mime))
}

/// Returns the format and media type of an image, if the API accepts it.
pub(crate) fn format(raw: &[u8]) -> Option<(ImageFormat, &'static str)> {
    match image::guess_format(raw).ok()? {
        f @ ImageFormat::Png => Some((f, "image/png")),
        f @ ImageFormat::Jpeg => Some((f, "image/jpeg")),
        f @ ImageFormat::Gif => Some((f, "image/gif")),
        f @ ImageFormat::WebP => Some((f, "image/webp")),
        _ => None,
    }
}

/// Returns the documents that the API refuses, and why.
pub(crate) fn faulty_documents(session: &Session) -> Vec<(Medium, &'static str)> {
    let mut out = Vec::new();
    for m in media(session).into_iter().filter(|m| m.document) {
        let text = session.text(session.entry(m.entry));
        if m.media_type
            .is_none_or(|s| s.of(text) != b"\"application/pdf\"")
        {
            continue;
        }
        let why = match bytes(text, &m) {
            Some(raw) if memmem::find(&raw[..raw.len().min(1024)], b"%PDF-").is_none() => {
                "the document is not a valid PDF"
            }
            Some(raw) if memmem::find(&raw, b"%%EOF").is_none() => "the PDF is incomplete",
            Some(raw) if memmem::find(&raw, b"/Encrypt").is_some() => {
                "the PDF is password protected"
            }
            Some(_) => continue,
            None => "the document is not a valid PDF",
        };
        out.push((m, why));
    }
    out
}
