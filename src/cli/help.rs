//! The overview of all commands, in groups, and of the options that every command takes.

use std::fmt::Write as _;

use clap::{Arg, Args as _, Command};

use crate::render::wrap;

use super::args::Global;

/// The commands by what they are for. Those that are missing here are listed under the last heading.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Look",
        &[
            "ui", "ls", "show", "grep", "inspect", "payload", "diff", "export",
        ],
    ),
    ("Copy", &["clone", "extract", "graft"]),
    (
        "Make room",
        &[
            "trim",
            "strip-thinking",
            "drop-tools",
            "drop-images",
            "drop-hidden",
            "compact",
        ],
    ),
    (
        "Change",
        &[
            "truncate",
            "delete",
            "edit",
            "redact",
            "uncompact",
            "restore-branch",
            "title",
            "run",
        ],
    ),
    ("Repair", &["doctor", "repair"]),
    (
        "Places",
        &[
            "move", "bundle", "import", "keep", "archive", "restore", "du", "rm",
        ],
    ),
    ("Way back", &["history", "undo", "redo"]),
];

/// The heading of commands that are in none of the groups.
const OTHER: &str = "More";

/// How to learn more about a command.
const HELP_OF_COMMAND: &str =
    "`ccsurgery help COMMAND` shows all options of a command, with examples.";

/// The last line of the overview.
const OVERVIEW_END: &str = "New here? `ccsurgery demo` shows the tool on a made-up session.\n";

/// Returns the template for the program's help text, with the subcommands of `program` in groups and the
/// options of `global`, for a terminal that is this wide.
pub(super) fn overview(program: &Command, global: &Command, columns: usize) -> String {
    let names = || program.get_subcommands().map(Command::get_name);
    let widest = names().map(str::len).max().unwrap_or(0);
    let mut list = String::new();
    for (heading, commands) in groups(program) {
        let _ = writeln!(list, "{heading}:");
        for command in commands {
            row(
                &mut list,
                command.get_name(),
                widest,
                &about(command),
                columns,
            );
        }
        list.push('\n');
    }
    let options = options(global, columns);
    format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}Options of every command:\n{options}\n\
         {}\n{OVERVIEW_END}",
        wrap(HELP_OF_COMMAND, columns).join("\n")
    )
}

/// Returns the line under the help text of a command that points to the options of every command, or nothing
/// if `text` is the overview, which lists them.
pub(super) fn footer(text: &str, columns: usize) -> Option<String> {
    if text.ends_with(OVERVIEW_END) {
        return None;
    }
    let global = Global::augment_args(Command::new("ccsurgery"));
    let names: Vec<String> = global
        .get_arguments()
        .filter_map(|option| option.get_long())
        .map(|name| format!("--{name}"))
        .collect();
    let text = format!(
        "Every command also takes {}: see `ccsurgery --help`.",
        names.join(", ")
    );
    Some(wrap(&text, columns).join("\n"))
}

/// Lists the options of every command, and those for help and the version.
fn options(global: &Command, columns: usize) -> String {
    let mut rows: Vec<(String, String)> = global.get_arguments().map(option).collect();
    rows.push(("-h, --help".to_owned(), "Print help".to_owned()));
    rows.push(("-V, --version".to_owned(), "Print the version".to_owned()));
    let widest = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut list = String::new();
    for (name, about) in rows {
        row(&mut list, &name, widest, &about, columns);
    }
    list
}

/// Returns how an option is written, and what it does.
fn option(option: &Arg) -> (String, String) {
    let mut name = match option.get_short() {
        Some(short) => format!("-{short}, "),
        None => "    ".to_owned(),
    };
    let _ = write!(name, "--{}", option.get_long().unwrap_or_default());
    let takes_value = option.get_action().takes_values();
    for value in option
        .get_value_names()
        .iter()
        .filter(|_| takes_value)
        .flat_map(|names| *names)
    {
        let _ = write!(name, " <{value}>");
    }
    let about = option.get_help().map(ToString::to_string);
    (name, about.unwrap_or_default())
}

/// Adds a name and a text beside it, which is wrapped into its own column.
fn row(list: &mut String, mut name: &str, widest: usize, text: &str, columns: usize) {
    let room = columns.saturating_sub(widest + 4).max(20);
    for line in wrap(text, room) {
        let _ = writeln!(list, "  {name:widest$}  {line}");
        name = "";
    }
}

/// Returns what a command does, and by which other names it is known.
fn about(command: &Command) -> String {
    let about = command.get_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    let aliases: Vec<&str> = command.get_visible_aliases().collect();
    match &aliases[..] {
        [] => about,
        aliases => format!("{about} [also: {}]", aliases.join(", ")),
    }
}

/// Returns the subcommands under their headings.
pub(super) fn groups(program: &Command) -> Vec<(&'static str, Vec<&Command>)> {
    let find = |name: &&str| program.find_subcommand(name);
    let mut groups: Vec<(&str, Vec<&Command>)> = GROUPS
        .iter()
        .map(|(heading, names)| (*heading, names.iter().filter_map(find).collect()))
        .collect();
    let is_grouped = |c: &&Command| {
        GROUPS
            .iter()
            .any(|(_, names)| names.contains(&c.get_name()))
    };
    let rest = program.get_subcommands().filter(|c| !is_grouped(c));
    groups.push((OTHER, rest.collect()));
    groups.retain(|(_, commands)| !commands.is_empty());
    groups
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::super::args::Cli;
    use super::*;

    #[test]
    fn help_lists_every_command_once() {
        let program = Cli::command();
        let listed = groups(&program)
            .into_iter()
            .flat_map(|(_, commands)| commands);
        let mut listed: Vec<&str> = listed.map(Command::get_name).collect();
        let mut all: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
    }

    #[test]
    fn help_groups_name_only_commands_that_exist() {
        let program = Cli::command();
        for name in GROUPS.iter().flat_map(|(_, names)| *names) {
            assert!(program.find_subcommand(name).is_some(), "{name}");
        }
    }

    #[test]
    fn help_of_every_command_has_examples() {
        for command in Cli::command().get_subcommands() {
            let after = command.get_after_help().map(ToString::to_string);
            let after = after.unwrap_or_default();
            assert!(after.contains("Example"), "{}", command.get_name());
        }
    }

    /// Splits a command as a shell does, up to a comment, a pipe, a redirection or a second command.
    fn words(command: &str) -> Vec<String> {
        let (mut words, mut quote) = (vec![String::new()], None);
        for c in command.chars() {
            let word = words.last_mut().expect("a word");
            match quote {
                Some(q) if c == q => quote = None,
                None if c == '\'' || c == '"' => quote = Some(c),
                None if c == ' ' => words.push(String::new()),
                _ => word.push(c),
            }
        }
        let ends = ["", "#", "|", ">", ">>", "&&"];
        let is_end = |word: &String| ends.contains(&word.as_str());
        words.into_iter().take_while(|word| !is_end(word)).collect()
    }

    #[track_caller]
    fn assert_parses(command: &str) {
        let parsed = Cli::try_parse_from(words(command));
        let is_help = |e: &clap::Error| e.exit_code() == 0;
        assert!(parsed.as_ref().err().is_none_or(is_help), "{command}");
    }

    #[test]
    fn help_examples_can_be_run() {
        for command in Cli::command().get_subcommands() {
            let after = command.get_after_help().map(ToString::to_string);
            let after = after.unwrap_or_default();
            for line in after.lines().map(str::trim) {
                if let Some(at) = line.find("ccsurgery ") {
                    assert_parses(&line[at..]);
                }
            }
        }
    }

    #[test]
    fn readme_commands_can_be_run() {
        let documents = [
            include_str!("../../README.md"),
            include_str!("../../SAFETY.md"),
        ];
        for line in documents.iter().flat_map(|d| d.lines()) {
            if let Some(command) = line.strip_prefix("$ ccsurgery ") {
                assert_parses(&format!("ccsurgery {command}"));
            }
        }
    }
}
