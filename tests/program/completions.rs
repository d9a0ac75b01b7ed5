//! Completions, as the shells ask for them.

use std::process::Command;

use serde_json::json;

use crate::harness::{Home, SESSION, skipped};

const SETTINGS: &str = ".config/ccsurgery/config.toml";

fn home() -> Home {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .prompt("Tidy up the \u{1b}[31mbarn")
        .call("toolu_1", "Bash", &json!({"command": "ls"}))
        .result("toolu_1", "files")
        .answer("Done.")
        .prompt("And the attic")
        .answer("Done.")
        .title("Haystack");
    home.add(&session);
    home.write(SETTINGS, "[[plan.tidy]]\nop = 'strip-thinking'\n");
    home.write("work/spring.toml", "");
    home
}

/// Returns what is offered for the last word.
fn offered(home: &Home, words: &[&str]) -> Vec<String> {
    offered_in(home, "fish", words)
}

fn offered_in(home: &Home, shell: &str, words: &[&str]) -> Vec<String> {
    let arguments = [&["--", "ccsurgery"], words].concat();
    let command = home.command(&arguments).env("CCSURGERY_COMPLETE", shell);
    // Systems differ in where the settings are.
    let run = command.env("CCSURGERY_CONFIG", home.path(SETTINGS)).run();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{words:?}");
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn completions_offer_what_can_be_typed() {
    let home = home();
    let sessions = offered(&home, &["show", ""]);
    assert_eq!(sessions, ["5e551000\tHaystack, 1h"]);
    assert_eq!(offered(&home, &["show", "5e55"]), sessions);
    assert_eq!(offered(&home, &["show", "hayst"]), sessions);
    assert!(offered(&home, &["show", "zzz"]).is_empty());
    let turns = ["2\tAnd the attic", "1\tTidy up the \u{fffd}[31mbarn"];
    assert_eq!(offered(&home, &["show", "5e55", "--turns", ""]), turns);
    assert_eq!(offered(&home, &["truncate", "--at", ""]), turns);
    assert_eq!(
        offered(&home, &["drop-tools", "--tool", ""]),
        ["Bash\t1 call"]
    );
    let checks = offered(&home, &["doctor", "--explain", "torn"]);
    assert!(checks[0].starts_with("torn-line\t"), "{checks:?}");
    let plans = offered(&home, &["run", ""]);
    assert!(plans[0].starts_with("tidy\t") && plans.contains(&"spring.toml".to_owned()));
    assert!(offered(&home, &["strip"])[0].starts_with("strip-thinking\t"));
}

#[test]
fn completions_are_registered_with_powershell() {
    let home = home();
    let script = home.run(&["completions", "powershell"]).stdout;
    for part in [
        "Register-ArgumentCompleter -Native -CommandName ccsurgery ",
        "$env:CCSURGERY_COMPLETE = \"powershell\"",
        "& ccsurgery -- $args",
    ] {
        assert!(script.contains(part), "{script}");
    }
    assert_eq!(
        offered_in(&home, "powershell", &["show", "hayst"]),
        ["5e551000\tHaystack, 1h"]
    );
}

#[test]
fn completions_never_report_errors() {
    let home = Home::new();
    fs_err::remove_dir_all(home.config()).unwrap();
    for words in [&["show", ""][..], &["show", "--turns", ""]] {
        let offered = offered(&home, words);
        assert!(
            offered.iter().all(|line| line.starts_with("--")),
            "{offered:?}"
        );
    }
    offered(&home, &["nosuch", "--nosuch", ""]);
}

/// Runs a script in a shell, with the program on its path.
fn in_shell(home: &Home, shell: &str, options: &[&str], script: &str) -> Option<String> {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_ccsurgery"));
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let output = Command::new(shell)
        .args(options)
        .arg("-c")
        .arg(script)
        .current_dir(home.project())
        .env_clear()
        .env("PATH", path)
        .env("HOME", home.path(""))
        .env("CLAUDE_CONFIG_DIR", home.config())
        .env("CCSURGERY_STATE_DIR", home.state())
        .env("TERM", "xterm")
        .output();
    match output {
        Ok(output) => {
            assert_eq!(String::from_utf8_lossy(&output.stderr), "");
            Some(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Err(error) => {
            skipped(shell, &error);
            None
        }
    }
}

#[test]
fn completions_work_in_bash() {
    let home = home();
    let script = r#"
        source <(ccsurgery completions bash)
        ask() { COMP_WORDS=(ccsurgery "$@"); COMP_CWORD=$#; COMP_TYPE=9; _ccsurgery ccsurgery "${@: -1}" "" 2>/dev/null; printf '%s|' "${COMPREPLY[@]}"; echo; }
        ask show ""; ask show 5e55 --turns ""; ask strip; complete -p ccsurgery
    "#;
    let Some(out) = in_shell(&home, "bash", &["--norc"], script) else {
        return;
    };
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "5e551000|");
    assert!(
        lines[1].starts_with("2                 (And the attic)|1 "),
        "{out}"
    );
    assert_eq!(lines[2], "strip-thinking|");
    assert!(lines[3].contains("-F _ccsurgery ccsurgery"), "{out}");
}

#[test]
fn completions_work_in_fish() {
    let home = home();
    let script = "ccsurgery completions fish | source; complete -C 'ccsurgery show '; complete -C 'ccsurgery show 5e55 --turns '";
    let Some(out) = in_shell(&home, "fish", &["--no-config"], script) else {
        return;
    };
    assert!(out.contains("5e551000\tHaystack"), "{out}");
    assert!(out.contains("2\tAnd the attic"), "{out}");
}

#[test]
fn completions_can_be_read_by_zsh() {
    let home = home();
    // What the script hands to zsh's own menu is caught instead of shown.
    let script = r#"
        compdef() { }
        _describe() { print -l -- "${(@P)3}" }
        eval "$(ccsurgery completions zsh)"
        words=(ccsurgery show ""); CURRENT=3; _clap_dynamic_completer_ccsurgery
    "#;
    let Some(out) = in_shell(&home, "zsh", &["-f"], script) else {
        return;
    };
    assert!(out.contains("5e551000:Haystack"), "{out}");
}
