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

/// Commands that count turns, or may be told to.
const COUNTS_TURNS: &[&str] = &[
    "clone",
    "truncate",
    "compact",
    "trim",
    "strip-thinking",
    "drop-tools",
    "drop-images",
];

/// How it shows that turns were counted wrongly.
const TURNS_MISCOUNTED: &[&str] = &[
    "conversation",
    "exit code 2",
    "exit code 3",
    "in place: exit code 2",
    "lines",
    "copies",
    "doctor after",
];

pub(crate) const KNOWN: &[Known] = &[
    Known {
        commands: COUNTS_TURNS,
        failures: TURNS_MISCOUNTED,
        features: &["notification"],
        defect: "the notification of a background task begins a turn, so that turns are counted wrongly",
    },
    Known {
        commands: COUNTS_TURNS,
        failures: TURNS_MISCOUNTED,
        features: &["pasted"],
        defect: "a typed prompt that reads like a text of the client does not begin a turn",
    },
    Known {
        commands: &["drop-tools"],
        failures: &["exit code 101", "in place: exit code 101"],
        features: &["logged"],
        defect: "edits overlap where a request log repeats an answer of thinking and calls alone",
    },
    Known {
        commands: &["drop-hidden", "run"],
        failures: &["conversation"],
        features: &["preserved"],
        defect: "drop-hidden removes messages that a compaction preserved",
    },
    Known {
        commands: &["compact", "trim"],
        failures: &["exit code 101", "in place: exit code 101"],
        features: &[],
        defect: "compact exits with 101 where the last prompt names an entry before the kept turns",
    },
    Known {
        commands: &["compact"],
        failures: &["again"],
        features: &[],
        defect: "a second compaction of the same turns adds another boundary and summary",
    },
    Known {
        commands: &[""],
        failures: &["doctor before: \"unanswered-call\""],
        features: &["killed"],
        defect: "the doctor calls a killed call in the middle of a session refused, though clients leave it out",
    },
    Known {
        commands: COUNTS_TURNS,
        failures: TURNS_MISCOUNTED,
        features: &["preserved-turn"],
        defect: "turns that \"summarize up to here\" keeps are not counted",
    },
    Known {
        commands: COUNTS_TURNS,
        failures: &["again", "exit code 2", "conversation"],
        features: &["queued"],
        defect: "a queued prompt that nothing follows is not counted as a turn",
    },
    Known {
        commands: &[
            "strip-thinking",
            "drop-tools",
            "drop-images",
            "drop-hidden",
            "run",
            "repair",
            "clone",
            "truncate",
            "compact",
            "trim",
        ],
        failures: &["conversation"],
        features: &["rewound"],
        defect: "where a person went back to an attachment, the result shows the abandoned turn again",
    },
    Known {
        commands: &["clone", "truncate"],
        failures: &["conversation"],
        features: &["duplicate"],
        defect: "a second copy of an entry that is removed stays in the file",
    },
    Known {
        commands: &["drop-tools"],
        failures: &["conversation"],
        features: &["words-beside-result"],
        defect: "drop-tools loses words beside the result of a parallel call",
    },
    Known {
        commands: &[""],
        failures: &["doctor before: \"parallel-results\""],
        features: &["duplicate"],
        defect: "the doctor takes a result that was written twice for results of parallel calls",
    },
    Known {
        commands: &["repair"],
        failures: &["conversation", "lines"],
        features: &["killed"],
        defect: "repair makes up a result for a killed call in the middle of a session, though clients leave the call out",
    },
    Known {
        commands: &["truncate", "clone"],
        failures: &["conversation", "lines"],
        features: &["names-result"],
        defect: "a last prompt that names one of several parallel results hides what follows the other results",
    },
    Known {
        commands: &["drop-tools"],
        failures: &["conversation"],
        features: &["disturbed"],
        defect: "drop-tools loses a prompt that arrived between two lines of one message",
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
