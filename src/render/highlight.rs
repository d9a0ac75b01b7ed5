//! Colours for code: those of the terminal, which are legible on light and dark backgrounds.

use anstyle::{AnsiColor, Style};

use crate::view::{CodeKind, code_lines};

use super::style::{DIM, GREEN, RED};
use super::styled::Styled;

/// Returns the lines of some code with colours, or without if the language is not known. `language` is the word after a
/// fence, or the ending of a file's name.
pub(super) fn highlighted(language: &str, code: &str) -> Vec<Styled> {
    let lines = code_lines(language, code).into_iter();
    let styled = lines.map(|line| {
        let mut out = Styled::default();
        for (kind, text) in line {
            out.push(style(kind), text);
        }
        out
    });
    styled.collect()
}

fn style(kind: CodeKind) -> Style {
    match kind {
        CodeKind::Plain => Style::new(),
        CodeKind::Keyword => AnsiColor::Magenta.on_default(),
        CodeKind::String | CodeKind::Added => GREEN,
        CodeKind::Number | CodeKind::Heading => AnsiColor::Cyan.on_default(),
        CodeKind::Function => AnsiColor::Blue.on_default(),
        CodeKind::Comment => DIM.italic(),
        CodeKind::Removed => RED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(language: &str, code: &str) -> String {
        let lines = highlighted(language, code);
        let lines: Vec<String> = lines.iter().map(Styled::painted).collect();
        lines.join("\n").replace('\x1b', "␛")
    }

    #[test]
    fn highlight_colours_words_strings_and_comments() {
        assert_eq!(
            painted("rust", "let x = f(\"a\\\"b\", 42); // why"),
            "␛[35mlet␛[0m x = ␛[34mf␛[0m(␛[32m\"a\\\"b\"␛[0m, ␛[36m42␛[0m); ␛[2m␛[3m// why␛[0m"
        );
        assert_eq!(
            painted("c", "/* a\nb */ return"),
            "␛[2m␛[3m/* a␛[0m\n␛[2m␛[3mb */␛[0m ␛[35mreturn␛[0m"
        );
        assert_eq!(painted("diff", "+a\n-b"), "␛[32m+a␛[0m\n␛[31m-b␛[0m");
        assert_eq!(painted("", "let x"), "let x");
    }
}
