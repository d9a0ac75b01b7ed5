//! The weight of content in the context window, before it is scaled to a session's own records.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::image::{Picture, heavy};
use crate::json::{Span, lookup};
use crate::transcript::{
    AttachedMedia, Block, BlockKind, Entry, Kind, Subtype, WindowUse, attached, parse,
};

/// Tokens per byte of JSON of each kind of content, and tokens that a block takes besides.
///
/// Measured by regression over the usage records of real sessions. Newer models count about 1.3 times
/// as much of every kind (see [`usual_scale`](super::usual_scale)), and a session's own records show its density.
mod rate {
    /// A signature stands for the thinking; the readable text of thinking is not sent.
    pub(super) const SIGNATURE: f64 = 0.20;
    pub(super) const TEXT: f64 = 0.28;
    pub(super) const INPUT: f64 = 0.31;
    pub(super) const RESULT: f64 = 0.32;
    pub(super) const CALL_BLOCK: f64 = 40.0;
    pub(super) const RESULT_BLOCK: f64 = 40.0;
    pub(super) const TEXT_BLOCK: f64 = 4.0;
}

/// The bytes of a text block around its text.
const AROUND_TEXT: usize = br#"{"type":"text","text":""}"#.len();
/// The bytes of a thinking block around its signature.
const AROUND_SIGNATURE: usize = br#"{"type":"thinking","thinking":"","signature":""}"#.len();
/// The bytes of a call around its input, with an id and a name of usual length.
const AROUND_INPUT: usize =
    br#"{"type":"tool_use","id":"toolu_012345678901234567890123","name":"Bash","input":{}}"#.len();

/// The weight of something in the context window: the tokens it would take in a session of average
/// density. [`Calibration::tokens`](super::Calibration::tokens) scales it to a session.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Weight {
    /// Tokens of texts, calls and results.
    pub text: f64,
    /// Tokens of thinking. Some models drop it when the next turn begins.
    pub thinking: f64,
    /// Tokens of pictures and documents. They follow from the size and are not scaled.
    pub images: f64,
}

impl std::ops::Add for Weight {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            text: self.text + other.text,
            thinking: self.thinking + other.thinking,
            images: self.images + other.images,
        }
    }
}

impl std::ops::Sub for Weight {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self {
            text: self.text - other.text,
            thinking: self.thinking - other.thinking,
            images: self.images - other.images,
        }
    }
}

impl std::ops::AddAssign for Weight {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Weight {
    fn sum<I: Iterator<Item = Self>>(weights: I) -> Self {
        weights.fold(Self::default(), |sum, weight| sum + weight)
    }
}

impl Weight {
    /// The weight of a text of so many bytes.
    pub fn of_text(bytes: usize) -> Self {
        Self::scaled_part(rate::TEXT_BLOCK + bytes as f64 * rate::TEXT)
    }

    /// The weight of a result of so many bytes.
    pub(crate) fn of_result(bytes: usize) -> Self {
        Self::scaled_part(rate::RESULT_BLOCK + bytes as f64 * rate::RESULT)
    }

    /// The weight of a picture or document, as a block.
    pub(crate) fn of_media(block: &[u8]) -> Self {
        Self {
            images: Picture::of(block).tokens() as f64,
            ..Self::default()
        }
    }

    /// The weight of thinking with a signature of so many bytes.
    fn of_signature(bytes: usize) -> Self {
        Self {
            thinking: bytes as f64 * rate::SIGNATURE,
            ..Self::default()
        }
    }

    fn scaled_part(text: f64) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// The part that is scaled to a session: all but pictures and documents.
    pub(crate) fn scaled(self) -> f64 {
        self.text + self.thinking
    }
}

/// The models that were measured, by how their names begin, and how many tokens content takes for them per unit of weight.
/// Of the models whose name begins so, newer ones count more.
const SCALES: [(&[u8], f64); 6] = [
    (b"\"claude-opus-4-5", 1.0),
    (b"\"claude-opus-4-6", 1.0),
    (b"\"claude-sonnet-4-", 1.0),
    (b"\"claude-haiku-4-", 1.0),
    (b"\"claude-opus-4-", 1.29),
    (b"\"claude-fable-", 1.29),
];

/// How many tokens content usually takes per unit of weight for a model, given as JSON, if that was measured.
pub(super) fn usual_scale(model: &[u8]) -> Option<f64> {
    // Names of older models continue with a date: `claude-opus-4-20250514`.
    let is_dated =
        model.starts_with(b"\"claude-opus-4-2") || model.starts_with(b"\"claude-opus-4-1");
    let known = SCALES.iter().find(|(name, _)| model.starts_with(name));
    known.map(|(_, scale)| if is_dated { 1.0 } else { *scale })
}

/// The bytes of text that make a token in a session whose records show this scale.
pub(crate) fn text_bytes_per_token(scale: f64) -> f64 {
    1.0 / (rate::TEXT * scale)
}

/// Weighs a content block of this kind, as JSON. `content` is the length of a result's `content`;
/// `media` tells whether pictures or documents may be in it.
pub(crate) fn block_weight(kind: BlockKind, raw: &[u8], content: usize, media: bool) -> Weight {
    match kind {
        BlockKind::Thinking => Weight::of_signature(signature_length(raw)),
        BlockKind::RedactedThinking => {
            Weight::of_signature(raw.len().saturating_sub(AROUND_SIGNATURE))
        }
        BlockKind::ToolUse | BlockKind::ServerToolUse => {
            let input = raw.len().saturating_sub(AROUND_INPUT + not_sent(raw));
            Weight::scaled_part(rate::CALL_BLOCK + input as f64 * rate::INPUT)
        }
        BlockKind::ToolResult | BlockKind::ServerToolResult if media => {
            let pictures = heavy(raw);
            let bytes: usize = pictures.iter().map(|p| p.len()).sum();
            let weights = pictures.into_iter().map(Weight::of_media);
            weights.sum::<Weight>() + Weight::of_result(content.saturating_sub(bytes))
        }
        BlockKind::ToolResult | BlockKind::ServerToolResult => Weight::of_result(content),
        BlockKind::Image | BlockKind::Document if !heavy(raw).is_empty() => Weight::of_media(raw),
        BlockKind::Text | BlockKind::Other | BlockKind::Image | BlockKind::Document => {
            Weight::of_text(raw.len().saturating_sub(AROUND_TEXT))
        }
    }
}

/// Returns the bytes of a call's input that only the client's own copy has: the plan that it shows, whose text is in the
/// result, and a message to another agent, which it keeps twice. The model wrote neither, and requests leave them out.
fn not_sent(call: &[u8]) -> usize {
    let head = &call[..call.len().min(HEAD)];
    let (shown_by, copies): (_, &[&str]) = if SHOWS_PLAN.find(head).is_some() {
        ("planFilePath", &["plan", "planFilePath"])
    } else if SENDS_MESSAGE.find(head).is_some() {
        ("recipient", &["type", "recipient", "content"])
    } else {
        return 0;
    };
    let Some(input) = lookup(call, &["input"]).map(|span| span.of(call)) else {
        return 0;
    };
    let size = |key: &&str| lookup(input, &[key]).map_or(0, |value| value.len() + key.len() + 4);
    if size(&shown_by) == 0 {
        return 0;
    }
    copies.iter().map(size).sum()
}

// Made once: a new searcher for each call took a hundredth of what a command needs.
static SHOWS_PLAN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(br#""ExitPlanMode""#));
static SENDS_MESSAGE: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new(br#""SendMessage""#));

/// The bytes at the beginning of a call in which its name stands.
const HEAD: usize = 160;

fn signature_length(thinking: &[u8]) -> usize {
    let signature = lookup(thinking, &["signature"]);
    signature.map_or(0, |s| s.len().saturating_sub(2))
}

/// Weighs an entry as if it was shown. `line` is called only where the entry's facts do not suffice.
pub(crate) fn weigh<'a>(line: impl Fn() -> &'a [u8], blocks: &[Block], e: &Entry) -> Weight {
    match e.kind {
        Kind::User | Kind::Assistant if e.flags.api_error() || e.flags.sidechain() => {
            Weight::default()
        }
        Kind::User | Kind::Assistant if e.flags.string_content() => {
            Weight::of_text(e.content.len().saturating_sub(2))
        }
        Kind::User | Kind::Assistant => {
            let line = line();
            blocks.iter().map(|b| weight_of_block(b, line)).sum()
        }
        Kind::Attachment => match e.window_use() {
            WindowUse::ShownBytes(0) => Weight::default(),
            WindowUse::ShownBytes(bytes) => Weight::of_text((bytes as usize).saturating_sub(2)),
            WindowUse::RequestTokens(_) | WindowUse::NeedsFullParse => attachment_weight(line(), e),
        },
        Kind::System if e.subtype == Subtype::LocalCommand => {
            let content = lookup(line(), &["content"]);
            content.map_or_else(Weight::default, |s| Weight::of_text(s.len()))
        }
        _ => Weight::default(),
    }
}

/// Weighs a block of this line as if it was shown.
pub(crate) fn weight_of_block(block: &Block, line: &[u8]) -> Weight {
    let content = if block.kind.is_result() {
        block.content(line).map_or(0, Span::len)
    } else {
        0
    };
    let raw = block.span.of(line);
    block_weight(block.kind, raw, content, block.may_hold_media())
}

fn attachment_weight(line: &[u8], e: &Entry) -> Weight {
    let Some(attached) = attached(line, e) else {
        return Weight::default();
    };
    let texts = attached.texts.iter();
    let media = attached.media.iter();
    texts
        .map(|t| Weight::of_text(t.len().saturating_sub(2)))
        .chain(media.map(|m| Weight::of_media(&media_block(m))))
        .sum()
}

/// A picture or document of an attachment, as the block that clients send.
pub(crate) fn media_block<'a>(media: &AttachedMedia<'a>) -> std::borrow::Cow<'a, [u8]> {
    match *media {
        AttachedMedia::Block(raw) => raw.into(),
        AttachedMedia::File { data, media_type } => [
            br#"{"type":"image","source":{"type":"base64","data":"#,
            data,
            br#","media_type":"#,
            media_type,
            b"}}",
        ]
        .concat()
        .into(),
    }
}

/// Weighs a line as if it was shown.
pub fn line_weight(line: &[u8]) -> Weight {
    let mut blocks = Vec::new();
    match parse(line, &mut blocks) {
        Ok((e, _)) => weigh(|| line, &blocks, &e),
        Err(_) => Weight::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Weight {
        line_weight(line.as_bytes())
    }

    #[test]
    fn weight_of_thinking_is_that_of_its_signature() {
        let thinking = |words: &str| {
            of(&format!(
                r#"{{"type":"assistant","uuid":"a","message":{{"id":"m","content":[{{"type":"thinking","thinking":"{words}","signature":"{}"}}]}}}}"#,
                "s".repeat(100)
            ))
        };
        assert_eq!(thinking(""), thinking(&"long words ".repeat(50)));
        assert!((thinking("").thinking - 20.0).abs() < 0.01);
    }

    #[test]
    fn weight_of_a_result_counts_its_content() {
        let result = |output: &str| {
            of(&format!(
                r#"{{"type":"user","uuid":"u","message":{{"content":[{{"type":"tool_result","tool_use_id":"t","content":"{output}"}}]}}}}"#
            ))
        };
        let grown = result(&"x".repeat(1000)).text - result("").text;
        assert!((grown - 320.0).abs() < 0.01, "{grown}");
    }

    #[test]
    fn weight_of_an_attachment_counts_its_pictures() {
        let weight = of(
            r#"{"type":"attachment","uuid":"a","attachment":{"type":"file","content":{"type":"image","file":{"base64":"AAAA","type":"image/x"}}}}"#,
        );
        assert!((weight.images - 1500.0).abs() < 0.01, "{weight:?}");
    }

    #[test]
    fn weight_of_a_call_leaves_out_what_only_the_client_keeps() {
        let call = |tool: &str, input: &str| {
            of(&format!(
                r#"{{"type":"assistant","uuid":"a","message":{{"id":"m","content":[{{"type":"tool_use","id":"t","name":"{tool}","input":{input}}}]}}}}"#
            ))
            .text
        };
        let plan = "step ".repeat(400);
        let bare = call("ExitPlanMode", "{}");
        let older = call("ExitPlanMode", &format!(r#"{{"plan":"{plan}"}}"#));
        let newer = call(
            "ExitPlanMode",
            &format!(r#"{{"plan":"{plan}","planFilePath":"/p.md"}}"#),
        );
        assert!(
            older > bare + 500.0 && newer < bare + 5.0,
            "{bare} {older} {newer}"
        );
        let once = call(
            "SendMessage",
            &format!(r#"{{"to":"b","message":"{plan}"}}"#),
        );
        let twice = call(
            "SendMessage",
            &format!(
                r#"{{"to":"b","message":"{plan}","type":"message","recipient":"b","content":"{plan}"}}"#
            ),
        );
        assert!((once - twice).abs() < 5.0, "{once} {twice}");
    }

    #[test]
    fn scale_of_newer_models_is_larger() {
        let scale = |model: &str| usual_scale(format!("\"{model}\"").as_bytes());
        assert!(scale("claude-opus-4-8") > scale("claude-opus-4-6"));
        assert_eq!(
            scale("claude-opus-4-20250514"),
            scale("claude-sonnet-4-5-20250929")
        );
        assert_eq!(scale("<synthetic>"), None);
    }
}
