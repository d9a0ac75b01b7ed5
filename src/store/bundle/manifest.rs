//! The first file of a bundle: what is in it, and where it comes from.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::error::BundleError;

/// The name of the manifest in a bundle.
pub(super) const MANIFEST: &str = "manifest.json";

/// What the manifest calls the form of a bundle.
const FORMAT: &str = "ccsurgery-bundle";

/// The newest version of the form that this program reads.
const VERSION: u64 = 1;

/// No bundle has more files.
const MOST_FILES: usize = 500_000;

/// No bundle has more sessions.
const MOST_SESSIONS: usize = 20_000;

/// No part of a file's name is longer.
const LONGEST_NAME: usize = 255;

/// What a bundle was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BundleKind {
    /// To take sessions to another machine.
    Bundle,
    /// To put sessions away and bring them back as they were.
    Archive,
}

/// The machine that wrote a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceMachine {
    /// Its system, such as `linux`.
    pub os: String,
    /// The home folder.
    pub home: Option<String>,
    /// Claude Code's config folder.
    pub config: String,
}

/// A session of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundledSession {
    /// Its id.
    pub id: String,
    /// Its title or first prompt.
    pub title: String,
    /// The folder that it was held in.
    pub project: Option<String>,
    /// The name of the folder of its transcript.
    pub folder: String,
    /// The versions of Claude Code that wrote it.
    pub client_versions: Vec<String>,
}

impl BundledSession {
    /// Returns the name of its transcript in the bundle.
    pub fn transcript(&self) -> String {
        format!("projects/{}/{}.jsonl", self.folder, self.id)
    }
}

/// A file of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundledFile {
    /// Its path below the config folder, with `/` between the parts.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// The BLAKE3 sum of its bytes.
    pub blake3: String,
    /// When it was last written, in RFC 3339.
    pub modified: jiff::Timestamp,
}

/// What is in a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    version: u64,
    /// What it was made for.
    pub kind: BundleKind,
    /// When it was made.
    pub created: jiff::Timestamp,
    /// The program that made it.
    pub program: String,
    /// Whether secrets in it were replaced.
    pub redacted: bool,
    /// Where it comes from.
    pub source: SourceMachine,
    /// Its sessions.
    pub sessions: Vec<BundledSession>,
    /// Its files, in the order in which they follow.
    pub files: Vec<BundledFile>,
}

/// The part of a manifest that every version has.
#[derive(Deserialize)]
struct Form {
    format: String,
    version: u64,
}

impl Manifest {
    /// Makes a manifest without sessions and files.
    pub fn new(kind: BundleKind, created: jiff::Timestamp, source: SourceMachine) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            kind,
            created,
            program: concat!("ccsurgery ", env!("CARGO_PKG_VERSION")).to_owned(),
            redacted: false,
            source,
            sessions: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Reads a manifest, and checks everything that it claims about names and numbers.
    pub(super) fn parse(text: &[u8]) -> Result<Self, BundleError> {
        let form: Form = serde_json::from_slice(text).map_err(|_| BundleError::NotABundle)?;
        if form.format != FORMAT {
            return Err(BundleError::NotABundle);
        }
        if form.version > VERSION {
            return Err(BundleError::Newer(form.version));
        }
        let manifest: Self = serde_json::from_slice(text)
            .map_err(|e| BundleError::Damaged(format!("its manifest cannot be read: {e}")))?;
        manifest.check()?;
        Ok(manifest)
    }

    fn check(&self) -> Result<(), BundleError> {
        let hostile = |text: String| Err(BundleError::Hostile(text));
        if self.files.len() > MOST_FILES || self.sessions.len() > MOST_SESSIONS {
            return hostile("it has too many files".to_owned());
        }
        if self.sessions.is_empty() {
            return hostile("it has no sessions".to_owned());
        }
        let mut names = BTreeSet::new();
        for file in &self.files {
            if !is_plain_name(&file.name) {
                return hostile(format!("the name {:?} leads elsewhere", file.name));
            }
            if !names.insert(file.name.as_str()) {
                return hostile(format!("{:?} is in it twice", file.name));
            }
        }
        let mut ids = BTreeSet::new();
        for session in &self.sessions {
            let transcript = session.transcript();
            if !is_plain_name(&transcript) || transcript.split('/').count() != 3 {
                return hostile(format!("{:?} is not a session id", session.id));
            }
            if !ids.insert(session.id.as_str()) {
                return hostile(format!("session {:?} is in it twice", session.id));
            }
            if !names.contains(transcript.as_str()) {
                return hostile(format!("session {:?} has no transcript", session.id));
            }
        }
        self.total().map(drop)
    }

    /// Returns how many bytes all files have.
    pub fn total(&self) -> Result<u64, BundleError> {
        let mut sizes = self.files.iter().map(|f| f.bytes);
        let sum = sizes.try_fold(0u64, u64::checked_add);
        sum.ok_or_else(|| {
            BundleError::Hostile("its files have more bytes than there can be".into())
        })
    }
}

/// Returns whether a name is a path that leads nowhere but down, on every system.
pub(super) fn is_plain_name(name: &str) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty()
            && part != "."
            && part != ".."
            && part.len() <= LONGEST_NAME
            && !part.contains(['\\', ':'])
            && !part.contains(char::is_control)
    };
    name.split('/').all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> Manifest {
        let source = SourceMachine {
            os: "linux".to_owned(),
            home: None,
            config: "/home/ada/.claude".to_owned(),
        };
        let mut manifest = Manifest::new(BundleKind::Bundle, jiff::Timestamp::UNIX_EPOCH, source);
        manifest.sessions.push(BundledSession {
            id: "s1".to_owned(),
            title: String::new(),
            project: None,
            folder: "-p".to_owned(),
            client_versions: Vec::new(),
        });
        manifest.files.push(BundledFile {
            name: "projects/-p/s1.jsonl".to_owned(),
            bytes: 1,
            blake3: String::new(),
            modified: jiff::Timestamp::UNIX_EPOCH,
        });
        manifest
    }

    fn read(manifest: &Manifest) -> Result<Manifest, BundleError> {
        Manifest::parse(&serde_json::to_vec(manifest).expect("text"))
    }

    #[test]
    fn bundle_names_that_lead_elsewhere_are_refused() {
        for bad in [
            "",
            "/etc/passwd",
            "../x",
            "a/../b",
            "a//b",
            "./a",
            "a/.",
            r"a\b",
            "C:/x",
            "a\0b",
            "a\nb",
        ] {
            assert!(!is_plain_name(bad), "{bad:?}");
        }
        assert!(is_plain_name("projects/-p/s1/tool-results/odd name….txt"));
        assert!(!is_plain_name(&"x".repeat(256)));
    }

    #[test]
    fn bundle_manifest_is_checked() {
        assert_eq!(read(&manifest()).expect("a manifest"), manifest());
        let refused = |change: fn(&mut Manifest)| {
            let mut changed = manifest();
            change(&mut changed);
            read(&changed).expect_err("a refusal").to_string()
        };
        assert!(refused(|m| m.version = 2).contains("newer"));
        assert!(refused(|m| m.format = "other".into()).contains("not a bundle"));
        assert!(refused(|m| m.files[0].name = "../x".into()).contains("leads elsewhere"));
        assert!(refused(|m| m.files.push(m.files[0].clone())).contains("twice"));
        assert!(refused(|m| m.sessions.push(m.sessions[0].clone())).contains("twice"));
        assert!(refused(|m| m.sessions[0].id = "s2".into()).contains("no transcript"));
        assert!(refused(|m| m.sessions[0].id = "../s1".into()).contains("not a session id"));
        assert!(refused(|m| m.sessions.clear()).contains("no sessions"));
        let huge = refused(|m| {
            m.files[0].bytes = u64::MAX;
            m.files.push(BundledFile {
                name: "x".into(),
                ..m.files[0].clone()
            });
        });
        assert!(huge.contains("more bytes"), "{huge}");
    }
}
