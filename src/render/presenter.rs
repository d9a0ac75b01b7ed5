//! The one way by which text of a session reaches a person.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::secrets::{mask, mask_json};
use crate::view::{SessionText, reveal_while};

use super::text::{clean, clean_lines};

/// Text that may hold anything: of a session, or of a message that may quote one.
pub trait Untrusted {
    /// Returns the text as it is.
    fn untrusted(&self) -> &str;
}

impl Untrusted for SessionText {
    fn untrusted(&self) -> &str {
        self.raw()
    }
}

impl Untrusted for str {
    fn untrusted(&self) -> &str {
        self
    }
}

impl Untrusted for String {
    fn untrusted(&self) -> &str {
        self
    }
}

impl<T: Untrusted + ?Sized> Untrusted for &T {
    fn untrusted(&self) -> &str {
        (**self).untrusted()
    }
}

/// Masks secrets, and removes what a terminal would obey.
#[derive(Debug, Clone, Copy, Default)]
pub struct Presenter {
    /// Whether keys, tokens and passwords are shown as they are.
    pub show_secrets: bool,
}

impl Presenter {
    /// Returns a text on one line, white space folded. Text is masked before it is cut to fit a column.
    pub fn line(&self, text: impl Untrusted) -> String {
        clean(&self.masked(text.untrusted()))
    }

    /// Returns a text with its lines and indentation.
    pub fn lines(&self, text: impl Untrusted) -> String {
        clean_lines(&self.masked(text.untrusted()))
    }

    /// Returns a text with its secrets masked, for data. It is not safe for a terminal yet.
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.show_secrets {
            Cow::Borrowed(text)
        } else {
            mask(text)
        }
    }

    /// Returns JSON text with the secrets in its strings masked. Valid JSON stays valid.
    pub fn masked_json<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.show_secrets {
            Cow::Borrowed(text)
        } else {
            mask_json(text)
        }
    }

    /// Returns a view as data, the texts of the session in it masked.
    pub fn json(&self, view: &impl Serialize) -> Value {
        let to_value = || serde_json::to_value(view).unwrap_or_default();
        if self.show_secrets {
            reveal_while(to_value)
        } else {
            to_value()
        }
    }
}
