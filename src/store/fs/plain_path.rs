//! Paths without `..`.

use std::io;
use std::path::{Component, Path, PathBuf};

use super::sys;

/// Returns the path of a file or folder with all links resolved, as Claude Code names projects: on Windows without the `\\?\`
/// that the system puts before such paths, where that is possible.
#[expect(clippy::disallowed_methods, reason = "this is the one place for it")]
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs_err::canonicalize(path).map(sys::usual_path)
}

/// Returns the absolute path of a file or folder without `..` in it, because the journal accepts no other.
///
/// Links in the folders before a `..` are followed, as the system does. The last name is kept even if it is a link.
pub fn plain_path(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    if !path.components().any(|c| c == Component::ParentDir) {
        return Ok(path);
    }
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) => Ok(real_path(folder)?.join(name)),
        _ => real_path(&path),
    }
}

/// Returns a path without `.` and `..`, resolved by name. Unlike [`plain_path`], nothing on the path need exist.
pub fn lexical_path(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(out.pop()),
            _ => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_path_has_no_parent_folders() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = real_path(folder.path()).expect("its real path");
        fs_err::create_dir(root.join("a")).expect("a folder");
        for (path, plain) in [("a/../b", "b"), ("a/../a", "a"), ("a/..", ""), ("a", "a")] {
            let expected = root.join(plain);
            let found = plain_path(&root.join(path)).expect("a path");
            assert_eq!(
                found.components().collect::<PathBuf>(),
                expected.components().collect::<PathBuf>()
            );
        }
    }
}
