//! Renames a session.

use crate::json::encode;
use crate::session::Session;
use crate::surgery::{
    ChangeKind, Detail, InsertAt, Plan, Refusal, RefusalKind, Transform, session_id,
};
use crate::transcript::Kind;

/// Gives a session a title, in the same way as renaming it in Claude Code: a `custom-title` entry at the end, where
/// the list of sessions looks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// The new title.
    pub text: String,
}

impl Transform for Title {
    fn name(&self) -> &'static str {
        "title"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        let title = self.text.trim();
        if title.is_empty() {
            return Err(Refusal::usage(
                RefusalKind::BadOptions,
                "a title needs some text",
                "",
            ));
        }
        if current(session).as_deref() == Some(title) {
            return Ok(plan);
        }
        let line = format!(
            r#"{{"type":"custom-title","customTitle":{},"sessionId":{}}}"#,
            encode(title),
            encode(&session_id(session))
        );
        plan.note_insert(ChangeKind::Title, line.len() + 1, 0, title.to_owned());
        plan.insert_line(InsertAt::End, line);
        Ok(plan)
    }
}

/// Returns the title that a person gave the session last.
fn current(session: &Session) -> Option<String> {
    let (_, last) = session.entries_of(Kind::CustomTitle).last()?;
    session.string(last, &["customTitle"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surgery::Surgery;

    const PROMPT: &str = r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"hello"},"uuid":"5e551000-0001-4bbb-8ccc-0123456789ab","sessionId":"s"}"#;

    fn titled(text: &str, title: &str) -> String {
        let session = Session::from_bytes(text);
        let title = Title { text: title.into() };
        let operated = Surgery::on(session)
            .then(title)
            .operate()
            .expect("a result");
        let verified = operated.verify().expect("a sound result");
        String::from_utf8(verified.to_vec()).expect("UTF-8")
    }

    #[test]
    fn title_is_added_at_the_end_with_the_session_id() {
        let after = titled(&format!("{PROMPT}\n"), "  Fix \"it\" ");
        let added = r#"{"type":"custom-title","customTitle":"Fix \"it\"","sessionId":"s"}"#;
        assert_eq!(after, format!("{PROMPT}\n{added}\n"));
    }

    #[test]
    fn title_that_the_session_has_already_changes_nothing() {
        let once = titled(&format!("{PROMPT}\n"), "One");
        assert_eq!(titled(&once, "One"), once);
        let twice = titled(&once, "Two");
        assert_eq!(titled(&twice, "One").lines().count(), 4);
    }

    #[test]
    fn title_without_text_is_refused() {
        let session = Session::from_bytes(PROMPT);
        let title = Title { text: "  ".into() };
        assert!(title.plan(&session, Detail::Full).is_err());
    }
}
