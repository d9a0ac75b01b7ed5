//! Which rows are looked for: by tool, size, failure or text.

use std::collections::BTreeSet;

use crate::ops::TokenCount;
use crate::transcript::EntryIx;
use crate::view::{Pattern, PatternOptions, entry_text};

use super::tree::{NO_BLOCK, Node, NodeKind, Tree};

/// What rows must fit. All that is given must fit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// The beginning of a tool's name, in any case.
    pub tool: Option<String>,
    /// Only rows with more tokens than this.
    pub larger: Option<u64>,
    /// Only failures.
    pub errors: bool,
    /// Only rows with this text, in any case.
    pub text: String,
}

impl Filter {
    /// Reads a filter as people type it: `tool:Bash >2k error some words`.
    pub fn parse(typed: &str) -> Result<Self, String> {
        let mut filter = Self::default();
        let mut words = Vec::new();
        for word in typed.split_whitespace() {
            if let Some(tool) = word.strip_prefix("tool:") {
                filter.tool = Some(tool.to_lowercase());
            } else if let Some(size) = word.strip_prefix('>') {
                let size: TokenCount = size.parse()?;
                filter.larger = Some(size.0);
            } else if matches!(word, "error" | "errors" | "failed") {
                filter.errors = true;
            } else {
                words.push(word);
            }
        }
        filter.text = words.join(" ");
        Ok(filter)
    }

    /// Whether everything fits.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the rows that fit, in order.
    pub fn rows(&self, tree: &Tree) -> Result<Vec<u32>, String> {
        let options = PatternOptions {
            ignore_case: true,
            fixed: true,
            word: false,
        };
        let pattern = match &*self.text {
            "" => None,
            text => Some(Pattern::new(text, options).map_err(|e| e.to_string())?),
        };
        let entries = pattern.map(|pattern| entries_with(tree, &pattern));
        let fits = |node: &Node| {
            self.fits_facts(tree, node)
                && entries
                    .as_ref()
                    .is_none_or(|all| all.contains(&node.entry()))
        };
        let rows = tree.nodes.iter().enumerate();
        let rows = rows.filter(|(_, n)| is_leaf(n) && fits(n));
        Ok(rows.map(|(row, _)| row as u32).collect())
    }

    fn fits_facts(&self, tree: &Tree, node: &Node) -> bool {
        let has_tool = |tool: &String| {
            let Some(&entry) = tree.calls.get(&node.call) else {
                return false;
            };
            let e = tree.session.entry(entry);
            let name = tree.session.tool_name(e, tree.session.block(node.call));
            name.to_lowercase().starts_with(tool.as_str())
        };
        (!self.errors || node.failed)
            && self.larger.is_none_or(|least| node.tokens > least as f32)
            && self.tool.as_ref().is_none_or(has_tool)
    }
}

/// Whether a row is content itself, rather than a heading of others.
fn is_leaf(node: &Node) -> bool {
    match node.kind {
        NodeKind::Turn
        | NodeKind::Compaction
        | NodeKind::Branch
        | NodeKind::Subagent
        | NodeKind::Aside => false,
        _ => node.block != NO_BLOCK || node.is_message(),
    }
}

/// Returns the entries in whose text a pattern is.
fn entries_with(tree: &Tree, pattern: &Pattern) -> BTreeSet<EntryIx> {
    use rayon::prelude::*;
    let session = &*tree.session;
    let found = session.par_numbered().filter(|(_, e)| {
        let may = e.is_message() || e.is_chained();
        may && pattern.may_match(session.text(e)) && {
            let text = entry_text(session, e);
            let mut lines = text.raw().lines();
            lines.any(|line| !pattern.matches_in(line).is_empty())
        }
    });
    found.map(|(i, _)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_is_read_as_typed() {
        let filter = Filter::parse("tool:Bash >2k error cannot find").unwrap();
        let expected = Filter {
            tool: Some("bash".to_owned()),
            larger: Some(2_000),
            errors: true,
            text: "cannot find".to_owned(),
        };
        assert_eq!(filter, expected);
        assert!(Filter::parse(" ").unwrap().is_empty());
        assert!(Filter::parse(">x").is_err());
    }
}
