//! `redact`: no secret is left in any place, and the session stays whole.

mod old_bytes;
mod parts;
mod plans;
mod questions;
mod recorded;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{Home, SESSION, Transcript, records};

/// Secrets of several kinds, made up at run time so that no scanner takes this file for a leak.
struct Secrets {
    token: String,
    password: String,
    key: String,
}

impl Secrets {
    fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut letters = |n: usize| -> String { (0..n).map(|_| random.alphanumeric()).collect() };
        Self {
            token: format!("gh{}_{}", 'p', letters(36)),
            password: format!("{}7q{}", letters(6), letters(6)),
            key: format!("sk-{}-api03-{}", "ant", letters(40)),
        }
    }

    fn all(&self) -> [&str; 3] {
        [&self.token, &self.password, &self.key]
    }
}

/// A session that has secrets in every kind of line.
fn talk(home: &Home, secrets: &Secrets) -> Transcript {
    let Secrets {
        token,
        password,
        key,
    } = secrets;
    let blob = json!({"messages": [{"role": "assistant", "content": [
        {"type": "thinking", "thinking": format!("use {token}"), "signature": "c2lnbmVkMQ=="},
        {"type": "text", "text": format!("done with {token}")},
    ]}]});
    home.start(SESSION)
        .slug("calm-windy-hill")
        .prompt(&format!("deploy with {token}"))
        .thinking(&format!("The token is {token}."))
        .call(
            "toolu_env",
            "Bash",
            &json!({"command": format!("echo {token}"), token: 1}),
        )
        .result(
            "toolu_env",
            &format!(
                "DB_PASSWORD={password}\n\u{1b}[32m{}\u{1b}[0m{}",
                &token[..20],
                &token[20..]
            ),
        )
        .thinking("Nothing secret here.")
        .answer(&format!("I used {token} and {password}."))
        .attachment(json!({"type": "queued_command", "prompt": format!("x-api-key: {key}")}))
        .prompt("an abandoned branch")
        .answer(&format!("with {key}"))
        .back_to(6)
        .prompt("go on")
        .answer(&format!("cut off: {}…", &token[..24]))
        .compaction(
            &format!("Summary: the key is {key}."),
            json!({"trigger": "manual", "preTokens": 1}),
        )
        .prompt("thanks")
        .answer("You are welcome.")
        .line(json!({"type": "api-request-blob", "sessionId": SESSION, "blob": blob}))
        .line(json!({"type": "summary", "summary": format!("about {key}"), "leafUuid": "x"}))
        .title(&format!("Deploy {token}"))
        .last_prompt(&format!("deploy with {}", &token[..18]))
}

/// Adds all other places with secrets in them.
fn fill(home: &Home, secrets: &Secrets) {
    let Secrets {
        token,
        password,
        key,
    } = secrets;
    home.add(&talk(home, secrets));
    fill_places(home, &home.folder(), SESSION, secrets);
    let own = home.folder().join(SESSION);
    let agent = Transcript::of_agent(SESSION, "a0123456789abcdef", &home.project())
        .prompt(&format!("look at {token}"))
        .thinking(&format!("hm, {key}"))
        .answer(&format!("it is {password}"));
    home.write(
        own.join("subagents/agent-a0123456789abcdef.jsonl"),
        agent.text(),
    );
    home.write(
        own.join("subagents/agent-a0123456789abcdef.meta.json"),
        json!({"prompt": key}).to_string(),
    );
}

/// Adds every kind of file that a client keeps beside the transcript of a session, each with secrets in it.
fn fill_places(home: &Home, folder: &Path, session: &str, secrets: &Secrets) {
    let Secrets {
        token,
        password,
        key,
    } = secrets;
    let own = folder.join(session);
    home.write(
        own.join("tool-results/toolu_big.txt"),
        format!("a\n{password}\n{token}\n"),
    );
    let config = home.config();
    home.write(
        config
            .join("file-history")
            .join(session)
            .join("0123456789abcdef@v1"),
        format!("KEY={key}\nDB_PASSWORD={password}\n"),
    );
    home.write(
        config.join(format!("todos/{session}-agent-{session}.json")),
        json!([{"content": token}]).to_string(),
    );
    home.write(
        config.join("tasks").join(session).join("1.json"),
        json!({"subject": password}).to_string(),
    );
    home.write(
        config.join("session-env").join(session).join("env.sh"),
        format!("export TOKEN={token}\n"),
    );
    home.write(
        config.join("plans/calm-windy-hill.md"),
        format!("# Plan\nuse {token}\n"),
    );
    home.write(
        config.join(format!("debug/{session}.txt")),
        format!("[DEBUG] {key}\n"),
    );
    let line = json!({"display": format!("deploy with {token}"), "pastedContents": {}, "project": "/p", "sessionId": session});
    home.write(config.join("history.jsonl"), format!("{line}\n"));
    home.write(
        config.join("paste-cache/0123456789abcdef.txt"),
        format!("{password}\n"),
    );
    let index = json!({"version": 1, "entries": [{"sessionId": session, "firstPrompt": format!("deploy with {token}")}]});
    home.write(folder.join("sessions-index.json"), index.to_string());
}

/// Returns the files, the state folder included, that have a secret: as it is, or when escapes are resolved.
fn leaks(home: &Home, secrets: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    for (name, bytes) in home.everything() {
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        for level in 0..3 {
            for (n, secret) in secrets.iter().enumerate() {
                if text.contains(secret) || text.contains(&secret[..17.min(secret.len())]) {
                    out.push(format!("secret {n} at level {level} of {name}"));
                }
            }
            text = resolved(&text);
        }
    }
    out
}

/// Resolves one level of escapes, and removes colours.
fn resolved(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let number = rest
            .get(at + 2..at + 6)
            .filter(|_| rest[at + 1..].starts_with('u'));
        match number.and_then(|n| u32::from_str_radix(n, 16).ok()) {
            Some(code) => {
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
                rest = &rest[at + 6..];
            }
            None => {
                let next = rest[at + 1..].chars().next();
                out.push(if next == Some('n') {
                    '\n'
                } else {
                    next.unwrap_or('\\')
                });
                rest = &rest[at + 1 + next.map_or(0, char::len_utf8)..];
            }
        }
    }
    out.push_str(rest);
    out.replace("\u{1b}[32m", "").replace("\u{1b}[0m", "")
}

#[test]
fn redact_in_place_leaves_no_secret_anywhere() {
    let (home, secrets) = (Home::new(), Secrets::new(1));
    fill(&home, &secrets);
    assert!(leaks(&home, &secrets.all()).len() > 15);
    let run = home.run(&["redact", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        leaks(&home, &secrets.all()),
        Vec::<String>::new(),
        "{run:?}"
    );
    for secret in secrets.all() {
        assert!(!run.stdout.contains(secret) && !run.stderr.contains(secret));
    }
    assert!(run.stdout.contains("Nothing is left:"), "{run:?}");
    // One placeholder each, wherever it was.
    let all: String = home
        .everything()
        .values()
        .map(|b| String::from_utf8_lossy(b).into_owned())
        .collect();
    let mut marks: BTreeMap<&str, usize> = BTreeMap::new();
    for piece in all.split("[redacted:").skip(1) {
        *marks.entry(piece.split(']').next().unwrap()).or_default() += 1;
    }
    let kinds: Vec<&str> = marks.keys().copied().collect();
    assert_eq!(
        kinds,
        ["anthropic-api-key:1", "env-assignment:1", "github-token:1"],
        "{marks:?}"
    );
    let again = home.run(&["redact", SESSION, "--check"]);
    assert_eq!(again.code, 0, "{again:?}");
}

#[test]
fn redact_drops_signed_thinking_that_has_a_secret_and_no_other() {
    let (home, secrets) = (Home::new(), Secrets::new(2));
    fill(&home, &secrets);
    assert_eq!(
        home.run(&["redact", SESSION, "--in-place", "--yes"]).code,
        0
    );
    let lines = records(&home.transcript(SESSION));
    let text: String = lines.iter().map(Value::to_string).collect();
    assert!(
        !text.contains("The token is") && !text.contains("c2lnbmVkMQ=="),
        "{text}"
    );
    assert!(text.contains("Nothing secret here."));
    assert!(text.contains("done with [redacted:github-token:1]"));
    let input = lines
        .iter()
        .find(|l| l["message"]["content"][0]["type"] == "tool_use")
        .unwrap();
    let input = &input["message"]["content"][0]["input"];
    assert_eq!(input["command"], "echo [redacted:github-token:1]");
    assert_eq!(input["[redacted:github-token:1]"], 1);
    let doctor = home.run(&["doctor", SESSION]);
    assert_eq!(doctor.code, 0, "{doctor:?}");
}

#[test]
fn redact_to_a_new_session_warns_of_the_original() {
    let (home, secrets) = (Home::new(), Secrets::new(3));
    fill(&home, &secrets);
    let before = home.everything();
    let run = home.run(&["redact", SESSION]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stderr.contains("the original session") && run.stderr.contains("still has 3 secrets"),
        "{run:?}"
    );
    let after = home.everything();
    for (name, bytes) in &after {
        if before.get(name) == Some(bytes) || name.ends_with("sessions-index.json") {
            continue;
        }
        let text = String::from_utf8_lossy(bytes);
        for secret in secrets.all() {
            assert!(!text.contains(secret), "{name}");
        }
    }
    assert!(after.len() > before.len() + 5);
}

#[test]
fn redact_check_reports_without_writing() {
    let (home, secrets) = (Home::new(), Secrets::new(4));
    fill(&home, &secrets);
    let before = home.everything();
    let run = home.run(&["redact", SESSION, "--check", "--json"]);
    assert_eq!(run.code, 1, "{run:?}");
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["secrets"].as_array().unwrap().len(), 3, "{run:?}");
    let token = document["secrets"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["kind"] == "github-token")
        .unwrap();
    assert_eq!(token["length"], secrets.token.len());
    assert!(token["rotate"].as_str().unwrap().starts_with("github.com"));
    assert!(
        token["places"]
            .as_array()
            .unwrap()
            .iter()
            .any(|p| p["turn"] == 1)
    );
    for secret in secrets.all() {
        assert!(!run.stdout.contains(secret));
        assert!(!run.stdout.contains(&secret[..secret.len() / 2]));
    }
    let dry = home.run(&["redact", "--all", "-n"]);
    assert_eq!(dry.code, 0, "{dry:?}");
    assert!(dry.stdout.contains("3 secrets"), "{dry:?}");
    assert_eq!(home.everything(), before);
}

#[test]
fn redact_keeps_no_way_back_unless_asked() {
    let (home, secrets) = (Home::new(), Secrets::new(5));
    fill(&home, &secrets);
    let before = home.everything();
    assert_eq!(
        home.run(&["redact", SESSION, "--in-place", "--yes", "--keep-undo"])
            .code,
        0
    );
    let undo = home.run(&["undo", "--yes"]);
    assert_eq!(undo.code, 0, "{undo:?}");
    let after = home.everything();
    for (name, bytes) in before.iter().filter(|(n, _)| n.starts_with(".claude/")) {
        assert_eq!(after.get(name), Some(bytes), "{name}");
    }
    let all = home.run(&["redact", "--all", "--in-place", "--yes"]);
    assert_eq!(all.code, 0, "{all:?}");
    assert_eq!(
        leaks(&home, &secrets.all()),
        Vec::<String>::new(),
        "{all:?}"
    );
    let undo = home.run(&["undo", "--yes"]);
    assert_eq!(undo.code, 3, "{undo:?}");
    assert!(undo.stderr.contains("kept no old bytes"), "{undo:?}");
}

#[test]
fn redact_names_clones_and_earlier_operations_and_cleans_them_with_all() {
    let (home, secrets) = (Home::new(), Secrets::new(6));
    fill(&home, &secrets);
    let (clone, _) = home.clone(&[SESSION]);
    assert_eq!(
        home.run(&["strip-thinking", SESSION, "--in-place", "--yes"])
            .code,
        0
    );
    let run = home.run(&["redact", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        run.stdout.contains("Still in:") && run.stdout.contains(&clone),
        "{run:?}"
    );
    assert!(run.stdout.contains("(strip-thinking)"), "{run:?}");
    let all = home.run(&["redact", "--all", "--in-place", "--yes"]);
    assert_eq!(all.code, 0, "{all:?}");
    assert_eq!(
        leaks(&home, &secrets.all()),
        Vec::<String>::new(),
        "{all:?}"
    );
}

#[test]
fn redact_takes_values_from_the_command_line_without_recording_them() {
    let home = Home::new();
    let word = format!("sword{}", "fish9");
    home.add(
        &home
            .start(SESSION)
            .prompt(&format!("the word is {word}"))
            .answer("ok"),
    );
    let run = home.run(&["redact", SESSION, "--literal", &word, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(leaks(&home, &[&word]), Vec::<String>::new());
    let text = fs_err::read_to_string(home.transcript(SESSION)).unwrap();
    assert!(text.contains("the word is [redacted:literal:1]"));
    let short = home.run(&["redact", SESSION, "--literal", "ab", "--check"]);
    assert_eq!(short.code, 2, "{short:?}");
}

#[test]
fn redact_only_suggests_what_might_be_a_secret() {
    let home = Home::new();
    home.add(
        &home
            .start(SESSION)
            .prompt("const password = \"correct-horse-7\"")
            .answer("ok"),
    );
    let before = home.everything();
    let run = home.run(&["redact", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("1 text might be a secret"), "{run:?}");
    assert_eq!(home.everything(), before);
    let all = home.run(&["redact", "--all"]);
    assert_eq!(all.code, 2, "{all:?}");
}
