//! The keys of the operating table.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::app::{App, Dialog, Effect, Purpose, View};
use super::marking_keys::marking_key;
use super::step::Plan;
use super::table::Table;

/// Handles a key while the operating table is on the screen.
pub(super) fn on_key(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    let Some(table) = app.table.as_deref_mut() else {
        return while_reading(app, key);
    };
    let half = isize::from(app.size.1 as i16 / 2).max(1);
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('d') if control => move_by(table, half),
        KeyCode::Char('u') if control => move_by(table, -half),
        KeyCode::Char('r') if control => return reread(app),
        KeyCode::Char(_) if control => {}
        KeyCode::Char('j') | KeyCode::Down => move_by(table, 1),
        KeyCode::Char('k') | KeyCode::Up => move_by(table, -1),
        KeyCode::PageDown => move_by(table, half),
        KeyCode::PageUp => move_by(table, -half),
        KeyCode::Char('g') | KeyCode::Home => move_by(table, isize::MIN / 2),
        KeyCode::Char('G') | KeyCode::End => move_by(table, isize::MAX / 2),
        KeyCode::Char('J') => table.scroll += 3,
        KeyCode::Char('K') => table.scroll = table.scroll.saturating_sub(3),
        KeyCode::Char(']' | '}') => table.step_turn(true),
        KeyCode::Char('[' | '{') => table.step_turn(false),
        KeyCode::Char('l') | KeyCode::Right => return unfold(table),
        KeyCode::Char('h') | KeyCode::Left => fold(table),
        KeyCode::Char('L') => table.fold_all(true),
        KeyCode::Char('H') => table.fold_all(false),
        KeyCode::Tab => table.reads = !table.reads,
        KeyCode::Esc => return escape(app),
        KeyCode::Char('q') => return leave(app),
        KeyCode::Char('?') | KeyCode::F(1) => app.dialog = Some(Dialog::Help { scroll: 0 }),
        KeyCode::Char('/') => ask(app, Purpose::Search),
        KeyCode::Char('f') => ask(app, Purpose::Filter),
        KeyCode::Char('b') => ask(app, Purpose::Budget),
        KeyCode::Char(':') => ask(app, Purpose::Command),
        KeyCode::Char('n') => return next_match(app, true),
        KeyCode::Char('N') => return next_match(app, false),
        KeyCode::Char('u') => return undo(app),
        KeyCode::Char('R') => return reread(app),
        KeyCode::Enter => return preview(app),
        KeyCode::Char(c) => return marking_key(app, c),
        _ => {}
    }
    Vec::new()
}

/// Handles a key while a session is being read: only leaving is possible.
fn while_reading(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    if matches!(key.code, KeyCode::Esc | KeyCode::Char('q')) {
        return leave(app);
    }
    Vec::new()
}

fn move_by(table: &mut Table, by: isize) {
    if table.reads {
        table.scroll = table.scroll.saturating_add_signed(by);
    } else {
        table.step(by);
    }
}

fn unfold(table: &mut Table) -> Vec<Effect> {
    let Some(row) = table.row() else {
        return Vec::new();
    };
    let node = &table.tree.nodes[row];
    if !table.has_below(row) {
        // The conversation of a branch or a subagent is read only now.
        let is_unread = node.is_aside_heading();
        let unread = is_unread.then(|| Effect::Unfold(node.key()));
        return unread.into_iter().collect();
    }
    if table.is_open(row) {
        table.step(1);
    } else {
        table.fold(row, true);
    }
    Vec::new()
}

fn fold(table: &mut Table) {
    let Some(row) = table.row() else { return };
    if table.has_below(row) && table.is_open(row) && table.filter.is_none() {
        table.fold(row, false);
    } else if let Some(parent) = table.tree.parent(row) {
        table.go_to(parent);
    }
}

fn escape(app: &mut App) -> Vec<Effect> {
    let Some(table) = app.table.as_deref_mut() else {
        return Vec::new();
    };
    if table.anchor.take().is_some() || std::mem::take(&mut table.reads) {
        return Vec::new();
    }
    if table.filter.is_some() {
        table.clear_filter();
        return Vec::new();
    }
    if table.search.take().is_some() {
        return Vec::new();
    }
    leave(app)
}

/// Returns to the list of sessions; marks that would be lost are asked about.
fn leave(app: &mut App) -> Vec<Effect> {
    let has_marks = app.table.as_ref().is_some_and(|t| !t.marks.is_empty());
    if has_marks {
        app.dialog = Some(Dialog::Confirm {
            question: "Leave this session, and forget what is marked?".to_owned(),
            effect: Box::new(Effect::List(app.list.all)),
        });
        return Vec::new();
    }
    app.close_table();
    vec![Effect::List(app.list.all)]
}

fn ask(app: &mut App, purpose: Purpose) {
    let text = match (purpose, &app.table) {
        (Purpose::Filter, Some(table)) => table.filter.as_ref().map(|(typed, _)| typed.clone()),
        _ => None,
    };
    app.dialog = Some(Dialog::Input {
        purpose,
        text: text.unwrap_or_default(),
    });
}

fn next_match(app: &mut App, forward: bool) -> Vec<Effect> {
    let Some(table) = app.table.as_deref_mut() else {
        return Vec::new();
    };
    match table.next_match(forward) {
        Some((place, count)) => app.say(&format!("match {} of {count}", place + 1)),
        None => app.say("nothing was looked for; / searches"),
    }
    Vec::new()
}

/// Takes back the last mark, or offers to undo the last operation.
fn undo(app: &mut App) -> Vec<Effect> {
    if let Some(effects) = app.table.as_deref_mut().and_then(Table::undo) {
        return effects;
    }
    match app.made.as_ref().filter(|made| !made.undone) {
        Some(made) => {
            app.dialog = Some(Dialog::Confirm {
                question: format!("{} Undo that?", made.sentence),
                effect: Box::new(Effect::Undo(made.operation.clone())),
            });
        }
        None => app.say("there is nothing to take back"),
    }
    Vec::new()
}

fn reread(app: &mut App) -> Vec<Effect> {
    let path = app.table.as_ref().map(|t| t.tree.path.clone());
    app.say("reading the session again");
    path.map(Effect::Open).into_iter().collect()
}

fn preview(app: &mut App) -> Vec<Effect> {
    let Some(table) = app.table.as_deref() else {
        return Vec::new();
    };
    if table.plan.is_empty() {
        app.say("nothing is marked: space marks a row, ? shows all keys");
        return Vec::new();
    }
    let plan = table.plan.clone();
    app.show_preview(plan)
}

impl App {
    /// Takes the session off the table.
    pub(super) fn close_table(&mut self) {
        self.table = None;
        self.opening = None;
        self.view = View::Sessions;
        self.message = None;
    }

    /// Shows what a plan would do.
    pub(super) fn show_preview(&mut self, plan: Plan) -> Vec<Effect> {
        self.view = View::Preview;
        self.message = None;
        self.preview = super::app::Preview {
            busy: Some("trying it"),
            plan: plan.clone(),
            ..super::app::Preview::default()
        };
        let columns = usize::from(self.size.0.saturating_sub(2));
        vec![Effect::Preview(plan, columns)]
    }
}
