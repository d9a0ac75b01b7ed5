//! The colours of the program. All are the terminal's own, so that they are legible on light and dark backgrounds.

use anstyle::{AnsiColor, Style};

/// For headings and names.
pub const BOLD: Style = Style::new().bold();
/// For what is less important.
pub const DIM: Style = Style::new().dimmed();
/// For what is added or good.
pub const GREEN: Style = AnsiColor::Green.on_default();
/// For what is removed or failed.
pub const RED: Style = AnsiColor::Red.on_default();
/// For what is changed, and for warnings.
pub const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Returns a text in a style. The stream removes the colours where none are wanted.
pub fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
