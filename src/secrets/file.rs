//! Searches the bytes of a file, in the form that it has, and replaces what was found.

use std::ops::Range;
use std::path::Path;
use std::sync::Mutex;

use super::finding::Finding;
use super::scan::Scanner;
use super::vault::{KnownSecret, Vault};

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// One JSON value on each line.
    JsonLines,
    /// One JSON value.
    Json,
    /// Anything else.
    Text,
}

impl Form {
    /// Returns the form that a file's name promises.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|x| x.to_str()) {
            Some("jsonl") => Self::JsonLines,
            Some("json") => Self::Json,
            _ => Self::Text,
        }
    }
}

impl Scanner {
    /// Returns the secrets in a file's bytes, in order. Lines that are not JSON are searched as text.
    pub fn scan_file(&self, form: Form, bytes: &[u8]) -> Vec<Finding> {
        match form {
            Form::Text if self.may_hold(bytes) => self.scan(bytes),
            Form::Json if self.may_hold(bytes) => self.scan_record(bytes),
            Form::Text | Form::Json => Vec::new(),
            Form::JsonLines => self.scan_lines(bytes),
        }
    }

    /// Searches lines of JSON. Lines that are not JSON are searched together, because a key can have several lines.
    fn scan_lines(&self, bytes: &[u8]) -> Vec<Finding> {
        let mut found = Vec::new();
        let (mut start, mut text) = (0, 0);
        let mut add = |range: Range<usize>, is_record: bool| {
            let part = &bytes[range.clone()];
            if self.may_hold(part) {
                let here = if is_record {
                    self.scan_record(part)
                } else {
                    self.scan(part)
                };
                found.extend(here.into_iter().map(|f| f.shift(range.start)));
            }
        };
        let ends = memchr::memchr_iter(b'\n', bytes).map(|at| at + 1);
        let last = (!bytes.is_empty() && !bytes.ends_with(b"\n")).then_some(bytes.len());
        for end in ends.chain(last) {
            if is_record(&bytes[start..end]) {
                add(text..start, false);
                add(start..end, true);
                text = end;
            }
            start = end;
        }
        add(text..start, false);
        found
    }

    /// Returns the secrets in JSON text; in text that is not JSON, those of the text.
    pub fn scan_record(&self, raw: &[u8]) -> Vec<Finding> {
        let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(raw).is_ok();
        if is_json || is_lenient_json(raw) {
            self.scan_json(raw)
        } else {
            self.scan(raw)
        }
    }
}

/// Returns whether a line looks like a JSON record.
fn is_record(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    matches!(
        (line.first(), line.last()),
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) | (Some(b'"'), Some(b'"'))
    )
}

/// Returns whether text is JSON as clients read it: with bytes that are not UTF-8, and halves of surrogate pairs.
fn is_lenient_json(raw: &[u8]) -> bool {
    let mut cursor = crate::json::Cursor::new(raw);
    cursor.skip().is_ok() && cursor.finish().is_ok()
}

/// The secrets of one run while it finds them. Several threads may add to it.
#[derive(Debug, Default)]
pub struct Ledger(Mutex<Vault>);

impl Ledger {
    /// Begins with the secrets of a vault.
    pub fn new(vault: Vault) -> Self {
        Self(Mutex::new(vault))
    }

    /// Returns the secret of a finding, with its placeholder.
    pub fn secret(&self, finding: &Finding) -> KnownSecret {
        let mut vault = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let at = vault.add(finding);
        vault.secrets()[at].clone()
    }

    /// Returns a file's bytes with the found secrets replaced; `found` must be in order.
    pub fn replaced(&self, bytes: &[u8], found: &[Finding]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len());
        let mut from = 0;
        for finding in found.iter().filter(|f| !f.is_suggestion()) {
            out.extend_from_slice(&bytes[from..finding.range.start]);
            let secret = self.secret(finding);
            out.extend_from_slice(finding.replacement(&secret).as_bytes());
            from = finding.range.end;
        }
        out.extend_from_slice(&bytes[from..]);
        out
    }

    /// Returns a file's bytes with the secrets replaced that a scanner finds beyond doubt; `None` if there are none.
    pub fn replace_in(&self, scanner: &Scanner, form: Form, bytes: &[u8]) -> Option<Vec<u8>> {
        let found = scanner.scan_file(form, bytes);
        let any = found.iter().any(|f| !f.is_suggestion());
        any.then(|| self.replaced(bytes, &found))
    }

    /// Returns the secrets.
    pub fn into_vault(self) -> Vault {
        self.0
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns a copy of the secrets.
    pub fn vault(&self) -> Vault {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .clone()
    }
}
