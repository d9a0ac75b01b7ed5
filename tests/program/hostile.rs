//! Sessions that were made to do harm: none of it leaves the file.

use crate::harness;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use harness::{Home, Run, SESSION};
use serde_json::{Map, Value, json};

/// Moves the cursor, sets the window's title, colours in one byte, turns the direction of writing, goes
/// back on the line, and ends the string of a terminal.
const DRIVE: &str = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{7f}\u{85}\u{202e}gnorw\rover\x08\x1b\\";

const OTHER: &str = "07e20000-aaaa-4bbb-8ccc-0123456789ab";

/// Everything that shows something of a session, or says what it would do.
fn commands(session: &str) -> Vec<Vec<String>> {
    let shown = [
        "ls",
        "ls --all",
        "show S",
        "show S --turns 1..",
        "show S --branches",
        "inspect S",
        "payload S",
        "diff S O",
        "doctor S",
        "doctor --all",
        "history",
        "clone S -n",
        "clone S --at 99",
        "strip-thinking S -n --diff",
        "strip-thinking S -n --diff=raw",
        "drop-tools S -n --diff",
        "drop-tools S -n --stub --diff=raw",
        "drop-images S -n",
        "drop-hidden S -n --diff",
        "truncate S --at 1 -n --diff",
        "compact S --keep-last 1 -n --diff",
        "trim S --to 100 -n --explain",
        "repair S -n --diff",
        "repair S -n --diff=raw",
    ];
    let words = |line: &str, more: &[&str]| -> Vec<String> {
        let words = line.split(' ').map(|w| match w {
            "S" => session,
            "O" => OTHER,
            w => w,
        });
        words
            .chain(more.iter().copied())
            .map(str::to_owned)
            .collect()
    };
    shown
        .iter()
        .flat_map(|line| {
            // With colours, for without them the stream takes out sequences that nobody else did.
            [
                words(line, &["--color", "always"]),
                words(line, &["--json"]),
            ]
        })
        .collect()
}

fn run(home: &Home, arguments: &[String]) -> Run {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    home.run(&arguments)
}

/// Nothing of the session's reaches the terminal as it is, and nothing breaks.
fn assert_harmless(run: &Run, what: &str) {
    assert!(
        (0..=3).contains(&run.code),
        "{what} ends with {}: {}",
        run.code,
        run.stderr
    );
    for text in [&run.stdout, &run.stderr] {
        let text = &without_colours(text);
        let raw = text.char_indices().find(|&(_, c)| {
            c.is_control() && c != '\n' && c != '\t' || ('\u{202a}'..='\u{202e}').contains(&c)
        });
        if let Some((at, c)) = raw {
            let near: String = text[..at].chars().rev().take(80).collect();
            let near: String = near.chars().rev().collect();
            panic!("{what}: {c:?} behind {near:?}");
        }
    }
}

/// The text without colours of our own: ESC, a bracket, numbers and an m.
fn without_colours(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        out += &rest[..at];
        let behind = &rest[at + 2..];
        let end = behind.find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.filter(|&end| behind[end..].starts_with('m')) {
            Some(end) => rest = &behind[end + 1..],
            None => {
                out += "\x1b[";
                rest = behind;
            }
        }
    }
    out + rest
}

/// What ties a session together: changed one at a time, for changed at once nothing would be left of it.
const TIES: [&str; 16] = [
    "type",
    "subtype",
    "role",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "sessionId",
    "timestamp",
    "id",
    "tool_use_id",
    "name",
    "leafUuid",
    "messageId",
    "version",
    "cwd",
    "promptSource",
];

/// Puts the sequence into each string whose key is wanted, and into keys of what tools were given.
fn infect(value: &mut Value, key: &str, wanted: &impl Fn(&str) -> bool) {
    match value {
        Value::String(text) if wanted(key) => *text = format!("{text}{DRIVE}"),
        Value::Array(all) => all.iter_mut().for_each(|v| infect(v, key, wanted)),
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(k, v)| infect(v, k, wanted));
            if key == "input" && wanted("input") {
                let old = std::mem::take(fields);
                let new = old.into_iter().map(|(k, v)| (format!("{k}{DRIVE}"), v));
                *fields = new.collect::<Map<_, _>>();
            }
        }
        _ => {}
    }
}

fn keys(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|v| keys(v, out)),
        Value::Object(fields) => {
            for (key, value) in fields {
                if value.is_string() || value.is_array() {
                    out.insert(key.clone());
                }
                keys(value, out);
            }
        }
        _ => {}
    }
}

fn fixture(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name);
    let text = fs_err::read_to_string(path).expect("a fixture");
    let lines = text.lines().filter(|l| !l.trim().is_empty());
    lines.filter_map(|l| serde_json::from_str(l).ok()).collect()
}

fn write(home: &Home, id: &str, lines: &[Value]) {
    home.write(home.transcript(id), lines_of(lines));
}

fn lines_of(lines: &[Value]) -> String {
    lines
        .iter()
        .fold(String::new(), |text, line| text + &line.to_string() + "\n")
}

/// A recorded session of each form, by the client that wrote it.
fn recorded() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded");
    let mut out = Vec::new();
    let mut stack = vec![root];
    while let Some(dir) = stack.pop() {
        for entry in fs_err::read_dir(dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                stack.push(path);
            } else if path.extension().is_some_and(|x| x == "jsonl") {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

#[test]
fn no_string_of_a_session_can_drive_the_terminal() {
    let mut sources = vec![fixture("demo.jsonl"), fixture("compacted.jsonl")];
    let large = recorded().into_iter().filter(|p| {
        let name = p.to_string_lossy().replace('\\', "/");
        (name.contains("/2.1.325/") || name.contains("/2.0.36/"))
            && (name.contains("/compacted/") || name.contains("/edits/"))
            && !name.contains("agent-")
    });
    for path in large {
        let text = fs_err::read_to_string(path).expect("a session");
        sources.push(
            text.lines()
                .filter_map(|l| serde_json::from_str(l).ok())
                .collect(),
        );
    }
    assert!(sources.len() >= 4, "{} sessions", sources.len());
    for lines in sources {
        let home = Home::new();
        write(&home, OTHER, &lines);
        let mut hostile = lines;
        for line in &mut hostile {
            infect(line, "", &|key| !TIES.contains(&key));
        }
        let title = json!({"type": "custom-title", "customTitle": format!("title{DRIVE}"), "sessionId": SESSION});
        hostile.push(title);
        hostile.push(json!({"type": format!("new{DRIVE}"), "x": DRIVE}));
        write(&home, SESSION, &hostile);
        for command in commands(SESSION) {
            assert_harmless(&run(&home, &command), &command.join(" "));
        }
        // What was done is shown, too.
        assert_harmless(&home.run(&["strip-thinking", SESSION]), "done");
        for arguments in [
            vec!["history"],
            vec!["undo", "-n"],
            vec!["undo", "--yes"],
            vec!["redo", "--json"],
        ] {
            assert_harmless(&home.run(&arguments), &arguments.join(" "));
        }
    }
}

#[test]
fn no_single_field_can_either() {
    let lines = fixture("demo.jsonl");
    let mut all: BTreeSet<String> = TIES.iter().map(|&t| t.to_owned()).collect();
    for line in &lines {
        keys(line, &mut all);
    }
    let home = Home::new();
    write(&home, OTHER, &lines);
    let few = |c: &Vec<String>| {
        let json = c.last().is_some_and(|w| w == "--json");
        let wanted = [
            "ls", "show", "inspect", "payload", "doctor", "repair", "compact",
        ];
        !json && wanted.contains(&c[0].as_str()) && c.len() < 7
    };
    for key in &all {
        let mut hostile = lines.clone();
        for line in &mut hostile {
            infect(line, "", &|k| k == key);
        }
        write(&home, SESSION, &hostile);
        for command in commands(SESSION).into_iter().filter(few) {
            assert_harmless(
                &run(&home, &command),
                &format!("`{key}`: {}", command.join(" ")),
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn names_of_files_cannot_either() {
    let home = Home::new();
    let odd = format!("odd\n{}", DRIVE.replace('/', ""));
    write(&home, SESSION, &fixture("demo.jsonl"));
    let named = home.folder().join(format!("{odd}.jsonl"));
    fs_err::copy(home.transcript(SESSION), &named).expect("a session");
    let own = home.folder().join(SESSION);
    home.write(own.join("tool-results").join(&odd), "x");
    home.write(own.join(format!("subagents/agent-{odd}.jsonl")), "{}\n");
    let elsewhere = home.config().join("projects").join(format!("-p{odd}"));
    home.write(elsewhere.join(format!("{OTHER}.jsonl")), "{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n");
    let path = named.to_string_lossy().into_owned();
    for command in commands(SESSION).into_iter().chain(commands(&path)) {
        assert_harmless(&run(&home, &command), &command.join(" "));
    }
    for session in [SESSION, &path] {
        let done = home.run(&["clone", session, "-v"]);
        assert_eq!(done.code, 0, "{done:?}");
        assert_harmless(&done, "clone");
        assert_harmless(&home.run(&["undo", "--yes"]), "undo");
    }
    let done = home.run(&["strip-thinking", &path, "--in-place", "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_harmless(&done, "in place");
    let back = home.run(&["undo", "--yes"]);
    assert_eq!(back.code, 0, "{back:?}");
    assert_harmless(&back, "undo");
    assert_eq!(
        fs_err::read(&named).expect("the session"),
        fs_err::read(home.transcript(SESSION)).expect("the other"),
    );
}

/// Every name that is there after all that writes was run.
fn after_all_that_writes(home: &Home, session: &str) -> BTreeSet<String> {
    let ways: [&[&str]; 9] = [
        &["clone", session],
        &["clone", session, "--to-project", "../elsewhere"],
        &["strip-thinking", session, "--subagents"],
        &["drop-tools", session],
        &["truncate", session, "--at", "1"],
        &["compact", session, "--keep-last", "1"],
        &["repair", session],
        &[
            "strip-thinking",
            session,
            "--subagents",
            "--in-place",
            "--yes",
        ],
        &[
            "compact",
            session,
            "--keep-last",
            "1",
            "--in-place",
            "--yes",
        ],
    ];
    for way in ways {
        let run = home.run(way);
        assert!((0..=3).contains(&run.code), "{way:?}: {run:?}");
    }
    for _ in 0..ways.len() {
        let run = home.run(&["undo", "--yes"]);
        assert!((0..=3).contains(&run.code), "{run:?}");
    }
    home.everything().into_keys().collect()
}

#[test]
fn ids_and_names_lead_nowhere_else() {
    for bad in [
        "../../../../outside",
        "/outside",
        "..",
        ".",
        "",
        "a/../../../../outside",
        "..\\..\\outside",
        "C:\\outside",
        "\0",
        "con",
        "日本",
        "x\ny",
    ] {
        let home = Home::new();
        let mut lines = fixture("demo.jsonl");
        for line in &mut lines {
            for key in ["sessionId", "agentId", "slug", "uuid"] {
                if key != "uuid" || line["type"] == "assistant" {
                    line[key] = json!(bad);
                }
            }
            line["snapshot"] =
                json!({"trackedFileBackups": {bad: {"backupFileName": bad, "version": 1}}});
            line["toolUseResult"] = json!({"persistedOutputPath": bad, "agentId": bad});
        }
        write(&home, SESSION, &lines);
        home.write("outside.jsonl", "not yours\n");
        home.write("outside.md", "not yours\n");
        home.write(home.config().join("plans/日本.md"), "a plan\n");
        let own = home.folder().join(SESSION);
        home.write(
            own.join("subagents/agent-a1.jsonl"),
            format!("{}\n", lines[0]),
        );
        let before = home.everything();
        let allowed = |name: &str| {
            let places = [".claude/projects/", ".claude/plans/", "state/"];
            name == "state/" || places.iter().any(|p| name.starts_with(p))
        };
        for name in after_all_that_writes(&home, SESSION) {
            assert!(
                before.contains_key(&name) || allowed(&name),
                "{bad:?} made {name}"
            );
        }
        for (name, bytes) in home.everything() {
            if !allowed(&name) {
                assert_eq!(before.get(&name), Some(&bytes), "{bad:?} changed {name}");
            }
        }
        assert_eq!(
            fs_err::read(home.transcript(SESSION)).expect("the session"),
            before[&home
                .transcript(SESSION)
                .strip_prefix(home.path(""))
                .expect("inside")
                .to_string_lossy()
                .replace('\\', "/")],
            "{bad:?}: all is taken back"
        );
    }
}

#[test]
fn an_id_never_leads_out_of_the_config_folder() {
    let home = Home::new();
    write(&home, SESSION, &fixture("demo.jsonl"));
    home.write(".claude/projects/secret.jsonl", "{}\n");
    for name in ["..", "../secret", "....", "%2e%2e%2fsecret"] {
        let run = home.run(&["clone", name]);
        assert!([1, 2].contains(&run.code), "{name}: {run:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    write(&home, SESSION, &fixture("demo.jsonl"));
    home.write("secret/key", "not yours\n");
    let own = home.folder().join(SESSION);
    home.write(own.join("tool-results/a.txt"), "a\n");
    symlink(home.path("secret/key"), own.join("tool-results/b.txt")).expect("a link");
    symlink(home.path("secret"), own.join("tool-results/c")).expect("a link");
    let (id, _) = home.clone(&[SESSION]);
    let copied = home.folder().join(id).join("tool-results");
    assert!(copied.join("a.txt").exists());
    assert!(!copied.join("b.txt").exists() && !copied.join("c").exists());
}

#[cfg(unix)]
#[test]
fn a_transcript_behind_a_link_is_rewritten_where_it_is() {
    let home = Home::new();
    write(&home, OTHER, &fixture("demo.jsonl"));
    let real = home.path("elsewhere/real.jsonl");
    fs_err::rename(home.transcript(OTHER), &real).expect("moved");
    let link = home.transcript(SESSION);
    std::os::unix::fs::symlink("../../../elsewhere/real.jsonl", &link).expect("a link");
    let before = fs_err::read(&real).expect("the session");
    let run = home.run(&["strip-thinking", SESSION, "--in-place", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(link.is_symlink(), "the link stays one");
    assert_ne!(fs_err::read(&real).expect("the session"), before);
    let run = home.run(&["undo", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(link.is_symlink(), "the link stays one");
    assert_eq!(fs_err::read(&real).expect("the session"), before);
}

/// Lines that are out of all proportion, each between two that are not.
fn bombs() -> Vec<(&'static str, String)> {
    let entry = |value: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"b\",\"parentUuid\":null,\"sessionId\":\"{SESSION}\",\"message\":{{\"role\":\"user\",\"content\":\"x\"}},\"toolUseResult\":{value}}}"
        )
    };
    let content = |value: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"b\",\"parentUuid\":null,\"sessionId\":\"{SESSION}\",\"message\":{{\"role\":\"assistant\",\"id\":\"m\",\"content\":{value}}}}}"
        )
    };
    let deep = 1_000_000;
    let arrays = "[".repeat(deep) + &"]".repeat(deep);
    let objects = "{\"a\":".repeat(deep) + "1" + &"}".repeat(deep);
    let wide = format!("[{}]", vec!["1"; 200_000].join(","));
    let fields: Vec<String> = (0..50_000).map(|n| format!("\"k{n}\":{n}")).collect();
    let fields = format!("{{{}}}", fields.join(","));
    let digits = "9".repeat(1_000_000);
    let input = |value: &str| {
        format!("[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{value}}}]")
    };
    vec![
        ("deep arrays", entry(&arrays)),
        ("deep objects", entry(&objects)),
        ("deep content", content(&arrays)),
        ("deep input", content(&input(&objects))),
        ("open arrays", entry(&"[".repeat(deep))),
        ("open objects", entry(&"{\"a\":".repeat(deep))),
        ("bare arrays", arrays),
        ("wide", entry(&wide)),
        ("wide content", content(&wide)),
        ("many fields", entry(&fields)),
        ("many fields of an input", content(&input(&fields))),
        ("digits", entry(&digits)),
        ("digits and an exponent", entry(&format!("1e{digits}"))),
        (
            "a long key",
            entry(&format!("{{\"{}\":1}}", "k".repeat(1 << 20))),
        ),
        (
            "a long type",
            format!("{{\"type\":\"{}\",\"uuid\":\"b\"}}", "t".repeat(1 << 20)),
        ),
        (
            "a long uuid",
            format!(
                "{{\"type\":\"user\",\"uuid\":\"{}\",\"parentUuid\":null,\"message\":{{\"role\":\"user\",\"content\":\"x\"}}}}",
                "u".repeat(1 << 20)
            ),
        ),
        (
            "escapes",
            content(&format!(
                "[{{\"type\":\"text\",\"text\":\"{}\"}}]",
                "\\u001b\\ud83d".repeat(30_000)
            )),
        ),
        (
            "a long timestamp",
            format!(
                "{{\"type\":\"user\",\"uuid\":\"b\",\"timestamp\":\"{}\"}}",
                "2".repeat(1 << 20)
            ),
        ),
    ]
}

/// Commands that read deepest.
const DEEP: [&str; 8] = [
    "show S",
    "inspect S",
    "payload S",
    "doctor S",
    "diff S O",
    "repair S -n --diff=raw",
    "compact S --keep-last 1 -n --diff",
    "drop-tools S -n --stub --diff=raw",
];

#[test]
fn bombs_do_not_go_off() {
    let demo = fixture("demo.jsonl");
    let home = Home::in_memory();
    write(&home, OTHER, &demo);
    let (first, last) = demo.split_at(demo.len() / 2);
    let bombs = bombs();
    // All at once, or, where that fails, one at a time to see which it is: CCSURGERY_BOMBS=each.
    let each = std::env::var_os("CCSURGERY_BOMBS").is_some();
    let size = if each { 1 } else { bombs.len() };
    for some in bombs.chunks(size) {
        let names: Vec<&str> = some.iter().map(|(name, _)| *name).collect();
        let lines: Vec<&str> = some.iter().map(|(_, bomb)| bomb.as_str()).collect();
        let whole = format!(
            "{}{}\n{}",
            lines_of(first),
            lines.join("\n"),
            lines_of(last)
        );
        home.write(home.transcript(SESSION), &whole);
        let deep = |c: &Vec<String>| {
            let line = c.join(" ").replace(SESSION, "S").replace(OTHER, "O");
            DEEP.contains(&line.trim_end_matches(" --color always"))
        };
        let chosen: Vec<_> = commands(SESSION).into_iter().filter(deep).collect();
        assert_eq!(chosen.len(), DEEP.len());
        for command in chosen {
            let what = format!("{names:?}: {}", command.join(" "));
            assert_harmless(&run(&home, &command), &what);
        }
        let run = home.run(&["strip-thinking", SESSION, "--in-place", "--yes"]);
        assert_eq!(run.code, 0, "{names:?}: {run:?}");
        let run = home.run(&["undo", "--yes"]);
        assert_eq!(run.code, 0, "{names:?}: {run:?}");
        let now = fs_err::read_to_string(home.transcript(SESSION)).expect("the session");
        assert!(now == whole, "{names:?}: not back to what it was");
    }
}

#[test]
fn very_many_lines() {
    let home = Home::in_memory();
    let mut text = String::new();
    for n in 0..20_000 {
        let parent = if n == 0 {
            "null".to_owned()
        } else {
            format!("\"u{}\"", n - 1)
        };
        let (kind, content) = if n % 2 == 0 {
            ("user", "\"hi\"".to_owned())
        } else {
            (
                "assistant",
                "[{\"type\":\"text\",\"text\":\"so\"}]".to_owned(),
            )
        };
        let _ = writeln!(
            text,
            "{{\"type\":\"{kind}\",\"uuid\":\"u{n}\",\"parentUuid\":{parent},\"sessionId\":\"{SESSION}\",\"timestamp\":\"2026-03-04T{:02}:{:02}:{:02}.000Z\",\"message\":{{\"role\":\"{kind}\",\"id\":\"m{n}\",\"content\":{content}}}}}",
            n / 3600 % 24,
            n / 60 % 60,
            n % 60
        );
    }
    home.write(home.transcript(SESSION), &text);
    for arguments in [
        vec!["show", SESSION, "--turns", "-1"],
        vec!["doctor", SESSION],
        vec!["truncate", SESSION, "--at", "9000", "-n"],
        vec!["compact", SESSION, "--keep-last", "1", "-n"],
        vec!["clone", SESSION],
    ] {
        let run = home.run(&arguments);
        assert_harmless(&run, &arguments.join(" "));
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
    }
}

/// Who walks up from each of these, or reads on behind the end of a line, is never done.
#[test]
fn very_many_faults_of_one_kind() {
    let home = Home::in_memory();
    let line = |n: u32, kind: &str, content: &str| {
        let parent = n
            .checked_sub(1)
            .map_or("null".to_owned(), |p| format!("\"u{p}\""));
        format!(
            "{{\"type\":\"{kind}\",\"uuid\":\"u{n}\",\"parentUuid\":{parent},\"sessionId\":\"{SESSION}\",\"timestamp\":\"2026-03-04T05:06:07.000Z\",\"message\":{{\"role\":\"{kind}\",\"content\":{content}}}}}\n"
        )
    };
    let count = 40_000;
    let mut orphans = line(0, "user", "\"go\"");
    for n in 1..count {
        let result =
            format!("[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"x\"}}]");
        orphans += &line(n, "user", &result);
    }
    orphans += &line(
        count,
        "assistant",
        "[{\"type\":\"text\",\"text\":\"done\"}]",
    );
    let torn = line(0, "user", "\"go\"") + &"{\"a\":\n".repeat(count as usize);
    for session in [orphans, torn] {
        home.write(home.transcript(SESSION), &session);
        let run = home.run(&["repair", SESSION, "-n"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
}
