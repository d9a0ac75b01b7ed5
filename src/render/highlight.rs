//! Colours for code: comments, strings, numbers, keywords and names of functions.
//!
//! A small scanner for the languages that sessions are full of. It needs no grammar files and no time to load, and it uses
//! the terminal's own colours, which are legible on light and dark backgrounds.

use anstyle::{AnsiColor, Style};

use super::style::{DIM, GREEN, RED};
use super::styled::Styled;

const KEYWORD: Style = AnsiColor::Magenta.on_default();
const STRING: Style = GREEN;
const NUMBER: Style = AnsiColor::Cyan.on_default();
const FUNCTION: Style = AnsiColor::Blue.on_default();
const COMMENT: Style = DIM.italic();

/// How a language is scanned.
struct Language {
    /// The names and file endings by which it is known.
    names: &'static [&'static str],
    /// What begins a comment that ends with the line.
    comments: &'static [&'static str],
    /// What begins and ends a comment that spans lines.
    long_comment: Option<(&'static str, &'static str)>,
    /// What begins and ends a string.
    quotes: &'static [char],
    keywords: &'static str,
}

const C_COMMENT: Option<(&str, &str)> = Some(("/*", "*/"));

const LANGUAGES: [Language; 12] = [
    Language {
        names: &["rust", "rs"],
        comments: &["//"],
        long_comment: C_COMMENT,
        quotes: &['"'],
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
    },
    Language {
        names: &["python", "py", "python3", "pyi"],
        comments: &["#"],
        long_comment: Some(("\"\"\"", "\"\"\"")),
        quotes: &['"', '\''],
        keywords: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case self",
    },
    Language {
        names: &[
            "javascript",
            "js",
            "jsx",
            "mjs",
            "cjs",
            "typescript",
            "ts",
            "tsx",
            "vue",
            "svelte",
        ],
        comments: &["//"],
        long_comment: C_COMMENT,
        quotes: &['"', '\'', '`'],
        keywords: "abstract any as async await boolean break case catch class const continue declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface let namespace never new null number of private protected public readonly return set static string super switch this throw true try type typeof undefined unknown var void while yield",
    },
    Language {
        names: &["go"],
        comments: &["//"],
        long_comment: C_COMMENT,
        quotes: &['"', '`', '\''],
        keywords: "break case chan const continue default defer else error fallthrough false for func go goto if import int interface map nil package range return select string struct switch true type var bool byte",
    },
    Language {
        names: &[
            "c", "h", "cpp", "cc", "cxx", "hpp", "c++", "java", "cs", "csharp", "kotlin", "kt",
            "swift", "scala", "dart", "php", "objc", "m",
        ],
        comments: &["//"],
        long_comment: C_COMMENT,
        quotes: &['"', '\''],
        keywords: "abstract auto bool boolean break byte case catch char class const continue default delete do double else enum extends extern false final finally float for fun func function guard if implements import in include inline int interface internal let long namespace new nil null nullptr override package private protected public return self short signed sizeof static string struct super switch template this throw throws true try typedef typename union unsigned using val var virtual void volatile while",
    },
    Language {
        names: &[
            "sh",
            "bash",
            "shell",
            "zsh",
            "fish",
            "console",
            "shellscript",
            "dockerfile",
            "makefile",
        ],
        comments: &["#"],
        long_comment: None,
        quotes: &['"', '\''],
        keywords: "if then else elif fi for while until do done case esac function in return export local exit set unset source alias cd echo sudo FROM RUN COPY ADD ENV CMD ENTRYPOINT WORKDIR ARG EXPOSE",
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl"],
        comments: &["//"],
        long_comment: C_COMMENT,
        quotes: &['"'],
        keywords: "true false null",
    },
    Language {
        names: &[
            "toml",
            "yaml",
            "yml",
            "ini",
            "cfg",
            "conf",
            "properties",
            "env",
        ],
        comments: &["#", ";"],
        long_comment: None,
        quotes: &['"', '\''],
        keywords: "true false null yes no on off",
    },
    Language {
        names: &["sql", "postgresql", "mysql", "sqlite"],
        comments: &["--"],
        long_comment: C_COMMENT,
        quotes: &['\'', '"'],
        keywords: "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert integer into is join key left like limit not null offset on or order outer primary references returning right rollback select set table text then union unique update using values varchar view when where with",
    },
    Language {
        names: &["html", "xml", "svg", "xhtml"],
        comments: &[],
        long_comment: Some(("<!--", "-->")),
        quotes: &['"', '\''],
        keywords: "",
    },
    Language {
        names: &["css", "scss", "less"],
        comments: &[],
        long_comment: C_COMMENT,
        quotes: &['"', '\''],
        keywords: "important inherit initial none auto media import from to",
    },
    Language {
        names: &[
            "ruby", "rb", "elixir", "ex", "exs", "perl", "pl", "r", "lua",
        ],
        comments: &["#", "--"],
        long_comment: None,
        quotes: &['"', '\''],
        keywords: "alias and begin break case class def defmodule defp do else elsif end ensure false fn for function if in local module my next nil not or redo require rescue return self sub super then true undef unless until use when while yield",
    },
];

/// Returns the lines of some code with colours, or without if the language is not known. `language` is the word after a
/// fence, or the ending of a file's name.
pub(super) fn highlighted(language: &str, code: &str) -> Vec<Styled> {
    let name = language.to_lowercase();
    if matches!(name.as_str(), "diff" | "patch") {
        return code.lines().map(diff_line).collect();
    }
    let known = LANGUAGES.iter().find(|l| l.names.contains(&name.as_str()));
    let Some(language) = known else {
        return code.lines().map(|l| Styled::new(Style::new(), l)).collect();
    };
    let mut scanner = Scanner {
        language,
        ignores_case: name.contains("sql"),
        inside: None,
    };
    code.lines().map(|line| scanner.line(line)).collect()
}

fn diff_line(line: &str) -> Styled {
    let style = match line.as_bytes().first() {
        Some(b'+') => GREEN,
        Some(b'-') => RED,
        Some(b'@') => NUMBER,
        _ => Style::new(),
    };
    Styled::new(style, line)
}

struct Scanner<'l> {
    language: &'l Language,
    ignores_case: bool,
    /// What ends the comment in which the line begins.
    inside: Option<&'static str>,
}

impl Scanner<'_> {
    fn line(&mut self, line: &str) -> Styled {
        let mut out = Styled::default();
        let mut at = 0;
        while at < line.len() {
            let (length, style) = self.token(&line[..at], &line[at..]);
            out.push(style, &line[at..at + length]);
            at += length;
        }
        out
    }

    /// Returns the length and the style of the token at the beginning of `rest`.
    fn token(&mut self, before: &str, rest: &str) -> (usize, Style) {
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
            return (rest.len(), COMMENT);
        }
        let Some(c) = rest.chars().next() else {
            return (rest.len(), Style::new());
        };
        if language.quotes.contains(&c) {
            return (string_length(rest, c), STRING);
        }
        let ends = |is_part: fn(char) -> bool| {
            let end = rest.find(|c: char| !is_part(c));
            end.unwrap_or(rest.len())
        };
        if c.is_ascii_digit() {
            let end = ends(|c| c.is_ascii_alphanumeric() || c == '.' || c == '_');
            return (end, NUMBER);
        }
        if c.is_alphabetic() || c == '_' {
            let end = ends(|c| c.is_alphanumeric() || c == '_');
            return (end, self.word(&rest[..end], &rest[end..]));
        }
        (c.len_utf8(), Style::new())
    }

    fn long_comment(&mut self, rest: &str, from: usize, end: &'static str) -> (usize, Style) {
        let found = rest[from..].find(end).map(|at| from + at + end.len());
        self.inside = found.is_none().then_some(end);
        (found.unwrap_or(rest.len()), COMMENT)
    }

    fn word(&self, word: &str, after: &str) -> Style {
        let lower = if self.ignores_case {
            word.to_lowercase()
        } else {
            word.to_owned()
        };
        if self.language.keywords.split(' ').any(|k| k == lower) {
            KEYWORD
        } else if after.starts_with('(') || after.starts_with("!(") {
            FUNCTION
        } else {
            Style::new()
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

    #[test]
    fn highlight_keeps_every_character() {
        let code = "fn ä() { \"日本\\ # ' /* \n x \"\"\" */ --y 'z\n\n\t0x1F";
        for language in [
            "rust", "py", "ts", "sh", "json", "yaml", "sql", "html", "css", "rb", "x",
        ] {
            let lines = highlighted(language, code);
            let plain: Vec<&str> = lines.iter().map(Styled::plain).collect();
            assert_eq!(plain.join("\n"), code, "{language}");
        }
    }
}
