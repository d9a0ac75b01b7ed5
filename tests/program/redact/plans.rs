//! `redact` as a step of a plan.

use super::{Secrets, fill};
use crate::harness::{Home, SESSION};

const PLAN: &str = "[[step]]\nop = \"redact\"\n\n[[step]]\nop = \"delete\"\nturns = \"3\"\n";

#[test]
fn redact_in_a_plan_replaces_secrets_after_the_other_steps() {
    let (home, secrets) = (Home::new(), Secrets::new(7));
    fill(&home, &secrets);
    home.write("work/plan.toml", PLAN);
    let original = fs_err::read(home.transcript(SESSION)).unwrap();
    let run = home.run(&["run", "plan.toml", SESSION, "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("the original session"), "{run:?}");
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let id = document["target"]["session_id"].as_str().unwrap();
    let made = fs_err::read_to_string(home.transcript(id)).unwrap();
    assert!(made.contains("[redacted:"));
    for (name, bytes) in home.everything() {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if name.contains(id) {
            let leak = secrets.all().into_iter().find(|s| text.contains(s));
            assert_eq!(leak, None, "{name}");
        }
    }
    assert_eq!(fs_err::read(home.transcript(SESSION)).unwrap(), original);
}

#[test]
fn redact_in_a_plan_is_not_done_in_place_or_with_the_thinking_of_subagents() {
    let (home, secrets) = (Home::new(), Secrets::new(8));
    fill(&home, &secrets);
    home.write("work/plan.toml", PLAN);
    let run = home.run(&["run", "plan.toml", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("makes a new session"), "{run:?}");
    let strip = "\n[[step]]\nop = \"strip-thinking\"\nsubagents = true\n";
    home.write("work/both.toml", format!("{PLAN}{strip}"));
    let run = home.run(&["run", "both.toml", SESSION]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.stderr.contains("thinking of subagents"), "{run:?}");
}
