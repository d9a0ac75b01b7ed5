//! Replays what fuzzing found, and fuzzes a little more on any toolchain.
//!
//! `CCSURGERY_FUZZ=100000 cargo test --test library fuzz -- --nocapture` goes on for longer, and
//! `CCSURGERY_FUZZ_SEED` has it go elsewhere. With a nightly toolchain and `cargo-fuzz`, the same targets are
//! in `fuzz/`.
#![allow(clippy::print_stderr, reason = "a long run tells what it did")]

mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use mutate::{Dice, mutate};
use targets::{TARGETS, Target};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs_err::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|e| e.expect("an entry").path());
    let mut paths: Vec<_> = paths.filter(|p| p.is_file()).collect();
    paths.sort();
    paths
}

#[test]
fn what_was_found_stays_mended() {
    let mut replayed = 0;
    for (name, target) in TARGETS {
        for path in files(&root().join("fuzz/corpus").join(name)) {
            let bytes = fs_err::read(&path).expect("an input");
            let outcome = catch_unwind(AssertUnwindSafe(|| target(&bytes)));
            assert!(outcome.is_ok(), "{}", path.display());
            replayed += 1;
        }
    }
    assert!(replayed > 0, "there is nothing to replay");
}

/// Whole sessions to begin with.
fn seeds() -> Vec<Vec<u8>> {
    let mut paths = files(&root().join("fixtures"));
    paths.extend(files(&root().join("fixtures/pathologies")));
    let mut stack = vec![root().join("fixtures/recorded")];
    while let Some(dir) = stack.pop() {
        for entry in fs_err::read_dir(dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|x| x == "jsonl") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    let all = paths.iter().map(|p| fs_err::read(p).expect("a fixture"));
    all.filter(|bytes| bytes.len() < 200_000).collect()
}

fn number(name: &str, default: u64) -> u64 {
    let asked = std::env::var(name).ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// The least of its lines with which a target still fails.
fn shrink(mut bytes: Vec<u8>, target: fn(&[u8]), keep: usize) -> Vec<u8> {
    let fails = |bytes: &[u8]| catch_unwind(AssertUnwindSafe(|| target(bytes))).is_err();
    let mut size = bytes.len();
    while size > 0 {
        let mut at = keep;
        while at < bytes.len() {
            let mut fewer = bytes.clone();
            fewer.drain(at..(at + size).min(bytes.len()));
            if fails(&fewer) {
                bytes = fewer;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    bytes
}

fn fuzz((name, target): Target, seeds: &[Vec<u8>]) {
    let wanted = number("CCSURGERY_FUZZ", 60);
    let mut dice = Dice(number("CCSURGERY_FUZZ_SEED", 0x5e55_1000) ^ name.len() as u64);
    let mut found = 0;
    for _ in 0..wanted {
        let mut bytes = seeds[dice.below(seeds.len())].clone();
        for _ in 0..=dice.below(6) {
            mutate(&mut bytes, &mut dice);
        }
        // These take what they do from the first byte.
        let chosen = usize::from(["transform", "repair"].contains(&name));
        if chosen == 1 {
            bytes.insert(0, dice.below(256) as u8);
        }
        if catch_unwind(AssertUnwindSafe(|| target(&bytes))).is_err() {
            let bytes = shrink(bytes, target, chosen);
            let hash = blake3::hash(&bytes).to_hex()[..16].to_string();
            let folder = root().join("target/fuzz-found").join(name);
            fs_err::create_dir_all(&folder).expect("a folder");
            fs_err::write(folder.join(hash), &bytes).expect("a file");
            found += 1;
        }
    }
    eprintln!("{name}: {wanted} inputs, {found} failures");
    assert_eq!(found, 0, "{name}: see target/fuzz-found/{name}");
}

#[test]
fn sessions_broken_at_random() {
    let seeds = seeds();
    assert!(seeds.len() > 50);
    let failed: Vec<_> = TARGETS
        .into_iter()
        .filter(|target| catch_unwind(AssertUnwindSafe(|| fuzz(*target, &seeds))).is_err())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(failed, [""; 0]);
}
