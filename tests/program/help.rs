//! The help text of every command.

use std::process::Command;

const COMMANDS: &[&str] = &[
    "ui",
    "ls",
    "show",
    "grep",
    "inspect",
    "payload",
    "diff",
    "export",
    "clone",
    "extract",
    "graft",
    "trim",
    "strip-thinking",
    "drop-tools",
    "drop-images",
    "drop-hidden",
    "compact",
    "truncate",
    "delete",
    "edit",
    "redact",
    "uncompact",
    "restore-branch",
    "title",
    "run",
    "doctor",
    "repair",
    "move",
    "bundle",
    "import",
    "keep",
    "archive",
    "restore",
    "du",
    "rm",
    "history",
    "undo",
    "redo",
    "demo",
    "completions",
    "man",
];

fn help(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurgery"))
        .args(args)
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{args:?}");
    // Clap leaves blanks at the ends of some lines.
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn help_of_every_command() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        insta::assert_snapshot!("ccsurgery", help(&["--help"]));
        for &command in COMMANDS {
            insta::assert_snapshot!(command, help(&[command, "--help"]));
        }
    });
}

#[test]
fn help_lists_commands_in_groups() {
    let overview = help(&["--help"]);
    let listed = overview.lines().skip_while(|l| *l != "Look:");
    let listed = listed.take_while(|l| *l != "Options of every command:");
    let names = listed.filter(|l| l.starts_with("  "));
    let names: Vec<&str> = names.filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(names, COMMANDS);
}

#[test]
fn help_of_every_command_has_examples() {
    for &command in COMMANDS {
        let text = help(&[command, "--help"]);
        assert!(text.contains("\nExample"), "{command}");
    }
}
