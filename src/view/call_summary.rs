//! A call in one line.

use serde::Serialize;

use crate::json::{decode, fields, lookup};

use super::session_text::SessionText;

/// The inputs that say most of what a call does, best first.
const TELLING: [&str; 14] = [
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "description",
    "skill",
    "path",
    "prompt",
    "question",
    "task_id",
    "shell_id",
    "plan",
];

/// A call's tool and what it is asked to do, as raw text: neither cleaned nor masked.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CallSummary {
    /// The tool.
    pub tool: SessionText,
    /// The input that says most: a command, a file, a pattern.
    pub gist: SessionText,
}

impl CallSummary {
    /// Looks at a block that makes a call.
    pub fn of(block: &[u8]) -> Self {
        let input = lookup(block, &["input"]).map_or(&[][..], |s| s.of(block));
        let all = fields(input).unwrap_or_default();
        // As JavaScript would find it: the last of duplicate keys.
        let string = |key: &&str| {
            let found = all.iter().rfind(|f| f.key.of(input) == key.as_bytes())?;
            Some(found.value.of(input)).filter(|raw| raw.starts_with(b"\""))
        };
        let told = TELLING.iter().find_map(string);
        let gist = told.map(|raw| decode(raw).into_owned());
        Self {
            tool: Self::tool_of(block).into(),
            gist: gist
                .or_else(|| first_word(input))
                .unwrap_or_default()
                .into(),
        }
    }

    /// The tool that a block calls.
    pub fn tool_of(block: &[u8]) -> String {
        let name = lookup(block, &["name"]).map(|s| s.of(block));
        name.filter(|raw| raw.starts_with(b"\""))
            .map(|raw| decode(raw).into_owned())
            .unwrap_or_default()
    }
}

/// The first string of an object, else the object itself if it holds anything.
fn first_word(input: &[u8]) -> Option<String> {
    let all = fields(input).ok()?;
    let string = all
        .iter()
        .map(|f| f.value.of(input))
        .find(|v| v.starts_with(b"\""));
    match string {
        Some(raw) => Some(decode(raw).into_owned()),
        None if all.is_empty() => None,
        None => Some(String::from_utf8_lossy(&input[..input.len().min(400)]).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_telling_input_comes_first() {
        let gist = |s: &str| {
            let g = CallSummary::of(s.as_bytes());
            (g.tool.into_raw(), g.gist.into_raw())
        };
        assert_eq!(
            gist(r#"{"name":"Bash","input":{"description":"d","command":"ls\n-l"}}"#),
            ("Bash".into(), "ls\n-l".into())
        );
        assert_eq!(gist(r#"{"name":"X","input":{"a":1,"b":"two"}}"#).1, "two");
        assert_eq!(gist(r#"{"name":"X","input":{"a":[1]}}"#).1, r#"{"a":[1]}"#);
        assert_eq!(gist(r#"{"name":"X","input":{}}"#).1, "");
    }
}
