//! What kind of thing a change concerns, as data; the words for people and scripts are derived from it.

use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use crate::human::count as grouped;

/// The kind of thing that a change removes, edits or adds.
///
/// Tool names come from the session, so whatever shows a kind to people must clean and mask it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ChangeKind {
    /// A thinking block.
    Thinking,
    /// A thinking block whose text is encrypted.
    RedactedThinking,
    /// A tool call; many changes share one name.
    Call {
        /// The tool's name, as the session spells it.
        tool: Arc<str>,
    },
    /// The result of a tool call.
    Result {
        /// The tool's name, where it is known.
        tool: Option<Arc<str>>,
    },
    /// An image.
    Image,
    /// A document.
    Document,
    /// A new parent for an entry.
    Parent,
    /// A second copy of an output that Claude Code keeps for itself.
    DuplicateOutput,
    /// An entry that belongs to a call without being its result: progress, hooks, injected messages.
    Related,
    /// The recorded size of the context window.
    Usage,
    /// A title.
    Title,
    /// A summary of a compaction.
    Summary,
    /// A compaction boundary.
    Boundary,
    /// A record that names the leaf.
    LastPrompt,
    /// An entry from before a compaction.
    History,
    /// A turn of another session or branch.
    Turn,
    /// A turn that stays in the file, but is no longer shown to the model.
    HiddenFromModel,
    /// A turn whose first part stays in the file, but is no longer shown to the model.
    PartHiddenFromModel,
    /// A turn or message that was hidden, and that the model is shown again.
    ShownAgain,
    /// An entry of an abandoned branch.
    AbandonedBranch,
    /// An entry of a subagent that is stored in the main transcript.
    SubagentEntry,
    /// A progress record.
    Progress,
    /// A record with byte offsets into the transcript.
    Offsets,
    /// The time of an entry.
    Timestamp,
    /// A prompt.
    Prompt,
    /// A line of an answer.
    Answer,
    /// A system entry.
    SystemEntry,
    /// An attachment.
    Attachment,
    /// A line that is not part of the conversation.
    Metadata,
    /// The transcript of a subagent.
    Subagent,
    /// A secret, which a placeholder replaces.
    Secret,
    /// A repair, named by what it repaired.
    Repaired(&'static str),
    /// A repair whose name contains a number.
    RepairedSome(Arc<str>),
}

impl ChangeKind {
    /// Returns the kind in words with its number: `1 related entry`, `12 related entries`.
    pub fn label(&self, count: u64) -> String {
        let number = grouped(count);
        let (one, many) = match self.nouns() {
            Nouns::Fixed(one, many) => (one, many),
            Nouns::Tool(tool, half) if count == 1 => return format!("{number} {tool} {half}"),
            Nouns::Tool(tool, half) => return format!("{number} {tool} {half}s"),
            // Repairs name what they repaired in the singular.
            Nouns::Other(words) if count == 1 => return format!("{number} {words}"),
            Nouns::Other(words) => return format!("{number} × {words}"),
        };
        format!("{number} {}", if count == 1 { one } else { many })
    }

    /// Returns a word for scripts that does not depend on the session.
    pub fn as_str(&self) -> &str {
        match self {
            ChangeKind::Thinking => "thinking",
            ChangeKind::RedactedThinking => "redacted-thinking",
            ChangeKind::Call { .. } => "call",
            ChangeKind::Result { .. } => "result",
            ChangeKind::Image => "image",
            ChangeKind::Document => "document",
            ChangeKind::DuplicateOutput => "duplicate-output",
            ChangeKind::Related => "related-entry",
            ChangeKind::Parent => "parent",
            ChangeKind::Usage => "usage",
            ChangeKind::Title => "title",
            ChangeKind::Summary => "summary",
            ChangeKind::Boundary => "boundary",
            ChangeKind::LastPrompt => "last-prompt",
            ChangeKind::History => "history",
            ChangeKind::Turn => "turn",
            ChangeKind::HiddenFromModel => "hidden-from-model",
            ChangeKind::PartHiddenFromModel => "part-hidden-from-model",
            ChangeKind::ShownAgain => "shown-again",
            ChangeKind::AbandonedBranch => "abandoned-branch",
            ChangeKind::SubagentEntry => "subagent-entry",
            ChangeKind::Progress => "progress",
            ChangeKind::Offsets => "offsets",
            ChangeKind::Timestamp => "timestamp",
            ChangeKind::Prompt => "prompt",
            ChangeKind::Answer => "answer",
            ChangeKind::SystemEntry => "system-entry",
            ChangeKind::Attachment => "attachment",
            ChangeKind::Metadata => "metadata",
            ChangeKind::Subagent => "subagent",
            ChangeKind::Secret => "secret",
            ChangeKind::Repaired(words) => words,
            ChangeKind::RepairedSome(words) => words,
        }
    }

    /// Returns the name of the tool that the change concerns, raw as the session spells it.
    pub fn tool(&self) -> Option<&str> {
        match self {
            ChangeKind::Call { tool } => Some(tool),
            ChangeKind::Result { tool } => tool.as_deref(),
            _ => None,
        }
    }

    fn nouns(&self) -> Nouns<'_> {
        let (one, many) = match self {
            ChangeKind::Call { tool } => return Nouns::Tool(tool, "call"),
            ChangeKind::Result { tool: Some(tool) } => return Nouns::Tool(tool, "result"),
            ChangeKind::Repaired(words) => return Nouns::Other(words),
            ChangeKind::RepairedSome(words) => return Nouns::Other(words),
            ChangeKind::Thinking => ("thinking", "thinking blocks"),
            ChangeKind::RedactedThinking => ("redacted thinking", "redacted thinking blocks"),
            ChangeKind::Result { tool: None } => ("result", "results"),
            ChangeKind::Image => ("image", "images"),
            ChangeKind::Document => ("document", "documents"),
            ChangeKind::DuplicateOutput => ("duplicate output", "duplicate outputs"),
            ChangeKind::Related => ("related entry", "related entries"),
            ChangeKind::Parent => ("message re-linked", "messages re-linked"),
            ChangeKind::Usage => ("usage record", "usage records"),
            ChangeKind::Title => ("title", "titles"),
            ChangeKind::Summary => ("summary", "summaries"),
            ChangeKind::Boundary => ("compaction boundary", "compaction boundaries"),
            ChangeKind::LastPrompt => ("leaf record", "leaf records"),
            ChangeKind::History => ("earlier entry", "earlier entries"),
            ChangeKind::Turn => ("turn", "turns"),
            ChangeKind::HiddenFromModel => ("hidden from the model", "turns hidden from the model"),
            ChangeKind::PartHiddenFromModel => (
                "first part hidden from the model",
                "first parts of turns hidden from the model",
            ),
            ChangeKind::ShownAgain => ("shown to the model again", "shown to the model again"),
            ChangeKind::AbandonedBranch => (
                "entry of an abandoned branch",
                "entries of abandoned branches",
            ),
            ChangeKind::SubagentEntry => ("entry of a subagent", "entries of subagents"),
            ChangeKind::Progress => ("progress record", "progress records"),
            ChangeKind::Offsets => ("offset record", "offset records"),
            ChangeKind::Timestamp => ("time", "times"),
            ChangeKind::Prompt => ("prompt", "prompts"),
            ChangeKind::Answer => ("answer", "answers"),
            ChangeKind::SystemEntry => ("system entry", "system entries"),
            ChangeKind::Attachment => ("attachment", "attachments"),
            ChangeKind::Metadata => ("metadata", "metadata entries"),
            ChangeKind::Subagent => ("subagent", "subagents"),
            ChangeKind::Secret => ("secret", "secrets"),
        };
        Nouns::Fixed(one, many)
    }
}

/// The words for one and for several of a kind.
enum Nouns<'a> {
    Fixed(&'static str, &'static str),
    Tool(&'a str, &'static str),
    Other(&'a str),
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nouns() {
            Nouns::Fixed(one, _) => f.write_str(one),
            Nouns::Tool(tool, half) => write!(f, "{tool} {half}"),
            Nouns::Other(words) => f.write_str(words),
        }
    }
}

impl From<&'static str> for ChangeKind {
    /// Names a repair; words that also have a kind of their own become that kind.
    fn from(words: &'static str) -> Self {
        match words {
            "thinking" => ChangeKind::Thinking,
            "parent" => ChangeKind::Parent,
            "usage" => ChangeKind::Usage,
            "title" => ChangeKind::Title,
            "time" => ChangeKind::Timestamp,
            "offsets" => ChangeKind::Offsets,
            "last prompt" => ChangeKind::LastPrompt,
            "compaction boundary" => ChangeKind::Boundary,
            "subagent" => ChangeKind::Subagent,
            _ => ChangeKind::Repaired(words),
        }
    }
}

impl From<String> for ChangeKind {
    fn from(words: String) -> Self {
        ChangeKind::RepairedSome(words.into())
    }
}

/// Writes the fields `what` and, for calls and results, `tool`.
impl Serialize for ChangeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("ChangeKind", 2)?;
        fields.serialize_field("what", self.as_str())?;
        if let Some(tool) = self.tool() {
            fields.serialize_field("tool", tool)?;
        }
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn change_kind_labels_have_plurals() {
        let call = ChangeKind::Call {
            tool: "Bash".into(),
        };
        assert_eq!(ChangeKind::Related.label(12), "12 related entries");
        assert_eq!(ChangeKind::DuplicateOutput.label(1), "1 duplicate output");
        assert_eq!(ChangeKind::Parent.label(1033), "1,033 messages re-linked");
        assert_eq!(
            (call.label(1), call.label(2)),
            ("1 Bash call".into(), "2 Bash calls".into())
        );
        assert_eq!(ChangeKind::from("uuid").label(3), "3 × uuid");
    }

    #[test]
    fn change_kind_serializes_its_tool_apart() {
        let result = ChangeKind::Result {
            tool: Some("Bash".into()),
        };
        let json = serde_json::to_string(&result).expect("JSON");
        assert_eq!(json, r#"{"what":"result","tool":"Bash"}"#);
    }
}
