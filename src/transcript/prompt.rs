//! Tells what a person sent from what the client wrote in their name.

/// What the words of a user entry are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum PromptKind {
    /// Nothing of a person's: results of calls, or no user entry at all.
    #[default]
    None,
    /// A person's prompt.
    Words,
    /// A slash command or a shell command of a person's: a turn only if the model answered it.
    Command,
    /// Text that the client put in: command output, notifications, interruption markers, summaries.
    Machine,
}

/// How texts that the client writes as user entries begin.
const MACHINE: [&str; 14] = [
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<agent-notification>",
    "<teammate-message",
    "<user-prompt-submit-hook>",
    "<system-reminder>",
    "<tick>",
    "[Request interrupted by user",
    "Caveat: The messages below",
    "This session is being continued from",
];

const COMMANDS: [&str; 3] = ["<command-name>", "<command-message>", "<bash-input>"];

/// Judges one text by how it begins.
pub(crate) fn classify(text: &str) -> PromptKind {
    let text = text.trim_start();
    if MACHINE.iter().any(|m| text.starts_with(m)) {
        PromptKind::Machine
    } else if COMMANDS.iter().any(|c| text.starts_with(c)) {
        PromptKind::Command
    } else if text.is_empty() {
        PromptKind::Machine
    } else {
        PromptKind::Words
    }
}

/// The judgement on several blocks of one entry: a person's words beside the client's make it theirs.
pub(crate) fn combine(a: PromptKind, b: PromptKind) -> PromptKind {
    use PromptKind::{Command, Machine, None, Words};
    match (a, b) {
        (Words, _) | (_, Words) => Words,
        (Command, _) | (_, Command) => Command,
        (Machine, _) | (_, Machine) => Machine,
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_or_the_client() {
        assert_eq!(classify("fix the build"), PromptKind::Words);
        assert_eq!(
            classify("<ide_selection>lines 1 to 2</ide_selection>"),
            PromptKind::Words
        );
        assert_eq!(
            classify("<command-message>x</command-message>\n<command-name>/x</command-name>"),
            PromptKind::Command
        );
        assert_eq!(
            classify("[Request interrupted by user for tool use]"),
            PromptKind::Machine
        );
        assert_eq!(
            classify("<local-command-stdout>ok</local-command-stdout>"),
            PromptKind::Machine
        );
        assert_eq!(classify("  \n"), PromptKind::Machine);
    }
}
