//! The client's config folder and the names in it.

use std::path::{Path, PathBuf};

/// The longest slug that is not cut.
const LONGEST: usize = 200;

/// A config folder, usually `~/.claude`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    root: PathBuf,
}

impl Config {
    /// The folder at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where transcripts are, a folder a project.
    pub fn projects(&self) -> PathBuf {
        self.root.join("projects")
    }

    /// The folder of a project's transcripts.
    pub fn project(&self, dir: &Path) -> PathBuf {
        self.projects().join(slug(&dir.to_string_lossy()))
    }

    /// A path below the config folder.
    pub fn join(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }
}

/// The folder name that the client makes of a project's path: everything but ASCII letters and
/// digits becomes `-`, and a long one is cut and gets a hash.
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
    fn slugs_as_the_client_makes_them() {
        assert_eq!(slug("/home/user/my.project_1"), "-home-user-my-project-1");
        assert_eq!(slug(r"E:\workspaces\project"), "E--workspaces-project");
        assert_eq!(slug("/a/é😀"), "-a----");
    }

    #[test]
    fn long_slugs_are_cut_and_hashed() {
        let path = format!("/{}", "a".repeat(250));
        assert_eq!(
            slug(&path),
            format!("-{}-feo44x", "a".repeat(199)),
            "as JavaScript hashes it"
        );
    }
}
