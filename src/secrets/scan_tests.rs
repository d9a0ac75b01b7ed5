//! What the scanner must find, in every encoding, and what it must not.

use base64::Engine as _;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::find::search;
use super::rules::{Certainty, Rule, Rules, built_in, rules};
use super::*;

/// Returns made-up values that a rule accepts, each with the text around it.
fn samples(rule: &Rule, runner: &mut TestRunner) -> Vec<(Vec<u8>, Vec<u8>)> {
    // Boundaries cannot be generated, and any white space will do.
    let source = rule.regex.source();
    let source = source
        .replace(r"\b", "")
        .replace("(?:^|[^A-Za-z0-9_~.-])", " ")
        .replace(r"(?:^|\s)", " ")
        .replace(r"\s*", " ?")
        .replace(r"\s+", " ")
        .replace(r"\S+", "[a-z0-9]{8}")
        .replace(r"\S{1,}", "[a-z0-9]{12}")
        .replace(r"[^\n]*?", "[a-z ]{0,9}")
        .replace(r"\\*", "")
        .replace(
            r"(?:[A-Za-z0-9+/=\s\\:,.()>|]|\xE2\x86\x92|-[A-Za-z0-9]){16,}",
            "\n[A-Za-z0-9+/]{64}",
        )
        .replace(r"(?:\s|\\[rn]|[A-Za-z0-9+/=]){32,}", "\n[A-Za-z0-9+/]{64}");
    let negated = regex::Regex::new(r"\[\^(?:\\.|[^\]\\])*\]").unwrap();
    let source = negated.replace_all(&source, "[A-Za-z0-9]");
    let source = format!("(?s-u){source}");
    let made = proptest::string::bytes_regex(&source).expect(&source);
    let regex = rule.regex.regex().unwrap();
    let mut out = Vec::new();
    for _ in 0..60 {
        let text = made.new_tree(runner).unwrap().current();
        let is_plain = |b: &u8| (b' '..0x7f).contains(b) || *b == b'\n';
        if !text.iter().all(is_plain) || text.contains(&b'\\') {
            continue;
        }
        let Some(captures) = regex.captures(&text) else {
            continue;
        };
        let value = captures.get(1).or(captures.get(0)).unwrap().as_bytes();
        if rule.accepts(value) && !value.ends_with(b" ") {
            out.push((text.clone(), value.to_vec()));
        }
        if out.len() == 3 {
            break;
        }
    }
    out
}

fn runner() -> TestRunner {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    TestRunner::new_with_rng(Config::default(), rng)
}

fn json(text: &str) -> String {
    crate::json::encode(text)
}

/// Returns a text as a JSON string in which every character is an escape.
fn all_escaped(text: &str) -> String {
    let units = text.encode_utf16().map(|u| format!("\\u{u:04x}"));
    format!("\"{}\"", units.collect::<String>())
}

/// Redacts a file's bytes completely.
fn redacted(scanner: &Scanner, form: Form, bytes: &[u8]) -> Vec<u8> {
    Ledger::default().replaced(bytes, &scanner.scan_file(form, bytes))
}

/// Returns what is left of a JSON text when all its escapes are resolved.
fn resolved(text: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    for _ in 0..4 {
        out = super::reading::unescaped(&out).map_or(out, |r| r.text);
    }
    out
}

fn holds(text: &[u8], value: &[u8]) -> bool {
    memchr::memmem::find(text, value).is_some()
}

/// Returns how many samples of all rules, in ten encodings, are found, of how many, and which are missed.
fn recall() -> (usize, usize, Vec<String>) {
    let scanner = Scanner::new();
    let mut runner = runner();
    let (mut wanted, mut found) = (0, 0);
    let mut missed = Vec::new();
    for rule in rules()
        .all
        .iter()
        .filter(|r| r.certainty != Certainty::Guess)
    {
        let samples = samples(rule, &mut runner);
        assert!(!samples.is_empty(), "no sample for {}", rule.id);
        for (text, value) in samples {
            if !rule.is_sure_of(&value) {
                continue;
            }
            let mut text = String::from_utf8(text).unwrap();
            let has_keyword = |k: &String| text.to_ascii_lowercase().contains(k.as_str());
            if !rule.keywords.iter().any(has_keyword) {
                text = format!("{} {text}", rule.keywords[0]);
            }
            let half = text.find(std::str::from_utf8(&value).unwrap()).unwrap() + value.len() / 2;
            let coloured = format!("{}\x1b[1m{}", &text[..half], &text[half..]);
            let cases = [
                ("text", Form::Text, format!("see {text} there")),
                ("line", Form::Text, format!("one\n{text}\ntwo")),
                ("json", Form::Json, format!(r#"{{"a":[{}]}}"#, json(&text))),
                (
                    "key",
                    Form::Json,
                    format!(r#"{{"a":{{{}:1}}}}"#, json(&text)),
                ),
                (
                    "escaped",
                    Form::Json,
                    format!(r#"{{"a":{}}}"#, all_escaped(&text)),
                ),
                (
                    "nested",
                    Form::Json,
                    json(&format!(r#"{{"b":{}}}"#, json(&text))),
                ),
                (
                    "nested in text",
                    Form::Text,
                    format!(r#"{{"b":{}}}"#, json(&format!(" {text} "))),
                ),
                ("colours", Form::Text, coloured.clone()),
                (
                    "colours in json",
                    Form::Json,
                    format!("[{}]", json(&coloured)),
                ),
                (
                    "lines",
                    Form::JsonLines,
                    format!("{{}}\n[{}]\n{{\"torn\": {text}\n", json(&text)),
                ),
            ];
            for (name, form, case) in cases {
                wanted += 1;
                let out = resolved(&redacted(&scanner, form, case.as_bytes()));
                let out = memchr::memmem::find_iter(&out, b"\x1b[1m")
                    .next()
                    .map_or_else(|| out.clone(), |at| [&out[..at], &out[at + 4..]].concat());
                if holds(&out, &value) {
                    missed.push(format!("{} in {name}", rule.id));
                } else {
                    found += 1;
                }
            }
        }
    }
    (found, wanted, missed)
}

#[test]
fn redact_finds_every_sample_and_nothing_else() {
    let (found, wanted, missed) = recall();
    let (texts, wrong, suggested) = wrong_findings();
    let percent = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
    eprintln!(
        "recall: {:.2} % ({found} of {wanted} samples of {} rules, in 10 encodings)\nprecision: {:.2} % ({} wrong in {texts} ordinary texts; {suggested} only suggested)",
        percent(found, wanted),
        rules().all.len(),
        percent(found, found + wrong.len()),
        wrong.len()
    );
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Returns the built-in rules without what stands around their keywords.
fn rules_by_keyword() -> Rules {
    let mut all = built_in();
    for rule in &mut all {
        (rule.at_word, rule.then) = (false, None);
    }
    Rules::new(all)
}

#[test]
fn redact_excludes_no_secret_by_what_stands_around_a_keyword() {
    let by_keyword = rules_by_keyword();
    let mut runner = runner();
    let hits = |rules: &Rules, text: &str| {
        let mut found = Vec::new();
        search(rules, text.as_bytes(), &mut 0, |hit| {
            found.push((hit.masked, hit.token, hit.rule.id.clone()));
        });
        found
    };
    let before = [
        "",
        "x",
        "_",
        "a ",
        "\n",
        "\\",
        "é",
        "\u{1b}[1m",
        "\\x1b[1;2m",
        "task-",
        "\"",
        "key",
    ];
    let after = [
        "",
        "x",
        "_",
        " b",
        "\n",
        "\\",
        "\"",
        "\\n",
        "\u{1b}[0m",
        ": ",
        "=",
        "'",
    ];
    let mut found = 0;
    for rule in &rules().all {
        for (sample, _) in samples(rule, &mut runner).into_iter().take(1) {
            let sample = String::from_utf8(sample).unwrap();
            for (before, after) in before.iter().flat_map(|b| after.map(|a| (b, a))) {
                let text = format!("{before}{sample}{after}");
                let expected = hits(&by_keyword, &text);
                assert_eq!(hits(rules(), &text), expected, "{text}");
                if !expected.is_empty() {
                    found += 1;
                    let once = json(&text);
                    let twice = json(&once);
                    let thrice = json(&twice);
                    for raw in [&text, &once, &twice, &thrice] {
                        assert!(rules().may_match(raw.as_bytes()), "{raw}");
                    }
                }
            }
        }
    }
    assert!(found > 10_000, "{found}");
}

#[test]
fn redact_looks_into_base64_on_request() {
    let token = format!("ghp_{}", "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6");
    for engine in [
        &base64::engine::general_purpose::STANDARD,
        &base64::engine::general_purpose::URL_SAFE_NO_PAD,
    ] {
        let text = format!(
            "data: {} end",
            engine.encode(format!("export TOKEN={token}\n"))
        );
        let plain = redacted(&Scanner::new(), Form::Text, text.as_bytes());
        assert_eq!(plain, text.as_bytes());
        let scanner = Scanner::new().with_base64(true);
        let out = redacted(&scanner, Form::Text, text.as_bytes());
        assert_eq!(out, b"data: [redacted:github-token:1] end");
    }
}

#[test]
fn redact_finds_a_secret_that_was_cut_off() {
    let token = format!("ghp_{}", "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6");
    let text = format!(
        "{token}\n{}… and {}zz {}",
        &token[..19],
        &token[..13],
        &token[..7]
    );
    let mut scanner = Scanner::new();
    let mut vault = Vault::default();
    for finding in scanner.scan(text.as_bytes()) {
        vault.add(&finding);
    }
    scanner.learn(&vault);
    let out = redacted(&scanner, Form::Text, text.as_bytes());
    let out = String::from_utf8(out).unwrap();
    let mark = "[redacted:github-token:1]";
    assert_eq!(
        out,
        format!("{mark}\n{mark}… and {}zz {}", &token[..13], &token[..7])
    );
}

#[test]
fn redact_finds_the_end_of_a_secret_that_was_cut_in_two() {
    let token = format!("ghp_{}", "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6");
    let (head, tail) = token.split_at(20);
    let text = format!("{token}\n{head}\n{tail} …{tail} x{tail} {}", &token[35..]);
    let mut scanner = Scanner::new();
    let mut vault = Vault::default();
    for finding in scanner.scan(text.as_bytes()) {
        vault.add(&finding);
    }
    scanner.learn(&vault);
    let out = redacted(&scanner, Form::Text, text.as_bytes());
    let mark = "[redacted:github-token:1]";
    assert_eq!(
        String::from_utf8(out).unwrap(),
        format!("{mark}\n{mark}\n{mark} …{mark} x{tail} {}", &token[35..])
    );
}

#[test]
fn redact_takes_only_long_given_words_for_cut_off() {
    let long = "mK4tz9qLm2xZq8vB1nM4p";
    let given = ["question 200", "projectx-200", long].map(str::to_owned);
    let scanner = Scanner::new().with_values("literal", given);
    let text = format!(
        "question 20, question 200 and projectx-20; {}…",
        &long[..12]
    );
    let out = redacted(&scanner, Form::Text, text.as_bytes());
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "question 20, [redacted:literal:1] and projectx-20; [redacted:literal:2]…"
    );
}

#[test]
fn redact_replaces_a_given_number_of_json_by_a_number() {
    let scanner = Scanner::new().with_values("literal", ["48151".to_owned()]);
    let text =
        r#"{"pin":48151,"a":["pin 48151",-48151,148151,48151.5,{"48151":2}],"t":1748151000}"#;
    let out = redacted(&scanner, Form::Json, text.as_bytes());
    assert_eq!(
        String::from_utf8(out).unwrap(),
        r#"{"pin":0,"a":["pin [redacted:literal:1]",0,148151,48151.5,{"[redacted:literal:1]":2}],"t":1748151000}"#
    );
    let word = Scanner::new().with_values("literal", ["4815162342x".to_owned()]);
    assert_eq!(word.scan_json(br#"{"pin":4815162342}"#), []);
}

#[test]
fn redact_gives_a_secret_one_placeholder_everywhere() {
    let mut scanner = Scanner::new();
    let text = "DB_PASSWORD=k4Tz9qLm2x\nthe password k4Tz9qLm2x works; STRIPE_KEY=Zq8vB1nM4p";
    let mut vault = Vault::default();
    for (kind, number) in placeholders(b"earlier [redacted:env-assignment:3]") {
        vault.reserve(&kind, number);
    }
    for finding in scanner.scan(text.as_bytes()) {
        vault.add(&finding);
    }
    scanner.learn(&vault);
    let ledger = Ledger::new(vault);
    let out = ledger.replaced(text.as_bytes(), &scanner.scan(text.as_bytes()));
    let out = String::from_utf8(out).unwrap();
    assert_eq!(
        out,
        "DB_PASSWORD=[redacted:env-assignment:4]\nthe password [redacted:env-assignment:4] works; STRIPE_KEY=[redacted:env-assignment:5]"
    );
    assert_eq!(scanner.scan(out.as_bytes()), []);
}

#[test]
fn redact_does_not_spread_common_words() {
    let text = "postgres://postgres:postgres@localhost/postgres and PASSWORD=changeme, changeme";
    let found = Scanner::new().scan(text.as_bytes());
    assert!(found.iter().all(Finding::is_suggestion), "{found:?}");
}

#[test]
fn redact_takes_given_values_and_patterns() {
    let mut rules = UserRules::parse(
        "[[rules]]\nid = \"Our Token\"\nregex = '''tok-([0-9]{4})(x?)'''\nsecretGroup = 1\nkeywords = [\"tok-\"]\n[rules.allowlist]\nstopwords = [\"0000\"]\n",
    )
    .unwrap();
    rules.add_pattern("zebra[0-9]").unwrap();
    let file = dotenv_values("# a=b\nAPI_KEY=\"quite secret\"\nPORT=8080\nURL=https://a.example/1");
    assert_eq!(file.left_out, ["PORT", "URL"]);
    let scanner = Scanner::new()
        .with_rules(rules)
        .with_values("literal", ["swordfish".to_owned(), " ".to_owned()])
        .with_values("env-file", file.values);
    let text = r#"{"a":"tok-1234 tok-0000 zebra7 sword\u0066ish","b":"quite secret 8080 https://a.example/1"}"#;
    let out = redacted(&scanner, Form::Json, text.as_bytes());
    assert_eq!(
        String::from_utf8(out).unwrap(),
        r#"{"a":"[redacted:our-token:1] tok-0000 [redacted:pattern:1] [redacted:literal:1]","b":"[redacted:env-file:1] 8080 https://a.example/1"}"#
    );
    assert!(UserRules::parse("[[rules]]\nid = \"x\"\nregex = '('").is_err());
}

#[test]
fn dotenv_values_with_the_name_of_a_secret_may_be_short() {
    let file = dotenv_values("DB_PASSWORD=hunter2\nADMIN_PASS=test\nNAME='shop'\nEMPTY=\n");
    assert_eq!(file.values, ["hunter2"]);
    assert_eq!(file.left_out, ["ADMIN_PASS", "NAME"]);
}

/// Ordinary text of many kinds, none of it secret.
fn ordinary() -> Vec<(&'static str, String)> {
    let mut random = fastrand::Rng::with_seed(11);
    let mut letters = |n: usize, of: &[u8]| -> String {
        (0..n)
            .map(|_| char::from(of[random.usize(..of.len())]))
            .collect()
    };
    let hex = b"0123456789abcdef";
    let base = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let uuid = |l: &mut dyn FnMut(usize, &[u8]) -> String| {
        format!(
            "{}-{}-4{}-8{}-{}",
            l(8, hex),
            l(4, hex),
            l(3, hex),
            l(3, hex),
            l(12, hex)
        )
    };
    let mut out = Vec::new();
    for _ in 0..200 {
        out.push((
            "uuid",
            format!("session {} of {}", uuid(&mut letters), uuid(&mut letters)),
        ));
        out.push((
            "git hash",
            format!("commit {}\nAuthor: A <a@b.example>", letters(40, hex)),
        ));
        out.push((
            "sha256",
            format!("sha256:{}  file.tar.gz", letters(64, hex)),
        ));
        out.push((
            "signature",
            format!(
                r#"{{"type":"thinking","thinking":"","signature":"{}=="}}"#,
                letters(600, base)
            ),
        ));
        out.push(("image", format!(r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo{}"}}}}"#, letters(3000, base))));
        out.push((
            "lock file",
            format!(
                "\"integrity\": \"sha512-{}==\",\n[[package]]\nchecksum = \"{}\"\n",
                letters(86, base),
                letters(64, hex)
            ),
        ));
        out.push((
            "minified",
            format!(
                "!function(e,t){{var n=e.token,r=t.key||\"{}\";return n?r:void 0}}(a,b);",
                letters(6, b"abcdefgh")
            ),
        ));
        out.push((
            "ids",
            format!(
                "toolu_01{} msg_01{} req_011{}",
                letters(22, base),
                letters(22, base),
                letters(21, base)
            ),
        ));
    }
    for prose in [
        "The password must have at least 12 characters, and the token expires after one hour.",
        "fn check(password: &str, token: String) -> Result<Secret, Error> {",
        "export API_KEY=$(cat key.txt) && curl -H \"Authorization: Bearer $API_KEY\" https://api.example.com",
        "const token = process.env.GITHUB_TOKEN ?? getToken();",
        "max_tokens=4096 total_tokens=128000 cache_read_input_tokens: 1200",
        "http://localhost:8080/a@b?key=name&sort=asc",
        "postgres://user:password@localhost:5432/db",
        "AWS_SECRET_ACCESS_KEY=your-secret-key-here",
        "PASSWORD=changeme TOKEN=<your token> SECRET=\"${SECRET}\" KEY=xxxxxxxx",
        "sk-learn and sk-short are names; task-management-in-the-large",
        "https://github.com/a/b/commit/0123456789abcdef0123456789abcdef01234567",
        "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n-----END CERTIFICATE-----",
    ] {
        out.push(("prose", prose.to_owned()));
    }
    out
}

/// Returns how many ordinary texts there are, what is wrongly found in them, and how much is suggested.
fn wrong_findings() -> (usize, Vec<String>, usize) {
    let scanner = Scanner::new();
    let texts = ordinary();
    let (mut wrong, mut suggested) = (Vec::new(), 0);
    for (kind, text) in &texts {
        let form = if text.starts_with('{') {
            Form::Json
        } else {
            Form::Text
        };
        for finding in scanner.scan_file(form, text.as_bytes()) {
            if finding.is_suggestion() {
                suggested += 1;
            } else {
                wrong.push(format!("{kind}: {finding:?} in {text}"));
            }
        }
    }
    (texts.len(), wrong, suggested)
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 200, failure_persistence: None, ..Default::default() })]

    #[test]
    fn redact_twice_is_redact_once(words in "(PASSWORD=|ghp_|sk-ant-|[A-Za-z0-9]{9,40}|[ \n\"\\\\:=.]|https://u:|@h ){0,30}") {
        let scanner = Scanner::new();
        for (form, text) in [(Form::Text, words.clone()), (Form::Json, json(&words))] {
            let once = redacted(&scanner, form, text.as_bytes());
            proptest::prop_assert_eq!(redacted(&scanner, form, &once), once.clone());
            if form == Form::Json {
                proptest::prop_assert!(serde_json::from_slice::<serde_json::Value>(&once).is_ok());
            }
        }
    }
}
