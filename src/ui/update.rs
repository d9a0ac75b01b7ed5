//! What happens to the state when something happens.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::app::{App, Dialog, Effect, Event, View};
use super::draw::{content_columns, glimpse_columns, list_rows, tree_rows};
use super::{dialog_keys, list, table_keys};

/// How many ticks pass between two looks at the session's file.
const WATCH: u64 = 4;

impl App {
    /// Takes something that happened, and returns what is asked of the world.
    pub fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
            Event::Key(key) => self.on_key(key),
            Event::Mouse(mouse) => self.on_mouse(mouse),
            Event::Paste(text) => self.on_paste(&text),
            Event::Resize(columns, rows) => {
                self.size = (columns, rows);
                Vec::new()
            }
            Event::Tick => {
                self.ticks += 1;
                let watches = self.table.is_some() && self.ticks.is_multiple_of(WATCH);
                if watches {
                    vec![Effect::Watch]
                } else {
                    Vec::new()
                }
            }
            Event::Progress(read) => {
                if let Some(opening) = &mut self.opening {
                    opening.read = read;
                }
                Vec::new()
            }
            Event::Grew => {
                if let Some(table) = self.table.as_deref_mut() {
                    table.grew = true;
                }
                Vec::new()
            }
            answer => self.on_answer(answer),
        };
        effects.extend(self.settle());
        effects
    }

    pub(super) fn on_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            match key.code {
                KeyCode::Char('c') => return self.interrupt(),
                KeyCode::Char('z') => return vec![Effect::Suspend],
                _ => {}
            }
        }
        if self.dialog.is_some() {
            return dialog_keys::on_key(self, key);
        }
        self.message = None;
        match self.view {
            View::Sessions => list::on_key(self, key),
            View::Table => table_keys::on_key(self, key),
            View::Preview => dialog_keys::on_preview_key(self, key),
            View::Made => dialog_keys::on_made_key(self, key),
        }
    }

    /// A text is pasted where one is typed, and nowhere else: there, its letters would be commands.
    fn on_paste(&mut self, text: &str) -> Vec<Effect> {
        let clean = text.chars().filter(|c| !c.is_control());
        match (&mut self.dialog, self.view) {
            (Some(Dialog::Input { text, .. }), _) => text.extend(clean),
            (None, View::Sessions) => {
                self.list.filter.extend(clean);
                self.list.refresh();
            }
            _ => {}
        }
        Vec::new()
    }

    /// Ctrl-C closes what is open, and ends the program where nothing is.
    fn interrupt(&mut self) -> Vec<Effect> {
        if self.dialog.take().is_some() {
            return Vec::new();
        }
        vec![Effect::Quit]
    }

    /// Keeps the cursors on the screen, and asks for the content that is missing.
    fn settle(&mut self) -> Vec<Effect> {
        let rows = usize::from(list_rows(self).height).max(1);
        let list = &mut self.list;
        list.top = scrolled(list.top, list.cursor, rows, list.fitting.len());
        let columns = glimpse_columns(self);
        if self.view == View::Sessions
            && columns > 0
            && let Some(row) = self.list.current()
        {
            let known = self.list.glimpse.as_ref();
            let is_known = known.is_some_and(|(path, c, _)| *path == row.path && *c == columns);
            let is_asked = self.asked.as_ref() == Some(&(row.path.clone(), columns));
            if !is_known && !is_asked {
                self.asked = Some((row.path.clone(), columns));
                return vec![Effect::Glimpse(row.path.clone(), columns)];
            }
        }
        let rows = usize::from(tree_rows(self).height).max(1);
        let columns = content_columns(self);
        let Some(table) = self.table.as_deref_mut() else {
            return Vec::new();
        };
        table.top = scrolled(table.top, table.cursor, rows, table.visible.len());
        let Some(key) = table.key() else {
            return Vec::new();
        };
        let known = table.content.as_ref();
        let is_known = known.is_some_and(|(of, c, _)| *of == key && *c == columns);
        if is_known || table.wanted == Some((key, columns)) || columns == 0 {
            return Vec::new();
        }
        table.wanted = Some((key, columns));
        vec![Effect::Read(key, columns)]
    }
}

/// Returns the first row that is shown so that the cursor is on the screen.
fn scrolled(top: usize, cursor: usize, rows: usize, count: usize) -> usize {
    let margin = 2.min(rows.saturating_sub(1) / 2);
    let least = (cursor + margin + 1).saturating_sub(rows);
    let most = cursor.saturating_sub(margin);
    top.clamp(least.min(most), most)
        .min(count.saturating_sub(rows))
}
