//! Judges what the conversation loses with a line that Claude Code skips.

use memchr::memmem;

use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

/// What the conversation loses with a record, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Loss {
    /// Nothing: the record describes the session, or the progress of a call.
    Nothing,
    /// The result of a call. Every version leaves a call without a result out.
    Result,
    /// Words of a person, of the model or of the client.
    Words,
}

impl Loss {
    /// Judges a record, or the beginning of one. An entry that names the lost record as its parent is another check's
    /// finding.
    pub(crate) fn of(record: &[u8]) -> Self {
        let is_chained =
            record.starts_with(b"{\"parentUuid\"") || record.starts_with(b"{\"logicalParentUuid\"");
        let kind = memmem::find(record, b"\"type\":\"").map(|at| &record[at + 8..]);
        let is = |name: &str| {
            let rest = kind.and_then(|kind| kind.strip_prefix(name.as_bytes()));
            rest.is_some_and(|rest| rest.starts_with(b"\""))
        };
        if is("user") && is_result(record) {
            Loss::Result
        } else if is("progress") {
            Loss::Nothing
        } else if is_chained
            || ["user", "assistant", "system", "attachment"]
                .into_iter()
                .any(is)
        {
            Loss::Words
        } else if kind.is_some() && record.starts_with(b"{\"") {
            Loss::Nothing
        } else {
            // The beginning is missing, so it may have been anything.
            Loss::Words
        }
    }

    /// Makes a finding harmless where the client in use loses nothing that it would show.
    pub(crate) fn judge(self, mut finding: Finding) -> Finding {
        if self < Loss::Words {
            finding.severity = Severity::Harmless;
            finding.suffers = Versions::None;
        }
        finding
    }

    /// Returns words that continue a finding's sentence.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Loss::Nothing => "; it is not part of the conversation",
            Loss::Result => ", and leaves out the call that it answers",
            Loss::Words => "",
        }
    }
}

/// Returns whether the content of a user's message begins with a result.
fn is_result(record: &[u8]) -> bool {
    let content = memmem::find(record, b"\"content\":[{").map(|at| &record[at + 12..]);
    content.is_some_and(|block| {
        block.starts_with(b"\"tool_use_id\":") || block.starts_with(b"\"type\":\"tool_result\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_is_judged_by_the_beginning_of_a_record() {
        for (record, loss) in [
            (r#"{"type":"summary","summary":"x"#, Loss::Nothing),
            (
                r#"{"parentUuid":"a","cwd":"/","type":"progress","data":{"type":"user""#,
                Loss::Nothing,
            ),
            (
                r#"{"parentUuid":"a","type":"user","message":{"content":[{"tool_use_id":"t""#,
                Loss::Result,
            ),
            (
                r#"{"parentUuid":"a","type":"user","message":{"content":[{"type":"tool_result","#,
                Loss::Result,
            ),
            (
                r#"{"parentUuid":"a","type":"user","message":{"content":"words"#,
                Loss::Words,
            ),
            (r#"{"parentUuid":"a","type":"assistant","mess"#, Loss::Words),
            (
                r#"{"parentUuid":"a","attachment":{"type":"file""#,
                Loss::Words,
            ),
            (r#"{"parentUuid":"a","isSide"#, Loss::Words),
            (r#"of the line","uuid":"u"}"#, Loss::Words),
            ("", Loss::Words),
        ] {
            assert_eq!(Loss::of(record.as_bytes()), loss, "{record}");
        }
    }
}
