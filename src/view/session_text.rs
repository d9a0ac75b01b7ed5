//! Text that came from a session.

use std::cell::Cell;
use std::fmt;

use serde::{Serialize, Serializer};

use crate::secrets::{mask, mask_json};

/// Text from a session: hostile and private until it is presented.
///
/// It implements neither `Display` nor `Deref<Target = str>` nor `AsRef<str>`, so printing it as it is does not
/// compile. `render::Presenter` makes it safe for a terminal. Serialized, its secrets are masked.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SessionText(String);

impl SessionText {
    /// Returns the text as it is, for code that processes it. Never print it.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Returns the text as it is, for code that processes it. Never print it.
    pub fn into_raw(self) -> String {
        self.0
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Shows the length only: a debug message may reach a terminal, too.
impl fmt::Debug for SessionText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionText({} bytes)", self.0.len())
    }
}

impl From<String> for SessionText {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for SessionText {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl PartialEq<str> for SessionText {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for SessionText {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

thread_local! {
    static REVEALED: Cell<bool> = const { Cell::new(false) };
}

impl Serialize for SessionText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if is_revealed() {
            serializer.serialize_str(&self.0)
        } else {
            serializer.serialize_str(&mask(&self.0))
        }
    }
}

/// JSON text from a session, such as the input of a call. Serialized, it is a value and its strings are masked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SessionJson(SessionText);

impl SessionJson {
    /// Returns the JSON text as it is, for code that processes it. Never print it.
    pub fn raw(&self) -> &str {
        self.0.raw()
    }

    /// Returns the JSON as a value; `None` if it is not valid.
    pub fn value(&self) -> Option<serde_json::Value> {
        serde_json::from_str(self.raw()).ok()
    }
}

impl From<String> for SessionJson {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl Serialize for SessionJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = if is_revealed() {
            self.raw().into()
        } else {
            mask_json(self.raw())
        };
        let value: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        value.serialize(serializer)
    }
}

/// Returns whether the person asked to see secrets in what is being serialized on this thread.
pub(crate) fn is_revealed() -> bool {
    REVEALED.get()
}

/// Serializes with secrets shown. Only a presenter that was told to show them calls this.
pub(crate) fn reveal_while<T>(serialize: impl FnOnce() -> T) -> T {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            REVEALED.set(self.0);
        }
    }
    let _reset = Reset(REVEALED.replace(true));
    serialize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_text_is_serialized_masked_unless_revealed() {
        let text = SessionText::from("ghp_abcdefghijklmnopqrstuvwxyz0123456789");
        let json = || serde_json::to_string(&text).unwrap();
        assert_eq!(json(), r#""ghp_[masked]""#);
        assert!(reveal_while(json).contains("abcdef"));
        assert_eq!(json(), r#""ghp_[masked]""#);
        assert_eq!(format!("{text:?}"), "SessionText(40 bytes)");
    }
}
