//! Takes secrets and private names out of the text of a session.

use std::borrow::Cow;
use std::cell::Cell;

use crate::human::count;
use crate::secrets::mask;
use crate::view::{SessionJson, SessionText};

/// What stands in place of a masked secret.
const MASK: &str = "[masked]";

/// Masks secrets and replaces private names, and counts what it masked.
#[derive(Debug, Default)]
pub struct Redactor {
    show_secrets: bool,
    /// Texts that are replaced, longest first, each with its replacement.
    replacements: Vec<(String, String)>,
    masked: Cell<u64>,
}

impl Redactor {
    /// Makes a redactor. `replacements` are texts that become others, such as a home folder that becomes `~`.
    pub fn new(show_secrets: bool, mut replacements: Vec<(String, String)>) -> Self {
        replacements.retain(|(from, _)| !from.is_empty());
        replacements.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        Self {
            show_secrets,
            replacements,
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
            Some(value) => {
                let text = serde_json::to_string_pretty(&self.value(value)).unwrap_or_default();
                self.replaced(text)
            }
            None => self.raw(json.raw()),
        }
    }

    /// Masks every string of a value by itself, so that the result is valid JSON.
    fn value(&self, value: serde_json::Value) -> serde_json::Value {
        use serde_json::Value;
        match value {
            Value::String(text) => Value::String(self.mask(&text).into_owned()),
            Value::Array(all) => all.into_iter().map(|v| self.value(v)).collect(),
            Value::Object(all) => {
                let all = all.into_iter().map(|(key, v)| (key, self.value(v)));
                Value::Object(all.collect())
            }
            other => other,
        }
    }

    fn raw(&self, text: &str) -> String {
        self.replaced(self.mask(text).into_owned())
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

    fn replaced(&self, mut text: String) -> String {
        for (from, to) in &self.replacements {
            if text.contains(from.as_str()) {
                text = text.replace(from.as_str(), to);
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redactor_masks_counts_and_replaces() {
        let home = vec![("/home/ada".to_owned(), "~".to_owned())];
        let redactor = Redactor::new(false, home);
        let key = format!("ghp_{}", "abcdefghijklmnopqrstuvwxyz0123456789");
        let text = redactor.text(&format!("/home/ada/x {key}").into());
        assert_eq!(text, "~/x ghp_[masked]");
        let json = redactor.json(&format!(r#"{{"a":"{key}"}}"#).into());
        assert_eq!(json, "{\n  \"a\": \"ghp_[masked]\"\n}");
        assert_eq!(redactor.masked(), 2);
        let open = Redactor::new(true, Vec::new());
        assert!(open.text(&key.clone().into()).contains(&key));
    }
}
