//! A copy, whole or up to a turn's end.

use crate::session::{Session, TurnSpec};
use crate::surgery::{Detail, Plan, Refusal, Transform};

use super::truncate::Truncate;

/// Copies a session. The fresh ids come when the copy is written; what is planned here is only what
/// the copy leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clone {
    /// The last turn of the copy; all of them if `None`.
    pub at: Option<TurnSpec>,
}

impl Transform for Clone {
    fn name(&self) -> &'static str {
        "clone"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        match &self.at {
            Some(at) => Truncate { at: at.clone() }.plan(session, Detail::Full),
            None => Ok(Plan::default()),
        }
    }
}

/// A slug of the copy's own for a plan's file: as long as the old one, so that nothing shifts.
pub fn fresh_slug(old: &str) -> String {
    let random = uuid::Uuid::new_v4().simple().to_string();
    let mut letters = random.chars();
    let tail = old.chars().count().saturating_sub(6);
    let renamed = old.chars().enumerate().map(|(i, c)| {
        let fresh = letters
            .next()
            .filter(|_| i >= tail && c.is_ascii_alphanumeric());
        fresh.unwrap_or(c)
    });
    renamed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_keep_their_shape() {
        let fresh = fresh_slug("dazzling-leaping-leaf");
        assert_eq!(fresh.len(), 21);
        assert!(fresh.starts_with("dazzling-leapin") && fresh != "dazzling-leaping-leaf");
    }
}
