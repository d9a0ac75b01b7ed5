use serde_json::json;

use crate::harness::Home;
use crate::harness::script::{Script, call, eventful, words};

fn home() -> Home {
    let home = Home::new();
    home.put(
        "5e551011-aaaa-4bbb-8ccc-dddddddddddd",
        eventful().text(),
        120,
    );
    let mut plain = Script::new("0dd00001-aaaa-4bbb-8ccc-dddddddddddd", 80);
    plain.prompt("Explain the build");
    plain.answer(0, &[words("It runs make.")]);
    home.put(
        "0dd00001-aaaa-4bbb-8ccc-dddddddddddd",
        plain.text(),
        72 * 60,
    );
    home.put(
        "0dd00002-aaaa-4bbb-8ccc-dddddddddddd",
        "{\"type\":\"mode\",\"mode\":\"normal\"}\n",
        1,
    );
    home
}

#[test]
fn ls_at_three_widths() {
    let home = home();
    insta::assert_snapshot!(home.run_on(60, &["ls"]).page(), @r#"
    exit 0
      id        age  context  full  title or first prompt
      5e551011   2h    12.6k    6%  Flaky parser �[2J test
       waits for a result of: Bash  git push origin main
      0dd00001   3d      ~16   <1%  Explain the build
    "#);
    insta::assert_snapshot!(home.run_on(100, &["ls"]).page(), @r#"
    exit 0
      id        age  turns  context  full     size  compacted  branch  title or first prompt
      5e551011   2h      4    12.6k    6%  12.8 KB         1×  main    Flaky parser �[2J test
       waits for a result of: Bash  git push origin main
      0dd00001   3d      1      ~16   <1%    789 B             main    Explain the build
    "#);
    insta::assert_snapshot!(home.run_on(160, &["ls"]).page(), @r#"
    exit 0
      id        age  turns  context  full     size  compacted  branch  model          title or first prompt
      5e551011   2h      4    12.6k    6%  12.8 KB         1×  main    claude-test-1  Flaky parser �[2J test
       waits for a result of: Bash  git push origin main
      0dd00001   3d      1      ~16   <1%    789 B             main    claude-test-1  Explain the build
    "#);
}

#[test]
fn ls_in_colour() {
    let home = home();
    insta::assert_snapshot!(home.run_on(100, &["ls", "--color", "always"]).page().replace('\x1b', "␛"), @r#"
    exit 0
    ␛[2m  id        age  turns  context  full     size  compacted  branch  title or first prompt␛[0m
      5e551011   2h      4    12.6k    6%  12.8 KB         1×  main    Flaky parser �[2J test
    ␛[2m   waits for a result of: Bash  git push origin main␛[0m
      0dd00001   3d      1      ~16   <1%    789 B             main    Explain the build
    "#);
}

#[test]
fn ls_groups_all_projects() {
    let home = home();
    insta::assert_snapshot!(home.run_on(80, &["ls", "--all", "--sort", "size"]).page(), @r#"
    exit 0
      id        age  turns  context  full     size  project  title or first prompt
      5e551011   2h      4    12.6k    6%  12.8 KB  /w       Flaky parser �[2J test
       waits for a result of: Bash  git push origin main
      0dd00001   3d      1      ~16   <1%    789 B  /w       Explain the build
    "#);
}

#[test]
fn ls_json_has_figures_for_scripts() {
    let document = home()
        .run_on(100, &["ls", "--json", "--sort", "tokens"])
        .json();
    let first = &document["sessions"][0];
    assert_eq!(
        document["sessions"].as_array().unwrap().len(),
        2,
        "what holds no conversation is left out"
    );
    assert_eq!(
        (
            &first["turns"],
            &first["compactions"],
            &first["state"],
            &first["live"]
        ),
        (&json!(4), &json!(1), &json!("idle"), &json!(false))
    );
    assert_eq!(
        first["pending_call"],
        json!({"tool": "Bash", "gist": "git push origin main"})
    );
    assert_eq!(
        (&first["model"], &first["branch"], &first["tokens_recorded"]),
        (&json!("claude-test-1"), &json!("main"), &json!(true))
    );
    assert_eq!(document["sessions"][1]["tokens_recorded"], json!(false));
}

#[test]
fn ls_finds_sessions_by_prompt_title_and_history() {
    let home = home();
    let found = |text: &str| {
        let document = home.run_on(100, &["ls", "--json", "--grep", text]).json();
        document["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["short_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(found("FLAKY TEST"), ["5e551011"]);
    assert_eq!(found("explain THE"), ["0dd00001"]);
    assert_eq!(found("nothing like it"), [""; 0]);
    let typed = json!({"display": "only typed, never sent", "project": "/w", "timestamp": 1, "sessionId": "0dd00001-aaaa-4bbb-8ccc-dddddddddddd"});
    home.write(".claude/history.jsonl", format!("not json\n{typed}\n"));
    assert_eq!(found("never sent"), ["0dd00001"]);
}

#[test]
fn ls_marks_a_running_client() {
    let home = home();
    let start = ccsurgery::store::process_start(std::process::id());
    let state = |status: &str| {
        let client = json!({"pid": std::process::id(), "sessionId": "5e551011-aaaa-4bbb-8ccc-dddddddddddd", "procStart": start, "status": status});
        home.write(".claude/sessions/1.json", client.to_string());
        let document = home.run_on(100, &["ls", "--json"]).json();
        let first = document["sessions"][0].clone();
        assert_eq!(first["live"], json!(true));
        first["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (state("busy"), state("idle")),
        ("working".to_owned(), "approval".to_owned())
    );
}

#[test]
fn ls_shows_ids_long_enough_to_tell_them_apart() {
    let home = Home::new();
    for id in [
        "abcdef01-1111-4bbb-8ccc-dddddddddddd",
        "abcdef01-1122-4bbb-8ccc-dddddddddddd",
    ] {
        let mut s = Script::new(id, 1);
        s.prompt("hi");
        s.answer(10, &[call("t", "Bash", &json!({}))]);
        home.put(id, s.text(), 9);
    }
    let document = home.run_on(100, &["ls", "--json"]).json();
    let sessions = document["sessions"].as_array().unwrap().iter();
    let mut shorts: Vec<&str> = sessions.map(|s| s["short_id"].as_str().unwrap()).collect();
    shorts.sort_unstable();
    assert_eq!(shorts, ["abcdef01-111", "abcdef01-112"]);
}

#[test]
fn ls_show_and_inspect_agree_on_tokens() {
    let home = Home::new();
    home.put(
        "5e551011-aaaa-4bbb-8ccc-dddddddddddd",
        eventful().text(),
        120,
    );
    let listed = home.run_on(100, &["ls", "--json"]).json();
    let shown = home.run_on(100, &["show", "--json"]).json();
    let inspected = home.run_on(100, &["inspect", "--json"]).json();
    let tokens = &listed["sessions"][0]["tokens"];
    assert_eq!(
        (tokens, tokens),
        (&shown["tokens"], &inspected["window"]["tokens"])
    );
    let limit = &listed["sessions"][0]["tokens_limit"];
    assert_eq!(
        (limit, limit),
        (&shown["tokens_limit"], &inspected["window"]["limit"])
    );
}
