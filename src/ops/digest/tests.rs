use super::text::{sentences, shorten};

#[test]
fn digest_shortens_in_the_middle() {
    assert_eq!(shorten("short", 100), "short");
    let long = "ä".repeat(300);
    let text = shorten(&long, 200);
    assert!(text.len() <= 204 && text.contains(" […] "), "{text}");
}

#[test]
fn digest_sentences_leave_out_code_and_tables() {
    let text = "# Heading\nThe tests fail because the wind has no direction at all. We need to add one to `wind.toml`.\n```\ncode here is long enough\n```\n| a table | row |\n- a point in a list";
    assert_eq!(
        sentences(text),
        [
            "The tests fail because the wind has no direction at all.",
            "We need to add one to `wind.toml`.",
            "a point in a list",
        ]
    );
}
