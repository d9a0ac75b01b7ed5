//! What paths of one machine or project are called on another.

use crate::transcript::project_path::{self, is_windows};

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
        let converted = match (is_windows(old), is_windows(new)) {
            (true, false) => path.replace('\\', "/"),
            (false, true) => path.replace('/', "\\"),
            _ => return None,
        };
        (converted != path).then_some(converted)
    }
}

/// Returns the path that a folder has after `old` became `new`; `None` if it is neither `old` nor below it.
pub fn moved_path(path: &str, old: &str, new: &str) -> Option<String> {
    project_path::moved(path, old, new)
}

/// Returns a folder's path without separators at its end.
fn trimmed(path: &str) -> &str {
    path.trim_end_matches(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

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
