//! The keys of the operating table.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::app::{App, Dialog, Effect, Purpose, View};
use super::marks::{Fate, Marks, Stub};
use super::step::Plan;
use super::table::Table;
use super::tree::{NONE, NodeKind, Tree};

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
        KeyCode::Char('l') | KeyCode::Right => unfold(table),
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

fn unfold(table: &mut Table) {
    let Some(row) = table.row() else { return };
    if !table.has_below(row) {
        return;
    }
    if table.is_open(row) {
        table.step(1);
    } else {
        table.fold(row, true);
    }
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

/// Handles the keys that mark.
fn marking_key(app: &mut App, c: char) -> Vec<Effect> {
    let Some(table) = app.table.as_deref_mut() else {
        return Vec::new();
    };
    let outcome = match c {
        'v' => {
            table.anchor = match table.anchor {
                Some(_) => None,
                None => table.key(),
            };
            return Vec::new();
        }
        ' ' => mark_naturally(table),
        'd' => delete(table),
        'o' => stub(table),
        't' => by_turn(table, NodeKind::Thinking, |marks| &mut marks.thinking),
        'i' => by_turn(table, NodeKind::Media, |marks| &mut marks.images),
        'T' => all_thinking(table),
        'O' => large_outputs(table),
        'x' => return cut(app),
        'c' => return compact(app),
        'e' => return edit(app),
        'r' => return redact(app),
        'U' => Ok(table.mark(|marks, _| *marks = Marks::default())),
        _ => return Vec::new(),
    };
    match outcome {
        Ok(effects) => effects,
        Err(why) => {
            app.fail(&why);
            Vec::new()
        }
    }
}

type Marked = Result<Vec<Effect>, String>;

/// Marks each row in the way that fits what it is: outputs become notes, thinking and images are removed, the rest is deleted.
fn mark_naturally(table: &mut Table) -> Marked {
    let rows = table.chosen();
    let is_output = |row: &usize| {
        let node = &table.tree.nodes[*row];
        node.kind == NodeKind::Result && node.call != NONE
    };
    let marked = if rows.iter().all(is_output) {
        stub(table)
    } else {
        delete(table)
    };
    let was_single = rows.len() == 1;
    if was_single && marked.is_ok() {
        table.step(1);
    }
    marked
}

fn delete(table: &mut Table) -> Marked {
    let rows = table.chosen();
    let is_gone = |row: &usize| table.marks.fate(&table.tree, *row).is_whole();
    let on = !rows.iter().all(is_gone);
    let mut problem = None;
    let effects = table.mark(|marks, tree| {
        for row in rows {
            if let Err(why) = marks.delete(&tree.nodes[row], on) {
                problem = Some(why.to_owned());
            }
        }
    });
    match problem {
        Some(why) if effects.is_empty() => Err(why),
        _ => Ok(effects),
    }
}

/// Returns the calls in some rows and below them.
fn calls_in(tree: &Tree, rows: &[usize]) -> Vec<u32> {
    let mut calls = Vec::new();
    for &row in rows {
        let end = (tree.nodes[row].end as usize).max(row + 1);
        let below = tree.nodes[row..end].iter();
        calls.extend(below.filter(|n| n.call != NONE).map(|n| n.call));
    }
    calls.sort_unstable();
    calls.dedup();
    calls
}

fn stub(table: &mut Table) -> Marked {
    let calls = calls_in(&table.tree, &table.chosen());
    if calls.is_empty() {
        return Err("there is no output of a tool here".to_owned());
    }
    let on = !calls.iter().all(|c| table.marks.stubs.contains_key(c));
    Ok(table.mark(|marks, _| {
        for call in calls {
            marks.stub(call, on.then(Stub::default));
        }
    }))
}

/// Marks the blocks of a kind in the turns of the chosen rows.
fn by_turn(
    table: &mut Table,
    kind: NodeKind,
    of: impl Fn(&mut Marks) -> &mut std::collections::BTreeSet<u32>,
) -> Marked {
    let chosen = table.chosen();
    let turns: std::collections::BTreeSet<u32> = chosen
        .iter()
        .map(|row| table.tree.nodes[*row].turn)
        .filter(|turn| *turn > 0)
        .collect();
    let holds = |turn: &u32| {
        let mut nodes = table.tree.nodes.iter();
        // Images may be inside results, which have no rows for them.
        nodes.any(|n| n.turn == *turn && n.kind == kind) || kind == NodeKind::Media
    };
    let turns: Vec<u32> = turns.into_iter().filter(holds).collect();
    if turns.is_empty() {
        return Err("there is no thinking in this turn".to_owned());
    }
    Ok(table.mark(|marks, _| {
        let set = of(marks);
        let on = !turns.iter().all(|turn| set.contains(turn));
        for turn in turns {
            if on {
                set.insert(turn);
            } else {
                set.remove(&turn);
            }
        }
    }))
}

fn all_thinking(table: &mut Table) -> Marked {
    let all = 1..=table.tree.turns();
    Ok(table.mark(|marks, _| {
        if all.clone().all(|turn| marks.thinking.contains(&turn)) {
            marks.thinking.clear();
        } else {
            marks.thinking.extend(all);
        }
    }))
}

/// Marks the outputs of more than a thousand tokens that the model is shown.
fn large_outputs(table: &mut Table) -> Marked {
    const LARGE: f32 = 1_000.0;
    let nodes = table.tree.nodes.iter();
    let large = nodes.filter(|n| n.kind == NodeKind::Result && n.shown && n.tokens > LARGE);
    let calls: Vec<u32> = large.map(|n| n.call).filter(|c| *c != NONE).collect();
    if calls.is_empty() {
        return Err("no output has more than 1000 tokens".to_owned());
    }
    Ok(table.mark(|marks, _| {
        for call in calls {
            marks.stub(call, Some(Stub::default()));
        }
    }))
}

/// Cuts the session after the turn under the cursor.
fn cut(app: &mut App) -> Vec<Effect> {
    let Some(table) = app.table.as_deref_mut() else {
        return Vec::new();
    };
    let Some(turn) = table.row().map(|row| table.tree.nodes[row].turn) else {
        return Vec::new();
    };
    if turn == 0 || turn == table.tree.turns() && table.marks.cut.is_none() {
        app.say("this is the last turn: nothing comes after it");
        return Vec::new();
    }
    table.mark(|marks, tree| {
        let is_same = marks.cut == Some(turn) || turn == tree.turns();
        marks.cut = (!is_same).then_some(turn);
    })
}

/// Shows the digest that would replace the turns up to the one under the cursor.
fn compact(app: &mut App) -> Vec<Effect> {
    let Some(table) = app.table.as_deref_mut() else {
        return Vec::new();
    };
    let Some(row) = table.row() else {
        return Vec::new();
    };
    let at = table.tree.nodes[row].turn;
    let is_marked = table.marks.compaction.as_ref().is_some_and(|c| c.at == at);
    if is_marked {
        return table.mark(|marks, _| marks.compaction = None);
    }
    if at == 0 {
        app.say("put the cursor on the last turn that is to be summarised");
        return Vec::new();
    }
    app.dialog = Some(Dialog::Digest {
        at,
        text: None,
        edited: false,
        scroll: 0,
    });
    vec![Effect::Digest(at)]
}

fn edit(app: &mut App) -> Vec<Effect> {
    let Some(table) = app.table.as_deref_mut() else {
        return Vec::new();
    };
    let Some(row) = table.row() else {
        return Vec::new();
    };
    let node = table.tree.nodes[row];
    if table.marks.fate(&table.tree, row) == Fate::Edited {
        return table.mark(|marks, _| drop(marks.edits.remove(&node.entry)));
    }
    let can = node.is_message()
        || matches!(
            node.kind,
            NodeKind::Text | NodeKind::Call | NodeKind::Result
        );
    if !can {
        app.say("put the cursor on a prompt, an answer, a call or an output to edit it");
        return Vec::new();
    }
    vec![Effect::Edit(node.entry)]
}

/// Shows what would be redacted. That is a change of its own, because it is about all files of the session.
fn redact(app: &mut App) -> Vec<Effect> {
    let has_marks = app.table.as_ref().is_some_and(|t| !t.marks.is_empty());
    if has_marks {
        app.say("redacting is a change of its own: apply the marks first, or remove them with U");
        return Vec::new();
    }
    app.show_preview(Plan::Redact)
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
