use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::session::Session;

const ALL: [TextKind; 6] = [
    TextKind::Prompt,
    TextKind::Answer,
    TextKind::Thinking,
    TextKind::Call,
    TextKind::Result,
    TextKind::Note,
];

fn search(pattern: &str, options: PatternOptions) -> Search {
    Search {
        pattern: Pattern::new(pattern, options).expect("a pattern"),
        kinds: ALL.to_vec(),
        with_text: true,
    }
}

fn found(pattern: &str, transcript: &str) -> Vec<(TextKind, String)> {
    let matches = search(pattern, PatternOptions::default()).transcript(transcript.as_bytes());
    let kept = |m: Match| (m.kind, m.text.raw().to_owned());
    matches.into_iter().map(kept).collect()
}

/// A prompt whose text is this JSON string.
fn prompt(string: &str) -> String {
    format!(
        r#"{{"parentUuid":null,"type":"user","message":{{"role":"user","content":{string}}},"uuid":"u","sessionId":"s"}}"#
    )
}

#[test]
fn search_finds_text_however_it_is_escaped() {
    for json in [
        r#""say \"hi\" to a/b\tc""#,
        r#""say \u0022hi\u0022 to a\/b\u0009c""#,
        r#""\u0073ay \"hi\" t\u006F a\u002fb\tc""#,
    ] {
        let line = prompt(json);
        for pattern in [
            "say \"hi\"",
            "a/b\tc",
            r"^say",
            r"hi.* to",
            r"b\sc$",
            "(?i)SAY",
        ] {
            let expected = [(TextKind::Prompt, "say \"hi\" to a/b\tc".to_owned())];
            assert_eq!(found(pattern, &line), expected, "{pattern} in {json}");
        }
        assert!(found("parentUuid", &line).is_empty());
        assert!(found("u0073|u0022", &line).is_empty());
    }
}

#[test]
fn search_matches_each_line_of_a_text_by_itself() {
    let line = prompt(r#""one\ntwo\r\nthree""#);
    let lines = |pattern| -> Vec<String> {
        let all = found(pattern, &line).into_iter();
        all.map(|(_, text)| text).collect()
    };
    assert_eq!(lines("^t"), ["two", "three"]);
    assert_eq!(lines(r"\w+$"), ["one", "two", "three"]);
    assert_eq!(lines(r"o\s"), Vec::<String>::new());
    let error = Pattern::new("one\ntwo", PatternOptions::default());
    assert_eq!(error.err(), Some(PatternError::LineBreak));
}

#[test]
fn search_finds_bytes_that_are_not_utf8_as_replacement_characters() {
    let mut line = prompt(r#""caf? is open""#).into_bytes();
    let at = line.iter().position(|&b| b == b'?').expect("the place");
    line[at] = 0xe9;
    for pattern in ["caf\u{fffd} is", "caf. is", "caf[^x] is", r"caf\W"] {
        let search = search(pattern, PatternOptions::default());
        assert_eq!(search.transcript(&line).len(), 1, "{pattern}");
    }
}

#[test]
fn search_options_are_those_of_grep() {
    let line = prompt(r#""Straße, ÄRGER (a+b) cat concat""#);
    let count = |pattern: &str, options| search(pattern, options).transcript(line.as_bytes()).len();
    let none = PatternOptions::default();
    let (ignore_case, fixed, word) = (true, true, true);
    assert_eq!(count("ärger", none), 0);
    assert_eq!(
        count(
            "ärger",
            PatternOptions {
                ignore_case,
                ..none
            }
        ),
        1
    );
    assert_eq!(count("(a+b)", none), 0);
    assert_eq!(count("(a+b)", PatternOptions { fixed, ..none }), 1);
    assert_eq!(count("conca", PatternOptions { word, ..none }), 0);
    assert_eq!(count("concat", PatternOptions { word, ..none }), 1);
    assert_eq!(
        count(
            "(a+b)",
            PatternOptions {
                fixed,
                word,
                ..none
            }
        ),
        1
    );
}

#[test]
fn search_explains_a_pattern_that_cannot_be_read() {
    let error = Pattern::new("a(b", PatternOptions::default()).expect_err("it is open");
    assert!(error.to_string().contains("unclosed group"), "{error}");
    let error = Pattern::new("a{999}{999}{9}", PatternOptions::default());
    assert_eq!(error.err(), Some(PatternError::TooLarge));
}

#[test]
fn search_masks_a_key_that_spans_lines() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn\\nygWyF8PbnGy0AHB7MZvXyZ1234567890\\n-----END RSA PRIVATE KEY-----";
    let line = prompt(&format!("\"{key}\""));
    let found = search("ygWyF8", PatternOptions::default()).transcript(line.as_bytes());
    let [found] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(!found.text.masked().raw().contains("ygWyF8"));
    let json = serde_json::to_string(&found.text).expect("JSON");
    assert!(!json.contains("ygWyF8"), "{json}");
}

#[test]
fn search_hits_have_turn_tool_and_standing() {
    let lines = [
        r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"look for needle"},"uuid":"11111111-0000-4000-8000-000000000001","sessionId":"s"}"#,
        r#"{"parentUuid":"11111111-0000-4000-8000-000000000001","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"grep needle","more":[{"deep":"needle too"}]}}]},"uuid":"11111111-0000-4000-8000-000000000002","sessionId":"s"}"#,
        r#"{"parentUuid":"11111111-0000-4000-8000-000000000002","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"a\nneedle\nb"}]}]},"uuid":"11111111-0000-4000-8000-000000000003","sessionId":"s"}"#,
        r#"{"parentUuid":"11111111-0000-4000-8000-000000000001","type":"assistant","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"an abandoned needle"}]},"uuid":"11111111-0000-4000-8000-000000000004","sessionId":"s"}"#,
        r#"{"parentUuid":"11111111-0000-4000-8000-000000000003","type":"assistant","message":{"id":"o","role":"assistant","content":[{"type":"text","text":"done"}]},"uuid":"11111111-0000-4000-8000-000000000005","sessionId":"s"}"#,
    ];
    let text = lines.join("\n");
    let matches = search("needle", PatternOptions::default()).transcript(text.as_bytes());
    let session = Session::from_bytes(text.clone());
    let hits = Hit::all(&session, matches, None);
    let tool = |h: &Hit| h.tool.as_ref().map(|t| t.raw().to_owned());
    let rows: Vec<_> = hits
        .iter()
        .map(|h| (h.line, h.kind, h.turn, h.standing, tool(h)))
        .collect();
    let bash = || Some("Bash".to_owned());
    use Whereabouts::{Abandoned, Shown};
    assert_eq!(
        rows,
        [
            (1, TextKind::Prompt, Some(1), Shown, None),
            (2, TextKind::Call, Some(1), Shown, bash()),
            (2, TextKind::Call, Some(1), Shown, bash()),
            (3, TextKind::Result, Some(1), Shown, bash()),
            (4, TextKind::Answer, None, Abandoned, None),
        ]
    );
}

/// Returns every text of a transcript, decoded by another parser.
fn decoded(transcript: &str) -> Vec<(TextKind, String)> {
    let mut texts = Vec::new();
    for line in transcript.lines() {
        let Ok(entry) = serde_json::from_str::<Value>(line) else {
            continue;
        };
        let own = match entry["type"].as_str() {
            Some("assistant") => TextKind::Answer,
            _ => TextKind::Prompt,
        };
        match &entry["message"]["content"] {
            Value::String(text) => texts.push((own, text.clone())),
            Value::Array(blocks) => {
                for block in blocks {
                    of_block(block, own, &mut texts);
                }
            }
            _ => {}
        }
    }
    texts
}

fn of_block(block: &Value, own: TextKind, texts: &mut Vec<(TextKind, String)>) {
    let mut text = |kind, value: &Value| {
        if let Some(text) = value.as_str() {
            texts.push((kind, text.to_owned()));
        }
    };
    match block["type"].as_str() {
        Some("text") => text(own, &block["text"]),
        Some("thinking") => text(TextKind::Thinking, &block["thinking"]),
        Some("tool_result") => match &block["content"] {
            Value::Array(parts) => {
                for part in parts {
                    text(TextKind::Result, &part["text"]);
                }
            }
            content => text(TextKind::Result, content),
        },
        Some("tool_use") => {
            let values = block["input"].as_object();
            for value in values.into_iter().flat_map(|o| o.values()) {
                text(TextKind::Call, value);
            }
        }
        _ => {}
    }
}

/// Writes a string as JSON; `how` decides which characters are escaped although they need not be.
fn written(text: &str, how: u8) -> String {
    let mut out = String::from("\"");
    for (i, c) in text.chars().enumerate() {
        let choice = (usize::from(how) + i * 7) % 11;
        if c == '/' && choice < 4 {
            out.push_str("\\/");
        } else if choice == 3 || choice == 8 && how.is_multiple_of(2) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let unit = format!("{unit:04x}");
                out.push_str("\\u");
                out.push_str(&if how > 100 { unit.to_uppercase() } else { unit });
            }
        } else {
            let quoted = serde_json::to_string(&c).expect("JSON");
            out.push_str(&quoted[1..quoted.len() - 1]);
        }
    }
    out + "\""
}

fn entry(kind: u8, text: &str, how: u8) -> String {
    // Half of the lines are written as Claude Code writes them.
    let json = match how % 2 {
        0 => serde_json::to_string(text).expect("JSON"),
        _ => written(text, how),
    };
    let (role, content) = match kind % 6 {
        0 => ("user", json),
        1 => ("user", format!(r#"[{{"type":"text","text":{json}}}]"#)),
        2 => ("assistant", format!(r#"[{{"type":"text","text":{json}}}]"#)),
        3 => (
            "assistant",
            format!(r#"[{{"type":"thinking","thinking":{json},"signature":"x"}}]"#),
        ),
        4 => (
            "assistant",
            format!(
                r#"[{{"type":"tool_use","id":"toolu_1","name":"Bash","input":{{"command":{json},"n":1}}}}]"#
            ),
        ),
        _ => (
            "user",
            format!(r#"[{{"type":"tool_result","tool_use_id":"toolu_1","content":{json}}}]"#),
        ),
    };
    format!(
        r#"{{"parentUuid":null,"type":"{role}","message":{{"role":"{role}","content":{content}}},"uuid":"u"}}"#
    )
}

fn patterns() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "a", "b", "ab", "A", "/", "\"", "\\\\", "\t", "ä", "é", "😀", ".", "^", "$", r"\b", r"\w",
        r"\s", r"\d", "[a-c]", "[^a]", "(?:a|b/)", "x*", "a+", "(?i)a", r"\x1b", "n", "u00", "",
    ]);
    prop::collection::vec(words, 1..4).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn search_equals_a_naive_search_of_all_decoded_texts(
        lines in prop::collection::vec((any::<u8>(), "[abAnu0/\"\\\\\t\nä😀 \u{1b}\u{2028}]{0,12}", any::<u8>()), 1..12),
        pattern in patterns(),
        ignore_case in any::<bool>(),
        word in any::<bool>(),
        fixed in any::<bool>(),
    ) {
        let lines: Vec<String> = lines.iter().map(|(kind, text, how)| entry(*kind, text, *how)).collect();
        let transcript = lines.join("\n");
        let options = PatternOptions { ignore_case, fixed, word };
        let Ok(pattern) = Pattern::new(&pattern, options) else {
            return Ok(());
        };
        let regex = pattern.text.clone();
        let search = Search { pattern, kinds: ALL.to_vec(), with_text: true };
        let found: Vec<_> = search.transcript(transcript.as_bytes()).into_iter()
            .map(|m| (m.kind, m.text.raw().to_owned())).collect();
        let mut expected = Vec::new();
        for (kind, text) in decoded(&transcript) {
            for line in text.split('\n').map(|l| l.strip_suffix('\r').unwrap_or(l)) {
                if regex.is_match(line) {
                    expected.push((kind, line.to_owned()));
                }
            }
        }
        let texts = |all: &[(TextKind, String)]| -> Vec<String> {
            all.iter().map(|(_, text)| text.clone()).collect()
        };
        prop_assert_eq!(texts(&found), texts(&expected));
    }
}

#[test]
fn search_of_a_session_finds_what_the_search_of_its_bytes_finds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for name in [
        "demo",
        "odd_escapes",
        "invalid_utf8",
        "torn_middle",
        "compacted",
        "bom",
    ] {
        let bytes = fs_err::read(folder.join(format!("{name}.jsonl"))).unwrap();
        let session = Session::from_bytes(bytes.clone());
        for pattern in ["e", "the", "t[aeiou]", "(?i)ERR", r"^\w+$", "/", "\u{fffd}"] {
            let search = search(pattern, PatternOptions::default());
            let of_bytes = Hit::all(&session, search.transcript(&bytes), None);
            let lines = search.lines(&bytes);
            let of_session = search.hits(&session, &lines, None);
            assert_eq!(of_session, of_bytes, "{name}: {pattern}");
            let is_in = search.is_in(&bytes);
            assert_eq!(
                is_in,
                !search.transcript(&bytes).is_empty(),
                "{name}: {pattern}"
            );
        }
    }
}
