use crate::see::home::{Home, eventful};

const ID: &str = "5e551011-aaaa-4bbb-8ccc-dddddddddddd";

#[test]
fn a_clone_differs_in_nothing_but_ids() {
    let home = Home::new();
    home.put(ID, eventful().text(), 120);
    let clone = home
        .run(100, &["clone", "--json", "--title", "Copy"])
        .json();
    let made = clone["target"]["session_id"].as_str().unwrap();
    insta::assert_snapshot!(home.run(100, &["diff", ID, made]).seen(), @r#"
    exit 0
    title: “Flaky parser �[2J test” → “Copy”
    No differences except ids.
    "#);
    assert_eq!(
        home.run(100, &["diff", ID, made, "--json"]).json()["same"],
        true
    );
    insta::assert_snapshot!(home.run(100, &["diff", ID, ID]).seen(), @r#"
    exit 0
    No differences: they are the same file.
    "#);
}

#[test]
fn words_and_entries() {
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
    insta::assert_snapshot!(home.run(60, &["diff", "5e551011", "5e551012"]).seen(), @r#"
    exit 0
    Entries: 2 only in A, 1 changed; 16 the same

    turn 2
      − thinking                526 B  The test depends on the…
      ~ answer
          The map's order is [-random; **sort the keys**.-]{+not
          fixed; sort its keys �[31m.+}

    turn 3
      − answer                  473 B  It shows the log.
    "#);
    insta::assert_snapshot!(home.run(100, &["diff", "5e551011", "5e551012"]).seen(), @r#"
    exit 0
    Entries: 2 only in A, 1 changed; 16 the same

    turn 2
      − thinking                526 B  The test depends on the order of a map.
      ~ answer
          The map's order is [-random; **sort the keys**.-]{+not fixed; sort its keys �[31m.+}

    turn 3
      − answer                  473 B  It shows the log.
    "#);
    insta::assert_snapshot!(home.run(100, &["diff", "5e551011", "5e551012", "--color", "always"]).seen().replace('\x1b', "␛"), @r#"
    exit 0
    ␛[1mEntries:␛[0m 2 only in A, 1 changed; 16 the same

    ␛[1mturn 2␛[0m
      ␛[31m−␛[0m thinking                526 B  ␛[2mThe test depends on the order of a map.␛[0m
      ␛[33m~␛[0m answer
          The map's order is ␛[31m[-random; **sort the keys**.-]␛[0m␛[32m{+not fixed; sort its keys �[31m.+}␛[0m

    ␛[1mturn 3␛[0m
      ␛[31m−␛[0m answer                  473 B  ␛[2mIt shows the log.␛[0m
    "#);
}
