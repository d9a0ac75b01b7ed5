//! Paths of projects as clients write them down, which may be those of another system than this one.
//!
//! A path of Windows begins with a drive or with two backslashes. In such paths capital letters do not count, and both
//! separators mean the same; `\\?\` at the beginning means nothing. All other paths are compared byte by byte.

use std::borrow::Cow;

/// What stands before a path of Windows that is taken literally.
const LITERAL: &str = r"\\?\";
const LITERAL_SHARE: &str = r"\\?\UNC\";

/// Returns whether a path is one of Windows.
pub(crate) fn is_windows(path: &str) -> bool {
    let drive = matches!(path.as_bytes(), [letter, b':', rest @ ..]
        if letter.is_ascii_alphabetic() && rest.first().is_none_or(|b| is_separator(*b)));
    drive || path.starts_with(r"\\")
}

/// Returns a path of Windows with slashes and a capital drive letter, so that patterns for paths fit it on any system;
/// another path as it is.
pub(crate) fn with_slashes(path: &str) -> Cow<'_, str> {
    if !is_windows(path) {
        return Cow::Borrowed(path);
    }
    let mut path = path[literal(path)..].replace('\\', "/");
    if path.as_bytes().get(1) == Some(&b':') {
        path[..1].make_ascii_uppercase();
    } else {
        // Of the two slashes before a server, one was left.
        path.insert(0, '/');
    }
    Cow::Owned(path)
}

/// Returns whether two paths name the same folder.
pub(crate) fn is_same_folder(a: &str, b: &str) -> bool {
    if is_windows(b) {
        let ends = ['/', '\\'];
        return rest_below(a.trim_end_matches(ends), b.trim_end_matches(ends)) == Some("");
    }
    a == b
}

/// Returns the path that a folder has after `old` became `new`; `None` if it is neither `old` nor below it.
///
/// Below a folder of another system, the separators become those of that system.
pub(crate) fn moved(path: &str, old: &str, new: &str) -> Option<String> {
    let rest = rest_below(path, old)?;
    let rest = match (is_windows(old), is_windows(new)) {
        (true, false) => rest.replace('\\', "/"),
        (false, true) => rest.replace('/', "\\"),
        (true, true) if !path.contains('\\') => {
            // Clients write some paths of Windows with slashes, and look them up like that.
            return Some(format!("{}{rest}", new.replace('\\', "/")));
        }
        _ => rest.to_owned(),
    };
    Some(format!("{new}{rest}"))
}

/// Returns what follows `folder` in `path`: nothing, or a separator and more; `None` if `path` is not below it.
fn rest_below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let rest = if is_windows(folder) {
        let (path, folder) = (path.get(literal(path)..)?, folder.get(literal(folder)..)?);
        let head = path.get(..folder.len())?;
        let alike =
            |(a, b): (u8, u8)| a.eq_ignore_ascii_case(&b) || (is_separator(a) && is_separator(b));
        let same = head.bytes().zip(folder.bytes()).all(alike);
        same.then(|| &path[folder.len()..])?
    } else {
        path.strip_prefix(folder)?
    };
    let ends = rest.is_empty() || rest.starts_with(['/', '\\']);
    ends.then_some(rest)
}

/// Returns how many bytes at the beginning mean nothing. Of a share, the two backslashes are left.
fn literal(path: &str) -> usize {
    if path.starts_with(LITERAL_SHARE) {
        return LITERAL_SHARE.len() - 1;
    }
    if path.starts_with(LITERAL) {
        return LITERAL.len();
    }
    // `\\server` and what is left of `\\?\UNC\server` are compared from the second backslash on.
    usize::from(path.starts_with(r"\\"))
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_path_moves_the_folder_and_those_below_it() {
        let moved = |path: &str| moved(path, "/w/old", "/w/new");
        assert_eq!(moved("/w/old").as_deref(), Some("/w/new"));
        assert_eq!(moved("/w/old/a").as_deref(), Some("/w/new/a"));
        assert_eq!(moved("/w/older"), None);
        assert_eq!(moved("/W/old"), None);
        assert_eq!(moved("/w"), None);
    }

    #[test]
    fn project_path_of_windows_ignores_case_and_kind_of_separator() {
        for (path, rest) in [
            (r"E:\workspaces\project", ""),
            (r"e:\Workspaces\project\src", r"\src"),
            (r"\\?\E:\workspaces\project\src", r"\src"),
        ] {
            let moved = moved(path, r"E:\workspaces\project", r"D:\p");
            assert_eq!(moved, Some(format!(r"D:\p{rest}")), "{path}");
        }
        let slashes = moved(
            "e:/workspaces/project/src",
            r"E:\workspaces\project",
            r"D:\p",
        );
        assert_eq!(slashes.as_deref(), Some("D:/p/src"));
        assert_eq!(
            moved(r"E:\workspaces\projects", r"E:\workspaces\project", "x"),
            None
        );
        assert_eq!(moved(r"E:\é", r"E:\ab", "x"), None);
        assert!(is_same_folder(r"c:\Users\Me", "C:/users/me/"));
        assert!(is_same_folder(
            r"\\server\share\p",
            r"\\?\UNC\Server\share\p"
        ));
        assert!(!is_same_folder(r"\\server\share\p", r"\\server\share\q"));
        assert!(!is_same_folder("/home/Me", "/home/me"));
    }

    #[test]
    fn project_path_changes_its_separators_with_the_system() {
        let below = moved(
            r"E:\ws\project\src\a b",
            r"e:\ws\project",
            "/home/me/project",
        );
        assert_eq!(below.as_deref(), Some("/home/me/project/src/a b"));
        let back = moved("/home/me/project/src", "/home/me/project", r"E:\ws\project");
        assert_eq!(back.as_deref(), Some(r"E:\ws\project\src"));
        let share = moved("/mnt/e/ws/src", "/mnt/e/ws", r"\\wsl.localhost\Debian\ws");
        assert_eq!(share.as_deref(), Some(r"\\wsl.localhost\Debian\ws\src"));
    }

    #[test]
    fn project_path_of_windows_has_one_form_for_patterns() {
        for (path, form) in [
            (r"e:\ws\src\a.rs", "E:/ws/src/a.rs"),
            (r"\\?\E:\ws", "E:/ws"),
            (r"\\server\share\a", "//server/share/a"),
            (r"\\?\UNC\server\share\a", "//server/share/a"),
            (r"/home/me/a\b", r"/home/me/a\b"),
            ("src/a.rs", "src/a.rs"),
        ] {
            assert_eq!(with_slashes(path), form, "{path}");
        }
    }

    #[test]
    fn project_path_of_windows_begins_with_a_drive_or_a_server() {
        for path in [r"C:\x", "c:/x", "C:", r"\\server\share", r"\\?\C:\x"] {
            assert!(is_windows(path), "{path}");
        }
        for path in ["/x", "C", "note: x", "C:x", "", r"\x"] {
            assert!(!is_windows(path), "{path}");
        }
    }
}
