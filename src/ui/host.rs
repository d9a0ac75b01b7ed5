//! What the terminal interface needs of the program around it, and how its effects are carried out.

use std::path::Path;
use std::sync::Arc;

use crate::ops::{Compact, EditText, Trim};
use crate::session::Session;
use crate::store::Stamp;
use crate::surgery::Refusal;
use crate::transcript::EntryIx;
use crate::view::{Conversation, SessionRow};

use super::app::{Effect, Event, Made, Purpose};
use super::content::{branch, content, last_turns};
use super::filter::Filter;
use super::look::Look;
use super::step::{Plan, Step};
use super::totals::Totals;
use super::tree::{NodeKey, NodeKind, Tree};

/// Sessions larger than this are not read for their last turns while the list is on the screen.
const GLIMPSE: u64 = 100 << 20;

/// What the program around the terminal interface does. Failures are texts for people.
pub trait Host: Send + Sync {
    /// Lists the sessions of this project or of all projects, newest first.
    fn list(&self, all: bool) -> Result<Vec<SessionRow>, String>;
    /// Reads a session.
    fn open(&self, path: &Path) -> Result<Tree, String>;
    /// Returns how many bytes of the session that is being read are read already.
    fn progress(&self) -> u64 {
        0
    }
    /// Reads the conversation of a subagent.
    fn agent(&self, tree: &Tree, id: &str) -> Result<Conversation, String>;
    /// Tries a plan, and returns what the session takes after it.
    fn forecast(&self, tree: &Tree, plan: &Plan) -> Result<Totals, String>;
    /// Reads a command as a step.
    fn parse(&self, line: &str) -> Result<Step, String>;
    /// Writes a plan to a file, and returns its name.
    fn save(&self, file: &str, text: &str) -> Result<String, String>;
    /// Returns what a plan would do, as `-n` and `--diff` show it, and whether that is nothing.
    fn preview(&self, tree: &Tree, plan: &Plan, columns: usize) -> Result<(String, bool), String>;
    /// Carries a plan out.
    fn apply(&self, tree: &Tree, plan: &Plan, in_place: bool) -> Result<Made, String>;
    /// Undoes an operation; the last one if the name is empty.
    fn undo(&self, operation: &str) -> Result<String, String>;
    /// Returns a text after a person edited it. The terminal belongs to the editor meanwhile.
    fn edit(&self, text: &str) -> Result<String, String>;
}

/// Carries out an effect that needs no terminal, and returns what came of it.
pub fn carry_out(
    effect: Effect,
    tree: Option<&Arc<Tree>>,
    host: &dyn Host,
    look: &Look,
) -> Option<Event> {
    Some(match effect {
        Effect::List(all) => Event::Sessions(host.list(all)),
        Effect::Glimpse(path, columns) => {
            let is_small = path.metadata().is_ok_and(|m| m.len() <= GLIMPSE);
            let session = is_small.then(|| Session::open(&path).ok()).flatten();
            let lines = session.map(|session| last_turns(&session, columns, look));
            Event::Glimpse(path, columns, lines.unwrap_or_default())
        }
        Effect::Open(path) => Event::Opened(host.open(&path).map(Arc::new)),
        Effect::Undo(operation) => Event::Undone(host.undo(&operation)),
        Effect::Parse(line) => Event::Parsed(host.parse(&line)),
        Effect::Save(file, plan) => Event::Saved(host.save(&file, &plan.toml())),
        effect => return on_tree(effect, tree?, host, look),
    })
}

/// Carries out an effect that is about the session on the table.
fn on_tree(effect: Effect, tree: &Arc<Tree>, host: &dyn Host, look: &Look) -> Option<Event> {
    Some(match effect {
        Effect::Read(key, columns) => {
            let node = &tree.nodes[tree.find(key)?];
            let agent = |id: &str| host.agent(tree, id);
            Event::Content(key, columns, content(tree, node, columns, look, agent))
        }
        Effect::Unfold(key) => Event::Unfolded(key, unfold(tree, key, host)),
        Effect::Forecast(version, plan) => Event::Forecast(version, host.forecast(tree, &plan)),
        Effect::Find(purpose, typed) => Event::Found(purpose, find(tree, purpose, &typed)),
        Effect::Trim(budget) => Event::Trimmed(trim(tree, &budget)),
        Effect::Digest(at) => Event::Digest(at, digest(tree, at)),
        Effect::Preview(plan, columns) => Event::Previewed(host.preview(tree, &plan, columns)),
        Effect::Apply(plan, in_place) => Event::Applied(host.apply(tree, &plan, in_place)),
        Effect::Watch => {
            let now = Stamp::of(&tree.path).ok();
            return (now != tree.stamp).then_some(Event::Grew);
        }
        _ => return None,
    })
}

/// Reads the conversation of a branch or a subagent.
fn unfold(tree: &Tree, key: NodeKey, host: &dyn Host) -> Result<Conversation, String> {
    let row = tree.find(key).ok_or("the row is gone")?;
    let node = &tree.nodes[row];
    if node.kind == NodeKind::Subagent {
        return host.agent(tree, &tree.agents[node.place_in_list()].agent_id);
    }
    let uuid = &tree.branches[node.place_in_list()].uuid;
    let read = branch(&tree.session, &tree.id, uuid);
    read.ok_or_else(|| "the branch cannot be read".to_owned())
}

/// Returns the rows that fit what was typed.
fn find(tree: &Tree, purpose: Purpose, typed: &str) -> Result<Vec<u32>, String> {
    let filter = if purpose == Purpose::Filter {
        Filter::parse(typed)?
    } else {
        Filter {
            text: typed.to_owned(),
            ..Filter::default()
        }
    };
    filter.rows(tree)
}

fn trim(tree: &Tree, budget: &str) -> Result<crate::ops::Trimmed, String> {
    let trim = Trim {
        to: budget.parse()?,
        keep_tokens: None,
        keep_last: None,
        disk: false,
        shorten_words: false,
    };
    trim.find(&tree.session).map_err(|refusal| words(&refusal))
}

fn digest(tree: &Tree, at: u32) -> Result<String, String> {
    let compact = Compact {
        at: Some(at.into()),
        ..Compact::default()
    };
    let cut = compact.cut(&tree.session).map_err(|r| words(&r))?;
    let Some(cut) = cut else {
        return Err("there is nothing to summarise".to_owned());
    };
    let summary = compact.summary_of(&tree.session, cut);
    summary.map_err(|refusal| words(&refusal))
}

/// Returns the text of an entry that can be edited.
pub(super) fn editable(tree: &Tree, entry: EntryIx) -> Result<String, String> {
    let e = tree.session.entry(entry);
    let uuid = tree.session.uuid(e).unwrap_or_default();
    EditText::current(&tree.session, &uuid).map_err(|refusal| words(&refusal))
}

/// Returns a refusal as one sentence.
fn words(refusal: &Refusal) -> String {
    refusal.to_string()
}
