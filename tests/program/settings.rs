//! The config file.

use serde_json::json;

use crate::harness::{Home, SESSION};

fn home(config: &str) -> Home {
    let home = Home::new();
    let mut session = home.start(SESSION);
    for turn in 1..5 {
        let id = format!("toolu_{turn}");
        session = session
            .prompt(&format!("Turn {turn}"))
            .thinking("hm")
            .call(&id, "Bash", &json!({"command": "ls"}))
            .result(&id, "files")
            .answer("Done.");
    }
    home.add(&session);
    home.write(".config/ccsurgery/config.toml", config);
    home
}

fn changed_turns(home: &Home, arguments: &[&str]) -> Vec<u64> {
    let document = home.json(arguments);
    let changes = document["changes"].as_array().unwrap().iter();
    let calls = changes.filter(|change| change["what"] == "call");
    calls.filter_map(|change| change["turn"].as_u64()).collect()
}

#[test]
fn config_gives_defaults_and_options_win() {
    let home = home("[defaults]\nkeep-last = 2\n");
    assert_eq!(changed_turns(&home, &["drop-tools", "-n"]), [1, 2]);
    assert_eq!(
        changed_turns(&home, &["drop-tools", "-n", "--keep-last", "3"]),
        [1]
    );
    assert_eq!(
        changed_turns(&home, &["drop-tools", "-n", "--turns", "4"]),
        [4]
    );
}

#[test]
fn config_with_a_mistake_is_an_error_with_file_line_and_known_keys() {
    let home = home("color = \"never\"\nkeep-lats = 2\n");
    let run = home.run(&["ls"]);
    assert_eq!(run.code, 2);
    for part in [
        "config.toml`, line 2",
        "`keep-lats`",
        "`defaults`",
        "CCSURGERY_CONFIG",
    ] {
        assert!(run.stderr.contains(part), "{run:?}");
    }
    let run = home.run(&["ls", "--json"]);
    assert!(run.stdout.contains("\"bad-config\""), "{run:?}");
    // Help can always be read.
    assert_eq!(home.run(&["ls", "--help"]).code, 0);
    let other = home
        .command(&["ls"])
        .env("CCSURGERY_CONFIG", "/nonexistent");
    assert_eq!(other.run().code, 0);
}

#[test]
fn config_has_named_plans() {
    let home = home("[[plan.tidy]]\nop = \"drop-tools\"\nturns = 2\n");
    assert_eq!(changed_turns(&home, &["run", "tidy", "-n"]), [2]);
    let run = home.run(&["run", "tydi", "-n"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("your plans are: tidy"), "{run:?}");
}

#[test]
fn config_is_found_where_the_platform_keeps_settings() {
    let home = home("");
    home.write("xdg/ccsurgery/config.toml", "wrong = 1\n");
    let run = home
        .command(&["ls"])
        .env("XDG_CONFIG_HOME", home.path("xdg"));
    assert_eq!(run.run().code, 2);
}
