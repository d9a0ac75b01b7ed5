//! A pattern for decoded text, rewritten for text in JSON.

use regex_syntax::hir::{Capture, Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// A pattern that matches in the JSON of a string at least where the original matches in its text, if the JSON has no
/// escapes but those that are necessary. Lines with others are found by [`unusual_escape`].
pub(super) struct RawPattern {
    pub(super) hir: Hir,
    /// The pattern has a line break that must match.
    pub(super) has_line_break: bool,
    /// It may match a slash.
    pub(super) has_slash: bool,
    /// It may match the character that stands for bytes that are not UTF-8.
    pub(super) has_replacement: bool,
}

impl RawPattern {
    pub(super) fn of(hir: &Hir) -> Self {
        let mut raw = Self {
            hir: Hir::empty(),
            has_line_break: false,
            has_slash: false,
            has_replacement: false,
        };
        raw.hir = raw.rewrite(hir);
        raw
    }

    fn rewrite(&mut self, hir: &Hir) -> Hir {
        match hir.kind() {
            // A place in the text is not a place in the JSON: without the condition, more matches.
            HirKind::Empty | HirKind::Look(_) => Hir::empty(),
            HirKind::Literal(literal) => {
                let text = String::from_utf8_lossy(&literal.0);
                Hir::concat(text.chars().map(|c| self.character(c)).collect())
            }
            HirKind::Class(Class::Unicode(class)) => self.class(class.clone()),
            HirKind::Class(Class::Bytes(class)) => match class.to_unicode_class() {
                Some(class) => self.class(class),
                None => Hir::fail(),
            },
            HirKind::Repetition(repetition) => {
                let sub = self.rewrite(&repetition.sub);
                Hir::repetition(repetition.with(sub))
            }
            HirKind::Capture(capture) => Hir::capture(Capture {
                index: capture.index,
                name: None,
                sub: Box::new(self.rewrite(&capture.sub)),
            }),
            HirKind::Concat(subs) => Hir::concat(subs.iter().map(|s| self.rewrite(s)).collect()),
            HirKind::Alternation(subs) => {
                Hir::alternation(subs.iter().map(|s| self.rewrite(s)).collect())
            }
        }
    }

    fn character(&mut self, c: char) -> Hir {
        self.has_slash |= c == '/';
        self.has_line_break |= c == '\n';
        self.has_replacement |= c == char::REPLACEMENT_CHARACTER;
        escape(c).unwrap_or_else(|| Hir::literal(c.to_string().into_bytes()))
    }

    /// A line of text has no line break, so that one in a class never matches.
    fn class(&mut self, mut class: ClassUnicode) -> Hir {
        let has = |class: &ClassUnicode, c: char| {
            let mut ranges = class.ranges().iter();
            ranges.any(|r| (r.start()..=r.end()).contains(&c))
        };
        self.has_slash |= has(&class, '/');
        self.has_replacement |= has(&class, char::REPLACEMENT_CHARACTER);
        let escaped = ('\0'..' ').chain(['"', '\\']).filter(|&c| c != '\n');
        let mut forms: Vec<Hir> = escaped
            .filter(|&c| has(&class, c))
            .filter_map(escape)
            .collect();
        let written = [('\0', '\u{1f}'), ('"', '"'), ('\\', '\\')];
        let written = written.map(|(from, to)| ClassUnicodeRange::new(from, to));
        class.difference(&ClassUnicode::new(written));
        forms.push(Hir::class(Class::Unicode(class)));
        Hir::alternation(forms)
    }
}

/// Returns how a character is written in JSON, if it cannot be written as itself.
fn escape(c: char) -> Option<Hir> {
    let short = match c {
        '"' => '"',
        '\\' => '\\',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\0'..='\u{1f}' => return Some(numbered(c)),
        _ => return None,
    };
    Some(Hir::literal(format!("\\{short}").into_bytes()))
}

/// Returns `\u001b` and the like, with digits in both cases.
fn numbered(c: char) -> Hir {
    let digits = format!("{:02x}", u32::from(c));
    let digit = |c: char| {
        let both = [c, c.to_ascii_uppercase()].map(|c| ClassUnicodeRange::new(c, c));
        Hir::class(Class::Unicode(ClassUnicode::new(both)))
    };
    let start = Hir::literal(&b"\\u00"[..]);
    Hir::concat(
        [start]
            .into_iter()
            .chain(digits.chars().map(digit))
            .collect(),
    )
}

/// Whether the escape `\u....` or `\/` at `at` in some JSON is one that a writer could have left out.
pub(super) fn unusual_escape(json: &[u8], at: usize) -> bool {
    // Of several backslashes, each second one is the text of the one before it.
    let backslashes = json[..at].iter().rev().take_while(|&&b| b == b'\\').count();
    if backslashes % 2 == 1 {
        return false;
    }
    if json.get(at + 1) == Some(&b'/') {
        return true;
    }
    let digits = json.get(at + 2..at + 6);
    let digits = digits.and_then(|d| std::str::from_utf8(d).ok());
    let number = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
    number.is_none_or(|n| n >= 0x20 || matches!(n, 8 | 9 | 10 | 12 | 13))
}
