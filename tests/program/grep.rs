//! `ccsurgery grep`.

use serde_json::json;

use crate::harness::{Home, SESSION, Transcript};

const OTHER: &str = "5e552000-aaaa-4bbb-8ccc-0123456789ab";

fn home() -> Home {
    let home = Home::new();
    let session = home
        .start(SESSION)
        .prompt("Find the needle, with key ghp_abcdefghijklmnopqrstuvwxyz0123456789")
        .thinking("a needle\u{1b}[2J in thinking")
        .call("toolu_1", "Bash", &json!({"command": "grep \"needle\""}))
        .result("toolu_1", "one\n\tneedle two\nthree")
        .answer("No more.")
        .prompt("What of the needle?")
        .answer("An abandoned needle.")
        .back_to(5)
        .prompt("Go on")
        .answer("Done.")
        .title("Haystack");
    home.add(&session);
    let agent = Transcript::of_agent(SESSION, "a1b2c3", &home.project());
    let agent = agent.prompt("The agent's needle");
    let path = home
        .folder()
        .join(SESSION)
        .join("subagents/agent-a1b2c3.jsonl");
    home.write(path, agent.text());
    home
}

#[test]
fn grep_shows_session_turn_kind_message_and_line() {
    let home = home();
    let run = home.command(&["grep", "needle"]).columns(100).run();
    insta::assert_snapshot!(run.seen(), @r#"
    5e551000  “Haystack”
      turn 1        prompt       5e551000  Find the needle, with key ghp_[masked]
      turn 1        thinking     5e551000  a needle�[2J in thinking
      turn 1        Bash call    5e551000  grep "needle"
      turn 1        Bash result  5e551000  needle two
      abandoned     prompt       5e551000  What of the needle?
      abandoned     answer       5e551000  An abandoned needle.
      agent a1b2c3  prompt       5e551000  The agent's needle
    --- exit code 0
    "#);
    let narrow = home
        .command(&["grep", "needle", "-m", "2"])
        .columns(50)
        .run();
    insta::assert_snapshot!(narrow.seen(), @r#"
    5e551000  “Haystack”
      turn 1  prompt    5e551000
        Find the needle, with key ghp_[masked]
      turn 1  thinking  5e551000
        a needle�[2J in thinking
      … 5 more lines
    --- exit code 0
    "#);
}

#[test]
fn grep_masks_secrets_and_cleans_control_characters() {
    let home = home();
    for arguments in [&["grep", "ghp_"][..], &["grep", "thinking|ghp", "--json"]] {
        let run = home.run(arguments);
        assert!(run.stdout.contains("ghp_[masked]"), "{run:?}");
        assert!(!run.stdout.contains("abcdefghij") && !run.stdout.contains('\u{1b}'));
    }
    let shown = home.run(&["grep", "ghp_", "--show-secrets"]);
    assert!(shown.stdout.contains("abcdefghij"));
}

#[test]
fn grep_exit_code_is_that_of_grep() {
    let home = home();
    assert_eq!(home.run(&["grep", "needle"]).code, 0);
    assert_eq!(home.run(&["grep", "no such text"]).code, 1);
    let bad = home.run(&["grep", "a(b"]);
    assert_eq!(bad.code, 2);
    assert!(
        bad.stderr.contains("unclosed group") && bad.stderr.contains("-F"),
        "{bad:?}"
    );
    assert_eq!(home.run(&["grep", "needle", "@7"]).code, 1);
}

#[test]
fn grep_searches_one_session_the_project_or_all() {
    let home = home();
    home.add(&home.start(OTHER).prompt("Another needle").answer("Yes."));
    let elsewhere = home.path("elsewhere");
    let third = "5e553000-aaaa-4bbb-8ccc-0123456789ab";
    let transcript = Transcript::new(third, &elsewhere)
        .prompt("A third needle")
        .answer("Yes.");
    let path = home.folder_of(&elsewhere).join(format!("{third}.jsonl"));
    home.write(path, transcript.text());
    let found = |arguments: &[&str]| {
        let run = home.run(&[&["grep", "-l", "-q", "needle"], arguments].concat());
        let mut lines: Vec<String> = run.stdout.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(found(&[]), [SESSION, OTHER]);
    assert_eq!(found(&["--all"]), [SESSION, OTHER, third]);
    assert_eq!(found(&["5e552000"]), [OTHER]);
    assert_eq!(found(&["Haystack"]), [SESSION]);
    assert_eq!(found(&["--in", "calls"]), [SESSION]);
    assert_eq!(found(&["--in", "thinking,prompts"]), [SESSION, OTHER]);
}
