//! The title of a copy.

use crate::view::Overview;

/// Returns the title of a result: the old one, or the first prompt, followed by the name of the operation.
pub fn title_for(glance: &Overview, operation: &str) -> String {
    // Masked before it is cut: half a key would not be recognised afterwards.
    let name = crate::secrets::mask(glance.name().raw())
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    // "x (clone)" becomes "x (clone 2)", not "x (clone) (clone)".
    if let Some((base, rest)) = name.rsplit_once(&format!(" ({operation}"))
        && let Some(count) = rest.strip_suffix(')')
        && (count.is_empty() || count.trim().parse::<u32>().is_ok())
    {
        let next = count.trim().parse::<u32>().unwrap_or(1) + 1;
        return format!("{} ({operation} {next})", short_title(base));
    }
    format!("{} ({operation})", short_title(&name))
}

/// Cuts a title after a word, so that there is room for the name of an operation in lists.
fn short_title(title: &str) -> String {
    const MOST: usize = 48;
    let Some((end, _)) = title.char_indices().nth(MOST) else {
        return title.to_owned();
    };
    let start = &title[..end];
    // A title without blanks, or in a script that has none, is cut anywhere.
    let words = start
        .rsplit_once(' ')
        .filter(|(words, _)| words.len() > end / 2);
    let words = words.map_or(start, |(words, _)| words);
    format!("{}…", words.trim_end_matches([' ', '…']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the title of a clone of a session that is called `title`.
    fn named(title: &str) -> String {
        let overview = Overview {
            title: Some(title.into()),
            ..Overview::default()
        };
        title_for(&overview, "clone")
    }

    #[test]
    fn title_of_a_copy_counts_up() {
        assert_eq!(named("Fix it"), "Fix it (clone)");
        assert_eq!(named("Fix it (clone)"), "Fix it (clone 2)");
        assert_eq!(named("Fix it (clone 2)"), "Fix it (clone 3)");
        assert_eq!(named("a\n b"), "a b (clone)");
    }

    #[test]
    fn title_of_a_copy_is_cut_after_a_word() {
        let long = "Implement the following plan: always show all checkboxes in the list";
        let once = "Implement the following plan: always show all… (clone)";
        assert_eq!(named(long), once);
        let twice = "Implement the following plan: always show all… (clone 2)";
        assert_eq!(named(once), twice);
        assert_eq!(
            named(&"語".repeat(60)),
            format!("{}… (clone)", "語".repeat(48))
        );
    }
}
