use crate::harness::Home;
use crate::harness::script::eventful;

const ID: &str = "5e551011-aaaa-4bbb-8ccc-dddddddddddd";

#[test]
fn diff_of_a_clone_finds_only_ids() {
    let home = Home::new();
    home.put(ID, eventful().text(), 120);
    let clone = home
        .run_on(100, &["clone", "--json", "--title", "Copy"])
        .json();
    let made = clone["target"]["session_id"].as_str().unwrap();
    insta::assert_snapshot!(home.run_on(100, &["diff", ID, made]).page(), @r#"
    exit 0
    title: “Flaky parser �[2J test” → “Copy”
    No differences except ids.
    "#);
    assert_eq!(
        home.run_on(100, &["diff", ID, made, "--json"]).json()["same"],
        true
    );
    insta::assert_snapshot!(home.run_on(100, &["diff", ID, ID]).page(), @r#"
    exit 0
    No differences: they are the same file.
    "#);
}

/// Applies a unified diff as `patch` does: text before the first hunk and after the last is ignored.
fn patched(old: &str, diff: &str) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let mut out = String::new();
    let (mut at, mut left) = (0, (0, 0));
    for line in diff.lines() {
        if let Some(header) = line.strip_prefix("@@ -") {
            assert_eq!(left, (0, 0), "the hunk before {line} is incomplete");
            let mut numbers = header.split(" @@").next().unwrap().split([',', ' ', '+']);
            let mut number = || loop {
                let next = numbers.next().unwrap();
                if !next.is_empty() {
                    return next.parse::<usize>().unwrap();
                }
            };
            let (start, removed) = (number(), number());
            let (_, added) = (number(), number());
            let start = if removed == 0 { start } else { start - 1 };
            out.push_str(&old[at..start].concat());
            (at, left) = (start, (removed, added));
        } else if left != (0, 0) {
            let (sign, text) = line.split_at(1);
            if sign != "+" {
                assert_eq!(old[at].trim_end_matches('\n'), text);
                at += 1;
                left.0 -= 1;
            }
            if sign != "-" {
                out.push_str(text);
                out.push('\n');
                left.1 -= 1;
            }
        }
    }
    out.push_str(&old[at..].concat());
    out
}

#[test]
fn raw_diff_is_a_patch_of_the_transcript() {
    for operation in [
        &["strip-thinking"][..],
        &["drop-tools", "--tool", "Bash"],
        &["truncate", "--at", "2"],
        &["compact", "--keep-last", "1"],
    ] {
        let home = Home::new();
        let path = home.put(ID, eventful().text(), 120);
        let before = fs_err::read_to_string(&path).unwrap();
        let with = |more: &[&str]| {
            let (name, options) = operation.split_first().unwrap();
            let mut args = vec![*name, ID];
            args.extend(options);
            args.extend(more);
            home.run_in_pipe(&args)
        };
        let preview = with(&["--in-place", "-n", "--diff=raw", "--show-secrets"]);
        let run = with(&["--in-place", "--yes", "-q"]);
        assert_eq!(
            (preview.code, run.code),
            (0, 0),
            "{} {}",
            preview.page(),
            run.page()
        );
        let after = fs_err::read_to_string(&path).unwrap();
        assert!(
            preview
                .stdout
                .contains("--- before.jsonl\n+++ after.jsonl\n@@ -"),
            "{}",
            preview.stdout
        );
        // Times and ids that an operation makes up differ from run to run.
        let lines = |text: &str| text.lines().map(str::len).collect::<Vec<_>>();
        assert_eq!(
            lines(&patched(&before, &preview.stdout)),
            lines(&after),
            "{operation:?}"
        );
    }
}

#[test]
fn diff_shows_words_and_entries() {
    let home = Home::new();
    home.put(ID, eventful().text(), 120);
    let text = eventful().text().replace(
        "The map's order is random; **sort the keys**.",
        "The map's order is not fixed; sort its keys \\u001b[31m.",
    );
    let kept: Vec<&str> = text
        .lines()
        .filter(|l| !l.contains("It shows the log.") && !l.contains("\"thinking\""))
        .collect();
    let text = kept.join("\n") + "\n";
    home.put("5e551012-aaaa-4bbb-8ccc-dddddddddddd", &text, 60);
    insta::assert_snapshot!(home.run_on(60, &["diff", "5e551011", "5e551012"]).page(), @r#"
    exit 0
    Entries: 2 only in A, 1 changed; 16 the same

    turn 2  1 only in A, 1 changed
      − thinking                526 B  The test depends on the…
      ~ answer
          The map's order is [-random; **sort the keys**.-]{+not
          fixed; sort its keys �[31m.+}

    turn 3  1 only in A
      − answer                  473 B  It shows the log.
    "#);
    insta::assert_snapshot!(home.run_on(100, &["diff", "5e551011", "5e551012"]).page(), @r#"
    exit 0
    Entries: 2 only in A, 1 changed; 16 the same

    turn 2  1 only in A, 1 changed
      − thinking                526 B  The test depends on the order of a map.
      ~ answer
          The map's order is [-random; **sort the keys**.-]{+not fixed; sort its keys �[31m.+}

    turn 3  1 only in A
      − answer                  473 B  It shows the log.
    "#);
    insta::assert_snapshot!(home.run_on(100, &["diff", "5e551011", "5e551012", "--color", "always"]).page().replace('\x1b', "␛"), @r#"
    exit 0
    ␛[1mEntries:␛[0m 2 only in A, 1 changed; 16 the same

    ␛[1mturn 2␛[0m␛[2m  1 only in A, 1 changed␛[0m
      ␛[31m−␛[0m thinking                526 B  ␛[2mThe test depends on the order of a map.␛[0m
      ␛[33m~␛[0m answer
          The map's order is ␛[31m[-random; **sort the keys**.-]␛[0m␛[32m{+not fixed; sort its keys �[31m.+}␛[0m

    ␛[1mturn 3␛[0m␛[2m  1 only in A␛[0m
      ␛[31m−␛[0m answer                  473 B  ␛[2mIt shows the log.␛[0m
    "#);
}
