//! What the mouse does.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::app::{App, Dialog, Effect, View};
use super::draw::{list_rows, tree_area, tree_rows};

impl App {
    pub(super) fn on_mouse(&mut self, mouse: MouseEvent) -> Vec<Effect> {
        let by = match mouse.kind {
            MouseEventKind::ScrollDown => 3,
            MouseEventKind::ScrollUp => -3,
            MouseEventKind::Down(MouseButton::Left) => return self.on_click(mouse),
            _ => return Vec::new(),
        };
        match (&mut self.dialog, self.view) {
            (Some(Dialog::Help { scroll } | Dialog::Digest { scroll, .. }), _) => {
                *scroll = scroll.saturating_add_signed(by);
            }
            (Some(_), _) => {}
            (None, View::Sessions) => self.list.step(by),
            (None, View::Table) => {
                let tree = tree_area(self);
                if let Some(table) = self.table.as_deref_mut() {
                    if mouse.column < tree.right() {
                        table.step(by);
                    } else {
                        table.scroll = table.scroll.saturating_add_signed(by);
                    }
                }
            }
            (None, View::Preview | View::Made) => {
                self.preview.scroll = self.preview.scroll.saturating_add_signed(by);
            }
        }
        Vec::new()
    }

    /// A click puts the cursor on a row. A click on the mark of the row under the cursor marks it, one on its fold folds it.
    fn on_click(&mut self, mouse: MouseEvent) -> Vec<Effect> {
        if self.dialog.is_some() {
            return Vec::new();
        }
        let key = |code| KeyEvent::new(code, KeyModifiers::NONE);
        if self.view == View::Sessions {
            let rows = list_rows(self);
            let place = self.list.top + usize::from(mouse.row.saturating_sub(rows.y));
            let inside = rows.contains((mouse.column, mouse.row).into());
            if !inside || place >= self.list.fitting.len() {
                return Vec::new();
            }
            let again = self.list.cursor == place;
            self.list.cursor = place;
            return if again {
                self.on_key(key(KeyCode::Enter))
            } else {
                Vec::new()
            };
        }
        let rows = tree_rows(self);
        let Some(table) = self.table.as_deref_mut() else {
            return Vec::new();
        };
        let inside = rows.contains((mouse.column, mouse.row).into());
        let place = table.top + usize::from(mouse.row.saturating_sub(rows.y));
        if self.view != View::Table || !inside || place >= table.visible.len() {
            return Vec::new();
        }
        table.reads = false;
        table.cursor = place;
        table.scroll = 0;
        let row = table.visible[place] as usize;
        let depth = u16::from(table.tree.nodes[row].depth) * 2;
        match mouse.column.saturating_sub(rows.x + depth) {
            0..2 if table.has_below(row) && table.is_open(row) => self.on_key(key(KeyCode::Left)),
            0..2 if table.can_unfold(row) => self.on_key(key(KeyCode::Right)),
            2..5 => self.on_key(key(KeyCode::Char('d'))),
            _ => Vec::new(),
        }
    }
}
