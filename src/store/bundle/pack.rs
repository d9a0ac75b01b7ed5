//! Writes bundles.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek as _, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::document::Source;
use crate::ops::{Redact, Selector};
use crate::secrets::{Form, Ledger, Scanner};
use crate::session::Session;
use crate::store::fs::{Candidate, disk, open_regular, require_regular};
use crate::store::publish::SubagentError;
use crate::store::sessions::Config;
use crate::surgery::{Surgery, SurgeryError, emit};

use super::error::BundleError;
use super::manifest::{BundledFile, MANIFEST, Manifest, is_plain_name};
use super::read::verify;
use super::seal::{Passphrase, Sealed};

/// How hard zstd tries: larger levels take much longer for little.
const LEVEL: i32 = 6;

/// Replaces secrets on the way into a bundle.
#[derive(Debug, Clone, Copy)]
pub struct Masking<'a> {
    /// Finds them.
    pub scanner: &'a Scanner,
    /// Gives each its placeholder.
    pub ledger: &'a Ledger,
}

/// A file that goes into a bundle.
#[derive(Debug, Clone)]
pub struct PackItem {
    /// The file.
    pub path: PathBuf,
    /// Whether it is the transcript of a session or a subagent.
    pub is_transcript: bool,
}

/// What a bundle came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packed {
    /// How many bytes its files have.
    pub bytes: u64,
    /// How many bytes it has itself.
    pub written: u64,
}

/// Packs files of a config folder.
pub struct Packer<'a> {
    /// The config folder.
    config: &'a Config,
    /// Where to put files that were changed on the way, until they are packed.
    scratch: &'a Path,
    masking: Option<Masking<'a>>,
    ready: Vec<Ready>,
    names: BTreeSet<String>,
}

/// A file that is ready to be packed.
struct Ready {
    path: PathBuf,
    /// What it becomes, if secrets in it were replaced.
    changed: Option<File>,
}

impl<'a> Packer<'a> {
    /// Begins a bundle. Files without a name in `scratch` hold what is changed on the way.
    pub fn new(config: &'a Config, scratch: &'a Path, masking: Option<Masking<'a>>) -> Self {
        Self {
            config,
            scratch,
            masking,
            ready: Vec::new(),
            names: BTreeSet::new(),
        }
    }

    /// Adds a file, and describes it in the manifest.
    pub fn add(&mut self, manifest: &mut Manifest, item: &PackItem) -> Result<(), BundleError> {
        let name = self.name_of(&item.path)?;
        // A plan can belong to several sessions.
        if !self.names.insert(name.clone()) {
            return Ok(());
        }
        require_regular(&item.path)?;
        let modified = fs_err::metadata(&item.path)?.modified()?;
        let changed = self.masked(item)?;
        let (bytes, sum) = match &changed {
            Some(file) => summed(file)?,
            None => summed(&open_regular(&item.path)?)?,
        };
        if let Some(mut file) = changed.as_ref() {
            file.rewind()?;
        }
        manifest.files.push(BundledFile {
            name,
            bytes,
            blake3: sum,
            modified: timestamp(modified),
        });
        self.ready.push(Ready {
            path: item.path.clone(),
            changed,
        });
        Ok(())
    }

    fn name_of(&self, path: &Path) -> Result<String, BundleError> {
        let unusable = || BundleError::Name {
            path: path.to_owned(),
        };
        let rest = path.strip_prefix(self.config.root());
        let rest = rest.map_err(|_| unusable())?;
        let parts: Option<Vec<&str>> = rest.iter().map(|part| part.to_str()).collect();
        let name = parts.ok_or_else(unusable)?.join("/");
        is_plain_name(&name).then_some(name).ok_or_else(unusable)
    }

    /// Returns what a file becomes when its secrets are replaced; `None` if it has none.
    fn masked(&self, item: &PackItem) -> Result<Option<File>, BundleError> {
        let Some(masking) = self.masking else {
            return Ok(None);
        };
        let unread = |source| SubagentError::Read {
            path: item.path.clone(),
            source,
        };
        if !item.is_transcript {
            let source = Source::open(&item.path).map_err(unread)?;
            let form = Form::of(&item.path);
            let replaced = masking
                .ledger
                .replace_in(masking.scanner, form, source.bytes());
            let Some(bytes) = replaced else {
                return Ok(None);
            };
            let mut file = tempfile::tempfile_in(self.scratch)?;
            file.write_all(&bytes)?;
            return Ok(Some(file));
        }
        let session = Session::open(&item.path).map_err(unread)?;
        let redact = Redact {
            scanner: masking.scanner,
            ledger: masking.ledger,
            only: Selector::default(),
        };
        let operated = Surgery::on(session).then(redact).operate();
        let operated = operated.map_err(|e: SurgeryError| SubagentError::from(e))?;
        if !operated.is_transformed() {
            return Ok(None);
        }
        let verified = operated.verify().map_err(SubagentError::from)?;
        let mut file = BufWriter::new(tempfile::tempfile_in(self.scratch)?);
        emit(verified.session(), None, &mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Some(file))
    }

    /// Writes the bundle to a file, which must not exist unless it is to be replaced.
    pub fn write_file(
        self,
        manifest: &Manifest,
        path: &Path,
        passphrase: Option<&Passphrase>,
        replace: bool,
    ) -> Result<Packed, BundleError> {
        self.write_checked(manifest, path, passphrase, replace, |_| Ok(()))
    }

    /// Writes the bundle to a new file, and reads all of it back before the file gets its name.
    pub fn write_and_verify(self, manifest: &Manifest, path: &Path) -> Result<Packed, BundleError> {
        self.write_checked(manifest, path, None, false, |temp| {
            if verify(open_regular(temp)?, || None)? == *manifest {
                return Ok(());
            }
            let text = "it does not read back as it was written";
            Err(BundleError::Damaged(text.to_owned()))
        })
    }

    fn write_checked(
        self,
        manifest: &Manifest,
        path: &Path,
        passphrase: Option<&Passphrase>,
        replace: bool,
        check: impl FnOnce(&Path) -> Result<(), BundleError>,
    ) -> Result<Packed, BundleError> {
        // A run that was killed may have left a temp file here.
        disk::sweep(disk::folder_of(path));
        let mut outcome = None;
        let candidate = Candidate::write(path, |file, temp| {
            let packed = self.write(manifest, file, passphrase);
            outcome = Some(packed.and_then(|packed| check(temp).map(|()| packed)));
            Ok(())
        })?;
        let packed = outcome.unwrap_or(Err(BundleError::NotABundle))?;
        if replace {
            candidate.replace()?;
        } else {
            candidate.create()?;
        }
        Ok(packed)
    }

    /// Writes the bundle.
    pub fn write(
        self,
        manifest: &Manifest,
        out: impl Write,
        passphrase: Option<&Passphrase>,
    ) -> Result<Packed, BundleError> {
        let out = Counted { out, written: 0 };
        let sealed = Sealed::new(BufWriter::new(out), passphrase)?;
        let mut encoder = zstd::Encoder::new(sealed, LEVEL)?;
        encoder.include_checksum(true)?;
        let mut tar = tar::Builder::new(encoder);
        let text = serde_json::to_vec_pretty(manifest).map_err(io::Error::other)?;
        let made = manifest.created;
        tar.append(&header(MANIFEST, 0, text.len() as u64, made), &text[..])?;
        let files = manifest.files.iter().zip(self.ready).enumerate();
        for (n, (file, ready)) in files {
            let header = header(&file.name, n, file.bytes, file.modified);
            let source = match ready.changed {
                Some(changed) => changed,
                None => open_regular(&ready.path)?,
            };
            // A client may append lines meanwhile; what it had when it was looked at is what is packed.
            let mut source = Summed::new(source.take(file.bytes));
            tar.append(&header, &mut source)?;
            if source.hasher.finalize().to_hex().as_str() != file.blake3 {
                return Err(BundleError::Changed { path: ready.path });
            }
        }
        let sealed = tar.into_inner()?.finish()?;
        let out = sealed.finish()?;
        let counted = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(Packed {
            bytes: manifest.total()?,
            written: counted.written,
        })
    }
}

/// Returns the header of a file. A name that is too long for it is replaced by a number; the manifest has the name.
fn header(name: &str, n: usize, bytes: u64, modified: jiff::Timestamp) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    if header.set_path(name).is_err() {
        let _ = header.set_path(numbered(n));
    }
    header.set_size(bytes);
    header.set_mode(0o600);
    header.set_mtime(u64::try_from(modified.as_second()).unwrap_or(0));
    header.set_entry_type(tar::EntryType::Regular);
    header.set_cksum();
    header
}

/// Returns the name of a file whose own is too long.
pub(super) fn numbered(n: usize) -> String {
    format!("files/{n}")
}

fn timestamp(time: SystemTime) -> jiff::Timestamp {
    jiff::Timestamp::try_from(time).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

/// Returns how many bytes a file has, and their sum.
fn summed(mut file: &File) -> io::Result<(u64, String)> {
    file.rewind()?;
    let mut hasher = blake3::Hasher::new();
    let bytes = io::copy(&mut file, &mut hasher)?;
    Ok((bytes, hasher.finalize().to_hex().to_string()))
}

/// Sums up what is read.
pub(super) struct Summed<R> {
    input: R,
    pub(super) hasher: blake3::Hasher,
}

impl<R> Summed<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            hasher: blake3::Hasher::new(),
        }
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(bytes)?;
        self.hasher.update(&bytes[..len]);
        Ok(len)
    }
}

/// Counts what is written.
struct Counted<W> {
    out: W,
    written: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = self.out.write(bytes)?;
        self.written += len as u64;
        Ok(len)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
