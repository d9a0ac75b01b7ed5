//! The keys of the operating table that mark rows.

use std::collections::BTreeSet;

use super::app::{App, Dialog, Effect};
use super::marks::{Fate, Marks, Stub};
use super::step::Plan;
use super::table::Table;
use super::tree::{NO_BLOCK, NodeKind, Tree};
use crate::transcript::BlockIx;

/// Handles the keys that mark.
pub(super) fn marking_key(app: &mut App, c: char) -> Vec<Effect> {
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
        node.kind == NodeKind::Result && node.call != NO_BLOCK
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
fn calls_in(tree: &Tree, rows: &[usize]) -> Vec<BlockIx> {
    let mut calls = Vec::new();
    for &row in rows {
        let end = (tree.nodes[row].end as usize).max(row + 1);
        let below = tree.nodes[row..end].iter();
        calls.extend(below.filter(|n| n.call != NO_BLOCK).map(|n| n.call));
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
    of: impl Fn(&mut Marks) -> &mut BTreeSet<u32>,
) -> Marked {
    let chosen = table.chosen();
    let turns: BTreeSet<u32> = chosen
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
    let calls: Vec<BlockIx> = large.map(|n| n.call).filter(|c| *c != NO_BLOCK).collect();
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
        return table.mark(|marks, _| drop(marks.edits.remove(&node.entry())));
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
    vec![Effect::Edit(node.entry())]
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
