//! The list of sessions, with a filter that is typed.

use std::path::PathBuf;

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::Line;

use crate::view::SessionRow;

use super::app::{App, Dialog, Effect};

/// The list of sessions.
#[derive(Debug, Clone, Default)]
pub struct SessionPicker {
    /// The sessions, newest first; `None` until they are listed.
    pub rows: Option<Vec<SessionRow>>,
    /// Whether those of all projects are listed.
    pub all: bool,
    /// What was typed.
    pub filter: String,
    /// The sessions that fit, the best first.
    pub fitting: Vec<usize>,
    /// The place of the cursor among them.
    pub cursor: usize,
    /// The first that is shown.
    pub top: usize,
    /// The last turns of the session under the cursor, and the columns that they were laid out for.
    pub glimpse: Option<(PathBuf, usize, Vec<Line<'static>>)>,
}

impl SessionPicker {
    /// Returns the session under the cursor.
    pub fn current(&self) -> Option<&SessionRow> {
        let at = *self.fitting.get(self.cursor)?;
        self.rows.as_ref()?.get(at)
    }

    /// Finds the sessions that fit what was typed.
    pub fn refresh(&mut self) {
        let rows = self.rows.as_deref().unwrap_or_default();
        if self.filter.trim().is_empty() {
            self.fitting = (0..rows.len()).collect();
        } else {
            let pattern = Pattern::parse(&self.filter, CaseMatching::Smart, Normalization::Smart);
            let mut matcher = Matcher::new(Config::DEFAULT);
            let mut buffer = Vec::new();
            let mut scored: Vec<(u32, usize)> = Vec::new();
            for (at, row) in rows.iter().enumerate() {
                let project = row.project.as_deref().unwrap_or_default();
                let text = format!("{} {project} {}", row.name().raw(), row.short_id);
                let text = Utf32Str::new(&text, &mut buffer);
                if let Some(score) = pattern.score(text, &mut matcher) {
                    scored.push((score, at));
                }
            }
            scored.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
            self.fitting = scored.into_iter().map(|(_, at)| at).collect();
        }
        self.cursor = self.cursor.min(self.fitting.len().saturating_sub(1));
    }

    /// Moves the cursor by so many rows.
    pub fn step(&mut self, by: isize) {
        let last = self.fitting.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
    }
}

/// Handles a key while the list of sessions is on the screen.
pub(super) fn on_key(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    let page = isize::from(app.size.1 as i16 / 2).max(1);
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Esc | KeyCode::Char('q') if app.list.filter.is_empty() => {
            return vec![Effect::Quit];
        }
        KeyCode::Esc => {
            app.list.filter.clear();
            app.list.refresh();
        }
        KeyCode::Enter => {
            let current = app.list.current();
            let found = current.map(|row| (row.path.clone(), row.name(), row.bytes));
            if let Some((path, name, bytes)) = found {
                return app.open(path, name.raw(), bytes);
            }
        }
        KeyCode::Up => app.list.step(-1),
        KeyCode::Down => app.list.step(1),
        KeyCode::PageUp => app.list.step(-page),
        KeyCode::PageDown => app.list.step(page),
        KeyCode::Home => app.list.step(isize::MIN / 2),
        KeyCode::End => app.list.step(isize::MAX / 2),
        KeyCode::Tab | KeyCode::BackTab => {
            app.list.all = !app.list.all;
            app.list.rows = None;
            app.list.refresh();
            return vec![Effect::List(app.list.all)];
        }
        KeyCode::F(1) => app.dialog = Some(Dialog::Help { scroll: 0 }),
        KeyCode::Char('?') if app.list.filter.is_empty() => {
            app.dialog = Some(Dialog::Help { scroll: 0 });
        }
        KeyCode::Char('p' | 'k') if control => app.list.step(-1),
        KeyCode::Char('n' | 'j') if control => app.list.step(1),
        KeyCode::Char('u') if control => {
            app.list.filter.clear();
            app.list.refresh();
        }
        KeyCode::Backspace => {
            app.list.filter.pop();
            app.list.refresh();
        }
        KeyCode::Char(c) if !control => {
            app.list.filter.push(c);
            app.list.cursor = 0;
            app.list.refresh();
        }
        _ => {}
    }
    Vec::new()
}
