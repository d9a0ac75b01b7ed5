//! The selectors of content, for all commands that have them.

use clap::Args;

use crate::ops::{Selector, SizeSpec, TokenCount};
use crate::session::TurnRange;

/// Which content of a session a command is about. All selectors that are given must match.
#[derive(Debug, Args)]
#[group(id = "selectors", multiple = true)]
pub(super) struct SelectorArgs {
    /// These turns: 7, 3..7, ..7, -3..
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// A prompt or an answer, by its id or the beginning of it [repeatable]
    #[arg(long, value_name = "ID")]
    message: Vec<String>,
    /// Blocks whose text matches this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<String>,
    /// Calls of this tool with their results, e.g. Bash or 'mcp__*' [repeatable]
    #[arg(long, value_name = "GLOB")]
    tool: Vec<String>,
    /// Calls on this file with their results, e.g. 'src/*.rs' [repeatable]
    #[arg(long, value_name = "GLOB")]
    path: Vec<String>,
    /// One call with its result, by its id or the end of it [repeatable]
    #[arg(long, value_name = "CALL")]
    id: Vec<String>,
    /// Calls that failed, with their results
    #[arg(long)]
    errors: bool,
    /// Calls larger than this, input and output together, and other blocks larger than this
    #[arg(long, value_name = "SIZE")]
    larger_than: Option<SizeSpec>,
    /// Leave the last N turns alone
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// Leave the newest content with this many tokens alone
    #[arg(long, value_name = "TOKENS")]
    keep_tokens: Option<TokenCount>,
}

impl SelectorArgs {
    /// Returns the selector that the arguments describe.
    pub(super) fn selector(&self) -> Selector {
        Selector {
            turns: self.turns.clone(),
            message: self.message.clone(),
            matching: self.matching.clone(),
            tool: self.tool.clone(),
            path: self.path.clone(),
            id: self.id.clone(),
            errors: self.errors,
            larger_than: self.larger_than,
            keep_last: self.keep_last,
            keep_tokens: self.keep_tokens,
        }
    }
}
