//! The secrets of one run: each has one placeholder, wherever it occurs.

use std::collections::BTreeMap;
use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use super::finding::{Finding, Source, beginning};
use super::placeholder::placeholder;

/// A secret that is to be redacted. Its value is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct KnownSecret {
    /// The rule that found it, or where it was given.
    pub kind: String,
    /// Its number among those of its kind.
    pub number: u32,
    /// How it was found first.
    pub source: Source,
    /// How many of its first bytes tell its kind.
    pub prefix: usize,
    pub(super) value: Vec<u8>,
}

impl KnownSecret {
    /// Returns what stands in its place.
    pub fn placeholder(&self) -> String {
        placeholder(&self.kind, self.number)
    }

    /// Returns how many bytes it has.
    pub fn len(&self) -> usize {
        self.value.len()
    }

    /// Whether it has no bytes, which never happens.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }

    /// Returns its first characters, never enough to use it.
    pub fn beginning(&self) -> String {
        beginning(&self.value, self.prefix)
    }

    /// Returns a hash of the value that only a holder of the key can compute, to compare reports.
    pub fn fingerprint(&self, key: &[u8; 32]) -> String {
        let hash = blake3::keyed_hash(key, &self.value).to_hex();
        hash[..12].to_owned()
    }
}

impl fmt::Debug for KnownSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.placeholder())
    }
}

/// The shortest value that is taken for the beginning of a longer one.
const LEAST_CUT: usize = 12;

/// The secrets that were found or given, in the order in which they were.
#[derive(Debug, Clone, Default)]
pub struct Vault {
    secrets: Vec<KnownSecret>,
    by_value: FxHashMap<Vec<u8>, usize>,
    /// The highest number of each kind.
    numbers: BTreeMap<String, u32>,
}

impl Vault {
    /// Returns all secrets.
    pub fn secrets(&self) -> &[KnownSecret] {
        &self.secrets
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty()
    }

    /// Notes that a text has this placeholder from an earlier run, so that its number is not used again.
    pub fn reserve(&mut self, kind: &str, number: u32) {
        let highest = self.numbers.entry(kind.to_owned()).or_default();
        *highest = number.max(*highest);
    }

    /// Adds found secrets, in order. A value that only begins another one is that one, cut off.
    pub fn add_all<'f>(&mut self, findings: impl Iterator<Item = &'f Finding> + Clone) {
        let mut values: Vec<&[u8]> = findings.clone().map(|f| &f.value[..]).collect();
        values.sort_unstable();
        values.dedup();
        // A value stands right before those that begin with it.
        let pairs = values
            .windows(2)
            .filter(|pair| pair[1].starts_with(pair[0]));
        let cut: FxHashSet<&[u8]> = pairs.map(|pair| pair[0]).collect();
        let whole = findings.clone().filter(|f| !cut.contains(&f.value[..]));
        for finding in whole.chain(findings.filter(|f| cut.contains(&f.value[..]))) {
            self.add(finding);
        }
    }

    /// Returns the position of a found secret, which is added if it is new and does not begin one of its kind.
    pub fn add(&mut self, finding: &Finding) -> usize {
        if let Some(&known) = self.by_value.get(&finding.value[..]) {
            return known;
        }
        let is_cut = |s: &KnownSecret| {
            s.kind == finding.kind
                && finding.value.len() >= LEAST_CUT
                && s.value.starts_with(&finding.value)
        };
        if let Some(whole) = self.secrets.iter().position(is_cut) {
            self.by_value.insert(finding.value.clone(), whole);
            return whole;
        }
        let number = self.numbers.entry(finding.kind.clone()).or_default();
        *number += 1;
        self.by_value
            .insert(finding.value.clone(), self.secrets.len());
        self.secrets.push(KnownSecret {
            kind: finding.kind.clone(),
            number: *number,
            source: finding.source,
            prefix: finding.prefix,
            value: finding.value.clone(),
        });
        self.secrets.len() - 1
    }

    /// Returns the position of a found secret, if it is known.
    pub fn position(&self, finding: &Finding) -> Option<usize> {
        self.by_value.get(&finding.value[..]).copied()
    }
}
