//! The description of what a plan changes.

use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::change_kind::ChangeKind;
use super::excerpt::Excerpt;

/// What is done to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Action {
    Drop,
    Edit,
    Insert,
}

/// The id of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Name {
    /// A UUID, as clients write it.
    Uuid(Uuid),
    /// Any other text.
    Other(Box<str>),
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        match Uuid::try_parse(&text) {
            Ok(uuid) if uuid.to_string() == text => Name::Uuid(uuid),
            _ => Name::Other(text.into()),
        }
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Name::Uuid(uuid) => serializer.collect_str(uuid),
            Name::Other(text) => serializer.serialize_str(text),
        }
    }
}

/// One change that a plan makes, for people and scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The line in the original file, from 1; `None` for an inserted line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The entry's uuid, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<Name>,
    /// What is done.
    pub action: Action,
    /// What it is done to.
    #[serde(flatten)]
    pub what: ChangeKind,
    /// The bytes that the file gains; negative if it shrinks.
    pub bytes: i64,
    /// The turn, where the entry has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// The removed and added text, for the preview.
    #[serde(skip)]
    pub gist: Excerpt,
    /// The bytes that the model is shown in addition; negative if they are fewer.
    #[serde(skip)]
    pub shown: i64,
    /// The number of changes of its kind that it stands for.
    #[serde(skip)]
    pub count: u32,
}

impl Change {
    pub(super) fn silence_if_empty(&mut self, source: &[u8]) {
        if self.gist.read(source).is_empty() {
            self.gist = Excerpt::None;
        }
    }

    /// Whether people are shown both changes in one row.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        (self.turn, self.action, self.shown == 0) == (other.turn, other.action, other.shown == 0)
            && self.what == other.what
            && self.gist.is_none() == other.gist.is_none()
    }
}
