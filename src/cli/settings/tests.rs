use clap::CommandFactory as _;

use super::super::args::Cli;
use super::*;

fn parse(text: &str) -> Result<Settings, CliError> {
    Settings::parse(PathBuf::from("/c/config.toml"), text.to_owned())
}

#[track_caller]
fn message(text: &str) -> String {
    parse(text).expect_err("a mistake").message
}

/// Returns the value that an option has in a command line.
fn value<T: Clone + Send + Sync + 'static>(
    settings: &Settings,
    line: &str,
    option: &str,
) -> Option<T> {
    let program = settings.apply(Cli::command());
    let matches = program
        .try_get_matches_from(line.split(' '))
        .expect("a command line");
    let (_, matches) = matches.subcommand().expect("a command");
    matches.get_one::<T>(option).cloned()
}

#[test]
fn settings_may_be_empty() {
    let settings = parse("").expect("settings");
    assert_eq!(settings.pager(), None);
    assert_eq!(
        value::<u32>(&settings, "ccsurgery drop-tools", "keep_last"),
        None
    );
}

#[test]
fn settings_with_mistakes_are_reported_with_file_line_and_known_keys() {
    insta::assert_snapshot!(message("pager = 'less'\ncolour = 'never'\n"), @"`/c/config.toml`, line 2: unknown field `colour`, expected one of `color`, `pager`, `secret-rules`, `defaults`, `plan`");
    insta::assert_snapshot!(message("\n[defaults]\nkeep = 3\n"), @"`/c/config.toml`, line 3: unknown field `keep`, expected `keep-last` or `keep-tokens`");
    insta::assert_snapshot!(message("color = 'blue'\n"), @"`/c/config.toml`, line 1: unknown variant `blue`, expected one of `auto`, `always`, `never`");
    let tokens = message("[defaults]\nkeep-tokens = 'many'\n");
    assert!(
        tokens.starts_with("`/c/config.toml`, line 2: `keep-tokens`:"),
        "{tokens}"
    );
}

#[test]
fn settings_are_defaults_and_options_win() {
    let settings = parse("[defaults]\nkeep-last = 3\n").expect("settings");
    let keep_last = |line: &str| value::<u32>(&settings, line, "keep_last");
    assert_eq!(keep_last("ccsurgery drop-tools"), Some(3));
    assert_eq!(keep_last("ccsurgery strip-thinking"), Some(3));
    assert_eq!(keep_last("ccsurgery trim --to 100k"), Some(3));
    assert_eq!(keep_last("ccsurgery drop-tools --keep-last 0"), Some(0));
    // Who names turns or calls means exactly those.
    assert_eq!(keep_last("ccsurgery drop-tools --turns -1"), None);
    assert_eq!(keep_last("ccsurgery drop-tools --id toolu_1"), None);
    assert_eq!(keep_last("ccsurgery trim --to 100k --keep-tokens 5k"), None);
    // What to summarise is always chosen for each session.
    assert_eq!(keep_last("ccsurgery compact --at 3"), None);
}

#[test]
fn settings_for_tokens_take_precedence_over_turns_where_both_apply() {
    let settings = parse("[defaults]\nkeep-last = 3\nkeep-tokens = '20k'\n").expect("settings");
    let trim = "ccsurgery trim --to 100k";
    assert_eq!(value::<u32>(&settings, trim, "keep_last"), None);
    let tokens = value::<crate::ops::TokenCount>(&settings, trim, "keep_tokens");
    assert_eq!(tokens, Some("20k".parse().expect("tokens")));
    assert_eq!(
        value::<u32>(&settings, "ccsurgery drop-images", "keep_last"),
        Some(3)
    );
}

#[test]
fn settings_never_limit_what_is_redacted_or_edited() {
    let settings = parse("[defaults]\nkeep-last = 3\nkeep-tokens = '20k'\n").expect("settings");
    for line in ["ccsurgery redact", "ccsurgery edit 1f2e3d4c"] {
        assert_eq!(value::<u32>(&settings, line, "keep_last"), None, "{line}");
        let tokens = value::<crate::ops::TokenCount>(&settings, line, "keep_tokens");
        assert_eq!(tokens, None, "{line}");
    }
}

#[test]
fn settings_have_plans() {
    let text = "[[plan.tidy]]\nop = 'strip-thinking'\n\n[[plan.broken]]\nop = 'fly'\n";
    let settings = parse(text).expect("settings");
    let names: Vec<&str> = settings.plan_names().collect();
    assert_eq!(names, ["broken", "tidy"]);
    assert_eq!(
        settings.plan("tidy").expect("a plan").expect("steps").len(),
        1
    );
    assert!(settings.plan("other").is_none());
    let error = settings.plan("broken").expect("a plan").err();
    let message = error.expect("a mistake").message;
    assert!(
        message.starts_with("`/c/config.toml`, line 5: there is no operation `fly`"),
        "{message}"
    );
}

#[test]
fn settings_paths_start_at_the_file() {
    let settings = parse("secret-rules = 'rules.toml'\n").expect("settings");
    assert_eq!(settings.beside("rules.toml"), Path::new("/c/rules.toml"));
    assert_eq!(settings.beside("/x/rules.toml"), Path::new("/x/rules.toml"));
}
