//! What of a session is not on its live path.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::render::{DIM, bytes, fit, pad, paint};
use crate::session::{Session, Standing};
use crate::store::Located;
use crate::transcript::PromptKind;
use crate::view::{prompt_as_typed, prompt_text};

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::pager;

/// A path that was left, or that never was joined.
struct Branch {
    /// The turn after which it leaves the live path; `None` if it does not touch it.
    after: Option<u32>,
    root: String,
    words: String,
    entries: u32,
    bytes: u64,
}

/// Lists the paths that are not live.
pub(crate) fn run(
    context: &mut Context,
    found: &Located,
    session: &Session,
) -> Result<ExitCode, CliError> {
    let branches = gather(session);
    if context.json {
        let all: Vec<Value> = branches
            .iter()
            .map(|b| json!({"after_turn": b.after, "uuid": b.root, "prompt": context.masked(&b.words), "entries": b.entries, "bytes": b.bytes}))
            .collect();
        context.print_json(&json!({"session_id": found.id, "branches": all}))?;
        return Ok(ExitCode::SUCCESS);
    }
    if branches.is_empty() {
        context.tell("Everything is on the live path.");
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = format!(
        "{}\n",
        paint(DIM, "after turn  entries       size  entry     first words")
    );
    let room = context.columns.saturating_sub(44).max(12);
    for b in &branches {
        let after = b.after.map_or("apart".to_owned(), |t| t.to_string());
        let short: String = b.root.chars().take(8).collect();
        let line = format!(
            "{}  {}  {}  {}  {}",
            pad(&after, -10),
            pad(&b.entries.to_string(), -7),
            pad(&bytes(b.bytes), -9),
            pad(&context.words(&short), 8),
            fit(&context.words(&b.words), room)
        );
        let _ = writeln!(out, "{}", line.trim_end());
    }
    pager::show(context, &out)?;
    Ok(ExitCode::SUCCESS)
}

fn gather(session: &Session) -> Vec<Branch> {
    let (entries, graph) = (session.entries(), session.graph());
    let off = |i: usize| matches!(graph.place(i), Standing::Branch(_) | Standing::Apart);
    // Which branch an entry is on: its topmost ancestor off the path. Cycles stop where they close.
    let mut roots: Vec<Option<usize>> = vec![None; entries.len()];
    for i in (0..entries.len()).filter(|&i| off(i)) {
        let mut walked = vec![i];
        let mut at = i;
        while roots[at].is_none()
            && let Some(parent) = graph.parent(at).filter(|&p| off(p) && !walked.contains(&p))
        {
            walked.push(parent);
            at = parent;
        }
        let root = roots[at].unwrap_or(at);
        for w in walked {
            roots[w] = Some(root);
        }
    }
    let mut out: Vec<(usize, Branch)> = Vec::new();
    for (i, e) in entries.iter().enumerate() {
        let Some(root) = roots[i] else { continue };
        let index = out.iter().position(|(r, _)| *r == root).unwrap_or_else(|| {
            let after = match graph.place(root) {
                Standing::Branch(p) => Some(session.turns().at_position(p)),
                _ => None,
            };
            let uuid = session.uuid(&entries[root]).unwrap_or_default();
            out.push((
                root,
                Branch {
                    after,
                    root: uuid,
                    words: String::new(),
                    entries: 0,
                    bytes: 0,
                },
            ));
            out.len() - 1
        });
        let branch = &mut out[index].1;
        branch.entries += 1;
        branch.bytes += session.document().lines()[e.line as usize].len() as u64 + 1;
        if branch.words.is_empty() && matches!(e.prompt, PromptKind::Words | PromptKind::Command) {
            branch.words = prompt_text(session, e)
                .map(|w| prompt_as_typed(&w))
                .unwrap_or_default();
        }
    }
    out.into_iter().map(|(_, b)| b).collect()
}
