//! What happens to the state when something happens.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::app::{App, Dialog, Effect, Event, Purpose, View};
use super::draw::{content_columns, glimpse_columns, list_rows, tree_area, tree_rows};
use super::marks::Compaction;
use super::table::Table;
use super::{ansi, dialog_keys, list, table_keys};

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

    fn on_key(&mut self, key: KeyEvent) -> Vec<Effect> {
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

    fn on_mouse(&mut self, mouse: MouseEvent) -> Vec<Effect> {
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
            0..2 if table.has_below(row) => {
                let is_open = table.is_open(row);
                table.fold(row, !is_open);
                Vec::new()
            }
            2..5 => self.on_key(key(KeyCode::Char('d'))),
            _ => Vec::new(),
        }
    }

    /// Takes what the world answers.
    fn on_answer(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Sessions(Ok(rows)) => {
                self.list.rows = Some(rows);
                self.list.refresh();
            }
            Event::Sessions(Err(why)) => {
                self.list.rows = Some(Vec::new());
                self.fail(&why);
            }
            Event::Glimpse(path, columns, lines) => {
                self.list.glimpse = Some((path, columns, lines));
            }
            Event::Opened(opened) => return self.on_opened(opened),
            Event::Content(key, columns, lines) => {
                if let Some(table) = self.table.as_deref_mut() {
                    table.content = Some((key, columns, lines));
                }
            }
            Event::Forecast(version, tried) => {
                if let Some(table) = self.table.as_deref_mut() {
                    table.take_forecast(version, tried);
                }
            }
            Event::Found(purpose, found) => self.on_found(purpose, found),
            Event::Trimmed(Ok(found)) => return self.on_trimmed(&found),
            Event::Digest(at, Ok(made)) => self.on_digest(at, made),
            Event::DigestEdited(Ok(new)) => {
                if let Some(Dialog::Digest { text, edited, .. }) = &mut self.dialog {
                    *edited |= text.as_deref() != Some(&new);
                    *text = Some(new);
                }
            }
            Event::Edited(entry, Ok(text)) => return self.on_edited(entry, text),
            Event::Parsed(Ok(step)) => {
                if let Some(table) = self.table.as_deref_mut() {
                    return table.mark(|marks, _| marks.more.push(step));
                }
            }
            Event::Saved(Ok(file)) => {
                self.say(&format!("the plan is in {file}"));
                if let Some(table) = self.table.as_deref_mut() {
                    table.saved = Some((file, table.plan.clone()));
                }
            }
            Event::Previewed(made) => self.on_previewed(made),
            Event::Applied(applied) => return self.on_applied(applied),
            Event::Undone(undone) => return self.on_undone(undone),
            Event::Digest(_, Err(why)) => {
                self.dialog = None;
                self.fail(&why);
            }
            Event::Trimmed(Err(why))
            | Event::DigestEdited(Err(why))
            | Event::Edited(_, Err(why))
            | Event::Parsed(Err(why))
            | Event::Saved(Err(why)) => self.fail(&why),
            _ => {}
        }
        Vec::new()
    }

    fn on_opened(&mut self, opened: Result<std::sync::Arc<super::Tree>, String>) -> Vec<Effect> {
        match (opened, self.table.as_deref_mut()) {
            (Ok(tree), Some(table)) if table.tree.path == tree.path => {
                self.message = None;
                return table.reread(tree);
            }
            (Ok(tree), _) => {
                let expected = self.opening.take();
                if expected.is_some_and(|o| o.path == tree.path) {
                    self.table = Some(Box::new(Table::new(tree)));
                }
            }
            (Err(why), Some(_)) => self.fail(&why),
            (Err(why), None) => {
                self.close_table();
                self.fail(&why);
            }
        }
        Vec::new()
    }

    fn on_found(&mut self, purpose: Purpose, found: Result<Vec<u32>, String>) {
        let typed = std::mem::take(&mut self.typed);
        let Some(table) = self.table.as_deref_mut() else {
            return;
        };
        match found {
            Ok(rows) if rows.is_empty() => self.say(&format!("nothing fits `{typed}`")),
            Ok(rows) => {
                let count = rows.len();
                table.take_found(purpose, &typed, rows);
                let rows = if count == 1 { "row" } else { "rows" };
                self.say(&match purpose {
                    Purpose::Filter => format!("{count} {rows}; Esc shows all again"),
                    _ => format!("{count} {rows}; n next, N previous"),
                });
            }
            Err(why) => self.fail(&why),
        }
    }

    fn on_trimmed(&mut self, found: &crate::ops::Trimmed) -> Vec<Effect> {
        let Some(table) = self.table.as_deref_mut() else {
            return Vec::new();
        };
        if found.steps.is_empty() {
            self.say("the session is within that budget already");
            return Vec::new();
        }
        let effects = table.mark(|marks, tree| marks.propose(tree, &found.steps));
        let before = crate::human::tokens(found.before);
        let after = crate::human::tokens(found.after);
        self.say(&format!(
            "marked what brings {before} to {after}; change the marks as you like, u takes them back"
        ));
        effects
    }

    fn on_digest(&mut self, for_turn: u32, made: String) {
        if let Some(Dialog::Digest { at, text, .. }) = &mut self.dialog
            && *at == for_turn
        {
            *text = Some(made);
        }
    }

    /// Marks the compaction that the dialog shows.
    pub(super) fn accept_digest(&mut self) -> Vec<Effect> {
        let Some(Dialog::Digest {
            at,
            text: Some(text),
            edited,
            ..
        }) = self.dialog.take()
        else {
            return Vec::new();
        };
        let Some(table) = self.table.as_deref_mut() else {
            return Vec::new();
        };
        let compaction = Compaction {
            at,
            summary: edited.then_some(text),
            max_tokens: None,
        };
        table.mark(|marks, _| marks.compaction = Some(compaction))
    }

    fn on_edited(&mut self, entry: u32, text: String) -> Vec<Effect> {
        let Some(table) = self.table.as_deref_mut() else {
            return Vec::new();
        };
        table.mark(|marks, _| drop(marks.edits.insert(entry, text)))
    }

    fn on_previewed(&mut self, made: Result<(String, bool), String>) {
        if self.view != View::Preview {
            return;
        }
        self.preview.busy = None;
        match made {
            Ok((text, is_idle)) => {
                self.preview.lines = ansi::lines(&text, self.look.colours);
                self.preview.is_idle = is_idle;
            }
            Err(why) => {
                self.view = View::Table;
                self.fail(&why);
            }
        }
    }

    fn on_applied(&mut self, applied: Result<super::app::Made, String>) -> Vec<Effect> {
        self.preview.busy = None;
        match applied {
            Ok(made) => {
                self.made = Some(made);
                self.view = View::Made;
                self.message = None;
            }
            Err(why) => self.fail(&why),
        }
        Vec::new()
    }

    fn on_undone(&mut self, undone: Result<String, String>) -> Vec<Effect> {
        match undone {
            Ok(sentence) => {
                if let Some(made) = &mut self.made {
                    made.undone = true;
                }
                self.say(&sentence);
                let path = self.table.as_ref().map(|t| t.tree.path.clone());
                return path.map(Effect::Open).into_iter().collect();
            }
            Err(why) => self.fail(&why),
        }
        Vec::new()
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
