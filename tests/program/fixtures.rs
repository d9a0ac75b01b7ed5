//! Every fixture, one pathology each, and every transcript that lies about: nothing is lost, nothing panics.

use crate::harness;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ccsurgery::document::{Document, LineIx};
use ccsurgery::json::{decode, lookup};
use ccsurgery::session::Session;
use harness::Home;
use serde_json::Value;

/// Every transcript below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut stack = vec![folder.to_owned()];
    while let Some(dir) = stack.pop() {
        for entry in fs_err::read_dir(dir).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|x| x == "jsonl") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Our own fixtures, and a collection of real sessions where one lies beside the checkout.
fn transcripts() -> Vec<PathBuf> {
    let mut all = below(&root().join("fixtures"));
    assert!(all.len() > 40, "the fixtures are there");
    let corpus = std::env::var_os("CCSURGERY_CORPUS").map(PathBuf::from);
    all.extend(below(
        &corpus.unwrap_or_else(|| root().join("../shared/corpus")),
    ));
    all
}

#[test]
fn emits_what_it_reads() {
    for path in transcripts() {
        let bytes = fs_err::read(&path).expect("a fixture");
        let document = Document::open(&path).expect("any bytes are a document");
        assert!(document.to_vec() == bytes, "{}", path.display());
        assert_eq!(document.len(), bytes.len() as u64, "{}", path.display());
        let session = Session::new(document);
        assert_eq!(
            session.lines().len(),
            session.document().lines().len(),
            "{}",
            path.display()
        );
    }
}

#[test]
fn each_pathology_can_be_previewed_and_cloned() {
    for path in below(&root().join("fixtures")) {
        if path.parent() != Some(&root().join("fixtures")) {
            continue;
        }
        let home = Home::new();
        let shown = path.display().to_string();
        let preview = home.run(&["clone", "-n", "--json", &shown]);
        assert_eq!(preview.code, 0, "{shown} {preview:?}");
        serde_json::from_str::<Value>(&preview.stdout).expect("one JSON document");
        let (_, made) = home.clone(&[&shown]);
        assert!(made.exists(), "{shown}");
    }
}

#[test]
fn a_clone_differs_by_its_ids_alone() {
    let home = Home::new();
    for path in transcripts() {
        let shown = path.display().to_string();
        let run = home
            .command(&["clone", "-o", "-", &shown])
            .process()
            .output()
            .expect("it starts");
        assert!(
            run.status.success(),
            "{shown} {}",
            String::from_utf8_lossy(&run.stderr)
        );
        assert_only_ids_differ(&path, &run.stdout);
    }
}

/// Takes from a clone what cloning put in, and holds the rest against the original's bytes.
fn assert_only_ids_differ(original: &Path, clone: &[u8]) {
    let old = Document::open(original).expect("the original");
    let new = Document::from_bytes(clone);
    let field = |line: &[u8], key: &str| -> Option<Vec<u8>> {
        let raw = lookup(line, &[key])?.of(line);
        (raw.len() > 2 && raw[0] == b'"').then(|| raw[1..raw.len() - 1].to_vec())
    };
    let mut kept = Vec::new();
    let vouches = |i: LineIx| field(old.text(i), "type").is_some_and(|t| t == b"resume-head-vouch");
    kept.extend(old.numbers().filter(|&i| !vouches(i)));
    assert!(
        new.lines().len() >= kept.len(),
        "{}: no line is lost",
        original.display()
    );
    let both = |key: &str| -> Vec<(Vec<u8>, Vec<u8>)> {
        let pairs = new.numbers().zip(&kept);
        pairs
            .filter_map(|(n, &i)| Some((field(new.text(n), key)?, field(old.text(i), key)?)))
            .collect()
    };
    let mut ids: BTreeMap<Vec<u8>, Vec<u8>> = both("sessionId").into_iter().collect();
    ids.extend(both("uuid"));
    let slugs: BTreeMap<Vec<u8>, Vec<u8>> = both("slug").into_iter().collect();
    for (n, &i) in new.numbers().zip(&kept) {
        let (old_text, mut text) = (old.text(i), new.text(n).to_vec());
        let fork: &[u8] = br#","forkedFrom":{"sessionId":""#;
        if find(old_text, fork).is_none()
            && let Some(at) = find(&text, fork)
        {
            let end = at + find(&text[at..], b"}").expect("its end") + 1;
            text.drain(at..end);
        }
        // Two of the original's sessions may have become one: this line's own counts.
        let own = field(new.text(n), "sessionId").zip(field(old_text, "sessionId"));
        text = with_old_ids(&text, |id| match &own {
            Some((new, old)) if new == id => Some(old),
            _ => ids.get(id),
        });
        for (from, to) in &slugs {
            text = replaced(&text, from, to);
        }
        let same = text == old_text || is_renamed_in_words(old_text, &text);
        assert!(
            same,
            "{}:{}\n{}\n{}",
            original.display(),
            i.from_one(),
            String::from_utf8_lossy(old_text),
            String::from_utf8_lossy(&text)
        );
    }
}

/// An id that was spelled with escapes comes back without them.
fn is_renamed_in_words(old: &[u8], new: &[u8]) -> bool {
    let quoted = |text: &[u8]| decode(&[b"\"", text, b"\""].concat()).into_owned();
    find(old, b"\\u00").is_some()
        && quoted(
            &old.iter()
                .copied()
                .filter(|&b| b != b'"')
                .collect::<Vec<_>>(),
        ) == quoted(
            &new.iter()
                .copied()
                .filter(|&b| b != b'"')
                .collect::<Vec<_>>(),
        )
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, what)
}

/// The text with every fresh id, which has 36 bytes, replaced by the one that it stands for.
fn with_old_ids<'a>(text: &[u8], old: impl Fn(&[u8]) -> Option<&'a Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let id = text.get(at..at + 36).filter(|id| id[8] == b'-');
        match id.and_then(&old) {
            Some(old) => {
                out.extend_from_slice(old);
                at += 36;
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    for found in memchr::memmem::find_iter(text, from) {
        if found >= at {
            out.extend_from_slice(&text[at..found]);
            out.extend_from_slice(to);
            at = found + from.len();
        }
    }
    out.extend_from_slice(&text[at..]);
    out
}
