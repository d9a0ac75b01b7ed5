//! Several sessions at once: by name, by age, by text, of one project or of all.

use std::str::FromStr;
use std::time::Duration;

use clap::Args;

use crate::store::{Depth, Located, Locator, list};
use crate::view::SessionText;

use super::args::SessionArg;
use super::context::Context;
use super::error::{CliError, ErrorKind};
use super::names;

/// Which sessions a command is about.
#[derive(Debug, Clone, Args)]
pub(super) struct SelectionArgs {
    /// Ids or their first 4 characters or more, titles or parts of them, or `@` for the newest session of this
    /// project (`@2` the one before it)
    #[arg(value_name = "SESSION")]
    pub(super) sessions: Vec<String>,
    /// All sessions that were not used for this long: 30d, 12h, 8w
    #[arg(long, value_name = "AGE", conflicts_with = "sessions")]
    pub(super) older_than: Option<Age>,
    /// All sessions with this text in the title or first prompt, ignoring case
    #[arg(long, value_name = "TEXT", conflicts_with = "sessions")]
    pub(super) grep: Option<String>,
    /// Look in all projects, not only in this one
    #[arg(long, conflicts_with = "sessions")]
    pub(super) all: bool,
}

/// A span of time: `30d`, `12h`, `45m`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Age(pub(super) Duration);

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not an age; write 30d, 12h or 45m");
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let factor = match &text[digits.len()..] {
            "w" => 604_800,
            "d" => 86_400,
            "h" => 3_600,
            "m" => 60,
            _ => return Err(bad()),
        };
        let number: u64 = digits.parse().map_err(|_| bad())?;
        Ok(Self(Duration::from_secs(number.saturating_mul(factor))))
    }
}

impl SelectionArgs {
    /// Returns the sessions, each once. Fails if nothing says which are meant.
    pub(super) fn find(
        &self,
        context: &mut Context,
        command: &str,
    ) -> Result<Vec<Located>, CliError> {
        names::require_data(context)?;
        let mut found: Vec<Located> = Vec::new();
        for name in &self.sessions {
            let session = Some(name.clone());
            let one = names::find(context, &SessionArg { session })?;
            if !found.iter().any(|f| f.path == one.path) {
                found.push(one);
            }
        }
        if !self.sessions.is_empty() {
            return Ok(found);
        }
        if self.older_than.is_none() && self.grep.is_none() {
            return Err(CliError::usage(
                ErrorKind::Usage,
                format!("`{command}` needs to know which sessions are meant"),
                format!("name them, or select them: ccsurgery {command} --older-than 60d"),
            ));
        }
        self.select(context)
    }

    fn select(&self, context: &Context) -> Result<Vec<Located>, CliError> {
        let locator = Locator::new(&context.config, &context.project);
        let found = if self.all {
            locator.all()
        } else {
            locator.here()
        };
        let mut found = found.map_err(|e| names::explain(context, e))?;
        if let Some(Age(least)) = self.older_than {
            found.retain(|f| {
                let age = context.now.duration_since(f.modified);
                age.is_ok_and(|age| age >= least)
            });
        }
        let Some(text) = &self.grep else {
            return Ok(found);
        };
        let wanted = text.to_lowercase();
        let listed = list(found, Depth::Quick).into_iter();
        let fitting = listed.filter(|l| {
            let texts = [&l.glance.title, &l.glance.first_prompt];
            let mut texts = texts.into_iter().flatten().map(SessionText::raw);
            texts.any(|text| text.to_lowercase().contains(&wanted))
        });
        Ok(fitting.map(|l| l.found).collect())
    }
}
