//! Text for a terminal: tables, turns to read, previews, diffs, colours.

mod chart;
mod comparison;
mod diff;
mod edits;
mod findings;
mod highlight;
mod hits;
mod inspection;
mod markdown;
mod presenter;
mod preview;
mod reading;
mod screen;
mod sessions;
mod style;
mod styled;
mod table;
mod text;
mod turns;
mod word_diff;

pub use crate::human::{age, bytes, count, duration, signed_bytes, tokens};
pub use chart::{bar, sparkline};
pub use comparison::ComparisonText;
pub use diff::SessionDiff;
pub use findings::FindingList;
pub use hits::{HitList, counted_session};
pub use inspection::InspectionText;
pub use presenter::{Presenter, Untrusted};
pub use preview::{FileAction, FileRow, Preview};
pub use reading::Reading;
pub use screen::{LocalZone, Screen};
pub use sessions::{SessionGroups, expiring_table, session_groups, session_table};
pub use style::{BOLD, DIM, GREEN, RED, YELLOW, paint};
pub use table::{Align, Cell, Column, Table, counted};
pub use text::{
    clean, clean_lines, fit, json_text, pad, short_id, short_path, width, wrap, wrap_message,
};
pub use turns::{agent_table, branch_table, turn_table};
