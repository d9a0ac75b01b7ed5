//! Reads bundles, and believes nothing in them.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::rc::Rc;
use std::time::SystemTime;

use crate::store::fs::atomic::create_private_dirs;

use super::error::BundleError;
use super::manifest::{BundledFile, MANIFEST, Manifest};
use super::pack::{Summed, numbered};
use super::seal::{Passphrase, unsealed};
use super::staging::Staging;

/// No manifest is larger.
const LARGEST_MANIFEST: u64 = 256 << 20;

/// zstd never needs to look back farther in a bundle; a larger window would take that much memory.
const WINDOW_LOG: u32 = 27;

/// How much larger than itself a bundle may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many bytes each of its bytes may become.
    pub ratio: u64,
    /// How many bytes it may become in any case.
    pub free: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ratio: 1000,
            free: 256 << 20,
        }
    }
}

/// Counts what is read.
struct Counted<R> {
    input: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(bytes)?;
        self.read.set(self.read.get() + len as u64);
        Ok(len)
    }
}

/// Fails when a small bundle becomes very large.
struct Bounded<R> {
    input: R,
    limits: Limits,
    read: Rc<Cell<u64>>,
    made: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = self.input.read(bytes)?;
        self.made += len as u64;
        let most = self.read.get().saturating_mul(self.limits.ratio);
        if self.made > most.max(self.limits.free) {
            let text = "it becomes far larger than a bundle of its size can be";
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(len)
    }
}

type Plain<'r> = Bounded<zstd::Decoder<'static, BufReader<Counted<Box<dyn Read + 'r>>>>>;

fn opened<'r>(
    input: impl Read + 'r,
    passphrase: impl FnOnce() -> Option<Passphrase>,
    limits: Limits,
) -> Result<Plain<'r>, BundleError> {
    let read = Rc::new(Cell::new(0));
    let input = Counted {
        input: unsealed(input, passphrase)?,
        read: Rc::clone(&read),
    };
    let mut decoder = zstd::Decoder::new(input)?;
    decoder.window_log_max(WINDOW_LOG)?;
    Ok(Bounded {
        input: decoder,
        limits,
        read,
        made: 0,
    })
}

/// Reads the manifest of a bundle and nothing else.
pub fn read_manifest(
    input: impl Read,
    passphrase: impl FnOnce() -> Option<Passphrase>,
) -> Result<Manifest, BundleError> {
    let mut tar = tar::Archive::new(opened(input, passphrase, Limits::default())?);
    let mut entries = tar.entries().map_err(BundleError::reading)?.raw(true);
    first(entries.next())
}

fn first<R: Read>(entry: Option<io::Result<tar::Entry<'_, R>>>) -> Result<Manifest, BundleError> {
    // Whatever the first bytes are, a file without a manifest is not a bundle.
    let not_one = |e: io::Error| match BundleError::reading(e) {
        BundleError::Damaged(_) => BundleError::NotABundle,
        other => other,
    };
    let mut entry = entry.ok_or(BundleError::NotABundle)?.map_err(not_one)?;
    if &*entry.path_bytes() != MANIFEST.as_bytes() || !is_file(&entry) {
        return Err(BundleError::NotABundle);
    }
    if entry.size() > LARGEST_MANIFEST {
        return Err(BundleError::Hostile("its manifest is too large".to_owned()));
    }
    let mut text = Vec::new();
    let read = entry.read_to_end(&mut text);
    read.map_err(BundleError::reading)?;
    if text.len() as u64 != entry.size() {
        return Err(BundleError::Damaged("it ends too early".to_owned()));
    }
    Manifest::parse(&text)
}

/// Reads a whole bundle and checks it. Nothing is written.
pub fn verify(
    input: impl Read,
    passphrase: impl FnOnce() -> Option<Passphrase>,
) -> Result<Manifest, BundleError> {
    each(
        opened(input, passphrase, Limits::default())?,
        |_| Ok(()),
        |_, data| io::copy(data, &mut io::sink()).map(drop),
    )
}

/// Unpacks a bundle into an empty folder, and checks it on the way. The file's times are those of the manifest.
pub fn unpack(
    input: impl Read,
    passphrase: impl FnOnce() -> Option<Passphrase>,
    limits: Limits,
    staging: &Staging,
) -> Result<Manifest, BundleError> {
    let config = staging.config();
    let has_room = |manifest: &Manifest| {
        let needed = manifest.total()?;
        // What is unpacked is copied to its place before it is removed here.
        let free = staging.free()?;
        if free / 2 < needed {
            return Err(BundleError::NoRoom { needed, free });
        }
        Ok(())
    };
    each(
        opened(input, passphrase, limits)?,
        has_room,
        |file, data| write_file(&config.join(&file.name), file, data),
    )
}

/// Reads a bundle from one end to the other. `announced` gets the manifest, and `take` each file with its bytes.
fn each(
    input: Plain<'_>,
    announced: impl FnOnce(&Manifest) -> Result<(), BundleError>,
    mut take: impl FnMut(&BundledFile, &mut dyn Read) -> io::Result<()>,
) -> Result<Manifest, BundleError> {
    let mut tar = tar::Archive::new(input);
    // Raw: entries that only describe others are not followed, and there are none in a bundle.
    let mut entries = tar.entries().map_err(BundleError::reading)?.raw(true);
    let manifest = first(entries.next())?;
    announced(&manifest)?;
    for (n, file) in manifest.files.iter().enumerate() {
        let missing = || BundleError::Damaged(format!("{:?} is missing", file.name));
        let entry = entries.next().ok_or_else(missing)?;
        let entry = entry.map_err(BundleError::reading)?;
        check_header(&entry, file, n)?;
        let mut data = Summed::new(entry);
        take(file, &mut data).map_err(|e| match e.kind() {
            // The disk, not the bundle.
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => BundleError::Io(e),
            _ => BundleError::reading(e),
        })?;
        if data.hasher.finalize().to_hex().as_str() != file.blake3 {
            let text = format!("the sum of {:?} is wrong", file.name);
            return Err(BundleError::Damaged(text));
        }
    }
    if let Some(entry) = entries.next() {
        entry.map_err(BundleError::reading)?;
        let text = "it has files that its manifest does not name";
        return Err(BundleError::Hostile(text.to_owned()));
    }
    at_end(tar.into_inner())?;
    Ok(manifest)
}

/// Fails unless the header is that of the file which the manifest names.
fn check_header<R: Read>(
    entry: &tar::Entry<'_, R>,
    file: &BundledFile,
    n: usize,
) -> Result<(), BundleError> {
    let name = entry.path_bytes();
    if *name != *file.name.as_bytes() && *name != *numbered(n).as_bytes() {
        let text = format!("a file is called other than {:?}", file.name);
        return Err(BundleError::Hostile(text));
    }
    if !is_file(entry) {
        let text = format!("{:?} is not a regular file", file.name);
        return Err(BundleError::Hostile(text));
    }
    if entry.size() != file.bytes {
        let text = format!("{:?} has another size than its manifest says", file.name);
        return Err(BundleError::Damaged(text));
    }
    Ok(())
}

fn is_file<R: Read>(entry: &tar::Entry<'_, R>) -> bool {
    entry.header().entry_type() == tar::EntryType::Regular
}

/// Reads what is left: nothing but zeros, up to the end of what is compressed.
fn at_end(mut input: impl Read) -> Result<(), BundleError> {
    let mut rest = [0; 1 << 13];
    loop {
        let len = input.read(&mut rest).map_err(BundleError::reading)?;
        if len == 0 {
            return Ok(());
        }
        if rest[..len].iter().any(|&b| b != 0) {
            let text = "something follows its last file";
            return Err(BundleError::Hostile(text.to_owned()));
        }
    }
}

fn write_file(target: &Path, file: &BundledFile, data: &mut dyn Read) -> io::Result<()> {
    let folder = target.parent().unwrap_or(target);
    create_private_dirs(folder).map_err(io::Error::from)?;
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut out = options.open(target)?;
    io::copy(data, &mut out)?;
    out.flush()?;
    out.set_modified(SystemTime::from(file.modified))
}
