//! Whoever had a file open before it was redacted reads no secret in it afterwards.

use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::path::{Path, PathBuf};

use super::{Secrets, fill};
use crate::harness::{Home, SESSION};

/// Opens all regular files below a folder.
fn open_all(folder: &Path, out: &mut Vec<(PathBuf, File)>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            open_all(&path, out);
        } else {
            out.push((path.clone(), File::open(&path).unwrap()));
        }
    }
}

fn read_again(mut file: &File) -> Vec<u8> {
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn redact_overwrites_the_old_bytes_of_every_file() {
    let (home, secrets) = (Home::new(), Secrets::new(8));
    fill(&home, &secrets);
    let cache = home.folder().join(SESSION).join("resume-head.jsonl");
    home.write(cache, fs_err::read(home.transcript(SESSION)).unwrap());
    let mut files = Vec::new();
    open_all(&home.config(), &mut files);
    let holds = |bytes: &[u8]| {
        let held = |s: &&str| memchr::memmem::find(bytes, s.as_bytes()).is_some();
        secrets.all().iter().any(held)
    };
    let before = files.iter().filter(|(_, f)| holds(&read_again(f))).count();
    assert!(before > 12, "{before}");
    let run = home.run(&["redact", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let mut left = Vec::new();
    for (path, file) in &files {
        if holds(&read_again(file)) {
            left.push(path.display().to_string());
        }
    }
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn redact_leaves_the_bytes_that_a_second_name_holds() {
    let (home, secrets) = (Home::new(), Secrets::new(9));
    fill(&home, &secrets);
    let result = home
        .folder()
        .join(SESSION)
        .join("tool-results/toolu_big.txt");
    let second = home.path("elsewhere/kept.txt");
    fs_err::hard_link(&result, &second).unwrap();
    let before = fs_err::read(&second).unwrap();
    let run = home.run(&["redact", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(fs_err::read(&second).unwrap(), before);
    assert_ne!(fs_err::read(&result).unwrap(), before);
}
