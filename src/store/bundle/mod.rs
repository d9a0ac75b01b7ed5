//! Bundles: files that hold whole sessions, to take them to another machine or to put them away.
//!
//! The form is described in `docs/bundle.md`. A bundle that is read is believed in nothing: names, sizes, sums and the
//! number of files are checked against its manifest, and everything is unpacked into a private folder of its own before any
//! of it is used.

mod archives;
mod contents;
mod error;
mod manifest;
mod pack;
mod read;
mod seal;
mod staging;

pub use archives::{ArchiveList, Archived, Archives};
pub use contents::{Contents, contents_of, memory_of};
pub use error::BundleError;
pub use manifest::{BundleKind, BundledFile, BundledSession, Manifest, SourceMachine};
pub use pack::{Masking, PackItem, Packed, Packer};
pub use read::{Limits, read_manifest, unpack, verify};
pub use seal::Passphrase;
pub use staging::Staging;
