//! Names that tell who wrote a session: home folders, and the names of users in paths.

use std::borrow::Cow;
use std::collections::BTreeSet;

/// Folders that hold the homes of users.
const ROOTS: [&str; 3] = ["/home/", "/Users/", "C:\\Users\\"];

/// How project folders of Claude Code spell the same.
const SLUGS: [&str; 2] = ["-home-", "-Users-"];

/// Texts that stand for a person, each with what stands in their place.
#[derive(Debug, Clone, Default)]
pub struct PrivateNames {
    /// The longest first.
    replacements: Vec<(String, String)>,
}

impl PrivateNames {
    /// Collects the names that follow from the home folder of this machine's user, and from the folders in which sessions
    /// were held.
    pub fn of<'a>(home: Option<&'a str>, folders: impl IntoIterator<Item = &'a str>) -> Self {
        let held = folders.into_iter().map(home_of);
        let homes: BTreeSet<&str> = home.into_iter().chain(held).collect();
        let mut replacements = Vec::new();
        for &home in homes.iter().filter(|home| !home.is_empty()) {
            replacements.push((home.to_owned(), "~".to_owned()));
            let user = home.rsplit(['/', '\\']).next().unwrap_or_default();
            // A name of one or two letters is part of many words.
            if user.len() > 2 {
                let before = ROOTS.into_iter().chain(SLUGS);
                let named = before.map(|b| (format!("{b}{user}"), format!("{b}user")));
                replacements.extend(named.filter(|(from, _)| !homes.contains(from.as_str())));
            }
        }
        replacements.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        Self { replacements }
    }

    /// Returns the text with every name replaced. A longer name that begins like one of these is someone else's.
    pub fn replaced<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = Cow::Borrowed(text);
        for (from, to) in &self.replacements {
            if out.contains(from.as_str()) {
                out = Cow::Owned(replace_whole(&out, from, to));
            }
        }
        out
    }
}

/// Returns the home folder that a folder is in, or nothing if it is in none.
fn home_of(folder: &str) -> &str {
    for root in ROOTS {
        let is_below = folder
            .get(..root.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(root));
        if is_below {
            let user = folder[root.len()..].split(['/', '\\']).next();
            return &folder[..root.len() + user.unwrap_or_default().len()];
        }
    }
    ""
}

fn replace_whole(text: &str, from: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, found) = rest.split_at(at);
        let after = &found[from.len()..];
        let ends = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        out.push_str(before);
        out.push_str(if ends { to } else { from });
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_names_replace_homes_and_users_in_paths() {
        let names = PrivateNames::of(Some("/home/ada"), ["/Users/ada/code/app"]);
        let text = "/Users/ada/code/x.rs, /home/ada, /home/adam/y, -Users-ada-code-app, ada";
        assert_eq!(
            names.replaced(text),
            "~/code/x.rs, ~, /home/adam/y, -Users-user-code-app, ada"
        );
    }

    #[test]
    fn private_names_know_windows() {
        let names = PrivateNames::of(None, [r"c:\Users\grace\app"]);
        assert_eq!(
            names.replaced(r"C:\Users\grace\a.txt"),
            r"C:\Users\user\a.txt"
        );
        assert_eq!(names.replaced(r"c:\Users\grace\a.txt"), r"~\a.txt");
    }

    #[test]
    fn private_names_leave_other_folders_alone() {
        let names = PrivateNames::of(None, ["/srv/app", "", "/"]);
        assert_eq!(names.replaced("/srv/app/x /"), "/srv/app/x /");
    }
}
