//! Plan files: operations and their options in TOML.
//!
//! The options of a step are parsed by the argument parser of the command line, so that both have the same
//! names, values and rules.

#[cfg(test)]
mod tests;
mod typed;

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};
use clap::{Arg, ArgAction, ArgMatches, Args};
use serde::Deserialize;

use crate::ops::StripThinking;
use crate::surgery::Transform;

use super::commands::{
    compact, delete, drop_hidden, drop_images, drop_tools, edit, extract, graft, redact,
    restore_branch, strip_thinking, title, truncate, uncompact,
};

use super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::commit_flow::Job;
use super::context::Context;
use super::error::{CliError, ErrorKind};
use super::settings::Settings;

pub(super) use typed::typed_step;

/// The options of an operation that a plan may contain.
pub(super) trait StepOptions: Args {
    /// Turns the options into a step.
    fn step(self) -> PlanStep;
}

/// One operation of a plan.
pub(super) enum PlanStep {
    /// A change of the session.
    Change {
        /// What it does to the session.
        transform: Box<dyn Transform>,
        /// Which turns' subagents lose their thinking too.
        subagents: Option<StripThinking>,
    },
    /// Turns of another session are inserted, which has to be found and read first.
    Graft(graft::GraftOptions),
    /// Secrets are replaced, which are searched for in all files of the session first.
    Redact(Box<redact::RedactOptions>),
}

impl PlanStep {
    /// A step that leaves the transcripts of subagents alone.
    pub(super) fn of(transform: impl Transform + 'static) -> Self {
        Self::Change {
            transform: Box::new(transform),
            subagents: None,
        }
    }

    /// Adds the step to a job.
    pub(super) fn add_to(self, context: &mut Context, job: &mut Job<'_>) -> Result<(), CliError> {
        let (transform, subagents) = match self {
            Self::Change {
                transform,
                subagents,
            } => (transform, subagents),
            Self::Graft(options) => return graft::add_to(options, context, job),
            Self::Redact(options) => return redact::add_to(*options, context, job),
        };
        if let Some(strip) = subagents {
            let only = strip.agents(&job.session)?;
            let work = job.for_subagents.get_or_insert_default();
            work.add(StripThinking::default(), only);
        }
        job.transforms.push(transform);
        Ok(())
    }
}

/// An operation that a plan may name.
struct Operation {
    name: &'static str,
    arguments: fn(clap::Command) -> clap::Command,
    step: fn(&ArgMatches) -> Result<PlanStep, clap::Error>,
}

const fn operation<T: StepOptions>(name: &'static str) -> Operation {
    Operation {
        name,
        arguments: T::augment_args,
        step: |matches| T::from_arg_matches(matches).map(T::step),
    }
}

const OPERATIONS: [Operation; 14] = [
    operation::<strip_thinking::StripThinkingOptions>("strip-thinking"),
    operation::<drop_tools::DropToolsOptions>("drop-tools"),
    operation::<drop_images::DropImagesOptions>("drop-images"),
    operation::<drop_hidden::DropHiddenOptions>("drop-hidden"),
    operation::<truncate::TruncateOptions>("truncate"),
    operation::<compact::CompactOptions>("compact"),
    operation::<delete::DeleteOptions>("delete"),
    operation::<edit::EditOptions>("edit"),
    operation::<extract::ExtractOptions>("extract"),
    operation::<uncompact::UncompactOptions>("uncompact"),
    operation::<restore_branch::RestoreBranchOptions>("restore-branch"),
    operation::<title::TitleOptions>("title"),
    operation::<graft::GraftOptions>("graft"),
    operation::<redact::RedactOptions>("redact"),
];

/// Hands over the job that carries out the steps of a plan.
pub(super) fn with_job<T>(
    context: &mut Context,
    session: SessionArg,
    operation: &'static str,
    places: (WriteArgs, InPlaceArgs),
    steps: Vec<PlanStep>,
    then: impl FnOnce(&mut Context, Job<'_>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let (write, in_place) = places;
    let mut job = Job::new(context, &session, operation, write, in_place)?;
    for step in steps {
        step.add_to(context, &mut job)?;
    }
    then(context, job)
}

/// A plan's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    #[serde(default)]
    step: Vec<toml::Spanned<Step>>,
}

/// The options of a step, and where each is.
pub(super) type Step = BTreeMap<toml::Spanned<String>, toml::Spanned<toml::Value>>;

/// A mistake in a step, and the option that has it.
#[derive(Debug)]
struct Mistake {
    option: Option<String>,
    message: String,
}

impl Mistake {
    fn new(option: impl Into<Option<String>>, message: impl Into<String>) -> Self {
        Self {
            option: option.into(),
            message: message.into(),
        }
    }
}

/// Returns the steps of a plan: the one with this name in the settings, else that of a file.
pub(super) fn find(settings: &Settings, plan: &Path) -> Result<Vec<PlanStep>, CliError> {
    let name = plan
        .to_str()
        .filter(|name| !name.contains(['/', '.', std::path::MAIN_SEPARATOR]));
    let Some(name) = name.filter(|name| *name != "-" && !plan.exists()) else {
        return read(plan);
    };
    settings.plan(name).unwrap_or_else(|| {
        let names: Vec<&str> = settings.plan_names().collect();
        let hint = match &names[..] {
            [] => "name a file, or put the plan into your config file as [[plan.NAME]]".to_owned(),
            names => format!(
                "your plans are: {}. A file needs its ending",
                names.join(", ")
            ),
        };
        let message = format!("there is no plan and no file called `{name}`");
        Err(CliError::usage(ErrorKind::NoSuchPlan, message, hint))
    })
}

/// Reads the steps of a plan from a file, or from standard input where the path is `-`.
fn read(path: &Path) -> Result<Vec<PlanStep>, CliError> {
    let mut text = String::new();
    let name = if path.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut text)?;
        "standard input".to_owned()
    } else {
        text = fs_err::read_to_string(path).map_err(CliError::unreadable)?;
        format!("`{}`", path.display())
    };
    parse(&name, &text)
}

/// Parses the text of a plan; `name` is what messages call its file.
pub(super) fn parse(name: &str, text: &str) -> Result<Vec<PlanStep>, CliError> {
    let bad = |span, message: &str| bad_plan(name, text, span, message);
    let file: PlanFile = toml::from_str(text).map_err(|e| bad(e.span(), e.message()))?;
    steps(name, text, &file.step)
}

/// Reads the steps of a plan that is in the file with this name and text.
pub(super) fn steps(
    name: &str,
    text: &str,
    steps: &[toml::Spanned<Step>],
) -> Result<Vec<PlanStep>, CliError> {
    let bad = |span, message: &str| bad_plan(name, text, span, message);
    if steps.is_empty() {
        return Err(bad(None, "the plan has no steps"));
    }
    let steps = steps.iter().map(|step| {
        one(step.get_ref()).map_err(|mistake| {
            let option = mistake.option.as_deref();
            let found = step
                .get_ref()
                .keys()
                .find(|k| Some(k.get_ref().as_str()) == option);
            let span = found.map_or_else(|| step.span(), toml::Spanned::span);
            bad(Some(span), &mistake.message)
        })
    });
    steps.collect()
}

/// Parses one step.
fn one(step: &Step) -> Result<PlanStep, Mistake> {
    let known = || {
        let names: Vec<&str> = OPERATIONS.iter().map(|o| o.name).collect();
        names.join(", ")
    };
    let op = step.iter().find(|(key, _)| key.get_ref() == "op");
    let op = op.map(|(_, value)| value.get_ref());
    let name = match op {
        Some(toml::Value::String(name)) => name,
        Some(other) => {
            let message = format!(
                "`op` must be text, not {}: one of {}",
                type_of(other),
                known()
            );
            return Err(Mistake::new("op".to_owned(), message));
        }
        None => {
            let message = format!("the step has no `op`: one of {}", known());
            return Err(Mistake::new(None, message));
        }
    };
    let Some(operation) = OPERATIONS.iter().find(|o| o.name == name) else {
        let message = format!("there is no operation `{name}`: one of {}", known());
        return Err(Mistake::new("op".to_owned(), message));
    };
    let command = clap::Command::new(operation.name)
        .no_binary_name(true)
        .disable_help_flag(true);
    let command = (operation.arguments)(command);
    let mut words = Vec::new();
    for (key, value) in step {
        if key.get_ref() != "op" {
            words.extend(words_of(&command, key.get_ref(), value.get_ref())?);
        }
    }
    let matches = command.try_get_matches_from(words);
    let built = matches.and_then(|matches| (operation.step)(&matches));
    built.map_err(|error| mistake(operation.name, &error))
}

/// Returns an option of a step as words of a command line.
fn words_of(
    command: &clap::Command,
    key: &str,
    value: &toml::Value,
) -> Result<Vec<String>, Mistake> {
    let options = || command.get_arguments().filter_map(Arg::get_long);
    let Some(arg) = command.get_arguments().find(|a| a.get_long() == Some(key)) else {
        let options: Vec<&str> = options().collect();
        let message = format!(
            "{} has no option `{key}`; it has {}",
            command.get_name(),
            options.join(", ")
        );
        return Err(Mistake::new(key.to_owned(), message));
    };
    let wrong = |expected: &str, found: &toml::Value| {
        let message = format!("`{key}` must be {expected}, not {}", type_of(found));
        Mistake::new(key.to_owned(), message)
    };
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return match value {
            toml::Value::Boolean(true) => Ok(vec![format!("--{key}")]),
            toml::Value::Boolean(false) => Ok(Vec::new()),
            other => Err(wrong("true or false", other)),
        };
    }
    let many = matches!(arg.get_action(), ArgAction::Append);
    let expected = match (Expected::of(arg), many) {
        (expected, false) => expected.words().to_owned(),
        (expected, true) => format!("{}, or a list of them", expected.words()),
    };
    let values = match value {
        toml::Value::Array(values) if many => values.as_slice(),
        value => std::slice::from_ref(value),
    };
    let word = |value: &toml::Value| match (value, Expected::of(arg)) {
        (toml::Value::String(text), Expected::Text | Expected::Either) => Ok(text.clone()),
        (toml::Value::Integer(n), Expected::Number) if *n >= 0 => Ok(n.to_string()),
        (toml::Value::Integer(n), Expected::Either) => Ok(n.to_string()),
        (other, _) => Err(wrong(&expected, other)),
    };
    let words = values
        .iter()
        .map(|value| Ok(format!("--{key}={}", word(value)?)));
    words.collect()
}

/// What a value of an option must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Number,
    Either,
    Text,
}

impl Expected {
    /// Reads it from the name that the help gives the value.
    fn of(arg: &Arg) -> Self {
        match arg
            .get_value_names()
            .and_then(<[_]>::first)
            .map(clap::builder::Str::as_str)
        {
            Some("N") => Self::Number,
            Some("RANGE" | "TURN" | "TURNS" | "SIZE" | "TOKENS") => Self::Either,
            _ => Self::Text,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Number => "a whole number from 0",
            Self::Either => "a whole number or text",
            Self::Text => "text",
        }
    }
}

/// Returns the type of a value in words.
fn type_of(value: &toml::Value) -> String {
    match value {
        toml::Value::String(_) => "text".to_owned(),
        toml::Value::Integer(n) => n.to_string(),
        toml::Value::Float(n) => n.to_string(),
        toml::Value::Boolean(b) => b.to_string(),
        toml::Value::Datetime(_) => "a date".to_owned(),
        toml::Value::Array(_) => "a list".to_owned(),
        toml::Value::Table(_) => "a table".to_owned(),
    }
}

/// Turns an error of the argument parser into words for a plan, where options have no dashes.
fn mistake(operation: &str, error: &clap::Error) -> Mistake {
    let names = |kind| match error.get(kind) {
        Some(ContextValue::String(one)) => option_names(one),
        Some(ContextValue::Strings(all)) => all.iter().flat_map(|one| option_names(one)).collect(),
        _ => Vec::new(),
    };
    let invalid = names(ContextKind::InvalidArg);
    let quoted = |names: &[String]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} or {last}", others.join(", ")),
            None => String::new(),
        }
    };
    let first = invalid.first().cloned();
    match error.kind() {
        ClapKind::MissingRequiredArgument => {
            let message = format!("{operation} needs {} too", quoted(&invalid));
            Mistake::new(None, message)
        }
        ClapKind::ArgumentConflict => {
            let prior = names(ContextKind::PriorArg);
            let message = format!(
                "{} cannot be used with {}",
                quoted(&invalid),
                quoted(&prior)
            );
            Mistake::new(first, message)
        }
        _ => {
            let reason = error
                .source()
                .map_or_else(|| error.to_string(), ToString::to_string);
            Mistake::new(first, format!("{}: {reason}", quoted(&invalid)))
        }
    }
}

/// Returns the names of options in text like `--head <N>` or `<--at <TURN>|--keep-last <N>>`.
fn option_names(text: &str) -> Vec<String> {
    let starts = text.split("--").skip(1);
    let name = |rest: &str| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        rest[..end.unwrap_or(rest.len())].to_owned()
    };
    starts.map(name).collect()
}

/// Reports a mistake in a plan, and its line.
fn bad_plan(name: &str, text: &str, span: Option<Range<usize>>, message: &str) -> CliError {
    let place = place(name, text, span);
    let message = message.lines().next().unwrap_or_default();
    CliError::usage(
        ErrorKind::BadPlan,
        format!("{place}: {message}"),
        "see: ccsurgery run --help",
    )
}

/// Returns the name of a file and the line in its text.
pub(super) fn place(name: &str, text: &str, span: Option<Range<usize>>) -> String {
    let Some(span) = span else {
        return name.to_owned();
    };
    let before = &text.as_bytes()[..span.start.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    format!("{name}, line {line}")
}
