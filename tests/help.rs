//! What each command says of itself.

use std::process::Command;

const COMMANDS: [&str; 23] = [
    "ls",
    "show",
    "inspect",
    "payload",
    "diff",
    "clone",
    "strip-thinking",
    "drop-tools",
    "drop-images",
    "drop-hidden",
    "truncate",
    "compact",
    "trim",
    "run",
    "doctor",
    "repair",
    "history",
    "undo",
    "redo",
    "demo",
    "completions",
    "man",
    "help",
];

fn help(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_ccsurgery"))
        .args(args)
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .output()
        .expect("the program runs");
    assert!(output.status.success(), "{args:?}");
    // Clap leaves blanks at the ends of some lines; nobody sees those.
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn every_command_explains_itself() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| {
        insta::assert_snapshot!("ccsurgery", help(&["--help"]));
        for command in COMMANDS.iter().filter(|c| **c != "help") {
            insta::assert_snapshot!(*command, help(&[command, "--help"]));
        }
    });
}

#[test]
fn the_list_of_commands_is_whole() {
    let overview = help(&["--help"]);
    let listed = overview.lines().skip_while(|l| *l != "Commands:").skip(1);
    let listed = listed
        .take_while(|l| !l.is_empty())
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "));
    let names: Vec<&str> = listed.filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(names, COMMANDS);
}
