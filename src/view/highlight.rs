//! Tells the parts of code apart: comments, strings, numbers, keywords and names of functions.
//!
//! A small scanner for the languages that sessions are full of. It needs no grammar files and no time to load.

mod languages;

use languages::{LANGUAGES, Language};

/// What a part of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    /// Anything else.
    Plain,
    /// A word of the language.
    Keyword,
    /// A string.
    String,
    /// A number.
    Number,
    /// The name of a function that is called or defined.
    Function,
    /// A comment.
    Comment,
    /// A line that a diff adds.
    Added,
    /// A line that a diff removes.
    Removed,
    /// A heading of a diff.
    Heading,
}

/// A line of code as parts, each with its kind.
pub type CodeLine<'t> = Vec<(CodeKind, &'t str)>;

/// Returns the lines of some code as parts; of a language that is not known, each line is one. `language` is the word after
/// a fence, or the ending of a file's name.
pub fn code_lines<'t>(language: &str, code: &'t str) -> Vec<CodeLine<'t>> {
    let name = language.to_lowercase();
    if matches!(name.as_str(), "diff" | "patch") {
        return code.lines().map(diff_line).collect();
    }
    let known = LANGUAGES.iter().find(|l| l.names.contains(&name.as_str()));
    let Some(language) = known else {
        return code.lines().map(|l| vec![(CodeKind::Plain, l)]).collect();
    };
    let mut scanner = Scanner {
        language,
        ignores_case: name.contains("sql"),
        inside: None,
    };
    code.lines().map(|line| scanner.line(line)).collect()
}

fn diff_line(line: &str) -> CodeLine<'_> {
    let kind = match line.as_bytes().first() {
        Some(b'+') => CodeKind::Added,
        Some(b'-') => CodeKind::Removed,
        Some(b'@') => CodeKind::Heading,
        _ => CodeKind::Plain,
    };
    vec![(kind, line)]
}

struct Scanner<'l> {
    language: &'l Language,
    ignores_case: bool,
    /// What ends the comment in which the line begins.
    inside: Option<&'static str>,
}

impl Scanner<'_> {
    fn line<'t>(&mut self, line: &'t str) -> CodeLine<'t> {
        let mut out: CodeLine<'t> = Vec::new();
        let (mut at, mut from) = (0, 0);
        while at < line.len() {
            let (length, kind) = self.token(&line[..at], &line[at..]);
            match out.last_mut() {
                Some((last, text)) if *last == kind => *text = &line[from..at + length],
                _ => {
                    from = at;
                    out.push((kind, &line[at..at + length]));
                }
            }
            at += length;
        }
        out
    }

    /// Returns the length and the kind of the token at the beginning of `rest`.
    fn token(&mut self, before: &str, rest: &str) -> (usize, CodeKind) {
        let language = self.language;
        if let Some(end) = self.inside {
            return self.long_comment(rest, 0, end);
        }
        if let Some((begin, end)) = language.long_comment
            && rest.starts_with(begin)
        {
            return self.long_comment(rest, begin.len(), end);
        }
        // `#` and `--` inside a word, as in `$#` or `a--b`, begin no comment.
        let may_begin =
            before.is_empty() || before.ends_with([' ', '\t']) || rest.starts_with("//");
        if may_begin && language.comments.iter().any(|c| rest.starts_with(c)) {
            return (rest.len(), CodeKind::Comment);
        }
        let Some(c) = rest.chars().next() else {
            return (rest.len(), CodeKind::Plain);
        };
        if language.quotes.contains(&c) {
            return (string_length(rest, c), CodeKind::String);
        }
        let ends = |is_part: fn(char) -> bool| {
            let end = rest.find(|c: char| !is_part(c));
            end.unwrap_or(rest.len())
        };
        if c.is_ascii_digit() {
            let end = ends(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
            return (end, CodeKind::Number);
        }
        if c.is_alphabetic() || c == '_' {
            let end = ends(|c| c.is_alphanumeric() || c == '_');
            return (end, self.word(&rest[..end], &rest[end..]));
        }
        (c.len_utf8(), CodeKind::Plain)
    }

    fn long_comment(&mut self, rest: &str, from: usize, end: &'static str) -> (usize, CodeKind) {
        let found = rest[from..].find(end).map(|at| from + at + end.len());
        self.inside = found.is_none().then_some(end);
        (found.unwrap_or(rest.len()), CodeKind::Comment)
    }

    fn word(&self, word: &str, after: &str) -> CodeKind {
        let lower = if self.ignores_case {
            word.to_lowercase()
        } else {
            word.to_owned()
        };
        if self.language.keywords.split(' ').any(|k| k == lower) {
            CodeKind::Keyword
        } else if after.starts_with('(') || after.starts_with("!(") {
            CodeKind::Function
        } else {
            CodeKind::Plain
        }
    }
}

/// Returns the length of a string that begins with a quote; it ends with the line at the latest.
fn string_length(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn highlight_keeps_every_character() {
        let code = "fn ä() { \"日本\\ # ' /* \n x \"\"\" */ --y 'z\n\n\t0x1F";
        for language in [
            "rust", "py", "ts", "sh", "json", "yaml", "sql", "html", "css", "rb", "x",
        ] {
            let lines = code_lines(language, code).into_iter();
            let plain = lines.map(|line| line.iter().map(|(_, text)| *text).collect::<String>());
            assert_eq!(plain.collect::<Vec<_>>().join("\n"), code, "{language}");
        }
    }

    #[test]
    fn highlight_joins_neighbours_of_a_kind() {
        let lines = code_lines("rust", "a + b // c");
        assert_eq!(
            lines,
            [[(CodeKind::Plain, "a + b "), (CodeKind::Comment, "// c")]]
        );
    }
}
