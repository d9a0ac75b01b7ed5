//! Where the work stands and what is next.

use std::fmt::Write as _;

use super::account::Account;
use super::layout::{Item, Section};
use super::person::Words;
use super::text::{one_line, without_headings};

/// How many of the last texts are quoted.
const TEXTS: usize = 4;

/// The last request, the last things that the model wrote and did, and what is left to do. It comes last, so that the
/// model continues from it.
pub(super) fn section(account: &Account) -> Section {
    let mut items = Vec::new();
    items.extend(last_words(account));
    let texts: Vec<_> = account.texts.iter().filter(|t| !t.thinking).collect();
    for (i, text) in texts
        .iter()
        .skip(texts.len().saturating_sub(TEXTS))
        .enumerate()
    {
        let words = account.relative(&without_headings(text.text.trim()));
        let last = text.last && account.texts.last().is_some_and(|l| l.turn == text.turn);
        let weight = if last { 8 } else { 2 };
        items.push(Item::new(
            format!("You wrote: {words}"),
            weight,
            40 + i as i64,
        ));
    }
    for (i, call) in account.last_calls.iter().enumerate() {
        let call = account.line(call);
        items.push(Item::new(format!("You called {call}"), 2, 30 + i as i64));
    }
    if let Some(failure) = account.failures.last_open() {
        items.push(Item::new(
            format!("The last error that was not seen to be fixed: {failure}"),
            2,
            20,
        ));
    }
    if account.interrupted {
        items.push(Item::new("The user interrupted you there.", 1, 60));
    }
    let (current, open) = account.tasks.open();
    if !current.is_empty() {
        items.push(Item::new(
            format!("In progress: {}", current.join("; ")),
            2,
            45,
        ));
    }
    if !open.is_empty() {
        items.push(Item::new(format!("Next: {}", open.join("; ")), 2, 44));
    }
    Section {
        heading: "Where it stands, and what is next",
        share: 23,
        floor: 80,
        essential: true,
        items,
        ..Section::default()
    }
}

/// The prompt of the last turn, and what the person said last, if that is something else.
fn last_words(account: &Account) -> Option<Item> {
    let (turn, last) = account.words.last()?;
    let of_turn = |words: &&(u32, Words)| words.0 == *turn;
    let (_, first) = account.words.iter().find(of_turn)?;
    let about = if account.running {
        format!("Turn {turn} is still being worked on. The user's words")
    } else {
        format!("The last thing the user said (turn {turn})")
    };
    let mut text = format!("{about}: {}", one_line(first.text(), 240));
    if first.text() != last.text() {
        let _ = write!(text, " — and last: {}", one_line(last.text(), 240));
    }
    Some(Item::new(text, 4, 50))
}
