//! The content of a row, as `show` lays it out.

use ratatui::text::Line;

use crate::render::Reading;
use crate::session::{At, Session};
use crate::view::{Conversation, ItemContent, SessionText, TurnContent};

use super::ansi;
use super::look::Look;
use super::tree::{NO_BLOCK, Node, NodeKind, Tree};

/// How many bytes of a text are shown.
const MOST: usize = 100 << 10;

/// How many lines are shown.
const LINES: usize = 4_000;

/// Returns the content of a row as lines that are at most `columns` wide. `agent` finds the conversation of a subagent.
pub fn content(
    tree: &Tree,
    node: &Node,
    columns: usize,
    look: &Look,
    agent: impl FnOnce(&str) -> Result<Conversation, String>,
) -> Vec<Line<'static>> {
    let contents = match node.kind {
        NodeKind::Branch => {
            let uuid = &tree.branches[node.place_in_list()].uuid;
            branch(&tree.session, &tree.id, uuid).map_or_else(Vec::new, |c| c.turn_contents)
        }
        NodeKind::Aside => vec![TurnContent {
            turn: node.turn,
            items: vec![tree.asides[node.place_in_list()].clone()],
            ..TurnContent::default()
        }],
        NodeKind::Subagent => match agent(&tree.agents[node.place_in_list()].agent_id) {
            Ok(conversation) => conversation.turn_contents,
            Err(why) => return vec![Line::from(look.presenter.line(&why))],
        },
        _ => vec![of_node(tree, node)],
    };
    let is_part = node.block != NO_BLOCK
        || node.kind == NodeKind::Aside
        || node.is_message() && node.kind != NodeKind::Answer;
    lay_out(contents, columns, look, is_part)
}

/// Returns the last turns of a session, to recognise it by.
pub fn last_turns(session: &Session, columns: usize, look: &Look) -> Vec<Line<'static>> {
    let turns = session.turns().len() as u32;
    let contents = TurnContent::of(session, turns.saturating_sub(1).max(1), turns.max(1));
    lay_out(contents, columns, look, false)
}

fn lay_out(
    mut contents: Vec<TurnContent>,
    columns: usize,
    look: &Look,
    full: bool,
) -> Vec<Line<'static>> {
    let reading = Reading {
        screen: look.screen(columns),
        full,
        agent_command: "ccsurgery show",
    };
    let mut out = Vec::new();
    for content in &mut contents {
        content
            .items
            .iter_mut()
            .for_each(|item| cut(&mut item.content));
        out.extend(ansi::lines(&reading.turn(content), look.colours));
        out.push(Line::default());
        if out.len() > LINES {
            out.truncate(LINES);
            out.push(Line::from("… (`ccsurgery show` shows the rest)"));
            break;
        }
    }
    out.pop();
    out
}

/// Returns the conversation of an abandoned branch, which the uuid of an entry names.
pub(super) fn branch(session: &Session, id: &str, uuid: &str) -> Option<Conversation> {
    let uuid = crate::transcript::Id::of(uuid.as_bytes());
    Conversation::of_branch(session, id, session.find(uuid)?)
}

fn of_node(tree: &Tree, node: &Node) -> TurnContent {
    let session = &*tree.session;
    let mut content = match node.kind {
        NodeKind::Turn => {
            let mut all = TurnContent::of(session, node.turn, node.turn);
            all.pop().unwrap_or_default()
        }
        NodeKind::Call | NodeKind::Result if node.call != NO_BLOCK => {
            let entry = tree.calls.get(&node.call).copied();
            let at = At {
                entry: entry.unwrap_or(node.entry()),
                block: node.call,
            };
            TurnContent::of_block(session, node.turn, at)
        }
        _ if node.block != NO_BLOCK => {
            let at = At {
                entry: node.entry(),
                block: node.block,
            };
            TurnContent::of_block(session, node.turn, at)
        }
        _ => TurnContent::of_entries(session, node.turn, &tree.entries_of(node)),
    };
    content.tokens = Some(node.tokens as u64);
    content
}

/// Shortens the texts of an item, so that no session can make the drawing slow.
fn cut(item: &mut ItemContent) {
    match item {
        ItemContent::Prompt { text }
        | ItemContent::Answer { text }
        | ItemContent::Thinking { text }
        | ItemContent::Result { text, .. }
        | ItemContent::Summary { text }
        | ItemContent::Note { text, .. } => cut_text(text),
        _ => {}
    }
}

fn cut_text(text: &mut SessionText) {
    let raw = text.raw();
    if raw.len() <= MOST {
        return;
    }
    // A secret that is cut in two would not be recognised, so the cut is at white space.
    let is_space = |b: &u8| b.is_ascii_whitespace();
    let end = raw.as_bytes()[..MOST]
        .iter()
        .rposition(is_space)
        .unwrap_or(0);
    let left = crate::human::bytes((raw.len() - end) as u64);
    let shown = format!(
        "{}\n… {left} more, which `ccsurgery show --full` prints",
        &raw[..end]
    );
    *text = shown.into();
}
