//! The operating table: the tree of one session, the cursor in it, and what is marked.

use std::collections::BTreeSet;
use std::sync::Arc;

use ratatui::text::Line;
use rustc_hash::FxHashSet;

use crate::view::Conversation;

use super::app::{Effect, Purpose};
use super::filter::Filter;
use super::marks::Marks;
use super::step::{Plan, shell_line};
use super::totals::Totals;
use super::tree::{NodeKey, NodeKind, Tree};

/// The name that the command line shows for a plan that was not written yet.
const PLAN_FILE: &str = "plan.toml";

/// A session on the operating table.
#[derive(Debug, Clone)]
pub struct Table {
    /// The tree.
    pub tree: Arc<Tree>,
    /// The rows that are unfolded.
    open: FxHashSet<NodeKey>,
    /// The rows on the screen or above and below it, by their numbers in the tree.
    pub visible: Vec<u32>,
    /// The place of the cursor among the visible rows.
    pub cursor: usize,
    /// The first row that is shown.
    pub top: usize,
    /// What is marked.
    pub marks: Marks,
    /// Earlier marks, for undo.
    past: Vec<Marks>,
    /// Where a range begins.
    pub anchor: Option<NodeKey>,
    /// The plan that the marks are.
    pub plan: Plan,
    /// How often the plan has changed.
    pub version: u64,
    /// What the session takes now.
    pub before: Totals,
    /// What it takes after the changes.
    pub after: Totals,
    /// Whether that is the exact figure of the operation itself.
    pub is_exact: bool,
    /// Why the plan is refused, if it is.
    pub refusal: Option<String>,
    /// The file that the plan was written to.
    pub saved: Option<(String, Plan)>,
    /// The filter, and the rows that fit it.
    pub filter: Option<(String, BTreeSet<u32>)>,
    /// What is looked for, and the rows that fit it.
    pub search: Option<(String, Vec<u32>)>,
    /// The content of the row under the cursor: what it is of, and for how many columns.
    pub content: Option<(NodeKey, usize, Vec<Line<'static>>)>,
    /// The content that was asked for.
    pub(super) wanted: Option<(NodeKey, usize)>,
    /// The first line of the content that is shown.
    pub scroll: usize,
    /// Whether the content has the keys that scroll.
    pub reads: bool,
    /// Whether the session was written by somebody else since it was read.
    pub grew: bool,
}

impl Table {
    /// Puts a session on the table, the cursor on its last turn.
    pub fn new(tree: Arc<Tree>) -> Self {
        let before = Totals::before(&tree);
        let mut table = Self {
            tree,
            open: FxHashSet::default(),
            visible: Vec::new(),
            cursor: 0,
            top: 0,
            marks: Marks::default(),
            past: Vec::new(),
            anchor: None,
            plan: Plan::default(),
            version: 0,
            before,
            after: before,
            is_exact: true,
            refusal: None,
            saved: None,
            filter: None,
            search: None,
            content: None,
            wanted: None,
            scroll: 0,
            reads: false,
            grew: false,
        };
        table.lay_out();
        let is_turn = |row: &u32| table.tree.nodes[*row as usize].kind == NodeKind::Turn;
        let last = table.visible.iter().rposition(is_turn);
        table.cursor = last.unwrap_or(0);
        table
    }

    /// Takes the session again after it grew; marks and folds stay.
    pub fn reread(&mut self, tree: Arc<Tree>) -> Vec<Effect> {
        let at = self.key();
        self.before = Totals::before(&tree);
        self.tree = tree;
        self.grew = false;
        self.content = None;
        self.wanted = None;
        self.filter = None;
        self.search = None;
        self.lay_out();
        if let Some(at) = at {
            self.show(at);
        }
        self.replan()
    }

    /// Works out which rows are visible.
    fn lay_out(&mut self) {
        let nodes = &self.tree.nodes;
        let fitting = self.filter.as_ref().map(|(_, rows)| rows);
        let mut visible = Vec::new();
        let mut row = 0;
        while row < nodes.len() {
            let node = &nodes[row];
            let end = (node.end as usize).max(row + 1);
            let holds = |rows: &BTreeSet<u32>| rows.range(row as u32..end as u32).next().is_some();
            if fitting.is_some_and(|rows| !holds(rows)) {
                row = end;
                continue;
            }
            visible.push(row as u32);
            let is_open = fitting.is_some() || self.open.contains(&node.key());
            row = if is_open { row + 1 } else { end };
        }
        self.visible = visible;
        self.cursor = self.cursor.min(self.visible.len().saturating_sub(1));
    }

    /// Returns the row under the cursor.
    pub fn row(&self) -> Option<usize> {
        self.visible.get(self.cursor).map(|row| *row as usize)
    }

    /// Returns what identifies the row under the cursor.
    pub fn key(&self) -> Option<NodeKey> {
        self.row().map(|row| self.tree.nodes[row].key())
    }

    /// Whether a row has rows below it that can be folded.
    pub fn has_below(&self, row: usize) -> bool {
        self.tree.nodes[row].end as usize > row + 1
    }

    /// Whether a row can be unfolded: the rows below it may have to be read first.
    pub fn can_unfold(&self, row: usize) -> bool {
        self.has_below(row) || self.tree.nodes[row].is_aside_heading()
    }

    /// Takes the conversation of a branch or a subagent that was unfolded, and shows it. Returns how many rows it has.
    pub fn take_aside(&mut self, key: NodeKey, conversation: Conversation) -> usize {
        let row = self.tree.find(key).filter(|row| !self.has_below(*row));
        let Some(row) = row else {
            return 0;
        };
        let at = self.key();
        let added = Arc::make_mut(&mut self.tree).insert_aside(row, conversation);
        let moved = |r: u32| {
            if r as usize > row {
                r + added as u32
            } else {
                r
            }
        };
        if let Some((_, rows)) = &mut self.filter {
            *rows = rows.iter().map(|r| moved(*r)).collect();
        }
        if let Some((_, rows)) = &mut self.search {
            for row in rows.iter_mut() {
                *row = moved(*row);
            }
        }
        self.open.insert(key);
        self.lay_out();
        if let Some(row) = at.and_then(|at| self.tree.find(at)) {
            self.put_cursor(row);
        }
        added
    }

    /// Whether the rows below a row are shown.
    pub fn is_open(&self, row: usize) -> bool {
        self.filter.is_some() || self.open.contains(&self.tree.nodes[row].key())
    }

    /// Shows or hides the rows below a row; the cursor stays on it.
    pub fn fold(&mut self, row: usize, is_open: bool) {
        let key = self.tree.nodes[row].key();
        if is_open {
            self.open.insert(key);
        } else {
            self.open.remove(&key);
        }
        self.lay_out();
        self.put_cursor(row);
    }

    /// Shows or hides the rows below all turns and messages.
    pub fn fold_all(&mut self, is_open: bool) {
        let at = self.row();
        if is_open {
            let nodes = self.tree.nodes.iter().enumerate();
            let folding = nodes.filter(|(row, n)| n.end as usize > row + 1);
            self.open = folding.map(|(_, n)| n.key()).collect();
        } else {
            self.open.clear();
        }
        self.lay_out();
        if let Some(row) = at {
            self.put_cursor(row);
        }
    }

    /// Puts the cursor on a row, or on the nearest one above it that is visible.
    fn put_cursor(&mut self, row: usize) {
        let after = self.visible.partition_point(|r| *r as usize <= row);
        self.cursor = after.saturating_sub(1);
        self.scroll = 0;
    }

    /// Puts the cursor on a row, and unfolds what is above it.
    pub fn go_to(&mut self, row: usize) {
        let mut above = self.tree.parent(row);
        while let Some(parent) = above {
            self.open.insert(self.tree.nodes[parent].key());
            above = self.tree.parent(parent);
        }
        self.lay_out();
        self.put_cursor(row);
    }

    fn show(&mut self, key: NodeKey) {
        if let Some(row) = self.tree.find(key) {
            self.go_to(row);
        }
    }

    /// Moves the cursor by so many rows.
    pub fn step(&mut self, by: isize) {
        let last = self.visible.len().saturating_sub(1);
        self.cursor = self.cursor.saturating_add_signed(by).min(last);
        self.scroll = 0;
    }

    /// Moves the cursor to the next or previous turn.
    pub fn step_turn(&mut self, forward: bool) {
        let is_turn = |row: &u32| self.tree.nodes[*row as usize].kind == NodeKind::Turn;
        let found = if forward {
            let after = self.visible.get(self.cursor + 1..).unwrap_or_default();
            after.iter().position(is_turn).map(|n| self.cursor + 1 + n)
        } else {
            self.visible[..self.cursor].iter().rposition(is_turn)
        };
        if let Some(found) = found {
            self.cursor = found;
            self.scroll = 0;
        }
    }

    /// Returns the rows that an action is about: those of the range, or the one under the cursor.
    pub fn chosen(&self) -> Vec<usize> {
        let Some(row) = self.row() else {
            return Vec::new();
        };
        let Some(from) = self.anchor.and_then(|key| self.tree.find(key)) else {
            return vec![row];
        };
        let place = |row: usize| self.visible.partition_point(|r| (*r as usize) < row);
        let (from, to) = (place(from.min(row)), place(from.max(row)));
        let rows = self.visible.get(from..=to).unwrap_or_default();
        rows.iter().map(|row| *row as usize).collect()
    }

    /// Changes the marks, and works out the plan anew.
    pub fn mark(&mut self, change: impl FnOnce(&mut Marks, &Tree)) -> Vec<Effect> {
        let before = self.marks.clone();
        change(&mut self.marks, &self.tree);
        self.anchor = None;
        if self.marks == before {
            return Vec::new();
        }
        self.past.push(before);
        self.replan()
    }

    /// Takes back the last change of the marks; returns `None` if there is none.
    pub fn undo(&mut self) -> Option<Vec<Effect>> {
        self.marks = self.past.pop()?;
        Some(self.replan())
    }

    fn replan(&mut self) -> Vec<Effect> {
        self.plan = self.marks.plan(&self.tree);
        self.version += 1;
        self.after = Totals::after(&self.tree, &self.marks);
        self.is_exact = self.plan.is_empty();
        self.refusal = None;
        if self.plan.is_empty() {
            self.after = self.before;
            return Vec::new();
        }
        vec![Effect::Forecast(self.version, self.plan.clone())]
    }

    /// Takes what a plan came to that was tried.
    pub fn take_forecast(&mut self, version: u64, tried: Result<Totals, String>) {
        if version != self.version {
            return;
        }
        match tried {
            Ok(after) => {
                self.after = after;
                self.is_exact = true;
            }
            Err(why) => self.refusal = Some(why),
        }
    }

    /// Takes the rows that were found.
    pub fn take_found(&mut self, purpose: Purpose, typed: &str, rows: Vec<u32>) {
        if purpose == Purpose::Filter {
            let at = self.row();
            let is_on = !Filter::parse(typed).unwrap_or_default().is_empty();
            self.filter = is_on.then(|| (typed.to_owned(), rows.into_iter().collect()));
            self.lay_out();
            if let Some(row) = at {
                self.put_cursor(row);
            }
        } else {
            self.search = Some((typed.to_owned(), rows));
            self.next_match(true);
        }
    }

    /// Takes the filter away.
    pub fn clear_filter(&mut self) {
        let at = self.row();
        self.filter = None;
        self.lay_out();
        if let Some(row) = at {
            self.go_to(row);
        }
    }

    /// Puts the cursor on the next or previous row that was found; returns its place among them.
    pub fn next_match(&mut self, forward: bool) -> Option<(usize, usize)> {
        let (_, rows) = self.search.as_ref()?;
        let here = self.row()? as u32;
        let place = if forward {
            let after = rows.partition_point(|row| *row <= here);
            if after < rows.len() { after } else { 0 }
        } else {
            let before = rows.partition_point(|row| *row < here);
            before.checked_sub(1).unwrap_or(rows.len().checked_sub(1)?)
        };
        let (row, count) = (*rows.get(place)? as usize, rows.len());
        self.go_to(row);
        Some((place, count))
    }

    /// Returns the file that holds the plan as it is, or a name for it.
    pub fn plan_file(&self) -> (&str, bool) {
        match &self.saved {
            Some((file, plan)) if *plan == self.plan => (file, true),
            _ => (PLAN_FILE, false),
        }
    }

    /// Returns the command line that does what the marks would do.
    pub fn command(&self) -> String {
        shell_line(&self.plan.command(&self.tree.name, self.plan_file().0))
    }
}
