//! Makes images smaller.

use std::io::Cursor;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader};

/// Returns the image with at most `pixels` on each side and `bytes` of base64, and its media type; `None`
/// if it cannot be decoded.
pub(crate) fn shrink(raw: &[u8], pixels: u32, bytes: usize) -> Option<(String, &'static str)> {
    let mut picture = ImageReader::new(Cursor::new(raw))
        .with_guessed_format()
        .ok()?
        .decode()
        .ok()?;
    if picture.width() > pixels || picture.height() > pixels {
        picture = picture.resize(pixels, pixels, FilterType::Triangle);
    }
    // Each round has a little more than half the pixels of the round before.
    for _ in 0..12 {
        if let Some(made) = encoded(&picture)
            .into_iter()
            .find(|(data, _)| data.len() <= bytes)
        {
            return Some(made);
        }
        picture = picture.resize(
            (picture.width() * 3 / 4).max(1),
            (picture.height() * 3 / 4).max(1),
            FilterType::Triangle,
        );
    }
    None
}

/// Encodes an image as PNG, which loses nothing, then as JPEG.
fn encoded(picture: &DynamicImage) -> Vec<(String, &'static str)> {
    let mut out = Vec::new();
    let mut png = Vec::new();
    if picture
        .write_to(&mut Cursor::new(&mut png), ImageFormat::Png)
        .is_ok()
    {
        out.push((STANDARD.encode(png), "image/png"));
    }
    let mut jpeg = Vec::new();
    if JpegEncoder::new_with_quality(&mut jpeg, 80)
        .encode_image(&DynamicImage::ImageRgb8(picture.to_rgb8()))
        .is_ok()
    {
        out.push((STANDARD.encode(jpeg), "image/jpeg"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shrink_image_meets_both_limits() {
        let mut seed = 1u32;
        let noise = image::RgbImage::from_fn(300, 200, |_, _| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            image::Rgb([(seed >> 8) as u8, (seed >> 16) as u8, (seed >> 24) as u8])
        });
        let mut raw = Vec::new();
        DynamicImage::ImageRgb8(noise)
            .write_to(&mut Cursor::new(&mut raw), ImageFormat::Png)
            .unwrap();
        let (data, _) = shrink(&raw, 100, 4_000).unwrap();
        let made = STANDARD.decode(&data).unwrap();
        let (w, h) = ImageReader::new(Cursor::new(made))
            .with_guessed_format()
            .unwrap()
            .into_dimensions()
            .unwrap();
        assert!(
            w <= 100 && h <= 100 && data.len() <= 4_000,
            "{w} × {h}, {} bytes",
            data.len()
        );
        assert!(shrink(b"not an image", 100, 4_000).is_none());
    }
}
