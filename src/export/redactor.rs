//! Takes secrets and private names out of the text of a session.

use std::borrow::Cow;
use std::cell::Cell;

use crate::human::count;
use crate::secrets::mask;
use crate::view::{SessionJson, SessionText};

use super::private_names::PrivateNames;

/// What stands in place of a masked secret.
const MASK: &str = "[masked]";

/// Masks secrets and replaces private names, and counts what it masked.
#[derive(Debug, Default)]
pub struct Redactor {
    show_secrets: bool,
    private_names: PrivateNames,
    masked: Cell<u64>,
}

impl Redactor {
    /// Makes a redactor that also replaces private names.
    pub fn new(show_secrets: bool, private_names: PrivateNames) -> Self {
        Self {
            show_secrets,
            private_names,
            masked: Cell::new(0),
        }
    }

    /// Returns how many secrets were masked so far.
    pub fn masked(&self) -> u64 {
        self.masked.get()
    }

    /// Returns what became of secrets, in a sentence for people.
    pub fn summary(&self) -> String {
        match (self.show_secrets, self.masked()) {
            (true, _) => "Secrets are not masked in it.".to_owned(),
            (false, 0) => {
                "No keys, tokens or passwords were recognised; check before you share it."
                    .to_owned()
            }
            (false, 1) => {
                "1 key, token or password was masked; check for others before you share it."
                    .to_owned()
            }
            (false, n) => format!(
                "{} keys, tokens or passwords were masked; check for others before you share it.",
                count(n)
            ),
        }
    }

    /// Returns a text of the session that is safe to share. It still has to be escaped for its format.
    pub fn text(&self, text: &SessionText) -> String {
        self.raw(text.raw())
    }

    /// Returns JSON of the session, laid out on several lines, that is safe to share.
    pub fn json(&self, json: &SessionJson) -> String {
        match json.value() {
            Some(value) => serde_json::to_string_pretty(&self.value(value)).unwrap_or_default(),
            None => self.raw(json.raw()),
        }
    }

    /// Changes every string of a value by itself, so that the result is valid JSON.
    fn value(&self, value: serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::String(text) => Value::String(self.raw(&text)),
            Value::Array(all) => all.into_iter().map(|v| self.value(v)).collect(),
            Value::Object(all) => {
                let all = all.into_iter().map(|(key, v)| (key, self.value(v)));
                Value::Object(all.collect())
            }
            other => other,
        }
    }

    fn raw(&self, text: &str) -> String {
        let masked = self.mask(text);
        self.private_names.replaced(&masked).into_owned()
    }

    fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.show_secrets {
            return Cow::Borrowed(text);
        }
        let masked = mask(text);
        if let Cow::Owned(masked) = &masked {
            let known = text.matches(MASK).count();
            let new = masked.matches(MASK).count().saturating_sub(known);
            self.masked.set(self.masked.get() + new as u64);
        }
        masked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redactor_masks_counts_and_replaces() {
        let redactor = Redactor::new(false, PrivateNames::of(Some("/home/ada"), []));
        let key = format!("ghp_{}", "abcdefghijklmnopqrstuvwxyz0123456789");
        let text = redactor.text(&format!("/home/ada/x {key}").into());
        assert_eq!(text, "~/x ghp_[masked]");
        let json = redactor.json(&format!(r#"{{"a":"{key}"}}"#).into());
        assert_eq!(json, "{\n  \"a\": \"ghp_[masked]\"\n}");
        let path = redactor.json(&r#"{"a":"C:\\Users\\ada\\x"}"#.to_owned().into());
        assert_eq!(path, "{\n  \"a\": \"C:\\\\Users\\\\user\\\\x\"\n}");
        assert_eq!(redactor.masked(), 2);
        let open = Redactor::new(true, PrivateNames::default());
        assert!(open.text(&key.clone().into()).contains(&key));
    }
}
