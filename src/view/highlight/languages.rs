//! The languages whose code is highlighted.

/// How a language is scanned.
pub(super) struct Language {
    /// The names and file endings by which it is known.
    pub(super) names: &'static [&'static str],
    /// What begins a comment that ends with the line.
    pub(super) comments: &'static [&'static str],
    /// What begins and ends a comment that spans lines.
    pub(super) long_comment: Option<(&'static str, &'static str)>,
    /// What begins and ends a string.
    pub(super) quotes: &'static [char],
    pub(super) keywords: &'static str,
}

const C_COMMENT: Option<(&str, &str)> = Some(("/*", "*/"));

pub(super) const LANGUAGES: [Language; 12] = [
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
