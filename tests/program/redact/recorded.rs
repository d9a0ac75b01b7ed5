//! Secrets planted in sessions that real clients recorded.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Secrets, fill_places, leaks};
use crate::harness::Home;

/// Fields of recorded sessions in which text can be planted without making the session another one.
const FIELDS: [&str; 12] = [
    "text",
    "thinking",
    "content",
    "stdout",
    "command",
    "prompt",
    "lastPrompt",
    "summary",
    "aiTitle",
    "customTitle",
    "description",
    "rendered",
];

/// Appends a secret to some of the strings of a record.
fn plant(value: &mut Value, secrets: &[&str], random: &mut fastrand::Rng, planted: &mut usize) {
    match value {
        Value::Array(list) => list
            .iter_mut()
            .for_each(|v| plant(v, secrets, random, planted)),
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                match field {
                    Value::String(text) if FIELDS.contains(&key.as_str()) && !text.is_empty() => {
                        if random.u8(..4) == 0 {
                            let secret = secrets[random.usize(..secrets.len())];
                            *text = match random.u8(..3) {
                                0 => format!("{text} {secret} "),
                                1 => format!("{text}\n{}", json!({"nested": secret})),
                                _ => format!("{secret}\n{text}"),
                            };
                            *planted += 1;
                        }
                    }
                    _ => plant(field, secrets, random, planted),
                }
            }
        }
        _ => {}
    }
}

fn plant_in_files(
    folder: &Path,
    secrets: &[&str],
    random: &mut fastrand::Rng,
    planted: &mut usize,
) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            plant_in_files(&path, secrets, random, planted);
            continue;
        }
        let text = fs_err::read_to_string(&path).unwrap();
        let text = match path.extension().and_then(|x| x.to_str()) {
            Some("jsonl") => text
                .lines()
                .map(|line| match serde_json::from_str::<Value>(line) {
                    Ok(mut value) => {
                        plant(&mut value, secrets, random, planted);
                        value.to_string() + "\n"
                    }
                    Err(_) => format!("{line}\n"),
                })
                .collect(),
            Some("json") => match serde_json::from_str::<Value>(&text) {
                Ok(mut value) => {
                    plant(&mut value, secrets, random, planted);
                    value.to_string()
                }
                Err(_) => text,
            },
            _ => {
                *planted += 1;
                format!("{text}\n{}\n", secrets[random.usize(..secrets.len())])
            }
        };
        fs_err::write(&path, text).unwrap();
    }
}

fn copy_all(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_all(&path, &target);
        } else {
            fs_err::copy(&path, &target).unwrap();
        }
    }
}

/// Returns the transcripts of all projects.
fn transcripts(home: &Home) -> Vec<PathBuf> {
    let projects = fs_err::read_dir(home.config().join("projects")).unwrap();
    let files = projects.flat_map(|folder| fs_err::read_dir(folder.unwrap().path()).unwrap());
    let paths = files.map(|file| file.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|x| x == "jsonl"))
        .filter(|path| {
            !path
                .file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with("agent-")
        })
        .collect()
}

#[test]
fn redact_finds_secrets_planted_anywhere_in_recorded_sessions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded");
    let mut random = fastrand::Rng::with_seed(7);
    let (mut homes, mut planted, mut sessions) = (0, 0, 0);
    for version in fs_err::read_dir(&root).unwrap() {
        let version = version.unwrap().path();
        if !version.is_dir() {
            continue;
        }
        let home = Home::in_memory();
        let secrets = Secrets::new(random.u64(..));
        let known = [secrets.token.as_str(), secrets.key.as_str()];
        for scenario in fs_err::read_dir(&version).unwrap() {
            copy_all(&scenario.unwrap().path(), &home.config());
        }
        plant_in_files(&home.config(), &known, &mut random, &mut planted);
        for transcript in transcripts(&home) {
            let folder = transcript.parent().unwrap();
            let id = transcript.file_stem().unwrap().to_string_lossy();
            fill_places(&home, folder, &id, &secrets);
            sessions += 1;
        }
        let run = home.run(&["redact", "--all", "--in-place", "--yes"]);
        assert_eq!(run.code, 0, "{}: {run:?}", version.display());
        assert_eq!(
            leaks(&home, &secrets.all()),
            Vec::<String>::new(),
            "{}: {run:?}",
            version.display()
        );
        let check = home.run(&["redact", "--all", "--check"]);
        assert_eq!(check.code, 0, "{check:?}");
        homes += 1;
    }
    eprintln!(
        "{planted} secrets planted in {sessions} recordings of {homes} versions, and in all places beside them; none is left"
    );
    let versions = fs_err::read_dir(&root).unwrap().flatten();
    let versions = versions.filter(|entry| entry.path().is_dir()).count();
    assert_eq!(homes, versions);
    assert!(versions >= 5 && planted > 200, "{planted}");
}
