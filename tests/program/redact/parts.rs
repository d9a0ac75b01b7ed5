//! `redact` as a step of a plan, and limited to a part of the conversation.

use serde_json::Value;

use super::{Secrets, fill};
use crate::harness::{Home, SESSION, records};

/// The conversation as text, by the session's id.
fn conversation(home: &Home, id: &str) -> String {
    let lines = records(&home.transcript(id));
    lines.iter().map(Value::to_string).collect()
}

fn new_session(stdout: &str) -> String {
    let document: Value = serde_json::from_str(stdout).unwrap();
    let id = document["target"]["session_id"].as_str();
    id.unwrap().to_owned()
}

#[test]
fn redact_is_a_step_of_a_plan() {
    let (home, secrets) = (Home::new(), Secrets::new(31));
    fill(&home, &secrets);
    let before = home.everything();
    let plan = home.project().join("plan.toml");
    home.write(
        &plan,
        "[[step]]\nop = \"strip-thinking\"\nsubagents = true\n\n[[step]]\nop = \"redact\"\nliteral = [\"You are welcome\"]\n",
    );
    let run = home.run(&["run", plan.to_str().unwrap(), SESSION, "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let id = new_session(&run.stdout);
    let text = conversation(&home, &id);
    assert!(!text.contains("\"thinking\""), "{text}");
    assert!(text.contains("[redacted:github-token:1]"), "{text}");
    assert!(text.contains("[redacted:literal:1]"), "{text}");
    for (name, bytes) in home.everything() {
        if before.get(&name) == Some(&bytes) || name.ends_with("sessions-index.json") {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        for secret in secrets.all() {
            assert!(!text.contains(secret), "{name}");
        }
    }
}

#[test]
fn redact_in_a_plan_is_refused_in_place() {
    let (home, secrets) = (Home::new(), Secrets::new(32));
    fill(&home, &secrets);
    let plan = home.project().join("plan.toml");
    home.write(&plan, "[[step]]\nop = \"redact\"\n");
    let before = home.everything();
    let run = home.run(&[
        "run",
        plan.to_str().unwrap(),
        SESSION,
        "--in-place",
        "--yes",
    ]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(
        run.stderr.contains("its undo would keep the secrets"),
        "{run:?}"
    );
    assert_eq!(home.everything(), before);
}

#[test]
fn redact_replaces_secrets_in_the_selected_part_only() {
    let (home, secrets) = (Home::new(), Secrets::new(33));
    fill(&home, &secrets);
    let token = &secrets.token;
    // Turn 1 has the token in its prompt, the call, the result and the answer.
    let run = home.run(&["redact", SESSION, "--turns", "1", "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let text = conversation(&home, &new_session(&run.stdout));
    assert!(
        text.contains("deploy with [redacted:github-token:1]"),
        "{text}"
    );
    assert!(text.contains(&secrets.key), "the summary keeps its key");
    assert!(
        run.stdout
            .contains("outside of the content that you selected"),
        "{run:?}"
    );
    let run = home.run(&["redact", SESSION, "--tool", "Bash", "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let text = conversation(&home, &new_session(&run.stdout));
    assert!(text.contains("echo [redacted:github-token:1]"), "{text}");
    assert!(text.contains(&format!("deploy with {token}")), "{text}");
}

#[test]
fn redact_in_place_names_what_a_selector_leaves() {
    let (home, secrets) = (Home::new(), Secrets::new(34));
    fill(&home, &secrets);
    let words = ["redact", SESSION, "--turns", "1", "--in-place", "--yes"];
    let run = home.run(&words);
    assert_eq!(run.code, 0, "{run:?}");
    let text = conversation(&home, SESSION);
    assert!(
        text.contains("deploy with [redacted:github-token:1]"),
        "{text}"
    );
    assert!(text.contains(&secrets.key), "{text}");
    assert!(!run.stdout.contains("Nothing is left:"), "{run:?}");
    assert!(run.stdout.contains("tool-results"), "{run:?}");
    let clean = home.run(&["redact", SESSION, "--turns", "1", "--check"]);
    assert_eq!(clean.code, 0, "{clean:?}");
    let all = home.run(&["redact", SESSION, "--check"]);
    assert_eq!(all.code, 1, "{all:?}");
    let both = home.run(&["redact", "--all", "--turns", "1", "--check"]);
    assert_eq!(both.code, 2, "{both:?}");
}
