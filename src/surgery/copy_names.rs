//! The names that a copy of a session gets in place of the original's.

use uuid::Uuid;

/// What a copy calls itself and the files that belong to it.
///
/// The copy's ids, the paths of its own files and the fields that name them are rewritten accordingly; other
/// words of the conversation stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CopyNames {
    /// The name of the original's transcript, without its ending.
    pub old_id: String,
    /// The copy's session id.
    pub new_id: Uuid,
    /// The name of the project folder that holds the original, and of the one that holds the copy.
    pub folders: (String, String),
    /// Slugs of plans that are copied, each with the name that the copy's plan gets.
    pub slugs: Vec<(String, String)>,
    /// Subagents whose transcripts stand beside the session's, each with the name that the copy's gets.
    pub agents: Vec<(String, String)>,
    /// The project's path, and the one that the copy moves to.
    pub project: Option<(String, String)>,
}

/// Makes up a slug for the copy of a plan: as long as the old one, with other letters at its end.
///
/// `random` must have at least as many hexadecimal digits as the slug may lose, which is six.
pub fn fresh_slug(old: &str, random: Uuid) -> String {
    const CHANGED: usize = 6;
    let digits = random.simple().to_string();
    let mut digits = digits.chars();
    let mut slug: Vec<char> = old.chars().collect();
    let last = slug.iter_mut().rev().filter(|c| c.is_ascii_alphanumeric());
    for (letter, digit) in last.take(CHANGED).zip(&mut digits) {
        *letter = digit;
    }
    slug.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fresh_slug_keeps_length_and_beginning() {
        let random = Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        assert_eq!(
            fresh_slug("dazzling-leaping-leaf", random),
            "dazzling-leapi54-3210"
        );
        let long = "implement-the-following-plan-for-a-much-longer-name";
        let fresh = fresh_slug(long, random);
        assert_eq!(fresh.len(), long.len());
        assert_ne!(fresh, long);
        assert_eq!(fresh_slug("ab", random), "10");
    }
}
