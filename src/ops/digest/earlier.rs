//! The summary of an earlier compaction, without what the client wrote around it.

use super::account::Account;
use super::layout::{Item, Section};
use super::text::without_headings;
use super::{MADE_HERE, person, plan};

/// Where the client's closing words begin; the tasks that they speak of are long done.
const CLOSINGS: [&str; 5] = [
    "\nIf you need specific details from before compaction",
    "\nPlease continue the conversation from where",
    "\nContinue the conversation from where it left off",
    "\nContinue with the last task",
    "\nResume directly",
];

/// The sections of the client's summaries, with their ranks and weights: those that count most later on come first. What
/// was being worked on then is outdated.
const SECTIONS: [(&str, i64, usize); 9] = [
    ("Primary Request", 9, 4),
    ("Pending Tasks", 8, 4),
    ("Current Work", 6, 2),
    ("Next Step", 5, 2),
    ("Errors", 7, 3),
    ("Problem Solving", 7, 3),
    ("Key Technical", 5, 2),
    ("Files and Code", 4, 2),
    ("All user messages", 6, 3),
];

/// The earlier summary, one item for each of its sections.
pub(super) fn section(account: &Account) -> Section {
    let text = account.earlier.as_deref().unwrap_or_default();
    let parts = parts(&without_code(&body(text)));
    Section {
        heading: "Summary of what came before",
        share: 30,
        floor: 100,
        items: parts
            .into_iter()
            .map(|part| {
                let head = part.lines().next().unwrap_or_default();
                let known = SECTIONS.iter().find(|(name, ..)| head.contains(name));
                let (rank, weight) = known.map_or((5, 2), |(_, rank, weight)| (*rank, *weight));
                Item::new(without_headings(&part), weight, rank)
            })
            .collect(),
        ..Section::default()
    }
}

/// Takes the words of the person and the approved plans out of a summary that is a digest, where they are quoted.
pub(super) fn take_quotes(summary: &str) -> (String, Vec<String>, Vec<String>) {
    if !summary.contains(MADE_HERE) {
        return (summary.to_owned(), Vec::new(), Vec::new());
    }
    let (mut rest, mut words, mut plans) = (String::new(), Vec::new(), Vec::new());
    for part in parts(summary) {
        let (heading, items) = part.split_once('\n').unwrap_or((&part, ""));
        match heading.strip_prefix("## ") {
            Some(person::HEADING) => words = quoted(items),
            Some(plan::HEADING) => plans = quoted(items),
            _ => {
                rest.push_str(&part);
                rest.push('\n');
            }
        }
    }
    (rest, words, plans)
}

/// Splits a section of a digest into its items, without the indentation.
fn quoted(items: &str) -> Vec<String> {
    let items = format!("\n{items}");
    let items = items.split("\n- ").skip(1);
    items.map(|item| item.replace("\n  ", "\n")).collect()
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
