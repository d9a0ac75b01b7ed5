use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, italic, roman};
use serde_json::json;

use crate::render::clean;

use super::super::args::Cli;
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};

/// Print the manual page of the program or of a command
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery man | man -l -\n  ccsurgery man clone | man -l -\n  ccsurgery man --out ~/.local/share/man/man1    write all pages; then: man ccsurgery-clone"
)]
pub(crate) struct ManArgs {
    /// The command; without it, the page of the program
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
    /// Write the pages of the program and of all commands into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// A manual page.
struct Page {
    /// Its name, for example `ccsurgery-clone`.
    name: String,
    /// Its text in roff.
    text: Vec<u8>,
}

pub(crate) fn run(args: &ManArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let program = Cli::command();
    let mut pages = Vec::new();
    if args.out.is_some() {
        add_pages(&mut pages, &program, &[])?;
    } else {
        let command = find(&program, &args.command)?;
        let words: Vec<&str> = args.command.iter().map(String::as_str).collect();
        pages.push(page(command, &words)?);
    }
    if let Some(folder) = &args.out {
        fs_err::create_dir_all(folder)?;
        for page in &pages {
            fs_err::write(folder.join(format!("{}.1", page.name)), &page.text)?;
        }
    }
    if context.json {
        let text = |page: &Page| String::from_utf8_lossy(&page.text).into_owned();
        let document = |page: &Page| json!({"name": page.name, "text": text(page)});
        let documents: Vec<_> = pages.iter().map(document).collect();
        context.print_json(&json!({"schema": 1, "pages": documents}))?;
    } else if let Some(folder) = &args.out {
        let (count, folder) = (pages.len(), clean(&folder.to_string_lossy()));
        context.tell(&format!("{count} pages written to {folder}"));
    } else {
        for page in &pages {
            context.out.write_all(&page.text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Finds the command that the words name, one subcommand after the other.
fn find<'c>(program: &'c Command, words: &[String]) -> Result<&'c Command, CliError> {
    words.iter().try_fold(program, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
            let hint = match &names[..] {
                [] => format!("`{}` has no subcommands", command.get_name()),
                names => format!("the commands are {}", names.join(", ")),
            };
            let message = format!("there is no command `{}`", words.join(" "));
            CliError::usage(ErrorKind::Usage, message, hint)
        })
    })
}

/// Adds the page of a command and those of all its subcommands.
fn add_pages(pages: &mut Vec<Page>, command: &Command, words: &[&str]) -> io::Result<()> {
    pages.push(page(command, words)?);
    for subcommand in command.get_subcommands() {
        add_pages(
            pages,
            subcommand,
            &[words, &[subcommand.get_name()]].concat(),
        )?;
    }
    Ok(())
}

/// Makes the page of the command that is named by these words, or of the program where there are none.
fn page(command: &Command, words: &[&str]) -> io::Result<Page> {
    let words = [&["ccsurgery"], words].concat();
    let (name, usage) = (words.join("-"), words.join(" "));
    let is_program = words.len() == 1;
    // Examples have a section of their own here.
    let shown = command.clone().display_name(name.clone());
    let shown = shown.bin_name(usage).after_help("");
    let shown = shown
        .disable_help_subcommand(true)
        .disable_version_flag(!is_program)
        .version(env!("CARGO_PKG_VERSION"));
    let man = Man::new(shown).title(name.to_uppercase());
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    let mut roff = Roff::new();
    if is_program {
        commands(&mut roff, command);
    } else {
        subcommands(&mut roff, command, &name);
        examples(&mut roff, command);
    }
    shared_sections(&mut roff, is_program);
    roff.to_writer(&mut text)?;
    Ok(Page { name, text })
}

/// Adds the list of a command's own subcommands.
fn subcommands(roff: &mut Roff, command: &Command, name: &str) {
    if command.has_subcommands() {
        roff.control("SH", ["SUBCOMMANDS"]);
    }
    for subcommand in command.get_subcommands() {
        let about = subcommand.get_about().map(ToString::to_string);
        let page = format!("{name}-{}(1)", subcommand.get_name());
        item(roff, &page, &about.unwrap_or_default());
    }
}

/// Adds the list of commands, in groups.
fn commands(roff: &mut Roff, program: &Command) {
    roff.control("SH", ["COMMANDS"]);
    for (heading, commands) in super::super::help::groups(program) {
        roff.control("SS", [heading]);
        for command in commands {
            let about = command.get_about().map(ToString::to_string);
            let name = format!("ccsurgery-{}(1)", command.get_name());
            item(roff, &name, &about.unwrap_or_default());
        }
    }
}

/// Adds the examples of a command, as its help shows them.
fn examples(roff: &mut Roff, command: &Command) {
    let Some(after) = command.get_after_help() else {
        return;
    };
    roff.control("SH", ["EXAMPLES"]);
    roff.control("nf", []);
    for line in after.to_string().lines() {
        if !matches!(line, "Example:" | "Examples:") {
            roff.text([roman(line)]);
        }
    }
    roff.control("fi", []);
}

const EXIT_STATUS: [(&str, &str); 5] = [
    ("0", "Done, or there was nothing to do."),
    (
        "1",
        "Failed; or grep found nothing; or doctor found a problem that stops a session, loses history or is refused by the API.",
    ),
    ("2", "The command line or a plan file is wrong."),
    ("3", "Refused for safety; nothing was written."),
    (
        "101",
        "A defect of ccsurgery; nothing was changed. Please report it.",
    ),
];

const ENVIRONMENT: [(&str, &str); 8] = [
    (
        "CLAUDE_CONFIG_DIR",
        "Claude Code's config folder, if --config-dir is not given.",
    ),
    (
        "CCSURGERY_STATE_DIR",
        "The folder of the journal that undo needs.",
    ),
    (
        "CCSURGERY_CONFIG",
        "The config file, instead of the one in the folder for settings.",
    ),
    (
        "CCSURGERY_PAGER",
        "The program that shows long output on a terminal; it wins over the config file and PAGER.",
    ),
    ("COLUMNS", "The width of the output in characters."),
    ("NO_COLOR", "Turns colours off if it is set."),
    ("PAGER", "The program that shows long output on a terminal."),
    (
        "XDG_CONFIG_HOME",
        "The folder for settings, if it is not ~/.config.",
    ),
];

const FILES: [(&str, &str); 3] = [
    (
        "~/.claude/projects/",
        "Claude Code's sessions, one folder for each project.",
    ),
    (
        "~/.config/ccsurgery/config.toml",
        "Settings, all optional: colours, pager, defaults of options, plans for run.",
    ),
    (
        "~/.local/state/ccsurgery/",
        "The journal: what was done, and the bytes that undo restores.",
    ),
];

/// Adds the sections that all pages have; the kinds of errors are on the program's page only.
fn shared_sections(roff: &mut Roff, with_kinds: bool) {
    let sections: [(&str, &[(&str, &str)]); 3] = [
        ("EXIT STATUS", &EXIT_STATUS),
        ("ENVIRONMENT", &ENVIRONMENT),
        ("FILES", &FILES),
    ];
    for (heading, items) in sections {
        roff.control("SH", [heading]);
        for (name, text) in items {
            item(roff, name, text);
        }
    }
    if with_kinds {
        roff.control("SH", ["ERRORS"]);
        roff.text([
            roman("With "),
            bold("--json"),
            roman(", an error is one document with a "),
            italic("kind"),
            roman(":"),
        ]);
        for (word, meaning) in ErrorKind::TABLE {
            item(roff, word, meaning);
        }
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text([
        bold("ccsurgery"),
        roman("(1), "),
        bold("claude"),
        roman("(1)"),
    ]);
}

/// Adds a name with an explanation.
fn item(roff: &mut Roff, name: &str, text: &str) {
    roff.control("TP", []);
    roff.text([bold(name)]);
    roff.text([roman(text)]);
}
