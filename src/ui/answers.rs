//! What happens to the state when the world answers.

use super::ansi;
use super::app::{App, Dialog, Effect, Event, Purpose, View};
use super::marks::Compaction;
use super::table::Table;
use crate::transcript::EntryIx;

impl App {
    /// Takes what the world answers.
    pub(super) fn on_answer(&mut self, event: Event) -> Vec<Effect> {
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
            Event::Unfolded(key, Ok(conversation)) => {
                let table = self.table.as_deref_mut();
                if table.is_some_and(|t| t.take_aside(key, conversation) == 0) {
                    self.say("there is nothing to read in it");
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
            | Event::Unfolded(_, Err(why))
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
            before: None,
            summary: edited.then_some(text),
            max_tokens: None,
        };
        table.mark(|marks, _| marks.compaction = Some(compaction))
    }

    fn on_edited(&mut self, entry: EntryIx, text: String) -> Vec<Effect> {
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
}
