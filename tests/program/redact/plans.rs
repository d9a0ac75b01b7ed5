//! `redact` as a step of a plan.

use super::{Secrets, fill};
use crate::harness::{Home, SESSION};

const PLAN: &str = "[[step]]\nop = \"redact\"\n\n[[step]]\nop = \"delete\"\nturns = \"3\"\n";

#[test]
fn redact_in_a_plan_replaces_secrets_and_names_the_original() {
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
