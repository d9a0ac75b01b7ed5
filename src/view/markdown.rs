//! Markdown as a tree, for a terminal or a page.
//!
//! HTML in the text is kept as text, so nothing in the tree can be obeyed by whatever shows it.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

/// How deep lists and quotes are nested at most. Deeper ones are shown on this level.
const DEEPEST: usize = 16;

/// A block of Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkdownBlock {
    /// A paragraph.
    Paragraph(Vec<Inline>),
    /// A heading with its level, from 1.
    Heading(u8, Vec<Inline>),
    /// A list: the number of its first item if it is numbered, and its items.
    List(Option<u64>, Vec<Vec<MarkdownBlock>>),
    /// A quote.
    Quote(Vec<MarkdownBlock>),
    /// Code: its language, which may be empty, and its text.
    Code(String, String),
    /// A table: which columns are flush right, and its rows; the first is the header.
    Table(Vec<bool>, Vec<Vec<Vec<Inline>>>),
    /// A horizontal rule.
    Rule,
}

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inline {
    /// Plain text.
    Text(String),
    /// Code.
    Code(String),
    /// The end of a line. Models mean the line breaks that they write, so soft ones are kept.
    Break,
    /// Emphasised text.
    Emphasis(Vec<Inline>),
    /// Strong text.
    Strong(Vec<Inline>),
    /// Text that is struck out.
    Strikethrough(Vec<Inline>),
    /// A link or an image: its address, and its text.
    Link(String, Vec<Inline>),
}

impl Inline {
    /// Returns the text without any marks.
    pub fn plain(all: &[Self]) -> String {
        let mut out = String::new();
        for inline in all {
            match inline {
                Self::Text(text) | Self::Code(text) => out.push_str(text),
                Self::Break => out.push(' '),
                Self::Emphasis(inner)
                | Self::Strong(inner)
                | Self::Strikethrough(inner)
                | Self::Link(_, inner) => out.push_str(&Self::plain(inner)),
            }
        }
        out
    }
}

/// Reads Markdown. Mask the text first: a secret that is cut into pieces is not recognised.
pub fn markdown(text: &str) -> Vec<MarkdownBlock> {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut reader = Reader {
        events: Parser::new_ext(text, options),
        depth: 0,
    };
    reader.blocks()
}

struct Reader<'t> {
    events: Parser<'t>,
    depth: usize,
}

impl<'t> Reader<'t> {
    /// Reads blocks up to the end of the element that holds them.
    fn blocks(&mut self) -> Vec<MarkdownBlock> {
        let mut out = Vec::new();
        // Text of a list item may stand there without a paragraph around it.
        let mut loose = Vec::new();
        // Containers that are nested too deep: their content is put on this level.
        let mut flattened = 0;
        while let Some(event) = self.events.next() {
            let block = match event {
                Event::End(_) if flattened > 0 => {
                    flattened -= 1;
                    flush(&mut loose, &mut out);
                    continue;
                }
                Event::End(_) => break,
                Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Item)
                    if self.depth >= DEEPEST =>
                {
                    flattened += 1;
                    flush(&mut loose, &mut out);
                    continue;
                }
                Event::Start(tag) => match self.block(tag) {
                    Ok(block) => block,
                    Err(tag) => {
                        self.inline(tag, &mut loose);
                        continue;
                    }
                },
                Event::Rule => MarkdownBlock::Rule,
                event => {
                    push_text(&mut loose, event);
                    continue;
                }
            };
            flush(&mut loose, &mut out);
            out.push(block);
        }
        flush(&mut loose, &mut out);
        out
    }

    fn nested(&mut self) -> Vec<MarkdownBlock> {
        self.depth += 1;
        let blocks = self.blocks();
        self.depth -= 1;
        blocks
    }

    /// Reads a block; returns a tag that is not one.
    fn block(&mut self, tag: Tag<'t>) -> Result<MarkdownBlock, Tag<'t>> {
        Ok(match tag {
            Tag::Paragraph | Tag::HtmlBlock => MarkdownBlock::Paragraph(self.inlines()),
            Tag::Heading { level, .. } => MarkdownBlock::Heading(number(level), self.inlines()),
            Tag::BlockQuote(_) => MarkdownBlock::Quote(self.nested()),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',', '{']).next().map(str::to_owned)
                    }
                    CodeBlockKind::Indented => None,
                };
                let code = Inline::plain(&self.inlines());
                MarkdownBlock::Code(language.unwrap_or_default(), code)
            }
            Tag::List(first) => {
                let mut items = Vec::new();
                while let Some(Event::Start(_)) = self.events.next() {
                    items.push(self.nested());
                }
                MarkdownBlock::List(first, items)
            }
            Tag::Table(alignment) => {
                let right = alignment.iter().map(|a| *a == Alignment::Right).collect();
                MarkdownBlock::Table(right, self.rows())
            }
            tag => return Err(tag),
        })
    }

    fn rows(&mut self) -> Vec<Vec<Vec<Inline>>> {
        let mut rows = Vec::new();
        while let Some(Event::Start(_)) = self.events.next() {
            let mut cells = Vec::new();
            while let Some(Event::Start(_)) = self.events.next() {
                cells.push(self.inlines());
            }
            rows.push(cells);
        }
        rows
    }

    /// Reads text up to the end of the element that holds it.
    fn inlines(&mut self) -> Vec<Inline> {
        let mut out = Vec::new();
        let mut flattened = 0;
        self.depth += 1;
        while let Some(event) = self.events.next() {
            match event {
                Event::End(_) if flattened > 0 => flattened -= 1,
                Event::End(_) => break,
                Event::Start(_) if self.depth >= 2 * DEEPEST => flattened += 1,
                Event::Start(tag) => self.inline(tag, &mut out),
                event => push_text(&mut out, event),
            }
        }
        self.depth -= 1;
        out
    }

    fn inline(&mut self, tag: Tag<'t>, out: &mut Vec<Inline>) {
        let inner = self.inlines();
        match tag {
            Tag::Emphasis => out.push(Inline::Emphasis(inner)),
            Tag::Strong => out.push(Inline::Strong(inner)),
            Tag::Strikethrough => out.push(Inline::Strikethrough(inner)),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                out.push(Inline::Link(dest_url.to_string(), inner));
            }
            _ => out.extend(inner),
        }
    }
}

fn flush(loose: &mut Vec<Inline>, out: &mut Vec<MarkdownBlock>) {
    if !loose.is_empty() {
        out.push(MarkdownBlock::Paragraph(std::mem::take(loose)));
    }
}

fn push_text(out: &mut Vec<Inline>, event: Event<'_>) {
    out.push(match event {
        Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
            Inline::Text(text.into_string())
        }
        Event::Code(text) => Inline::Code(text.into_string()),
        Event::SoftBreak | Event::HardBreak => Inline::Break,
        Event::TaskListMarker(done) => Inline::Text(if done { "☑ " } else { "☐ " }.to_owned()),
        _ => return,
    });
}

fn number(level: HeadingLevel) -> u8 {
    level as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_read_as_a_tree() {
        let text = "# A *b*\n\ntext <b>x</b>\nmore\n\n- one\n- two\n  1. deep\n\n> said\n\n```rust\nfn x() {}\n```\n\n|a|b|\n|-|-:|\n|1|2|\n\n---\n[x](http://y)";
        let text_of = |s: &str| Inline::Text(s.to_owned());
        let paragraph = |s: &str| MarkdownBlock::Paragraph(vec![text_of(s)]);
        let cell = |s: &str| vec![text_of(s)];
        assert_eq!(
            markdown(text),
            [
                MarkdownBlock::Heading(
                    1,
                    vec![text_of("A "), Inline::Emphasis(vec![text_of("b")])]
                ),
                MarkdownBlock::Paragraph(vec![
                    text_of("text "),
                    text_of("<b>"),
                    text_of("x"),
                    text_of("</b>"),
                    Inline::Break,
                    text_of("more"),
                ]),
                MarkdownBlock::List(
                    None,
                    vec![
                        vec![paragraph("one")],
                        vec![
                            paragraph("two"),
                            MarkdownBlock::List(Some(1), vec![vec![paragraph("deep")]])
                        ]
                    ]
                ),
                MarkdownBlock::Quote(vec![paragraph("said")]),
                MarkdownBlock::Code("rust".to_owned(), "fn x() {}\n".to_owned()),
                MarkdownBlock::Table(
                    vec![false, true],
                    vec![vec![cell("a"), cell("b")], vec![cell("1"), cell("2")]]
                ),
                MarkdownBlock::Rule,
                MarkdownBlock::Paragraph(vec![Inline::Link(
                    "http://y".to_owned(),
                    vec![text_of("x")]
                )]),
            ]
        );
    }

    #[test]
    fn markdown_of_anything_ends() {
        for text in [
            "",
            "> ".repeat(5000).as_str(),
            "* ".repeat(3000).as_str(),
            "[[[[",
            "<!--",
            "```",
        ] {
            let _ = markdown(text);
        }
    }
}
