//! The client's config folder and the names in it.

use std::path::{Path, PathBuf};

/// How long a slug may be before it is cut.
const LONGEST: usize = 200;

/// A config folder, usually `~/.claude`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    root: PathBuf,
}

impl Config {
    /// Describes the config folder at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns the folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of all transcripts, which has one folder for each project.
    pub fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    /// Returns the folder of a project's transcripts.
    pub fn project(&self, dir: &Path) -> PathBuf {
        self.projects().join(slug(&dir.to_string_lossy()))
    }

    /// Returns a path below the config folder.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }
}

/// Returns the folder name that the client derives from a project's path: everything but ASCII letters and digits becomes
/// `-`, and a long name is cut and gets a hash.
pub fn slug(path: &str) -> String {
    // JavaScript counts UTF-16 units, so a character beyond the first plane becomes two dashes.
    let units: Vec<u16> = path.encode_utf16().collect();
    let all: String = units
        .iter()
        .map(|&u| {
            char::from_u32(u32::from(u))
                .filter(char::is_ascii_alphanumeric)
                .unwrap_or('-')
        })
        .collect();
    if all.len() <= LONGEST {
        return all;
    }
    let hash = units.iter().fold(0i32, |h, &u| {
        (h << 5).wrapping_sub(h).wrapping_add(i32::from(u))
    });
    format!("{}-{}", &all[..LONGEST], base36(hash.unsigned_abs()))
}

fn base36(mut n: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(n % 36, 36).unwrap_or('0'));
        n /= 36;
        if n == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slug_is_what_the_client_makes() {
        assert_eq!(slug("/home/user/my.project_1"), "-home-user-my-project-1");
        assert_eq!(slug(r"E:\workspaces\project"), "E--workspaces-project");
        assert_eq!(slug("/a/é😀"), "-a----");
    }

    #[test]
    fn slug_that_is_long_is_cut_and_hashed() {
        let path = format!("/{}", "a".repeat(250));
        assert_eq!(
            slug(&path),
            format!("-{}-feo44x", "a".repeat(199)),
            "as JavaScript hashes it"
        );
    }
}
