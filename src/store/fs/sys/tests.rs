//! What every system must do alike.

use super::*;

#[test]
fn process_start_knows_this_process_and_no_other() {
    let own = process_start(std::process::id()).expect("a time");
    assert_eq!(process_start(std::process::id()).as_ref(), Some(&own));
    assert_eq!(
        own.is_empty(),
        cfg!(all(
            unix,
            not(any(target_os = "linux", target_os = "macos"))
        ))
    );
    assert_eq!(process_start(4_000_000_000), None);
}

#[test]
fn file_number_is_the_same_for_all_names_of_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b, c) = (
        folder.path().join("a"),
        folder.path().join("b"),
        folder.path().join("c"),
    );
    fs_err::write(&a, b"x").expect("a file");
    fs_err::write(&c, b"x").expect("a file");
    let (metadata, number) = metadata_and_number(&a).expect("a number");
    assert_eq!(several_names(&a, &metadata), None);
    fs_err::hard_link(&a, &b).expect("a second name");
    let (metadata, again) = metadata_and_number(&b).expect("a number");
    assert!(several_names(&a, &metadata).is_some());
    assert_eq!(number, again);
    assert_ne!(number, metadata_and_number(&c).expect("a number").1);
}

#[test]
fn rename_over_replaces_a_file_that_is_read_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("target");
    fs_err::write(&target, b"old").expect("a file");
    set_mode(
        &std::fs::File::options()
            .write(true)
            .open(&target)
            .expect("a file"),
        0o444,
    )
    .expect("a mode");
    let temp = tempfile::NamedTempFile::new_in(folder.path()).expect("a temp file");
    fs_err::write(temp.path(), b"new").expect("a file");
    rename_over(temp.into_temp_path(), &target).expect("to be replaced");
    assert_eq!(fs_err::read(&target).expect("a file"), b"new");
    assert_eq!(
        fs_err::read_dir(folder.path()).expect("a folder").count(),
        1
    );
}

#[test]
fn rename_over_and_make_private_take_long_paths() {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = folder.path().join("a".repeat(150)).join("b".repeat(150));
    fs_err::create_dir_all(&deep).expect("folders");
    let target = deep.join("target");
    let temp = tempfile::NamedTempFile::new_in(&deep).expect("a temp file");
    rename_over(temp.into_temp_path(), &target).expect("to be named");
    make_private(&target).expect("to be private");
    assert!(target.is_file());
}

#[test]
#[cfg(feature = "bundle")]
fn free_space_of_a_folder_is_known() {
    let folder = tempfile::tempdir().expect("a folder");
    assert!(free_space(folder.path()).expect("a number") > 0);
    assert!(free_space(&folder.path().join("nowhere")).is_err());
}

#[test]
fn path_bytes_are_read_back() {
    let path = std::path::Path::new("a é/b");
    assert_eq!(path_of_bytes(path_bytes(path)).as_deref(), Some(path));
}
