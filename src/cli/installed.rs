//! Finds out which client is installed by looking at files; the client is never run.

use std::ffi::OsStr;
use std::path::Path;

use crate::doctor::Version;
use crate::store::real_path;

const PACKAGE: &str = "@anthropic-ai/claude-code";

/// What the program can be called: `claude` on Unix, and on Windows also a program or one of the scripts that npm makes.
const PROGRAMS: [&str; 4] = ["claude", "claude.exe", "claude.cmd", "claude.ps1"];

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
    for folder in folders {
        let programs = PROGRAMS.iter().map(|name| folder.join(name));
        let real = programs.filter_map(|program| real_path(&program).ok());
        found.extend(real.filter_map(|program| of_program(&program)));
    }
    found.into_iter().max()
}

/// Returns the versions after which files in a folder are named.
fn named_after_versions(folder: &Path) -> Vec<Version> {
    let files = fs_err::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| named(&file.path())).collect()
}

fn named(file: &Path) -> Option<Version> {
    let name = file.file_name()?.to_str()?;
    name.strip_suffix(".exe").unwrap_or(name).parse().ok()
}

/// Returns the version of a program that is named after its version, or is part of the package.
fn of_program(program: &Path) -> Option<Version> {
    // A package has its program at most this deep.
    let around = program.ancestors().take(4);
    named(program)
        .or_else(|| around.skip(1).find_map(packaged))
        .or_else(|| of_script(program))
}

/// Returns the version of the package that a script runs which npm made: the package is in `node_modules` beside a script
/// for all folders, and beside the folder `.bin` of a script for one.
fn of_script(script: &Path) -> Option<Version> {
    let folder = script.parent()?;
    let own = folder.join("node_modules").join(PACKAGE);
    let modules = folder.parent().filter(|_| folder.ends_with(".bin"));
    packaged(&own).or_else(|| packaged(&modules?.join(PACKAGE)))
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
        {
            std::os::unix::fs::symlink(global.join("cli.js"), bin.join("claude")).unwrap();
            let path = std::env::join_paths([bin, home.join("other")]).unwrap();
            assert_eq!(newest(Some(home), Some(&path)), Some(Version(2, 1, 300)));
        }
    }

    #[test]
    fn installed_client_of_windows_is_found_by_its_program_or_script() {
        let dir = tempfile::tempdir().unwrap();
        let package = |v: &str| format!(r#"{{"name":"{PACKAGE}","version":"{v}"}}"#);
        let found = |folder: &str| {
            let path = std::env::join_paths([dir.path().join(folder)]).unwrap();
            newest(None, Some(&path))
        };
        let put_at = |rest: &str, text: &str| put(&dir.path().join(rest), text);
        put_at("npm/claude.cmd", "@node cli.js %*");
        assert_eq!(found("npm"), None);
        let modules = format!("npm/node_modules/{PACKAGE}/package.json");
        put_at(&modules, &package("2.1.45"));
        assert_eq!(found("npm"), Some(Version(2, 1, 45)));
        put_at("p/node_modules/.bin/claude.ps1", "");
        put_at(
            &format!("p/node_modules/{PACKAGE}/package.json"),
            &package("2.1.46"),
        );
        assert_eq!(found("p/node_modules/.bin"), Some(Version(2, 1, 46)));
        put_at("native/package.json", &package("2.1.47"));
        put_at("native/bin/claude.exe", "");
        assert_eq!(found("native/bin"), Some(Version(2, 1, 47)));
        put_at("home/.local/share/claude/versions/2.1.48.exe", "");
        let home = dir.path().join("home");
        assert_eq!(newest(Some(&home), None), Some(Version(2, 1, 48)));
    }
}
