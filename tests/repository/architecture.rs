//! The folders of `src/` form layers: each imports only from those above it in this list.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The layers, lowest first. `human`, `threads` and `typed_index` are small helpers that any of them may use.
const LAYERS: [&str; 15] = [
    "json",
    "secrets",
    "document",
    "transcript",
    "session",
    "window",
    "view",
    "doctor",
    "surgery",
    "ops",
    "store",
    "render",
    "export",
    "ui",
    "cli",
];

const HELPERS: [&str; 3] = ["human", "threads", "typed_index"];

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The folders that a source names after `crate::`, tests apart.
fn imports(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let code: String = code.collect::<Vec<_>>().join("\n");
    let named = code.split("crate::").skip(1);
    let names = named.map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_');
        rest[..end.unwrap_or(rest.len())].to_owned()
    });
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn architecture_imports_go_one_way() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    let rank = |layer: &str| LAYERS.iter().position(|l| *l == layer);
    let mut wrong = Vec::new();
    for file in files {
        let below = file.strip_prefix(&src).expect("a source").to_owned();
        let layer = below.iter().next().unwrap_or_default().to_string_lossy();
        let Some(own) = rank(&layer) else { continue };
        for import in imports(&fs_err::read_to_string(&file).expect("a source")) {
            match rank(&import) {
                Some(other) if other > own => {
                    wrong.push(format!("{} imports {import}", below.display()));
                }
                None if !HELPERS.contains(&&*import) => {
                    wrong.push(format!(
                        "{} imports {import}, which is not a layer",
                        below.display()
                    ));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn architecture_every_layer_says_what_it_knows() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for layer in LAYERS {
        let text = fs_err::read_to_string(src.join(layer).join("mod.rs")).expect("a layer");
        assert!(text.starts_with("//! "), "{layer} opens with a paragraph");
    }
}
