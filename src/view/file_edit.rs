//! The changes that a call makes to a file.

use serde::Serialize;
use serde_json::Value;

use crate::json::lookup;

use super::session_text::{SessionJson, SessionText};

/// A stretch of a file before and after a call of `Edit`, `MultiEdit`, `NotebookEdit` or `Write`.
///
/// Mask the texts whole before they are compared: a secret that is cut into lines may not be recognised.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct FileEdit {
    /// The file.
    pub path: SessionText,
    /// The lines before.
    pub old: SessionText,
    /// The lines after.
    pub new: SessionText,
    /// The number of the first line in the file before and after, if the client recorded it.
    pub lines: Option<(u32, u32)>,
}

impl FileEdit {
    /// Returns the changes of a call. `kept` is what the client keeps about its result (`toolUseResult`): a patch with
    /// line numbers, which is preferred to the input.
    pub fn of_call(tool: &str, input: &SessionJson, kept: &[u8]) -> Vec<Self> {
        if !matches!(tool, "Edit" | "MultiEdit" | "NotebookEdit" | "Write") {
            return Vec::new();
        }
        let Some(input) = input.value() else {
            return Vec::new();
        };
        let path = ["file_path", "notebook_path"];
        let path = path.iter().find_map(|key| input.get(key)?.as_str());
        let path = SessionText::from(path.unwrap_or_default());
        let hunks = of_patch(&path, kept);
        if hunks.is_empty() {
            of_input(tool, &path, &input)
        } else {
            hunks
        }
    }
}

/// Returns the hunks of the patch that the client keeps about a result.
fn of_patch(path: &SessionText, kept: &[u8]) -> Vec<FileEdit> {
    let patch = lookup(kept, &["structuredPatch"]).map(|s| s.of(kept));
    let patch = patch.and_then(|raw| serde_json::from_slice::<Vec<Value>>(raw).ok());
    let hunk = |hunk: &Value| {
        let number = |key: &str| hunk.get(key)?.as_u64()?.try_into().ok();
        let lines = hunk.get("lines")?.as_array()?.iter();
        let (mut old, mut new) = (String::new(), String::new());
        for line in lines.filter_map(Value::as_str) {
            let mut chars = line.chars();
            let sign = chars.next();
            let add = |to: &mut String| {
                to.push_str(chars.as_str());
                to.push('\n');
            };
            match sign {
                Some('-') => add(&mut old),
                Some('+') => add(&mut new),
                Some('\\') => {}
                _ => {
                    add(&mut old);
                    add(&mut new);
                }
            }
        }
        Some(FileEdit {
            path: path.clone(),
            old: old.into(),
            new: new.into(),
            lines: number("oldStart").zip(number("newStart")),
        })
    };
    patch.unwrap_or_default().iter().filter_map(hunk).collect()
}

fn of_input(tool: &str, path: &SessionText, input: &Value) -> Vec<FileEdit> {
    let edit = |value: &Value, old: &str, new: &str| {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default();
        FileEdit {
            path: path.clone(),
            old: text(old).into(),
            new: text(new).into(),
            lines: None,
        }
    };
    match (tool, input.get("edits")) {
        ("Write", _) => vec![FileEdit {
            lines: Some((1, 1)),
            ..edit(input, "", "content")
        }],
        ("NotebookEdit", _) => vec![edit(input, "", "new_source")],
        (_, Some(Value::Array(edits))) => edits
            .iter()
            .map(|e| edit(e, "old_string", "new_string"))
            .collect(),
        _ => vec![edit(input, "old_string", "new_string")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_edit_prefers_the_patch_with_line_numbers() {
        let input: SessionJson = r#"{"file_path":"/w/a","old_string":"b","new_string":"c"}"#
            .to_owned()
            .into();
        let plain = FileEdit::of_call("Edit", &input, b"");
        assert_eq!((plain[0].old.raw(), plain[0].lines), ("b", None));
        let kept = br#"{"structuredPatch":[{"oldStart":7,"newStart":8,"lines":[" a","-b","+c","\\ No newline"]}]}"#;
        let edits = FileEdit::of_call("Edit", &input, kept);
        assert_eq!(
            (edits[0].old.raw(), edits[0].new.raw()),
            ("a\nb\n", "a\nc\n")
        );
        assert_eq!(
            (edits[0].path.raw(), edits[0].lines),
            ("/w/a", Some((7, 8)))
        );
        assert!(FileEdit::of_call("Bash", &input, kept).is_empty());
    }
}
