//! What paths of one machine or project are called on another.

/// Leads paths below some folders to other folders. Windows and Unix can be on either side: separators follow the side that
/// the path is led to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PathMap {
    /// Each folder with what it becomes, the longest first.
    rules: Vec<(String, String)>,
}

impl PathMap {
    /// Makes a map. Of several folders around a path the innermost counts; of equal ones, the first.
    pub fn new(rules: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut map = Self::default();
        for (old, new) in rules {
            let (old, new) = (trimmed(&old).to_owned(), trimmed(&new).to_owned());
            if !old.is_empty() && !map.rules.iter().any(|(known, _)| *known == old) {
                map.rules.push((old, new));
            }
        }
        map.rules
            .sort_by_key(|(old, _)| std::cmp::Reverse(old.len()));
        map
    }

    /// Returns what a path becomes; `None` if no folder of the map is around it.
    pub fn map(&self, path: &str) -> Option<String> {
        let mut rules = self.rules.iter();
        rules.find_map(|(old, new)| moved_path(path, old, new))
    }

    /// Returns the folders, each with what it becomes, the longest first.
    pub(crate) fn rules(&self) -> &[(String, String)] {
        &self.rules
    }

    /// Returns what a path inside a project becomes: only its separators may change.
    pub fn relative(&self, path: &str) -> Option<String> {
        let (old, new) = self.rules.first()?;
        let converted = converted(path, is_windows(old), is_windows(new));
        (converted != path).then_some(converted)
    }
}

/// Returns the path that a folder has after `old` became `new`; `None` if it is neither `old` nor below it.
pub fn moved_path(path: &str, old: &str, new: &str) -> Option<String> {
    let windows = is_windows(old);
    let head = path.get(..old.len())?;
    let is_same = if windows {
        // Neither the case nor the kind of separator makes a difference.
        let same =
            |(a, b): (u8, u8)| a.eq_ignore_ascii_case(&b) || is_separator(a) && is_separator(b);
        head.bytes().zip(old.bytes()).all(same)
    } else {
        head == old
    };
    let rest = &path[old.len()..];
    let is_below = rest.is_empty() || rest.starts_with(['/', '\\']);
    (is_same && is_below).then(|| format!("{new}{}", converted(rest, windows, is_windows(new))))
}

/// Returns whether a path is one of Windows: with a drive, or of the network.
pub(crate) fn is_windows(path: &str) -> bool {
    match path.as_bytes() {
        [drive, b':', rest @ ..] => {
            drive.is_ascii_alphabetic() && rest.first().is_none_or(|&b| is_separator(b))
        }
        [b'\\', b'\\', ..] => true,
        _ => false,
    }
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

/// Returns a path with the separators of the other system.
fn converted(path: &str, from_windows: bool, to_windows: bool) -> String {
    match (from_windows, to_windows) {
        (true, false) => path.replace('\\', "/"),
        (false, true) => path.replace('/', "\\"),
        _ => path.to_owned(),
    }
}

/// Returns a folder's path without separators at its end.
fn trimmed(path: &str) -> &str {
    path.trim_end_matches(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_path_moves_the_folder_and_those_below_it() {
        let moved = |path: &str| moved_path(path, "/w/old", "/w/new");
        assert_eq!(moved("/w/old").as_deref(), Some("/w/new"));
        assert_eq!(moved("/w/old/a").as_deref(), Some("/w/new/a"));
        assert_eq!(moved("/w/older"), None);
        assert_eq!(moved("/w"), None);
        assert_eq!(moved("/w/öld"), None);
    }

    #[test]
    fn moved_path_changes_between_windows_and_unix() {
        let to_unix = |path: &str| moved_path(path, r"C:\Users\ada\app", "/home/bob/app");
        assert_eq!(
            to_unix(r"C:\Users\ada\app\src\a b.rs").as_deref(),
            Some("/home/bob/app/src/a b.rs")
        );
        assert_eq!(
            to_unix(r"c:/users/Ada/app/src").as_deref(),
            Some("/home/bob/app/src")
        );
        assert_eq!(to_unix(r"C:\Users\ada\apps"), None);
        let to_windows = moved_path("/home/bob/app/src/x", "/home/bob/app", r"D:\app");
        assert_eq!(to_windows.as_deref(), Some(r"D:\app\src\x"));
        let odd = moved_path(r"/home/bob/app/a\b", "/home/bob/app", "/w");
        assert_eq!(
            odd.as_deref(),
            Some(r"/w/a\b"),
            "a name of Unix may have a backslash"
        );
    }

    #[test]
    fn path_map_prefers_the_innermost_folder() {
        let text = |s: &str| s.to_owned();
        let map = PathMap::new([
            (text("/home/ada"), text("/home/bob")),
            (text("/home/ada/app/"), text("/srv/app/")),
        ]);
        assert_eq!(map.map("/home/ada/app/x").as_deref(), Some("/srv/app/x"));
        assert_eq!(
            map.map("/home/ada/apple").as_deref(),
            Some("/home/bob/apple")
        );
        assert_eq!(map.map("/etc"), None);
        assert_eq!(map.relative("src/x"), None);
        let windows = PathMap::new([(text(r"C:\a"), text("/a"))]);
        assert_eq!(windows.relative(r"src\x").as_deref(), Some("src/x"));
    }
}
