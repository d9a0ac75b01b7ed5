//! Plans that people keep in files.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::ops::{DropHidden, DropImages, DropTools, StripThinking, Truncate};
use crate::surgery::Transform;

use super::error::CliError;
use super::summary::{CompactWith, SummarySource};

/// A plan's file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    #[serde(default)]
    step: Vec<toml::Spanned<Step>>,
}

/// The options of a step, and where each stands.
type Step = BTreeMap<toml::Spanned<String>, toml::Spanned<toml::Value>>;

/// What `compact` takes in a file besides the library's options.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct SummaryOptions {
    summary_file: Option<PathBuf>,
    summarizer: Option<String>,
}

const OPERATIONS: &str = "strip-thinking, drop-tools, drop-images, drop-hidden, truncate, compact";

/// Reads the steps of a plan.
pub(super) fn read(path: &Path) -> Result<Vec<Box<dyn Transform>>, CliError> {
    let text = fs_err::read_to_string(path).map_err(CliError::unreadable)?;
    let file: PlanFile =
        toml::from_str(&text).map_err(|e| bad(path, &text, e.span(), e.message()))?;
    if file.step.is_empty() {
        return Err(bad(path, &text, None, "the plan has no steps"));
    }
    file.step
        .into_iter()
        .map(|step| {
            let span = step.span();
            let step = step.into_inner();
            let plain = step
                .iter()
                .map(|(k, v)| (k.get_ref().clone(), v.get_ref().clone()));
            one(plain.collect()).map_err(|message| {
                let span = culprit(&step, &message).unwrap_or(span);
                bad(path, &text, Some(span), &message)
            })
        })
        .collect()
}

fn one(mut step: toml::Table) -> Result<Box<dyn Transform>, String> {
    let op = match step.remove("op") {
        Some(toml::Value::String(op)) => op,
        Some(_) => return Err(format!("`op` is a word: one of {OPERATIONS}")),
        None => return Err(format!("the step says no `op`: one of {OPERATIONS}")),
    };
    fn options<T: for<'de> Deserialize<'de>>(op: &str, step: toml::Table) -> Result<T, String> {
        step.try_into()
            .map_err(|e: toml::de::Error| format!("{op}: {}", e.message()))
    }
    Ok(match op.as_str() {
        "strip-thinking" => Box::new(options::<StripThinking>(&op, step)?),
        "drop-tools" => Box::new(options::<DropTools>(&op, step)?),
        "drop-images" => Box::new(options::<DropImages>(&op, step)?),
        "drop-hidden" => Box::new(options::<DropHidden>(&op, step)?),
        "truncate" => Box::new(options::<Truncate>(&op, step)?),
        "compact" => {
            let own: SummaryOptions = options(&op, step.clone())?;
            step.remove("summary-file");
            step.remove("summarizer");
            let source = SummarySource::new(own.summary_file, own.summarizer);
            Box::new(CompactWith {
                options: options(&op, step)?,
                source,
            })
        }
        other => {
            return Err(format!(
                "there is no operation `{other}`: one of {OPERATIONS}"
            ));
        }
    })
}

/// Where the option stands that a message is about: the first that it quotes, by its name or value.
fn culprit(step: &Step, message: &str) -> Option<Range<usize>> {
    let quoted = message.split('`').nth(1)?;
    let found = step
        .iter()
        .find(|(key, value)| key.get_ref() == quoted || value.get_ref().as_str() == Some(quoted));
    found.map(|(key, _)| key.span())
}

/// Says what is wrong with a plan, and on which line.
fn bad(path: &Path, text: &str, span: Option<Range<usize>>, message: &str) -> CliError {
    let breaks = |s: Range<usize>| {
        memchr::memchr_iter(b'\n', &text.as_bytes()[..s.start.min(text.len())]).count()
    };
    let line = span.map(|s| breaks(s) + 1);
    let place = line.map_or(String::new(), |l| format!(", line {l}"));
    CliError::usage(
        "bad-plan",
        format!(
            "`{}`{place}: {}",
            path.display(),
            message.lines().next().unwrap_or_default()
        ),
        "see: ccsurgery run --help",
    )
}
