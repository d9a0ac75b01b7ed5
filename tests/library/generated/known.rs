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

pub(crate) const KNOWN: &[Known] = &[
    Known {
        commands: &["drop-tools"],
        failures: &["conversation"],
        features: &["disturbed", "words-beside-result"],
        defect: "drop-tools shows words beside a removed result after a prompt that arrived before them",
    },
    Known {
        commands: &["drop-tools"],
        failures: &["conversation"],
        features: &["whole-lines", "words-beside-result"],
        defect: "drop-tools shows words beside removed results in another order",
    },
    Known {
        commands: &["drop-tools"],
        failures: &["lines"],
        features: &["killed"],
        defect: "drop-tools hangs a result on another line of its message than its own call",
    },
    Known {
        commands: &["drop-hidden", "run"],
        failures: &["conversation"],
        features: &["killed", "preserved"],
        defect: "drop-hidden hides a preserved message that has a killed call",
    },
    Known {
        commands: &["truncate", "clone"],
        failures: &["fault"],
        features: &["clock-back", "progress"],
        defect: "truncate makes another entry the newest where the clock went back",
    },
    Known {
        commands: &["compact"],
        failures: &["refused"],
        features: &["preserved", "rewound"],
        defect: "compact refuses where a person went back to before a compaction",
    },
];

/// The known defect that explains a failure.
pub(crate) fn explains(command: &str, failure: &str, features: &[&str]) -> Option<&'static Known> {
    KNOWN.iter().find(|known| {
        let begins = known.failures.iter().any(|f| failure.starts_with(f));
        known.commands.contains(&command)
            && begins
            && known.features.iter().all(|f| features.contains(f))
    })
}
