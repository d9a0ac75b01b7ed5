//! Distinguishes what a person sent from what the client wrote in their name.

/// Who wrote the text of a user entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum PromptKind {
    /// Not a prompt: results of calls, or an entry that is not a user entry.
    #[default]
    None,
    /// A person's prompt.
    Words,
    /// A person's slash command or shell command. It begins a turn only if the model answered it.
    Command,
    /// Text that the client wrote: command output, notifications, interruption markers, summaries.
    Machine,
}

/// The beginnings of texts that the client writes as user entries.
const CLIENT_TEXTS: [&str; 16] = [
    "<local-command-stdout>",
    "<local-command-stderr>",
    "<local-command-caveat>",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<agent-notification>",
    "<agent-message",
    "<teammate-message",
    "<user-prompt-submit-hook>",
    "<system-reminder>",
    "<tick>",
    "[Request interrupted by user",
    "Operation stopped by hook:",
    "Caveat: The messages below",
    "This session is being continued from",
];

/// The beginnings of the client's notation for commands that a person typed.
const COMMANDS: [&str; 3] = ["<command-name>", "<command-message>", "<bash-input>"];

/// Classifies a text by its beginning, for entries that the client did not mark with an origin.
pub(crate) fn classify(text: &str) -> PromptKind {
    let text = text.trim_start();
    let begins_with = |beginnings: &[&str]| beginnings.iter().any(|b| text.starts_with(b));
    if text.is_empty() || begins_with(&CLIENT_TEXTS) {
        PromptKind::Machine
    } else if begins_with(&COMMANDS) {
        PromptKind::Command
    } else {
        PromptKind::Words
    }
}

/// Combines the kinds of two blocks of one entry: an entry with any text of a person's is theirs.
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
    fn prompt_kind_follows_the_beginning_of_the_text() {
        let cases = [
            ("fix the build", PromptKind::Words),
            (
                "<ide_selection>lines 1 to 2</ide_selection>",
                PromptKind::Words,
            ),
            (
                "<command-message>x</command-message>\n<command-name>/x</command-name>",
                PromptKind::Command,
            ),
            (
                "[Request interrupted by user for tool use]",
                PromptKind::Machine,
            ),
            (
                "<local-command-stdout>ok</local-command-stdout>",
                PromptKind::Machine,
            ),
            ("Operation stopped by hook: no", PromptKind::Machine),
            ("<agent-message from=\"a\">done", PromptKind::Machine),
            ("  \n", PromptKind::Machine),
        ];
        for (text, kind) in cases {
            assert_eq!(classify(text), kind, "{text}");
        }
    }
}
