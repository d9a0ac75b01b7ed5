//! Defects that are known, so that others are noticed. Remove an entry when its defect is fixed.

/// A known defect: a failure of this command that reads like this, in a session with these features.
pub(crate) struct Known {
    /// The commands; empty for the session by itself, which is read by `doctor` and `payload`.
    pub(crate) commands: &'static [&'static str],
    /// How the failure begins: one of these.
    pub(crate) failures: &'static [&'static str],
    /// Features of the recipe that bring it about.
    pub(crate) features: &'static [&'static str],
    /// What is wrong, in plain words.
    pub(crate) defect: &'static str,
}

pub(crate) const KNOWN: &[Known] = &[];

/// The known defect that explains a failure.
pub(crate) fn explains(command: &str, failure: &str, features: &[&str]) -> Option<&'static Known> {
    KNOWN.iter().find(|known| {
        let begins = known.failures.iter().any(|f| failure.starts_with(f));
        known.commands.contains(&command)
            && begins
            && known.features.iter().all(|f| features.contains(f))
    })
}
