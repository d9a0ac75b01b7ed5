//! The steps of a plan, as plan files and the command line spell them.

use std::fmt::Write as _;

/// The value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// The option is given, and has no value.
    Given,
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
    /// Several texts: on the command line, the option is repeated.
    List(Vec<String>),
}

/// One operation with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The operation's name.
    pub operation: String,
    /// The options, by the names that they have on the command line.
    pub options: Vec<(String, OptionValue)>,
}

impl Step {
    /// Makes a step without options.
    pub fn new(operation: &str) -> Self {
        Self {
            operation: operation.to_owned(),
            options: Vec::new(),
        }
    }

    /// Whether a command does the same.
    fn is_command(&self) -> bool {
        COMMANDS.contains(&self.operation.as_str())
    }

    /// Adds an option.
    #[must_use]
    pub fn with(mut self, name: &str, value: OptionValue) -> Self {
        self.options.push((name.to_owned(), value));
        self
    }

    /// Adds an option with a text.
    #[must_use]
    pub fn text(self, name: &str, value: impl Into<String>) -> Self {
        self.with(name, OptionValue::Text(value.into()))
    }

    /// Returns the step as a part of a plan file.
    pub fn toml(&self) -> String {
        let mut out = format!("[[step]]\nop = \"{}\"\n", self.operation);
        let quoted = |text: &str| toml::Value::from(text).to_string();
        for (name, value) in &self.options {
            let value = match value {
                OptionValue::Given => "true".to_owned(),
                OptionValue::Number(number) => number.to_string(),
                OptionValue::Text(text) => quoted(text),
                OptionValue::List(all) => {
                    let all: Vec<String> = all.iter().map(|text| quoted(text)).collect();
                    format!("[{}]", all.join(", "))
                }
            };
            let _ = writeln!(out, "{name} = {value}");
        }
        out
    }

    /// Returns the step as words of a command line, after the program's name. `edit` names its message before the session.
    pub fn words(&self, session: &str) -> Vec<String> {
        let mut words = vec![self.operation.clone()];
        let is_message = |name: &str| self.operation == "edit" && name == "message";
        for (name, value) in &self.options {
            if let (true, OptionValue::Text(message)) = (is_message(name), value) {
                words.push(message.clone());
            }
        }
        words.push(session.to_owned());
        for (name, value) in self.options.iter().filter(|(name, _)| !is_message(name)) {
            let option = format!("--{name}");
            match value {
                OptionValue::Given => words.push(option),
                OptionValue::Number(number) => words.extend([option, number.to_string()]),
                OptionValue::Text(text) => words.push(format!("{option}={text}")),
                OptionValue::List(all) => {
                    words.extend(all.iter().map(|text| format!("{option}={text}")));
                }
            }
        }
        words
    }
}

/// The operations that are commands of their own with the same options. `title` and `restore-branch` are not: as commands,
/// they name their values without options, and `title` always changes the session itself.
const COMMANDS: [&str; 11] = [
    "strip-thinking",
    "drop-tools",
    "drop-images",
    "drop-hidden",
    "truncate",
    "compact",
    "delete",
    "edit",
    "extract",
    "uncompact",
    "redact",
];

/// What is done to a session: steps, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// The steps.
    pub steps: Vec<Step>,
}

impl Plan {
    /// Whether nothing is done.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Whether secrets are replaced.
    pub fn redacts(&self) -> bool {
        self.steps.iter().any(|step| step.operation == "redact")
    }

    /// Returns the plan as a file for `ccsurgery run`.
    pub fn toml(&self) -> String {
        let steps: Vec<String> = self.steps.iter().map(Step::toml).collect();
        steps.join("\n")
    }

    /// Returns the command line that does the same: the command itself, or `run` with a plan that is in `file`.
    pub fn command(&self, session: &str, file: &str) -> Vec<String> {
        let words = match &self.steps[..] {
            [] => return Vec::new(),
            [step] if step.is_command() => step.words(session),
            _ => vec!["run".to_owned(), file.to_owned(), session.to_owned()],
        };
        std::iter::once("ccsurgery".to_owned())
            .chain(words)
            .collect()
    }

    /// Returns the name of the operation that the journal and the new title show.
    pub fn operation(&self) -> &str {
        match &self.steps[..] {
            [step] if step.is_command() => &step.operation,
            _ => "run",
        }
    }
}

/// Returns words as a line for a POSIX shell.
pub fn shell_line(words: &[String]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    let quoted = |word: &String| match word {
        word if !word.is_empty() && word.chars().all(is_plain) => word.clone(),
        word => format!("'{}'", word.replace('\'', r"'\''")),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_of_one_step_is_its_own_command() {
        let step = Step::new("delete").text("turns", "3..5");
        let plan = Plan {
            steps: vec![step.clone()],
        };
        let line = shell_line(&plan.command("3d73", "plan.toml"));
        assert_eq!(line, "ccsurgery delete 3d73 --turns=3..5");
        assert_eq!(plan.toml(), "[[step]]\nop = \"delete\"\nturns = \"3..5\"\n");
        let plan = Plan {
            steps: vec![step, Step::new("strip-thinking")],
        };
        let line = shell_line(&plan.command("3d73", "my plan.toml"));
        assert_eq!(line, "ccsurgery run 'my plan.toml' 3d73");
    }

    #[test]
    fn plan_step_of_an_edit_names_its_message_first() {
        let step = Step::new("edit").text("message", "1f2e3d4c");
        let step = step.text("text", "it's \"here\"\n");
        let words = step.words("3d73");
        assert_eq!(words[..3], ["edit", "1f2e3d4c", "3d73"]);
        assert_eq!(shell_line(&words[3..]), "'--text=it'\\''s \"here\"\n'");
        assert!(toml::from_str::<toml::Table>(&step.toml()).is_ok());
    }
}
