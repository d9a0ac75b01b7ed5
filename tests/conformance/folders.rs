//! Where the suite keeps what is slow to make: clients, recordings, results. Never inside the repository.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use etcetera::BaseStrategy as _;

fn cache(variable: &str, name: &str) -> Result<PathBuf> {
    if let Some(folder) = std::env::var_os(variable) {
        return Ok(PathBuf::from(folder));
    }
    let base = etcetera::choose_base_strategy().context("no home folder to keep the cache in")?;
    Ok(base.cache_dir().join("ccsurgery").join(name))
}

/// Installed clients, one folder a version; `CCSURGERY_CLIENTS` moves it.
pub(crate) fn clients() -> Result<PathBuf> {
    cache("CCSURGERY_CLIENTS", "clients")
}

/// Recorded sessions and results; `CCSURGERY_RECORDINGS` moves it.
pub(crate) fn recordings() -> Result<PathBuf> {
    cache("CCSURGERY_RECORDINGS", "recordings")
}

/// Copies a folder with all that is in it; links are left out, for nothing of a session is one.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs_err::create_dir_all(to)?;
    for entry in fs_err::read_dir(from)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let target = to.join(entry.file_name());
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs_err::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Removes a folder if it is there.
pub(crate) fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs_err::remove_dir_all(folder)?;
    }
    Ok(())
}

/// All files below a folder, sorted.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !folder.exists() {
        return Ok(found);
    }
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path())?);
        } else {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
