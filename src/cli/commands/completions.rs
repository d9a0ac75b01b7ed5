use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;
use serde_json::json;

use super::super::completing::{BASH, VARIABLE};
use super::super::context::Context;
use super::super::error::CliError;

/// Print completions for a shell
///
/// The script completes commands, options, sessions with their titles, turns, messages, tools, checks and plans.
/// Save it where your shell looks for completions, and start a new shell.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  bash        ccsurgery completions bash > ~/.local/share/bash-completion/completions/ccsurgery\n  zsh         ccsurgery completions zsh > ~/.zfunc/_ccsurgery    with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc\n  fish        ccsurgery completions fish > ~/.config/fish/completions/ccsurgery.fish\n  elvish      ccsurgery completions elvish >> ~/.config/elvish/rc.elv\n  powershell  ccsurgery completions powershell | Out-File -Append -Encoding utf8 $PROFILE"
)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let script = script(args.shell)?;
    let install = install(args.shell);
    if context.json {
        let shell = args.shell.to_string();
        let document = json!({"schema": 1, "shell": shell, "script": script, "install": install});
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    context.out.write_all(script.as_bytes())?;
    if context.on_screen {
        context.out.flush()?;
        context.tell(&format!("\nTo install it: {install}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Completes the first time too, if zsh loads the script only when it is needed.
const ZSH_AUTOLOAD: &str = r#"
if [[ "$funcstack[1]" == "_ccsurgery" ]]; then
    _clap_dynamic_completer_ccsurgery "$@"
fi"#;

/// Returns the script of a shell, which asks the program itself.
fn script(shell: Shell) -> Result<String, CliError> {
    let name = shell.to_string();
    let known = Shells::builtins();
    let mut script = Vec::new();
    match known.completer(&name) {
        Some(completer) if shell != Shell::Bash => {
            completer.write_registration(
                VARIABLE,
                "ccsurgery",
                "ccsurgery",
                "ccsurgery",
                &mut script,
            )?;
        }
        _ => script.extend_from_slice(BASH.as_bytes()),
    }
    let mut script = String::from_utf8_lossy(&script).trim().to_owned();
    if shell == Shell::Zsh {
        script.push_str(ZSH_AUTOLOAD);
    }
    Ok(script + "\n")
}

/// Returns how the script is installed.
fn install(shell: Shell) -> &'static str {
    match shell {
        Shell::Zsh => {
            "ccsurgery completions zsh > ~/.zfunc/_ccsurgery, with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc"
        }
        Shell::Fish => "ccsurgery completions fish > ~/.config/fish/completions/ccsurgery.fish",
        Shell::Elvish => "ccsurgery completions elvish >> ~/.config/elvish/rc.elv",
        Shell::PowerShell => {
            "ccsurgery completions powershell | Out-File -Append -Encoding utf8 $PROFILE"
        }
        _ => {
            "ccsurgery completions bash > ~/.local/share/bash-completion/completions/ccsurgery, or add to ~/.bashrc: source <(ccsurgery completions bash)"
        }
    }
}
