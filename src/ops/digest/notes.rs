//! What was found, decided and answered: the sentences of the model that carry it.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use indexmap::IndexSet;

use super::account::{Account, Statement};
use super::layout::{Item, Section};
use super::text::{one_line, sentences};

/// Words of sentences that give a reason, a decision or a finding.
const REASONS: [&str; 40] = [
    "because",
    "since ",
    "the issue",
    "the problem",
    "root cause",
    "instead",
    "need to",
    "needs to",
    "should",
    "must ",
    "so that",
    "rather than",
    "decided",
    "decision",
    "turns out",
    "the fix",
    "fixed",
    "fix ",
    "bug",
    "fail",
    "error",
    "missing",
    "wrong",
    "actually",
    "found",
    "means ",
    "workaround",
    "avoid",
    "the reason",
    "caused",
    "therefore",
    "only ",
    "not ",
    "doesn't",
    "won't",
    "however",
    "but ",
    "now ",
    "remaining",
    "next",
];

/// Words of comments that give a reason.
const REASONS_IN_CODE: [&str; 9] = [
    "because",
    "instead",
    "so that",
    "rather than",
    "avoid",
    "only ",
    "prevent",
    "must ",
    "since ",
];

/// Beginnings of sentences that only announce the next call.
const ANNOUNCING: [&str; 9] = [
    "let me ",
    "now let me",
    "i'll ",
    "now i'll",
    "first, let me",
    "let's ",
    "i will ",
    "perfect",
    "good",
];

/// Words before the verb of a sentence that announces the next call.
const BEFORE_VERB: [&str; 10] = [
    "now", "first", "next", "good", "ok", "okay", "also", "then", "let", "me",
];

/// Verbs of sentences that only announce that the model is going to look at something.
const LOOKING: [&str; 16] = [
    "read",
    "check",
    "look",
    "see",
    "explore",
    "find",
    "search",
    "examine",
    "view",
    "understand",
    "verify",
    "review",
    "inspect",
    "get",
    "start",
    "continue",
];

/// Sentences of fewer bytes than this say nothing unless they name something or give a reason.
const SHORT: usize = 48;

/// Sentences that score no more than this are left out even where there is room.
const LEAST: i64 = -4;

/// If the last text has so many bytes, it is quoted where the work stands, and not repeated here.
const QUOTED: std::ops::RangeInclusive<usize> = 300..=1_200;

/// Sentences longer than this are shortened.
const LONGEST: usize = 420;

/// The sentences worth keeping, in order. Final answers and recent sentences rank highest.
pub(super) fn section(account: &Account) -> Section {
    let mut items = Vec::new();
    let mut known = IndexSet::new();
    let all = account.texts.len().max(1);
    let quoted = account.texts.iter().rposition(|t| !t.thinking);
    let quoted = quoted.filter(|&i| QUOTED.contains(&account.texts[i].text.len()));
    for (i, text) in account.texts.iter().enumerate() {
        if Some(i) == quoted {
            continue;
        }
        let recent = (i * 6 / all) as i64;
        let mut best = None;
        for sentence in sentences(&text.text) {
            let score = score(&sentence, text);
            if score > LEAST && known.insert(sentence.to_string()) {
                let sentence = account.relative(&one_line(&sentence, LONGEST));
                best = best.max(Some((score, items.len())));
                items.push(Item::new(
                    format!("{}: {sentence}", text.turn),
                    1,
                    score + recent,
                ));
            }
        }
        // Every turn is represented, however old it is.
        if let Some((_, best)) = best.filter(|_| text.last) {
            items[best].rank += 2;
        }
    }
    for (turn, remark) in &account.remarks {
        let remark = one_line(remark, LONGEST);
        if known.insert(remark.clone()) {
            items.push(Item::new(format!("{turn}: in the code: {remark}"), 1, 4));
        }
    }
    for (turn, about, report) in &account.reports {
        let report = sentences(report)
            .into_iter()
            .take(4)
            .collect::<Vec<_>>()
            .join(" ");
        if !report.is_empty() {
            let text = format!(
                "{turn}: subagent \"{about}\" reported: {}",
                one_line(&report, LONGEST)
            );
            items.push(Item::new(account.relative(&text), 1, 6));
        }
    }
    Section {
        heading: "What was found, decided and answered (turn: statement)",
        share: 34,
        floor: LONGEST + 10,
        items,
        ..Section::default()
    }
}

/// How much a sentence says.
fn score(sentence: &str, text: &Statement) -> i64 {
    let reasons = reasons(sentence);
    if text.thinking && reasons == 0 {
        return LEAST;
    }
    let names = sentence.matches('`').count() as i64 / 2 + named(sentence);
    let answers = text.last && text.text.len() < LONGEST;
    let bare = sentence.len() < SHORT && reasons == 0 && names == 0 && !answers;
    // The number of a point in a list says nothing.
    let words = sentence.trim_start_matches(|c: char| !c.is_alphabetic());
    if bare && !words.bytes().any(|b| b.is_ascii_digit()) || only_looks(sentence, reasons) {
        return LEAST;
    }
    let announces = ANNOUNCING.iter().any(|a| begins_with(sentence, a));
    let base = reasons.min(3) * 2 + names.min(3);
    let base = if announces { base - 4 } else { base };
    match (text.thinking, text.last) {
        (true, _) => base - 3,
        (_, true) => base + 4,
        _ => base,
    }
}

/// Whether a sentence announces that the model looks at something, and no more than that.
fn only_looks(sentence: &str, reasons: i64) -> bool {
    let words = sentence.split_whitespace();
    let words = words.map(|w| {
        w.trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
    });
    let mut announced = false;
    for word in words {
        if word == "me" {
            announced = true;
        } else if !BEFORE_VERB.contains(&word.as_str()) {
            return announced && reasons <= 1 && LOOKING.contains(&word.as_str());
        }
    }
    false
}

/// How many of the words that give a reason a sentence has.
fn reasons(sentence: &str) -> i64 {
    static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let mut words = AhoCorasick::builder();
        words.ascii_case_insensitive(true).build(REASONS).ok()
    });
    let mut found = 0_u64;
    if let Some(words) = &*WORDS {
        for hit in words.find_overlapping_iter(sentence) {
            found |= 1 << hit.pattern().as_usize();
        }
    }
    i64::from(found.count_ones())
}

/// Whether a sentence begins with some words, whatever their case.
fn begins_with(sentence: &str, words: &str) -> bool {
    let head = sentence.as_bytes().get(..words.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(words.as_bytes()))
}

/// How many words look like names of code: `snake_case`, `camelCase`, `file.rs`.
fn named(sentence: &str) -> i64 {
    let is_name = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.contains('_')
            || word.contains('.') && word.len() > 4
            || word.chars().skip(1).any(char::is_uppercase) && word.chars().any(char::is_lowercase)
    };
    sentence.split_whitespace().filter(is_name).count() as i64
}

/// Returns the comments in new code that give a reason.
pub(super) fn remarks(code: &str) -> impl Iterator<Item = &str> {
    let lines = code.lines().map(str::trim).filter(|l| l.len() > 30);
    let comments = lines.filter(|l| l.starts_with(['#', '*']) || l.starts_with("//"));
    let comments = comments.map(|l| l.trim_start_matches(['/', '#', '*', '!', ' ']));
    comments.filter(|l| {
        let lower = l.to_lowercase();
        REASONS_IN_CODE.iter().any(|r| lower.contains(r))
    })
}
