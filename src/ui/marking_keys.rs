//! The keys of the operating table that mark rows.

use std::collections::BTreeSet;

use super::app::{App, Dialog, Effect};
use super::marks::{Fate, Marks, Stub, thinking_in};
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
        't' => thinking(table),
        'i' => images(table),
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

/// Marks the thinking in the chosen rows. For a row without any, that of its message is meant, else that of its turn.
fn thinking(table: &mut Table) -> Marked {
    let tree = &table.tree;
    let mut entries = BTreeSet::new();
    let is_own = |row: &usize| {
        let node = &tree.nodes[*row];
        !node.is_aside_heading() && node.kind != NodeKind::Aside
    };
    for row in table.chosen().into_iter().filter(is_own) {
        let below = |row: usize| {
            let end = (tree.nodes[row].end as usize).max(row + 1);
            thinking_in(&tree.nodes[row..end], |_| true)
        };
        let mut at = Some(row);
        let mut found = BTreeSet::new();
        while let Some(row) = at.filter(|_| found.is_empty()) {
            found = below(row);
            at = tree.parent(row);
        }
        entries.extend(found);
    }
    if entries.is_empty() {
        return Err("there is no thinking here".to_owned());
    }
    Ok(table.mark(|marks, _| {
        if entries.is_subset(&marks.thinking) {
            marks.thinking.retain(|entry| !entries.contains(entry));
        } else {
            marks.thinking.extend(entries);
        }
    }))
}

/// Marks the images and documents in the turns of the chosen rows. They may be inside results, which have no rows for them.
fn images(table: &mut Table) -> Marked {
    let chosen = table.chosen();
    let turns = chosen.iter().map(|row| table.tree.nodes[*row].turn);
    let turns: BTreeSet<u32> = turns.filter(|turn| *turn > 0).collect();
    if turns.is_empty() {
        return Err("put the cursor on a turn".to_owned());
    }
    Ok(table.mark(|marks, _| {
        if turns.is_subset(&marks.images) {
            marks.images.retain(|turn| !turns.contains(turn));
        } else {
            marks.images.extend(turns);
        }
    }))
}

fn all_thinking(table: &mut Table) -> Marked {
    let all = thinking_in(&table.tree.nodes, |_| true);
    Ok(table.mark(|marks, _| {
        if all.is_subset(&marks.thinking) {
            marks.thinking.clear();
        } else {
            marks.thinking = all;
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

/// Marks the session for replacing its secrets, or takes that back.
pub(super) fn redact(app: &mut App) -> Vec<Effect> {
    let Some(table) = app.table.as_deref_mut() else {
        return Vec::new();
    };
    let effects = table.mark(|marks, _| marks.redact = !marks.redact);
    if table.marks.redact {
        app.say("secrets will be replaced, in all files of the session; Enter shows which");
    }
    effects
}
