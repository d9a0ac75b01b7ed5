use proptest::prelude::*;

use super::find::find_counting;
use super::json::masked_json;
use super::rules::rules;
use super::{find, mask, mask_json};

const LONG: &str = "abcdefghijklmnopqrstuvwxyz0123456789";

#[test]
fn secret_rules_all_compile() {
    let rules = rules();
    assert!(rules.all.len() >= 150, "{}", rules.all.len());
    for rule in &rules.all {
        assert!(rule.regex.regex().is_some(), "{}", rule.id);
        assert!(!rule.keywords.is_empty(), "{}", rule.id);
        for pattern in &rule.allowlist {
            assert!(pattern.regex().is_some(), "{}", rule.id);
        }
    }
}

#[test]
fn mask_keeps_the_prefix_of_a_token() {
    let cases = [
        (
            format!("key sk-ant-api03-{LONG}."),
            "key sk-ant-[masked].".to_owned(),
        ),
        (format!("ghp_{LONG}"), "ghp_[masked]".to_owned()),
        (
            format!("\"github_pat_{LONG}\""),
            "\"github_pat_[masked]\"".to_owned(),
        ),
        ("xoxb-1234567890-abc".to_owned(), "xoxb-[masked]".to_owned()),
        (
            "id AKIAIOSFODNN7EXAMPLE!".to_owned(),
            "id AKIA[masked]!".to_owned(),
        ),
        (
            format!("jwt eyJhbGciOiJIUzI1NiJ9.{LONG}.{LONG} end"),
            "jwt eyJ[masked] end".to_owned(),
        ),
        (
            "curl -H 'Authorization: Bearer abc.def-123456' x".to_owned(),
            "curl -H 'Authorization: Bearer [masked]' x".to_owned(),
        ),
        (
            r#"{"authorization":"Basic dXNlcjpwYXNz"}"#.to_owned(),
            r#"{"authorization":"Basic [masked]"}"#.to_owned(),
        ),
        (
            "postgres://me:hunter2@db/x?a=1".to_owned(),
            "postgres://me:[masked]@db/x?a=1".to_owned(),
        ),
        (
            "http://h/x?user=a&password=hunter2&b=1".to_owned(),
            "http://h/x?user=a&password=[masked]&b=1".to_owned(),
        ),
        (
            format!("line\\nsk-ant-{LONG}\\n"),
            "line\\nsk-ant-[masked]\\n".to_owned(),
        ),
        (
            format!("\x1b[32mghp_{LONG}\x1b[0m"),
            "\x1b[32mghp_[masked]\x1b[0m".to_owned(),
        ),
        (
            "ghp_abcdefghijklm\x1b[1mnopqrstuvwxyz0123456789 x".to_owned(),
            "ghp_[masked] x".to_owned(),
        ),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIEabcdefgh\nabc=\n-----END RSA PRIVATE KEY-----"
                .to_owned(),
            "-----BEGIN RSA PRIVATE KEY-----[masked]-----END RSA PRIVATE KEY-----".to_owned(),
        ),
    ];
    for (given, expected) in cases {
        assert_eq!(mask(&given), expected, "{given:?}");
        assert_eq!(mask(&expected), expected, "masked twice");
    }
}

/// Texts with the part of each that must not be shown.
fn known_formats() -> Vec<(String, &'static str)> {
    let hex = "0123456789abcdef0123456789abcdef0123456789abcdef";
    let mixed = "Ab3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6lM9oR2uX5";
    let at = |prefix: &str, tail: &'static str| (format!("x {prefix}{tail} y"), tail);
    let mut out = vec![
        at("PASSWORD=", "hunter2"),
        at("export STRIPE_KEY=", "abcd1234"),
        at("GITHUB_TOKEN=", "q7w8e9r0t1"),
        at("--password=", "hunter2x"),
        at("password: ", "hunter2x"),
        at("x-api-key: ", "q7w8e9r0t1y2"),
        at("Bearer ", "q7w8e9r0t1y2u3i4"),
        at("Authorization=", "q7w8e9r0t1y2"),
        at("curl -u me:", "hunter2"),
        at("https://h/?token=", "q7w8e9"),
        at("https://h/?apikey=", "q7w8e9"),
        at("a=b&client_secret=", "q7w8e9"),
        at("Server=db;User=a;Password=", "hunter2"),
        at(
            "AWS_SECRET_ACCESS_KEY=",
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        ),
        at(
            "https://hooks.slack.com/services/",
            "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        ),
    ];
    out.push((r#"{"password":"hunter2x"}"#.to_owned(), "hunter2x"));
    out.push((r#"{\"password\":\"hunter2x\"}"#.to_owned(), "hunter2x"));
    out.push(("redis://u:pa/ss$w0rd@h".to_owned(), "pa/ss$w0rd"));
    out.push(("redis://u:pa@ss@h".to_owned(), "pa@ss"));
    for prefix in [
        "sk_live_",
        "sk_test_",
        "rk_live_",
        "whsec_",
        "xapp-",
        "ya29.",
        "GOCSPX-",
        "glrt-",
        "gldt-",
        "hf_",
        "hvs.",
        "gsk_",
        "dckr_pat_",
    ] {
        out.push((format!("x {prefix}{mixed} y"), mixed));
    }
    out.push((format!("x pypi-{mixed}{mixed} y"), mixed));
    out.push((format!("x dop_v1_{hex} y"), hex));
    out.push((format!("x shpat_{} y", &hex[..32]), &hex[..32]));
    out.push((format!("x dapi{} y", &hex[..32]), &hex[..32]));
    out.push((format!("x SG.{}.{mixed} y", &mixed[..22]), &mixed[..22]));
    out.push((
        format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{mixed}\n{mixed}\n-----END PGP PRIVATE KEY BLOCK-----"),
        mixed,
    ));
    out
}

#[test]
fn mask_knows_the_common_formats() {
    for (text, secret) in known_formats() {
        let masked = mask(&text);
        assert!(!masked.contains(secret), "{text} → {masked}");
    }
}

#[test]
fn mask_leaves_ordinary_text_alone() {
    for text in [
        "task-management-in-the-large-and-small",
        "sk-short",
        "sk-learn-is-a-nice-library-for-machine-learning",
        "sk-1234-fix-the-thing-that-broke-yesterday",
        "npm_config_registry npm_package_dependencies_typescript_version",
        "Authorization: required_for_all_requests",
        "https://h/?pwd=home",
        "http://localhost:8080/a@b",
        "Authorization: none",
        "eyJ",
        "–-----BEGIN CERTIFICATE-----\nMII",
        "if \"-----BEGIN PRIVATE KEY-----\" in text",
        "git@github.com:a/b",
        "Authorization: Bearer $TOKEN_NAME",
        "日本語 sk-",
        "3d731db0-5b1c-4a52-9f0e-0a1b2c3d4e5f",
        "commit 659826d0c1f4e5a6b7c8d9e0f1a2b3c4d5e6f708",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "fn check(password: &str, token: String) -> bool {",
        "let token = lexer.next_token();",
        "max_tokens: 4096, total_tokens=128000",
        "const password = process.env.DB_PASSWORD;",
        "toolu_01A2b3C4d5E6f7G8h9J0k1L2",
    ] {
        assert_eq!(mask(text), text);
    }
}

#[test]
fn mask_json_stays_valid_json() {
    let line = r#"{"a":"grep \"-----BEGIN PRIVATE KEY-----\" x","password":"hunter2x","n":[1,"PASSWORD=a\"b\\c12345"],"k":"-----BEGIN PRIVATE KEY-----\nMIIEabcdefghijkl\"","u":"\ud800 x"}"#;
    let masked = mask_json(line);
    let value: serde_json::Value = serde_json::from_str(&masked.replace(r"\ud800", "")).unwrap();
    assert_eq!(value["password"], "[masked]");
    assert_eq!(value["a"], r#"grep "-----BEGIN PRIVATE KEY-----" x"#);
    assert!(!masked.contains("MIIE"));
    assert_eq!(mask_json(&masked), masked);
}

#[test]
fn mask_json_sees_a_keyword_that_ends_with_the_colon_of_a_key() {
    for (key, value) in [("cookie", "a=b0123456789abcdef"), ("oauth", LONG)] {
        let text = serde_json::json!({ key: value }).to_string();
        assert_eq!(masked_json(&text, true), masked_json(&text, false));
    }
}

#[test]
fn mask_takes_steps_in_proportion_to_the_text() {
    for piece in [
        "-----BEGIN CERTIFICATE----- ",
        "-----BEGIN PRIVATE KEY----- ",
        "eyJaaaaaaaaaaaa.",
        "a://b:c ",
        "sk-sk-",
        "PASSWORD=",
        "\x1b[0m",
    ] {
        let steps = |n: usize| {
            let mut steps = 0;
            find_counting(&piece.repeat(n), &mut steps);
            steps
        };
        let (few, many) = (steps(100), steps(1000));
        assert!(many <= 10 * few, "{piece}: {few} {many}");
        assert!(many <= 2 * (rules().all.len() + 1) * piece.len() * 1000);
    }
}

fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        Just(format!("ghp_{LONG}")),
        Just("password".to_owned()),
        Just("TOKEN".to_owned()),
        Just("=".to_owned()),
        Just(": ".to_owned()),
        Just("\"".to_owned()),
        Just("\\".to_owned()),
        Just("\\n".to_owned()),
        Just("\n".to_owned()),
        Just("[masked]".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        Just("MIIEabcdefghijklmnop".to_owned()),
        Just("Authorization".to_owned()),
        Just("Bearer ".to_owned()),
        Just("https://u:p".to_owned()),
        Just("@h?token".to_owned()),
        Just("\x1b[32m".to_owned()),
        Just("hunter2x9".to_owned()),
        "[ -~é]{0,6}",
    ];
    prop::collection::vec(fragment, 0..12).prop_map(|v| v.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mask_twice_is_mask_once(text in fragments()) {
        let once = mask(&text).into_owned();
        prop_assert_eq!(mask(&once), once.clone());
    }

    #[test]
    fn mask_json_keeps_any_json_valid(keys in prop::collection::vec((fragments(), fragments()), 0..4)) {
        let value: serde_json::Map<String, serde_json::Value> =
            keys.into_iter().map(|(k, v)| (k, v.into())).collect();
        let text = serde_json::Value::Object(value).to_string();
        let masked = mask_json(&text);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&masked).is_ok(), "{}", masked);
    }

    #[test]
    fn mask_json_of_strings_that_are_not_decoded_is_the_same(
        keys in prop::collection::vec((fragments(), fragments()), 0..4),
        cut in 0_usize..200,
    ) {
        let value: serde_json::Map<String, serde_json::Value> =
            keys.into_iter().map(|(k, v)| (k, v.into())).collect();
        let text = serde_json::Value::Object(value).to_string();
        let text = text.replace("assword", "assw\\u006frd").replace("https:/", "https:\\/");
        let torn: String = text.chars().take(cut).collect();
        for text in [text, torn] {
            prop_assert_eq!(masked_json(&text, true), masked_json(&text, false));
        }
    }

    #[test]
    fn find_returns_ordered_ranges_of_characters(text in fragments()) {
        let mut end = 0;
        for secret in find(&text) {
            prop_assert!(secret.range.start >= end && secret.range.end > secret.range.start);
            prop_assert!(text.get(secret.range.clone()).is_some());
            end = secret.range.end;
        }
    }
}
