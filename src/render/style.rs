//! The few colours there are.

use anstyle::{AnsiColor, Style};

/// What stands out.
pub const BOLD: Style = Style::new().bold();
/// What stands back.
pub const DIM: Style = Style::new().dimmed();
/// What comes.
pub const GREEN: Style = AnsiColor::Green.on_default();
/// What goes.
pub const RED: Style = AnsiColor::Red.on_default();
/// What changes, and what to heed.
pub const YELLOW: Style = AnsiColor::Yellow.on_default();

/// A text in a style. The stream takes the colour out where none is wanted.
pub fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
