//! The list of all keys.

use ratatui::text::{Line, Span};

use crate::render::pad;
use crate::ui::look::Look;

/// All keys with what they do, by where they work. `docs/ui.md` has the same list.
pub const KEYS: [(&str, &[(&str, &str)]); 6] = [
    (
        "Sessions",
        &[
            ("type", "filter the list"),
            ("↑ ↓ PgUp PgDn", "move"),
            ("Tab", "this project or all projects"),
            ("Enter", "put the session on the operating table"),
            ("Esc", "clear the filter; quit"),
        ],
    ),
    (
        "Move",
        &[
            ("j k ↓ ↑", "down and up"),
            ("Ctrl-d Ctrl-u", "half a screen down and up"),
            ("g G", "first and last row"),
            ("[ ]", "previous and next turn"),
            ("l h → ←", "unfold and fold, also branches and subagents"),
            ("L H", "unfold and fold everything"),
            ("J K", "scroll the content"),
            ("Tab", "read the content; Tab again leads back"),
            (":7", "go to turn 7"),
        ],
    ),
    (
        "Mark",
        &[
            ("space", "mark: outputs become notes, the rest is deleted"),
            ("v", "begin a range; the next mark is for all its rows"),
            ("d", "delete a turn, a message, or a call with its output"),
            ("o", "stub: replace the output of calls by a note"),
            ("O", "stub all outputs of more than 1000 tokens"),
            ("t", "strip thinking: of a block, a message or a turn"),
            ("T", "strip all thinking"),
            ("i", "drop the images and documents of the turn"),
            ("e", "edit the text in $EDITOR"),
            ("x", "cut here: remove everything after this turn"),
            ("c", "compact: replace the turns up to here by a digest"),
            ("b", "budget: mark what brings the session under it"),
            ("u", "take back the last mark; undo the last operation"),
            ("U", "remove all marks"),
        ],
    ),
    (
        "Find",
        &[
            ("/", "search for a text"),
            ("n N", "next and previous match"),
            ("f", "filter: tool:Bash >2k error some words"),
            (
                "Esc",
                "leave the range, the filter, the search, the session",
            ),
        ],
    ),
    (
        "Do",
        &[
            ("Enter", "preview what the marks would do, then write it"),
            ("r", "redact too: replace keys and passwords that are found"),
            (":w FILE", "write the plan, for ccsurgery run"),
            (":COMMAND", "add a step, such as :drop-hidden"),
            ("R", "read the session again after it has grown"),
            ("q", "back; :q quits"),
        ],
    ),
    (
        "Mouse",
        &[
            ("click", "choose a row; on [ ] mark it; on ▸ unfold it"),
            ("wheel", "move, or scroll the content"),
        ],
    ),
];

/// Returns the list of all keys as lines.
pub(super) fn help_lines(look: &Look) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (heading, keys) in KEYS {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::styled(heading, look.strong()));
        for (key, what) in keys {
            lines.push(Line::from(vec![
                Span::styled(format!("  {}", pad(key, 15)), look.name()),
                Span::raw((*what).to_owned()),
            ]));
        }
    }
    lines
}
