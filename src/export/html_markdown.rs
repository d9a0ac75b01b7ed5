//! Markdown as HTML. The tree has no HTML of its own, so nothing but what is written here reaches the page.

use maud::{Markup, html};

use crate::view::{CodeKind, Inline, MarkdownBlock, code_lines, markdown};

use super::ansi::plain_text;

/// Returns Markdown as HTML. Secrets must be masked already.
pub(super) fn markdown_html(text: &str) -> Markup {
    blocks(&markdown(&plain_text(text)))
}

fn blocks(all: &[MarkdownBlock]) -> Markup {
    html! { @for block in all { (block_html(block)) } }
}

fn block_html(block: &MarkdownBlock) -> Markup {
    match block {
        MarkdownBlock::Paragraph(text) => html! { p { (inlines(text)) } },
        // The page's own headings are above: a heading of the text is never one of the first three levels.
        MarkdownBlock::Heading(1 | 2, text) => html! { h4 { (inlines(text)) } },
        MarkdownBlock::Heading(3, text) => html! { h5 { (inlines(text)) } },
        MarkdownBlock::Heading(_, text) => html! { h6 { (inlines(text)) } },
        MarkdownBlock::List(None, items) => {
            html! { ul { @for item in items { li { (item_html(item)) } } } }
        }
        MarkdownBlock::List(Some(first), items) => html! {
            ol start=(first) { @for item in items { li { (item_html(item)) } } }
        },
        MarkdownBlock::Quote(inner) => html! { blockquote { (blocks(inner)) } },
        MarkdownBlock::Code(language, code) => code_html(language, code),
        MarkdownBlock::Table(right, rows) => table(right, rows),
        MarkdownBlock::Rule => html! { hr; },
    }
}

/// Returns the content of a list's item; a single paragraph has no tag around it.
fn item_html(item: &[MarkdownBlock]) -> Markup {
    match item {
        [MarkdownBlock::Paragraph(text), rest @ ..] => html! { (inlines(text)) (blocks(rest)) },
        all => blocks(all),
    }
}

/// Returns code as a block of its own, with its parts coloured.
pub(super) fn code_html(language: &str, code: &str) -> Markup {
    let known: String = language
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .take(20)
        .collect();
    html! {
        pre tabindex="0" { code data-language=[(!known.is_empty()).then_some(known)] {
            @for (n, line) in code_lines(language, code).iter().enumerate() {
                @if n > 0 { "\n" }
                @for (kind, text) in line {
                    @match class(*kind) {
                        Some(class) => span class=(class) { (text) },
                        None => (text),
                    }
                }
            }
        } }
    }
}

/// Returns the class of a part of code, if it has a colour.
fn class(kind: CodeKind) -> Option<&'static str> {
    match kind {
        CodeKind::Plain => None,
        CodeKind::Keyword => Some("k"),
        CodeKind::String => Some("s"),
        CodeKind::Number | CodeKind::Heading => Some("n"),
        CodeKind::Function => Some("f"),
        CodeKind::Comment => Some("o"),
        CodeKind::Added => Some("add"),
        CodeKind::Removed => Some("del"),
    }
}

fn table(right: &[bool], rows: &[Vec<Vec<Inline>>]) -> Markup {
    let class = |i: usize| right.get(i).copied().unwrap_or(false).then_some("r");
    html! {
        div.scroll tabindex="0" { table {
            @for (n, row) in rows.iter().enumerate() {
                tr { @for (i, cell) in row.iter().enumerate() {
                    @if n == 0 { th scope="col" class=[class(i)] { (inlines(cell)) } }
                    @else { td class=[class(i)] { (inlines(cell)) } }
                } }
            }
        } }
    }
}

fn inlines(all: &[Inline]) -> Markup {
    html! { @for inline in all { (inline_html(inline)) } }
}

fn inline_html(inline: &Inline) -> Markup {
    match inline {
        // Character references were decoded, so control characters may be here again.
        Inline::Text(text) => html! { (plain_text(text)) },
        Inline::Code(text) => html! { code { (plain_text(text)) } },
        Inline::Break => html! { br; },
        Inline::Emphasis(inner) => html! { em { (inlines(inner)) } },
        Inline::Strong(inner) => html! { strong { (inlines(inner)) } },
        Inline::Strikethrough(inner) => html! { s { (inlines(inner)) } },
        Inline::Link(address, inner) if is_web_address(address) => html! {
            a href=(address) rel="noopener noreferrer nofollow" { (inlines(inner)) }
        },
        Inline::Link(address, inner) => {
            let text = Inline::plain(inner);
            html! { (inlines(inner)) @if text != *address { " (" code { (address) } ")" } }
        }
    }
}

/// Whether an address leads to a web page. No other kind of link is made.
fn is_web_address(address: &str) -> bool {
    let lower = address.trim_start().to_ascii_lowercase();
    lower.starts_with("https://") || lower.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html_of(text: &str) -> String {
        markdown_html(text).into_string()
    }

    #[test]
    fn markdown_html_has_only_tags_of_its_own() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "```html\n<script>alert(1)</script>\n```",
            "`<script>`",
            "| <script> |\n|---|\n| <b onclick=x> |",
        ] {
            let html = html_of(text);
            assert!(
                !html.contains("<script") && !html.contains("<img") && !html.contains("<b "),
                "{html}"
            );
        }
    }

    #[test]
    fn markdown_html_links_only_to_web_pages() {
        assert!(
            html_of("[a](https://example.com/?q=\"x\")").contains("href=\"https://example.com/")
        );
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "vbscript:x",
            "//host/x",
        ] {
            let html = html_of(&format!("[a]({address}) ![b]({address}) <{address}>"));
            assert!(!html.contains("href") && !html.contains("src="), "{html}");
        }
    }
}
