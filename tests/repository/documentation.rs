//! The documents name only tests, files and commands that exist.

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    fs_err::read_to_string(root().join(path.as_ref())).expect("a document")
}

/// Returns all files below a folder whose names end like this.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found
}

/// Returns what a document has between single backticks.
fn quoted(document: &str) -> impl Iterator<Item = &str> {
    let blocks = document.split("```").step_by(2);
    blocks.flat_map(|text| text.split('`').skip(1).step_by(2))
}

/// Returns whether this is a test's name with its file: `clone::the_original_is_not_touched`.
fn is_test_name(text: &str) -> bool {
    let parts: Vec<&str> = text.split("::").collect();
    let is_name = |part: &&str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    parts.len() > 1 && parts.iter().all(is_name)
}

#[test]
fn safety_names_tests_that_exist() {
    let mut sources = files(&root().join("tests"), ".rs");
    sources.extend(files(&root().join("src"), ".rs"));
    let code: String = sources.iter().map(read).collect();
    let safety = read("SAFETY.md");
    let names: Vec<&str> = quoted(&safety).filter(|text| is_test_name(text)).collect();
    assert!(names.len() > 50, "the names of tests are found");
    for name in names {
        let last = name.rsplit("::").next().expect("a name");
        let is_there =
            code.contains(&format!("fn {last}(")) || code.contains(&format!("mod {last}"));
        assert!(is_there, "SAFETY.md names {name}, which does not exist");
    }
}

#[test]
fn documents_link_to_files_that_exist() {
    for name in [
        "README.md",
        "SAFETY.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "fixtures/README.md",
    ] {
        let document = read(name);
        let folder = root().join(name).parent().expect("a folder").to_owned();
        let targets = document
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|t| !t.contains("://") && !t.starts_with('#')) {
            assert!(
                folder.join(target).exists(),
                "{name} links to {target}, which does not exist"
            );
        }
    }
}

#[test]
fn fixtures_are_all_described() {
    let index = read("fixtures/README.md");
    for folder in ["fixtures", "fixtures/pathologies", "fixtures/regressions"] {
        let entries = fs_err::read_dir(root().join(folder)).expect("a folder");
        for entry in entries {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy();
            let is_fixture = path.extension().is_some_and(|ending| ending == "jsonl");
            let row = format!("| `{name}` |");
            assert!(
                !is_fixture || index.contains(&row),
                "fixtures/README.md lacks {row} ({folder})"
            );
        }
    }
}
