//! Bars and curves of characters.

/// A bar of `columns` for `part` of `whole`, in eighths of a column; what is there at all is seen.
pub fn bar(part: u64, whole: u64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if part == 0 || whole == 0 {
        return String::new();
    }
    let eighths = ((part as f64 / whole as f64 * columns as f64 * 8.0).round() as usize)
        .clamp(1, columns * 8);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// A curve of at most `columns`, as high as its highest value. Where there are more values than
/// columns, a column shows the highest of its own.
pub fn sparkline(values: &[u64], columns: usize) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let highest = values.iter().copied().max().unwrap_or(0).max(1);
    let columns = columns.min(values.len());
    (0..columns)
        .map(|c| {
            let (from, to) = (
                c * values.len() / columns,
                ((c + 1) * values.len()).div_ceil(columns),
            );
            let value = values[from..to.min(values.len()).max(from + 1)]
                .iter()
                .copied()
                .max()
                .unwrap_or(0);
            LEVELS[((value as f64 / highest as f64 * 7.0).round() as usize).min(7)]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion() {
        assert_eq!(bar(1, 2, 4), "██");
        assert_eq!(bar(3, 16, 2), "▍");
        assert_eq!(bar(1, 1_000_000, 4), "▏");
        assert_eq!(
            (bar(0, 5, 4), bar(9, 9, 2)),
            (String::new(), "██".to_owned())
        );
    }

    #[test]
    fn curves_fit_their_room() {
        assert_eq!(sparkline(&[0, 1, 2, 4], 10), "▁▃▅█");
        assert_eq!(sparkline(&[1, 9, 1, 1, 9, 9], 3).chars().count(), 3);
        assert_eq!(sparkline(&[], 5), "");
    }
}
