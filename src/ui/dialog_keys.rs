//! The keys of dialogs, of the preview, and of what was made.

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use super::app::{App, Dialog, Effect, Purpose, View};
use super::marking_keys::redact;

/// Handles a key while a dialog is open.
pub(super) fn on_key(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    match &mut app.dialog {
        Some(Dialog::Help { scroll }) => {
            let stays_open = scrolls(scroll, key.code);
            if !stays_open {
                app.dialog = None;
            }
        }
        Some(Dialog::Input { purpose, text }) => match key.code {
            KeyCode::Esc => app.dialog = None,
            KeyCode::Backspace if text.is_empty() => app.dialog = None,
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char(c) => text.push(c),
            KeyCode::Enter => {
                let (purpose, text) = (*purpose, std::mem::take(text));
                app.dialog = None;
                return entered(app, purpose, text.trim());
            }
            _ => {}
        },
        Some(Dialog::Digest { text, scroll, .. }) => match key.code {
            KeyCode::Esc | KeyCode::Char('q') => app.dialog = None,
            KeyCode::Enter if text.is_some() => return app.accept_digest(),
            KeyCode::Char('e') => {
                return text.clone().map(Effect::EditDigest).into_iter().collect();
            }
            code => drop(scrolls(scroll, code)),
        },
        Some(Dialog::Confirm { effect, .. }) => {
            let effect = effect.clone();
            app.dialog = None;
            if matches!(key.code, KeyCode::Char('y' | 'Y')) {
                match *effect {
                    Effect::List(_) => app.close_table(),
                    Effect::Apply(..) => app.preview.busy = Some("writing"),
                    _ => {}
                }
                return vec![*effect];
            }
        }
        None => {}
    }
    Vec::new()
}

/// Moves a text; returns whether the key is one that does.
fn scrolls(scroll: &mut usize, code: KeyCode) -> bool {
    let by = match code {
        KeyCode::Down | KeyCode::Char('j') => 1,
        KeyCode::Up | KeyCode::Char('k') => -1,
        KeyCode::PageDown | KeyCode::Char(' ' | 'd') => 15,
        KeyCode::PageUp | KeyCode::Char('u') => -15,
        KeyCode::Home | KeyCode::Char('g') => isize::MIN / 2,
        KeyCode::End | KeyCode::Char('G') => 1 << 20,
        _ => return false,
    };
    *scroll = scroll.saturating_add_signed(by);
    true
}

fn entered(app: &mut App, purpose: Purpose, text: &str) -> Vec<Effect> {
    match purpose {
        Purpose::Filter if text.is_empty() => {
            if let Some(table) = app.table.as_deref_mut() {
                table.clear_filter();
            }
            Vec::new()
        }
        _ if text.is_empty() => Vec::new(),
        Purpose::Search | Purpose::Filter => {
            text.clone_into(&mut app.typed);
            vec![Effect::Find(purpose, text.to_owned())]
        }
        Purpose::Budget => {
            app.say("looking for the least harmful steps");
            vec![Effect::Trim(text.to_owned())]
        }
        Purpose::Command => command(app, text),
    }
}

/// Carries out a command that was typed after `:`.
fn command(app: &mut App, text: &str) -> Vec<Effect> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let rest = rest.trim();
    match word {
        "q" | "quit" => vec![Effect::Quit],
        "w" | "write" => save(app, rest),
        "trim" if !rest.is_empty() => {
            let budget = rest
                .trim_start_matches("--to")
                .trim_start_matches(['=', ' ']);
            vec![Effect::Trim(budget.to_owned())]
        }
        "undo" => {
            app.dialog = Some(Dialog::Confirm {
                question: "Undo the last operation?".to_owned(),
                effect: Box::new(Effect::Undo(String::new())),
            });
            Vec::new()
        }
        "redact" if rest.is_empty() => redact(app),
        "redact" => {
            app.fail("options of redact are not kept in a plan; use the command: ccsurgery redact");
            Vec::new()
        }
        "filter" => entered(app, Purpose::Filter, rest),
        "help" => {
            app.dialog = Some(Dialog::Help { scroll: 0 });
            Vec::new()
        }
        word if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) => {
            go_to_turn(app, word.parse().unwrap_or(u32::MAX));
            Vec::new()
        }
        _ => vec![Effect::Parse(text.to_owned())],
    }
}

fn go_to_turn(app: &mut App, turn: u32) {
    use super::tree::NodeKind;
    let Some(table) = app.table.as_deref_mut() else {
        return;
    };
    let mut nodes = table.tree.nodes.iter();
    let found = nodes.position(|n| n.kind == NodeKind::Turn && n.turn == turn);
    match found {
        Some(row) => table.go_to(row),
        None => app.fail(&format!("there is no turn {turn}")),
    }
}

fn save(app: &mut App, file: &str) -> Vec<Effect> {
    let Some(table) = app.table.as_deref() else {
        return Vec::new();
    };
    if table.plan.is_empty() {
        app.say("nothing is marked, so there is no plan to write");
        return Vec::new();
    }
    let file = if file.is_empty() { "plan.toml" } else { file };
    vec![Effect::Save(file.to_owned(), table.plan.clone())]
}

/// Handles a key while the preview is on the screen.
pub(super) fn on_preview_key(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    let is_writing = app.preview.busy == Some("writing");
    match key.code {
        _ if is_writing => {}
        KeyCode::Esc | KeyCode::Char('q') => app.view = View::Table,
        KeyCode::Enter | KeyCode::Char('n') => return apply(app, false),
        KeyCode::Char('i') if app.preview.plan.redacts() => {
            app.say("in place, old bytes would not be kept; use: ccsurgery redact --in-place");
        }
        KeyCode::Char('i') if app.preview.busy.is_none() && !app.preview.is_idle => {
            app.dialog = Some(Dialog::Confirm {
                question: "Rewrite the session in place? The old bytes are kept for undo."
                    .to_owned(),
                effect: Box::new(Effect::Apply(app.preview.plan.clone(), true)),
            });
        }
        code => drop(scrolls(&mut app.preview.scroll, code)),
    }
    Vec::new()
}

fn apply(app: &mut App, in_place: bool) -> Vec<Effect> {
    if app.preview.busy.is_some() {
        return Vec::new();
    }
    if app.preview.is_idle {
        app.say("there is nothing to do");
        return Vec::new();
    }
    app.preview.busy = Some("writing");
    vec![Effect::Apply(app.preview.plan.clone(), in_place)]
}

/// Handles a key while it is shown what was made.
pub(super) fn on_made_key(app: &mut App, key: KeyEvent) -> Vec<Effect> {
    let Some(made) = app.made.clone() else {
        app.view = View::Table;
        return Vec::new();
    };
    match key.code {
        KeyCode::Char('r') if made.resume.is_some() && !made.undone => {
            return vec![Effect::Resume(Box::new(made))];
        }
        KeyCode::Char('u') if !made.undone => {
            return vec![Effect::Undo(made.operation)];
        }
        KeyCode::Char('o') if !made.undone => {
            app.table = None;
            let title = made.target.0.clone();
            return app.open(made.path, &title, 0);
        }
        KeyCode::Char('l') => {
            app.close_table();
            return vec![Effect::List(app.list.all)];
        }
        KeyCode::Enter | KeyCode::Esc => {
            app.view = View::Table;
            if let Some(table) = app.table.as_deref_mut() {
                let path = table.tree.path.clone();
                let effects = table.mark(|marks, _| *marks = super::marks::Marks::default());
                return [effects, vec![Effect::Open(path)]].concat();
            }
        }
        KeyCode::Char('q') => return vec![Effect::Quit],
        _ => {}
    }
    Vec::new()
}
