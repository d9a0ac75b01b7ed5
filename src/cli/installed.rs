//! Finds out which client is installed by looking at files; the client is never run.

use std::ffi::OsStr;
use std::path::Path;

use crate::doctor::Version;

const PACKAGE: &str = "@anthropic-ai/claude-code";

/// Returns the newest client in the usual places: the native installer's folder, the client's own
/// folder, and the programs called `claude` on the path.
pub(super) fn newest(home: Option<&Path>, path: Option<&OsStr>) -> Option<Version> {
    let mut found = Vec::new();
    if let Some(home) = home {
        found.extend(named_after_versions(
            &home.join(".local/share/claude/versions"),
        ));
        found.extend(packaged(
            &home.join(".claude/local/node_modules").join(PACKAGE),
        ));
    }
    let folders = path.into_iter().flat_map(std::env::split_paths);
    for program in folders.map(|folder| folder.join("claude")) {
        if let Ok(real) = fs_err::canonicalize(&program) {
            found.extend(of_program(&real));
        }
    }
    found.into_iter().max()
}

/// Returns the versions after which files in a folder are named.
fn named_after_versions(folder: &Path) -> Vec<Version> {
    let files = fs_err::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| named(&file.path())).collect()
}

fn named(file: &Path) -> Option<Version> {
    file.file_name()?.to_str()?.parse().ok()
}

/// Returns the version of a program that is named after its version, or is part of the package.
fn of_program(program: &Path) -> Option<Version> {
    // A package has its program at most this deep.
    let around = program.ancestors().take(4);
    named(program).or_else(|| around.skip(1).find_map(packaged))
}

/// Returns the version in a folder's `package.json`, if the package is the client.
fn packaged(folder: &Path) -> Option<Version> {
    let bytes = fs_err::read(folder.join("package.json")).ok()?;
    let package: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    let version = package["version"].as_str()?;
    (package["name"] == PACKAGE).then(|| version.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(file: &Path, text: &str) {
        fs_err::create_dir_all(file.parent().unwrap()).unwrap();
        fs_err::write(file, text).unwrap();
    }

    #[test]
    fn installed_client_is_the_newest_of_all_places() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path();
        assert_eq!(newest(Some(home), None), None);
        let package = |v: &str| format!(r#"{{"name":"{PACKAGE}","version":"{v}"}}"#);
        let local = home.join(".claude/local/node_modules").join(PACKAGE);
        put(&local.join("package.json"), &package("2.1.20"));
        assert_eq!(newest(Some(home), None), Some(Version(2, 1, 20)));
        put(&home.join(".local/share/claude/versions/2.1.99"), "");
        put(&home.join(".local/share/claude/versions/notes"), "");
        assert_eq!(newest(Some(home), None), Some(Version(2, 1, 99)));
        let global = home.join("lib").join(PACKAGE);
        put(&global.join("package.json"), &package("2.1.300"));
        put(&global.join("cli.js"), "");
        put(
            &home.join("other/package.json"),
            r#"{"name":"x","version":"9.9.9"}"#,
        );
        put(&home.join("other/claude"), "");
        let bin = home.join("bin");
        fs_err::create_dir_all(&bin).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(global.join("cli.js"), bin.join("claude")).unwrap();
        let path = std::env::join_paths([bin, home.join("other")]).unwrap();
        #[cfg(unix)]
        assert_eq!(newest(Some(home), Some(&path)), Some(Version(2, 1, 300)));
    }
}
