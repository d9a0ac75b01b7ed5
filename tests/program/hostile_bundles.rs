//! Bundles that are torn, forged or enormous are refused, and nothing is written.

use crate::harness;
use crate::places::home;

use std::io::{Read as _, Write as _};

use harness::{Home, SESSION};
use serde_json::{Value, json};

/// Files with their names.
type Files = Vec<(String, Vec<u8>)>;

/// Takes a bundle apart: its manifest and its files.
pub(crate) fn parts(bundle: &[u8]) -> (Value, Files) {
    let plain = zstd::decode_all(bundle).expect("a bundle");
    let mut tar = tar::Archive::new(&plain[..]);
    let mut files = Vec::new();
    for entry in tar.entries().expect("files") {
        let mut entry = entry.expect("a file");
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let mut data = Vec::new();
        entry.read_to_end(&mut data).expect("its bytes");
        files.push((name, data));
    }
    let manifest = serde_json::from_slice(&files.remove(0).1).expect("a manifest");
    (manifest, files)
}

/// Puts a bundle together, whatever is in it.
pub(crate) fn forged(manifest: &Value, files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let kind = tar::EntryType::Regular;
    let entries = files
        .iter()
        .map(|(name, data)| (kind, name.clone(), data.clone()));
    forged_of(manifest, &entries.collect::<Vec<_>>())
}

fn forged_of(manifest: &Value, files: &[(tar::EntryType, String, Vec<u8>)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    let text = manifest.to_string().into_bytes();
    let first = (tar::EntryType::Regular, "manifest.json".to_owned(), text);
    for (kind, name, data) in [&first].into_iter().chain(files) {
        let mut header = tar::Header::new_ustar();
        if header.set_path(name).is_err() {
            // The builder would refuse such a name as well.
            let bytes = &mut header.as_old_mut().name;
            let len = name.len().min(bytes.len());
            bytes[..len].copy_from_slice(&name.as_bytes()[..len]);
        }
        header.set_entry_type(*kind);
        header.set_size(data.len() as u64);
        header.set_mode(0o600);
        if *kind == tar::EntryType::Symlink {
            header.set_link_name("/etc/passwd").expect("a link");
        }
        header.set_cksum();
        tar.append(&header, &data[..]).expect("an entry");
    }
    zstd::encode_all(&tar.into_inner().expect("bytes")[..], 1).expect("bytes")
}

/// A sound bundle, taken apart.
fn sound() -> (Vec<u8>, Value, Files) {
    let home = home();
    let run = home.run(&["bundle", SESSION, "-o", "x.ccbundle"]);
    assert_eq!(run.code, 0, "{run:?}");
    let bytes = fs_err::read(home.project().join("x.ccbundle")).expect("a bundle");
    let (manifest, files) = parts(&bytes);
    (bytes, manifest, files)
}

/// Imports a bundle, which must be refused with these words, and nothing written.
#[track_caller]
fn assert_refused(here: &Home, bytes: &[u8], words: &str, what: &str) {
    let path = here.path("elsewhere/x.ccbundle");
    fs_err::write(&path, bytes).expect("written");
    let before = here.everything();
    for more in [&[][..], &["-n"], &["--json"]] {
        let run = here.run(
            &[
                &["import", "../elsewhere/x.ccbundle", "--to-project", "."],
                more,
            ]
            .concat(),
        );
        assert_eq!(run.code, 3, "{what}: {run:?}");
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains(words), "{what}: {run:?}");
        assert!(!said.contains('\x1b'), "{what}: {run:?}");
        assert_eq!(here.everything(), before, "{what}");
    }
}

#[test]
fn hostile_bundles_with_a_sound_form_are_accepted() {
    let (_, manifest, files) = sound();
    let here = Home::new();
    fs_err::write(here.path("elsewhere/x.ccbundle"), forged(&manifest, &files)).expect("written");
    let run = here.run(&["import", "../elsewhere/x.ccbundle", "--to-project", "."]);
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn hostile_bundles_that_are_torn_are_refused() {
    let (bytes, ..) = sound();
    let here = Home::new();
    for part in 0..20 {
        let torn = &bytes[..bytes.len() * part / 20];
        assert_refused(&here, torn, "bundle", &format!("{part}/20"));
    }
    assert_refused(
        &here,
        &bytes[..bytes.len() - 1],
        "ends too early",
        "one byte short",
    );
    let more = [&bytes[..], b"more"].concat();
    assert_refused(&here, &more, "damaged", "bytes after the end");
    let twice = [&bytes[..], &bytes[..]].concat();
    assert_refused(&here, &twice, "follows", "a bundle after the end");
    for at in (0..bytes.len()).step_by(bytes.len() / 20) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        assert_refused(&here, &changed, "bundle", &format!("byte {at} changed"));
    }
}

#[test]
fn hostile_bundles_with_names_that_lead_elsewhere_are_refused() {
    let (_, manifest, files) = sound();
    let here = Home::new();
    for name in [
        "../../../.bashrc",
        "/etc/passwd",
        "projects/../../x",
        "projects/p\0q.jsonl",
        r"projects\..\x",
        "C:/x",
        "projects//x",
        "projects/\u{1b}[2J.jsonl",
        "",
    ] {
        let (mut manifest, mut files) = (manifest.clone(), files.clone());
        manifest["files"][1]["name"] = name.into();
        files[1].0 = name.to_owned();
        assert_refused(&here, &forged(&manifest, &files), "leads elsewhere", name);
    }
    for name in [
        "settings.json",
        "projects/other/x.jsonl",
        ".claude.json",
        "hooks/x.sh",
    ] {
        let (mut manifest, mut files) = (manifest.clone(), files.clone());
        manifest["files"][1]["name"] = name.into();
        files[1].0 = name.to_owned();
        assert_refused(
            &here,
            &forged(&manifest, &files),
            "belongs to no session",
            name,
        );
    }
    let mut renamed = files.clone();
    renamed[1].0 = "../../x".to_owned();
    assert_refused(
        &here,
        &forged(&manifest, &renamed),
        "called other than",
        "only the header",
    );
    for id in ["../x", "a/b", "", "."] {
        let mut manifest = manifest.clone();
        manifest["sessions"][0]["id"] = id.into();
        assert_refused(&here, &forged(&manifest, &files), "not acceptable", id);
    }
}

#[test]
fn hostile_bundles_with_other_things_than_files_are_refused() {
    let (_, manifest, files) = sound();
    let here = Home::new();
    use tar::EntryType as Kind;
    for kind in [
        Kind::Symlink,
        Kind::Link,
        Kind::Char,
        Kind::Block,
        Kind::Fifo,
        Kind::Directory,
        Kind::GNULongName,
        Kind::XHeader,
        Kind::GNUSparse,
    ] {
        let mut entries: Vec<_> = files
            .iter()
            .map(|(name, data)| (Kind::Regular, name.clone(), data.clone()))
            .collect();
        entries[1].0 = kind;
        let forged = forged_of(&manifest, &entries);
        assert_refused(&here, &forged, "bundle", &format!("{kind:?}"));
    }
}

#[test]
fn hostile_bundles_that_do_not_fit_their_manifest_are_refused() {
    let (_, manifest, files) = sound();
    let here = Home::new();
    let with = |change: &dyn Fn(&mut Value)| {
        let mut manifest = manifest.clone();
        change(&mut manifest);
        forged(&manifest, &files)
    };
    let wrong = with(&|m| m["files"][1]["blake3"] = "00".repeat(32).into());
    assert_refused(&here, &wrong, "sum", "a wrong sum");
    let size = with(&|m| m["files"][1]["bytes"] = 3.into());
    assert_refused(&here, &size, "size", "a wrong size");
    let huge = with(&|m| m["files"][1]["bytes"] = (1_u64 << 60).into());
    assert_refused(&here, &huge, "free", "more than fits");
    let newer = with(&|m| m["version"] = 2.into());
    assert_refused(&here, &newer, "newer", "a newer version");
    let other = with(&|m| m["format"] = "zip".into());
    assert_refused(&here, &other, "not a bundle", "another format");
    let none = with(&|m| m["sessions"] = json!([]));
    assert_refused(&here, &none, "no sessions", "no sessions");
    let many = with(&|m| {
        let row = m["files"][0].clone();
        let rows = (0..500_001).map(|n| {
            let mut row = row.clone();
            row["name"] = format!("projects/p/{n}").into();
            row
        });
        m["files"] = rows.collect();
    });
    assert_refused(&here, &many, "too many", "huge counts");
    let missing = forged(&manifest, &files[..files.len() - 1]);
    assert_refused(&here, &missing, "missing", "a file is missing");
    let mut more = files.clone();
    more.push(("projects/p/x.jsonl".to_owned(), b"x".to_vec()));
    assert_refused(
        &here,
        &forged(&manifest, &more),
        "does not name",
        "one more file",
    );
}

#[test]
fn hostile_bundles_that_become_enormous_are_refused() {
    let (_, mut manifest, files) = sound();
    let here = Home::new();
    // A gigabyte of zeros that is 30 kB in the bundle, as its manifest says.
    let len = 1_u64 << 30;
    manifest["files"][1]["bytes"] = len.into();
    let mut tar = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).expect("an encoder"));
    let text = manifest.to_string();
    let mut append = |name: &str, len: u64, data: &mut dyn std::io::Read| {
        let mut header = tar::Header::new_ustar();
        header.set_path(name).expect("a name");
        header.set_size(len);
        header.set_cksum();
        tar.append(&header, data).expect("an entry");
    };
    append("manifest.json", text.len() as u64, &mut text.as_bytes());
    append(&files[0].0, files[0].1.len() as u64, &mut &files[0].1[..]);
    append(&files[1].0, len, &mut std::io::repeat(0).take(len));
    let mut bomb = tar.into_inner().expect("bytes").finish().expect("bytes");
    bomb.flush().expect("bytes");
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    assert_refused(&here, &bomb, "far larger", "a bomb");
}
