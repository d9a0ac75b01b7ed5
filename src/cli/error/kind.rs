//! The kinds of errors, as scripts meet them in `--json`.

/// Declares the kinds, each with the word that scripts see and a sentence for the manual.
macro_rules! kinds {
    ($($name:ident $word:literal $meaning:literal)*) => {
        /// What sort of error ended a run. The word of a kind never changes its meaning.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(in crate::cli) enum ErrorKind {
            $(#[doc = $meaning] $name,)*
            /// A kind that only the library knows, under its own word.
            Other(&'static str),
        }

        impl ErrorKind {
            /// Every kind's word and meaning, for the manual.
            pub(in crate::cli) const TABLE: &[(&'static str, &'static str)] = &[$(($word, $meaning),)*];

            /// Returns the word that scripts see.
            pub(in crate::cli) fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&'static str> for ErrorKind {
            fn from(word: &'static str) -> Self {
                match word {
                    $($word => Self::$name,)*
                    other => Self::Other(other),
                }
            }
        }
    };
}

kinds! {
    AlreadyCompacted "already-compacted" "The turn is already part of an earlier compaction."
    Ambiguous "ambiguous" "The name fits several sessions or operations; `candidates` lists the sessions."
    BadBundle "bad-bundle" "The bundle is damaged, not acceptable, or not a bundle at all."
    BadConfig "bad-config" "The config file of ccsurgery has a mistake."
    BadGlob "bad-glob" "A pattern for tool names cannot be read."
    BadOptions "bad-options" "Options are missing or contradict each other."
    BadPattern "bad-pattern" "A regular expression cannot be read."
    BadPlan "bad-plan" "A plan file has a mistake."
    Bug "bug" "A defect of ccsurgery itself; nothing was changed. Please report it."
    Busy "busy" "Another program has the file open for writing."
    Changed "changed" "The session was changed by another program in the meantime."
    Damaged "damaged" "The session is damaged in a way that makes the result uncertain; repair it first."
    Empty "empty" "The file is empty."
    EmptySummary "empty-summary" "The summary has no text."
    Exists "exists" "The file to write exists already."
    Gone "gone" "The files of the operation no longer exist."
    IncompleteRecord "incomplete-record" "The journal's record does not describe all files of the operation."
    Io "io" "Reading or writing failed."
    Journal "journal" "The journal of operations cannot be used."
    Live "live" "Claude Code has the session open."
    NewerBundle "newer-bundle" "The bundle was written by a newer ccsurgery."
    NoData "no-data" "There is no Claude Code data in the config folder."
    NoHome "no-home" "There is no home folder."
    NoSessions "no-sessions" "The project has no sessions."
    NoSuchAgent "no-such-agent" "The session has no subagent with this id."
    NoSuchCall "no-such-call" "The session has no tool call with this id."
    NoSuchCheck "no-such-check" "The doctor has no check with this name."
    NoSuchFolder "no-such-folder" "The folder does not exist, or is not a folder."
    NoSuchPlan "no-such-plan" "There is no plan with this name."
    NoSuchProject "no-such-project" "The project's folder does not exist, or is not a folder."
    NoSuchTurn "no-such-turn" "The session has no such turn."
    NotABranch "not-a-branch" "The message is not part of an abandoned branch."
    NotAFile "not-a-file" "A link, a pipe or a folder stands where a file is expected."
    NotASession "not-a-session" "The file is not a Claude Code transcript."
    NotConfirmed "not-confirmed" "The question was not answered with yes."
    NotFound "not-found" "No session, operation or file has this name; `candidates` lists the nearest sessions."
    NotKept "not-kept" "The journal did not keep the bytes that this needs."
    NotPrivate "not-private" "The journal's folder belongs to another user, or others can write to it."
    Nothing "nothing" "There is nothing to undo or redo."
    Orphans "orphans" "New messages depend on what would be undone."
    OtherConfig "other-config" "The operation was made in another config folder."
    Output "output" "The JSON document cannot be made; please report it."
    OverBudget "over-budget" "The session cannot be brought under the token budget."
    Passphrase "passphrase" "The passphrase is missing or wrong."
    Permission "permission-denied" "A file or folder may not be read or written."
    Spoilt "spoilt" "The saved bytes of an operation are damaged."
    Summarizer "summarizer" "The command that writes the summary failed."
    Summary "summary" "The file with the summary cannot be read."
    TooShort "too-short" "The start of an id has fewer than four characters."
    UnfinishedTurn "unfinished-turn" "The turn has tool calls without results."
    Unreadable "unreadable" "The file cannot be read."
    UnusableRecord "unusable-record" "The journal's record of an operation cannot be used."
    Usage "usage" "The command line is wrong."
    Write "write" "The result cannot be written."
    WrongState "wrong-state" "The operation is already undone, or was not undone."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_kind_words_are_unique_and_kebab_case() {
        let mut words: Vec<&str> = ErrorKind::TABLE.iter().map(|(word, _)| *word).collect();
        assert!(words.is_sorted(), "the manual lists them in order");
        words.dedup();
        assert_eq!(words.len(), ErrorKind::TABLE.len());
        for word in words {
            assert!(word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'));
            assert_eq!(ErrorKind::from(word).word(), word);
            assert!(!matches!(ErrorKind::from(word), ErrorKind::Other(_)));
        }
    }

    #[test]
    fn error_kinds_are_described_in_the_documentation() {
        let page = include_str!("../../../docs/json.md");
        for (word, meaning) in ErrorKind::TABLE {
            let row = format!("| `{word}` | {meaning} |");
            assert!(page.contains(&row), "docs/json.md lacks: {row}");
        }
    }
}
