//! Who may read and change files, as Windows keeps it: lists of access.
//!
//! Lists are read and written in Windows' own notation: `D:` and flags, then entries in parentheses with six fields, the
//! first being the kind (`A` allows), the second flags, the third rights, the last the user or group.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use super::windows_calls::{access_of, set_access, user_sid};

/// Users and groups that can take over any file anyway: the system, administrators, their groups, and the installer; and the
/// owner of a file.
const TRUSTED: [&str; 11] = [
    "SY",
    "BA",
    "LA",
    "DA",
    "EA",
    "CO",
    "OW",
    "S-1-5-18",
    "S-1-5-32-544",
    "S-1-3-0",
    "S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464",
];

/// Rights to change a folder: to add files and folders, to remove them, to change its access or its owner; also generic ones.
const CHANGING_BITS: u32 = 0x0002 | 0x0004 | 0x0040 | 0x4_0000 | 0x8_0000 | 0x5000_0000;
const CHANGING_WORDS: [&str; 9] = ["DC", "LC", "DT", "WD", "WO", "FA", "FW", "GA", "GW"];

/// Lets only the user and the system use a file or folder, where the file system has lists of access.
///
/// What is created in such a folder inherits the list.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    let Some(user) = user() else {
        return Ok(());
    };
    let flags = if path.is_dir() { "OICI" } else { "" };
    // File systems without lists, and network shares that keep their own, refuse.
    let _ = set_access(
        path,
        &format!("D:P(A;{flags};FA;;;{user})(A;{flags};FA;;;SY)"),
    );
    Ok(())
}

/// Gives the file at `at` the access of another one.
pub(crate) fn copy_access(_: &File, at: &Path, other: &Path, _: &Metadata) -> io::Result<()> {
    if let Ok(access) = access_of(other) {
        // As above, some file systems refuse.
        let _ = set_access(at, &access);
    }
    Ok(())
}

/// Returns why other users could change what is in a folder; `None` if they could not, or if it cannot be found out.
pub(crate) fn exposure(folder: &Path) -> Option<&'static str> {
    let access = access_of(folder).ok()?;
    lets_others_change(&access, user()?).then_some("other users may write to it")
}

fn user() -> Option<&'static str> {
    static USER: OnceLock<Option<String>> = OnceLock::new();
    USER.get_or_init(|| user_sid().ok()).as_deref()
}

/// Returns whether a list of access lets somebody change a folder who is neither `user` nor trusted.
fn lets_others_change(access: &str, user: &str) -> bool {
    if access.contains("NO_ACCESS_CONTROL") {
        return true;
    }
    let mut entries = access
        .split('(')
        .skip(1)
        .filter_map(|e| e.split_once(')'))
        .map(|(entry, _)| entry.split(';').collect::<Vec<_>>());
    entries.any(|fields| match fields[..] {
        // An entry that is only inherited says nothing about the folder itself.
        ["A", flags, rights, _, _, who, ..] => {
            !flags.contains("IO")
                && who != user
                && !TRUSTED.contains(&who)
                && rights_to_change(rights)
        }
        _ => false,
    })
}

fn rights_to_change(rights: &str) -> bool {
    if let Some(digits) = rights.strip_prefix("0x") {
        return u32::from_str_radix(digits, 16).is_ok_and(|bits| bits & CHANGING_BITS != 0);
    }
    let words = rights.as_bytes().chunks(2);
    words
        .filter_map(|word| std::str::from_utf8(word).ok())
        .any(|word| CHANGING_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: &str = "S-1-5-21-1-2-3-1001";

    #[test]
    fn exposure_reads_lists_of_access() {
        let lets = |access: &str| lets_others_change(access, ME);
        assert!(!lets(&format!("D:P(A;OICI;FA;;;{ME})(A;OICI;FA;;;SY)")));
        assert!(!lets(
            "D:AI(A;ID;FA;;;BA)(A;OICIIOID;GA;;;CO)(A;ID;0x1200a9;;;BU)"
        ));
        assert!(lets("D:(A;;0x1301bf;;;AU)"));
        assert!(lets("D:(A;;FA;;;WD)"));
        assert!(lets("D:(A;;CCDCLC;;;BU)"));
        assert!(!lets("D:(D;;FA;;;WD)(A;;FR;;;WD)"));
        assert!(lets("D:NO_ACCESS_CONTROL"));
    }

    #[test]
    fn private_folders_let_nobody_else_change_them() {
        let folder = tempfile::tempdir().expect("a folder");
        make_private(folder.path()).expect("to be private");
        assert_eq!(exposure(folder.path()), None);
        assert!(user().is_some_and(|user| user.starts_with("S-1-")));
    }
}
