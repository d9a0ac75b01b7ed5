//! A text with several messages, for an editor.

use std::fmt::Write as _;

use crate::ops::EditableText;

use super::super::error::CliError;

/// What a person reads first.
const HEAD: &str = "\
Edit the texts below, then save and close the editor. Keep the lines with dashes.
A text that you do not change stays as it is. The input of a call is JSON.

";

/// Several messages as one text.
pub(super) struct Form<'a> {
    texts: &'a [EditableText],
    /// The lines before the texts. None of them occurs in a text.
    marks: Vec<String>,
}

impl<'a> Form<'a> {
    pub(super) fn new(texts: &'a [EditableText]) -> Self {
        let mut dashes = "----".to_owned();
        loop {
            let mark = |text: &EditableText| {
                let EditableText {
                    message,
                    turn,
                    what,
                    ..
                } = text;
                format!("{dashes} turn {turn}, {what}, {message} {dashes}")
            };
            let marks: Vec<String> = texts.iter().map(mark).collect();
            let is_line = |line: &str| marks.iter().any(|mark| mark == line);
            if !texts.iter().any(|text| text.text.lines().any(is_line)) {
                return Self { texts, marks };
            }
            dashes.push('-');
        }
    }

    /// Returns the text for the editor.
    pub(super) fn text(&self) -> String {
        let mut out = HEAD.to_owned();
        for (text, mark) in self.texts.iter().zip(&self.marks) {
            let _ = writeln!(out, "{mark}\n{}", text.text);
        }
        out
    }

    /// Returns the messages whose texts differ in an edited form, with their new texts.
    pub(super) fn changes(&self, edited: &str) -> Result<Vec<(String, String)>, CliError> {
        let mut found: Vec<Option<String>> = vec![None; self.texts.len()];
        let mut at = None;
        for line in edited.split_inclusive('\n') {
            let bare = line.trim_end_matches(['\n', '\r']);
            if let Some(n) = self.marks.iter().position(|mark| mark == bare) {
                at = Some(n);
                found[n] = Some(String::new());
            } else if let Some(text) = at.and_then(|n| found[n].as_mut()) {
                text.push_str(line);
            }
        }
        let mut changes = Vec::new();
        for (text, found) in self.texts.iter().zip(found) {
            let Some(mut new) = found else {
                return Err(CliError::refused(
                    "missing-message",
                    format!(
                        "message {} is missing in the edited text; nothing was changed",
                        text.message
                    ),
                    "keep the lines with dashes. Delete a message with: ccsurgery delete --message ID",
                ));
            };
            // Some editors end every line with a carriage return too.
            if !text.text.contains('\r') {
                new = new.replace("\r\n", "\n");
            }
            // The form ends each text with a newline.
            if new.ends_with('\n') {
                new.pop();
            }
            if new != text.text {
                changes.push((text.message.clone(), new));
            }
        }
        Ok(changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<EditableText> {
        let text = |message: &str, text: &str| EditableText {
            message: message.to_owned(),
            turn: 1,
            what: "prompt",
            text: text.to_owned(),
        };
        vec![
            text("a", "one\n"),
            text("b", ""),
            text("c", "three\nlines\n\n"),
        ]
    }

    #[test]
    fn edit_form_that_is_not_changed_changes_nothing() {
        let texts = texts();
        let form = Form::new(&texts);
        assert_eq!(form.changes(&form.text()).expect("a form"), []);
        let crlf = form.text().replace('\n', "\r\n");
        assert_eq!(form.changes(&crlf).expect("a form"), []);
    }

    #[test]
    fn edit_form_returns_changed_texts() {
        let texts = texts();
        let form = Form::new(&texts);
        let edited = form.text().replace("three", "four");
        let changes = form.changes(&edited).expect("a form");
        assert_eq!(changes, [("c".to_owned(), "four\nlines\n\n".to_owned())]);
    }

    #[test]
    fn edit_form_without_a_mark_is_refused() {
        let texts = texts();
        let form = Form::new(&texts);
        let edited = form.text().replace(", b ", ", x ");
        assert!(form.changes(&edited).is_err());
    }

    #[test]
    fn edit_form_marks_occur_in_no_text() {
        let mut texts = texts();
        texts[1].text = Form::new(&texts).text();
        let form = Form::new(&texts);
        assert_eq!(form.changes(&form.text()).expect("a form"), []);
    }
}
