//! Tests that need something which not every machine has.

/// Reports that a test is skipped, and why.
///
/// In CI (`CCSURGERY_REQUIRE=all`) that is a failure, unless the name is listed in `CCSURGERY_ALLOWED_SKIPS`: a promise
/// must not look tested where it was not.
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
pub(crate) fn skipped(name: &str, why: &dyn std::fmt::Display) {
    let is_set = |key: &str, wanted: &str| {
        let value = std::env::var(key).unwrap_or_default();
        value.split_whitespace().any(|word| word == wanted)
    };
    let required = is_set("CCSURGERY_REQUIRE", "all");
    assert!(
        !required || is_set("CCSURGERY_ALLOWED_SKIPS", name),
        "`{name}` must not be skipped here: {why}"
    );
    eprintln!("skipped: {name}: {why}");
}
