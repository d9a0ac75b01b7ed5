//! The person's own settings, from a file in TOML. All of them are optional.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use clap::builder::ArgPredicate;
use clap::{Arg, Command};
use serde::Deserialize;
use toml::Spanned;

use super::args::Color;
use super::error::{CliError, ErrorKind};
use super::plan_file::{self, PlanStep, Step};

/// The settings, and the file that they are from.
#[derive(Debug, Default)]
pub(super) struct Settings {
    values: Values,
    /// Where the file is, or would be.
    pub(super) path: Option<PathBuf>,
    text: String,
}

/// What the file may contain.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Values {
    color: Option<Color>,
    pager: Option<String>,
    secret_rules: Option<String>,
    #[serde(default)]
    defaults: Defaults,
    #[serde(default)]
    plan: BTreeMap<String, Vec<Spanned<Step>>>,
}

/// Values of options that are used where the option is not given.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Defaults {
    keep_last: Option<u32>,
    keep_tokens: Option<Spanned<Tokens>>,
}

/// A number of tokens: `20000` or `"20k"`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Tokens {
    Number(u32),
    Text(String),
}

impl Tokens {
    fn text(&self) -> String {
        match self {
            Tokens::Number(number) => number.to_string(),
            Tokens::Text(text) => text.clone(),
        }
    }
}

impl Settings {
    /// Reads the settings of this process's user.
    pub(super) fn of_user() -> Result<Self, CliError> {
        match path_of_user() {
            Some(path) => Self::read(path),
            None => Ok(Self::default()),
        }
    }

    /// Reads the settings in a file; there are none if the file does not exist.
    fn read(path: PathBuf) -> Result<Self, CliError> {
        match fs_err::read_to_string(&path) {
            Ok(text) => Self::parse(path, text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self {
                path: Some(path),
                ..Self::default()
            }),
            Err(error) => Err(CliError::unreadable(error)),
        }
    }

    fn parse(path: PathBuf, text: String) -> Result<Self, CliError> {
        let bad = |span, message: &str| {
            let place = plan_file::place(&format!("`{}`", path.display()), &text, span);
            let message = message.lines().next().unwrap_or_default();
            CliError::usage(
                ErrorKind::BadConfig,
                format!("{place}: {message}"),
                "correct the file, or use another one: CCSURGERY_CONFIG=FILE",
            )
        };
        let values: Values = toml::from_str(&text).map_err(|e| bad(e.span(), e.message()))?;
        if let Some(tokens) = &values.defaults.keep_tokens {
            let parsed = tokens.get_ref().text().parse::<crate::ops::TokenCount>();
            parsed.map_err(|e| bad(Some(tokens.span()), &format!("`keep-tokens`: {e}")))?;
        }
        Ok(Self {
            values,
            path: Some(path),
            text,
        })
    }

    /// Makes the values the defaults of the options that they are about, so that options on the command line win.
    pub(super) fn apply(&self, program: Command) -> Command {
        let color = self.values.color.filter(|_| !environment_has_color());
        let mut program = match color {
            Some(color) => program.mut_arg("color", |arg| arg.default_value(color.word())),
            None => program,
        };
        let names: Vec<String> = program
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .collect();
        for name in names {
            program = program.mut_subcommand(name, |command| self.apply_to(command));
        }
        program
    }

    fn apply_to(&self, mut command: Command) -> Command {
        let Defaults {
            keep_last,
            keep_tokens,
        } = &self.values.defaults;
        // There, it does not protect content: it chooses what is summarised, edited or searched for secrets.
        let protects = !["compact", "edit", "redact"].contains(&command.get_name());
        let mut with_tokens = false;
        if let Some(tokens) = keep_tokens.as_ref().filter(|_| protects) {
            let others = ["keep_last", "turns", "message", "id"];
            with_tokens = has(&command, "keep_tokens");
            let text = tokens.get_ref().text();
            command = with_default(command, "keep_tokens", &text, &others);
        }
        if let Some(last) = keep_last.filter(|_| protects && !with_tokens) {
            let others = ["keep_tokens", "turns", "message", "id"];
            command = with_default(command, "keep_last", &last.to_string(), &others);
        }
        if let Some(rules) = &self.values.secret_rules {
            let rules = self.beside(rules).to_string_lossy().into_owned();
            command = with_default(command, "rules", &rules, &[]);
        }
        command
    }

    /// Returns a path of the file: `~` is the home folder, and other paths start at the file's folder.
    fn beside(&self, path: &str) -> PathBuf {
        let home = etcetera::home_dir().ok();
        match (path.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => {
                let folder = self.path.as_deref().and_then(Path::parent);
                folder.unwrap_or(Path::new("")).join(path)
            }
        }
    }

    /// Returns the pager that the file names.
    pub(super) fn pager(&self) -> Option<&str> {
        self.values.pager.as_deref()
    }

    /// Returns the names of the plans.
    pub(super) fn plan_names(&self) -> impl Iterator<Item = &str> {
        self.values.plan.keys().map(String::as_str)
    }

    /// Returns the steps of the plan with this name, or `None` if there is none.
    pub(super) fn plan(&self, name: &str) -> Option<Result<Vec<PlanStep>, CliError>> {
        let steps = self.values.plan.get(name)?;
        let file = self.path.as_deref().unwrap_or(Path::new(""));
        let file = format!("`{}`", file.display());
        Some(plan_file::steps(&file, &self.text, steps))
    }
}

/// Returns the file that `$CCSURGERY_CONFIG` names, else the one in the folder for settings.
fn path_of_user() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;
    if let Some(path) = std::env::var_os("CCSURGERY_CONFIG").filter(|p| !p.is_empty()) {
        return Some(path.into());
    }
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.config_dir().join("ccsurgery").join("config.toml"))
}

/// Whether the environment decides about colours.
fn environment_has_color() -> bool {
    let variables = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"];
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    variables.iter().any(is_set)
}

fn has(command: &Command, id: &str) -> bool {
    command.get_arguments().any(|arg| arg.get_id() == id)
}

/// Gives an option a default value, unless one of the others is given. Commands without the option stay as they are.
fn with_default(command: Command, id: &str, value: &str, unless: &[&'static str]) -> Command {
    if !has(&command, id) {
        return command;
    }
    let unless: Vec<&str> = unless
        .iter()
        .copied()
        .filter(|other| has(&command, other))
        .collect();
    let value = value.to_owned();
    command.mut_arg(id, |arg: Arg| {
        let arg = unless.into_iter().fold(arg, |arg, other| {
            arg.default_value_if(other, ArgPredicate::IsPresent, None::<&str>)
        });
        arg.default_value(value).hide_default_value(true)
    })
}
