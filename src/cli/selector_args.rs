//! The options with which operations choose content.

use clap::Args;

use crate::ops::{Selector, SizeSpec, TokenCount};
use crate::session::TurnRange;

/// Options that choose content. All that are given must match.
#[derive(Debug, Args)]
pub(crate) struct SelectorArgs {
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
    /// Nothing of the last N turns
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// Nothing of the newest content with this many tokens
    #[arg(long, value_name = "TOKENS")]
    keep_tokens: Option<TokenCount>,
}

/// The names of the arguments, for rules about them.
pub(crate) const SELECTORS: [&str; 10] = [
    "turns",
    "message",
    "matching",
    "tool",
    "path",
    "id",
    "errors",
    "larger_than",
    "keep_last",
    "keep_tokens",
];

impl From<SelectorArgs> for Selector {
    fn from(args: SelectorArgs) -> Self {
        Self {
            turns: args.turns,
            message: args.message,
            matching: args.matching,
            tool: args.tool,
            path: args.path,
            id: args.id,
            errors: args.errors,
            larger_than: args.larger_than,
            keep_last: args.keep_last,
            keep_tokens: args.keep_tokens,
        }
    }
}
