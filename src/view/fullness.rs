//! How full a context window is.

/// The context window of most models, in tokens.
const USUAL: u64 = 200_000;

/// The context window of models that were asked for a large one.
const LARGE: u64 = 1_000_000;

/// Returns the size of the context window: the usual one, unless the model is named with a large one or has been
/// shown more than fits into the usual one.
pub fn window_limit(model: Option<&str>, most_tokens: u64) -> u64 {
    let named_large = model.is_some_and(|model| model.to_lowercase().contains("[1m]"));
    if named_large || most_tokens > USUAL {
        LARGE
    } else {
        USUAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_limit_grows_with_what_was_recorded() {
        assert_eq!(window_limit(Some("claude-x"), 150_000), USUAL);
        assert_eq!(window_limit(Some("claude-x[1m]"), 10), LARGE);
        assert_eq!(window_limit(None, 212_800), LARGE);
    }
}
