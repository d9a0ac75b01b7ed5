//! The summary of an earlier compaction, without what the client wrote around it.

use super::account::Account;
use super::layout::{Item, Section};
use super::text::without_headings;

/// Where the client's closing words begin; the tasks that they speak of are long done.
const CLOSINGS: [&str; 5] = [
    "\nIf you need specific details from before compaction",
    "\nPlease continue the conversation from where",
    "\nContinue the conversation from where it left off",
    "\nContinue with the last task",
    "\nResume directly",
];

/// The sections of the client's summaries that count most later on, and their ranks.
const RANKS: [(&str, i64); 9] = [
    ("Primary Request", 9),
    ("Pending Tasks", 8),
    ("Current Work", 8),
    ("Next Step", 6),
    ("Errors", 7),
    ("Problem Solving", 7),
    ("Key Technical", 5),
    ("Files and Code", 4),
    ("All user messages", 3),
];

/// The earlier summary, one item for each of its sections.
pub(super) fn section(account: &Account) -> Section {
    let text = account.earlier.as_deref().unwrap_or_default();
    let parts = parts(&without_code(&body(text)));
    Section {
        heading: "Summary of what came before",
        share: 30,
        floor: 200,
        cut_ends: false,
        essential: false,
        items: parts
            .into_iter()
            .map(|part| {
                let head = part.lines().next().unwrap_or_default();
                let known = RANKS.iter().find(|(name, _)| head.contains(name));
                let rank = known.map_or(5, |(_, rank)| *rank);
                Item::new(without_headings(&part), 1, rank)
            })
            .collect(),
    }
}

/// Returns the summary without the client's opening and closing words and the model's notes to itself.
fn body(text: &str) -> String {
    let mut text = text.trim();
    if let Some(at) = text.find("\nSummary:\n") {
        text = &text[at + "\nSummary:\n".len()..];
    } else if text.starts_with("This session is being continued") {
        text = text.split_once('\n').map_or("", |(_, rest)| rest);
    }
    for closing in CLOSINGS {
        text = text.find(closing).map_or(text, |at| &text[..at]);
    }
    text.trim().to_owned()
}

/// Leaves out blocks of code: the files have it.
fn without_code(text: &str) -> String {
    let mut code = false;
    let mut out = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        } else if !code && !line.trim().is_empty() {
            out.push(line);
        }
    }
    out.join("\n")
}

/// Splits a summary at its outermost numbered or marked headings; a summary without any is one part.
fn parts(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in text.lines() {
        let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let begins =
            line.starts_with("## ") || numbered.len() < line.len() && numbered.starts_with(". ");
        match out.last_mut() {
            Some(part) if !begins => {
                part.push('\n');
                part.push_str(line);
            }
            _ => out.push(line.to_owned()),
        }
    }
    out.retain(|part| !part.trim().is_empty());
    out
}
