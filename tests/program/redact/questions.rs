//! What only might be a secret is asked about, one by one, on a terminal.

use serde_json::json;

use super::leaks;
use crate::harness::{Home, SESSION, skipped};
use crate::terminal::on_a_terminal;

const WORDS: [&str; 3] = ["correct-horse-7", "battery-staple-8", "tulip-garden-9"];

fn home() -> Home {
    let home = Home::new();
    let [first, second, third] = WORDS;
    home.add(
        &home
            .start(SESSION)
            .prompt(&format!("const password = \"{first}\"; // old"))
            .answer(&format!("Also `password = \"{second}\"`."))
            .prompt("and now?")
            .call("toolu_1", "Bash", &json!({"command": "cat c"}))
            .result(
                "toolu_1",
                &format!("password = \"{third}\"\nagain {first}\n"),
            ),
    );
    home
}

/// Redacts on a terminal with these answers; returns the screen, or `None` without a terminal.
fn answered(home: &Home, answers: &str) -> Option<String> {
    let words = ["redact", SESSION, "--in-place"].map(str::to_owned);
    let seen = on_a_terminal(home, &[words.to_vec()], answers);
    if seen.is_none() {
        skipped("redact_questions", &"no terminal");
    }
    seen.map(|mut seen| seen.remove(0))
}

fn left(home: &Home) -> Vec<&'static str> {
    let is_left = |word: &&str| !leaks(home, &[word]).is_empty();
    WORDS.into_iter().filter(is_left).collect()
}

#[test]
fn redact_replaces_only_the_suggestions_that_are_confirmed() {
    let home = home();
    let Some(seen) = answered(&home, "y\nn\n\ny\n") else {
        return;
    };
    assert!(seen.contains("3 texts might be secrets"), "{seen}");
    for part in [
        "1 of 3",
        "3 of 3",
        "const password = \"▒▒▒▒▒▒▒▒\"; // old",
        "turn 1",
        "[y/N/all/none]",
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    for word in WORDS {
        assert!(!seen.contains(word), "{seen}");
    }
    assert!(seen.contains("Nothing is left:"), "{seen}");
    assert_eq!(left(&home), WORDS[1..], "{seen}");
}

#[test]
fn redact_takes_all_or_none_of_the_other_suggestions() {
    let all = home();
    if answered(&all, "n\nall\ny\n").is_none() {
        return;
    }
    assert_eq!(left(&all), WORDS[..1]);
    let none = home();
    let seen = answered(&none, "y\nnone\ny\n").unwrap_or_default();
    assert_eq!(left(&none), WORDS[1..], "{seen}");
    let nothing = home();
    let before = nothing.everything();
    let seen = answered(&nothing, "none\n").unwrap_or_default();
    assert!(
        seen.contains("No secrets:") && !seen.contains("2 of 3"),
        "{seen}"
    );
    assert_eq!(nothing.everything().get(".claude/"), before.get(".claude/"));
    assert_eq!(left(&nothing), WORDS);
}

#[test]
fn redact_does_not_ask_with_yes() {
    let home = home();
    let words = ["redact", SESSION, "--in-place", "--yes"].map(str::to_owned);
    let Some(seen) = on_a_terminal(&home, &[words.to_vec()], "") else {
        return skipped("redact_questions", &"no terminal");
    };
    assert!(!seen[0].contains("[y/N"), "{seen:?}");
    assert_eq!(left(&home), WORDS);
}
