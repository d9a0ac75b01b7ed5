//! The paths of a session that are not its live path.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::SCHEMA;
use super::overview::{prompt_as_typed, prompt_text};
use super::session_text::SessionText;
use crate::session::{Graph, Session, Standing};
use crate::transcript::{EntryColumn, EntryIx, Flags, PromptKind};

/// A path that was abandoned, or that is not connected to the live path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Branch {
    /// The turn after which it leaves the live path; `None` if it is not connected to it.
    pub after_turn: Option<u32>,
    /// The uuid of its first entry.
    pub uuid: String,
    /// Its first prompt.
    pub prompt: SessionText,
    /// How many entries it has.
    pub entries: u32,
    /// How many bytes they have.
    pub bytes: u64,
}

/// All branches of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Branches {
    /// Version of this document's form.
    pub schema: u32,
    /// The session's id.
    pub session_id: String,
    /// The branches, in the order of their first entries.
    pub branches: Vec<Branch>,
}

impl Branches {
    /// Collects the branches of a session.
    pub fn of(session: &Session, session_id: &str) -> Self {
        let entries = session.entries();
        let roots = roots(session.graph(), entries.len());
        let mut places: FxHashMap<EntryIx, usize> = FxHashMap::default();
        let mut branches: Vec<Branch> = Vec::new();
        for (i, e) in session.numbered() {
            // Entries of a subagent are not a branch of the conversation.
            let Some(root) = roots[i].filter(|_| !e.flags.sidechain()) else {
                continue;
            };
            let place = *places.entry(root).or_insert_with(|| {
                branches.push(empty(session, root));
                branches.len() - 1
            });
            let branch = &mut branches[place];
            branch.entries += 1;
            branch.bytes += session.document().lines()[e.line].len() as u64 + 1;
            let is_prompt = matches!(e.prompt, PromptKind::Words | PromptKind::Command);
            if branch.prompt.is_empty() && is_prompt {
                let prompt = prompt_text(session, e).map(|text| prompt_as_typed(&text));
                branch.prompt = prompt.unwrap_or_default().into();
            }
        }
        Self {
            schema: SCHEMA,
            session_id: session_id.to_owned(),
            branches,
        }
    }
}

fn empty(session: &Session, root: EntryIx) -> Branch {
    let after_turn = match session.graph().place(root) {
        Standing::Branch(position) => Some(session.turns().at_position(position)),
        _ => None,
    };
    let uuid = session.uuid(session.entry(root));
    Branch {
        after_turn,
        uuid: uuid.unwrap_or_default(),
        prompt: SessionText::default(),
        entries: 0,
        bytes: 0,
    }
}

/// Returns the entries of the branch to which an entry belongs, in file order; `None` if it is on the live path.
pub(super) fn branch_entries(session: &Session, entry: EntryIx) -> Option<Vec<EntryIx>> {
    let roots = roots(session.graph(), session.entries().len());
    let root = (*roots.get(entry)?)?;
    let of_it = |i: &EntryIx| roots[*i] == Some(root);
    Some(session.numbers().filter(of_it).collect())
}

/// Returns the entries of a subagent that are in this transcript, in file order. A subagent of an old client has no id;
/// it is named by the uuid of its first entry.
pub(super) fn sidechain_entries(session: &Session, agent_id: &str) -> Vec<EntryIx> {
    let sidechain = session.entries_with(Flags::sidechain);
    let named = sidechain.filter(|(_, e)| {
        let id = session.string(e, &["agentId"]);
        id.is_some_and(|id| id == agent_id)
    });
    let named: Vec<EntryIx> = named.map(|(i, _)| i).collect();
    if !named.is_empty() {
        return named;
    }
    let root = session.entries_with(Flags::sidechain).find(|(_, e)| {
        let uuid = session.uuid(e);
        uuid.is_some_and(|uuid| uuid == agent_id)
    });
    let Some((root, _)) = root else {
        return Vec::new();
    };
    let entries = branch_entries(session, root).unwrap_or_default();
    let is_sidechain = |i: &EntryIx| session.entry(*i).flags.sidechain();
    entries.into_iter().filter(is_sidechain).collect()
}

/// Returns for each entry off the live path its topmost ancestor off it. A cycle ends where it closes.
fn roots(graph: &Graph, len: usize) -> EntryColumn<Option<EntryIx>> {
    let off = |i: EntryIx| matches!(graph.place(i), Standing::Branch(_) | Standing::Apart);
    let mut roots = EntryColumn::filled(None, len);
    // The walk by which an entry was reached last, from 1.
    let mut walks = EntryColumn::filled(0_u32, len);
    let mut walked = Vec::new();
    for (walk, i) in (1..).zip(EntryIx::first(len).filter(|&i| off(i))) {
        walked.clear();
        let mut at = i;
        loop {
            walks[at] = walk;
            walked.push(at);
            if roots[at].is_some() {
                break;
            }
            match graph.parent(at).filter(|&p| off(p) && walks[p] != walk) {
                Some(parent) => at = parent,
                None => break,
            }
        }
        let root = roots[at].unwrap_or(at);
        for &w in &walked {
            roots[w] = Some(root);
        }
    }
    roots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    #[test]
    fn branches_of_a_cycle_end() {
        let line = |uuid: &str, parent: &str| {
            format!(
                r#"{{"parentUuid":{parent},"type":"user","message":{{"content":"{uuid}"}},"uuid":"{uuid}"}}"#
            )
        };
        let lines = [
            line("a", r#""b""#),
            line("b", r#""a""#),
            line("x", "null"),
            line("y", "null"),
        ];
        let session = Session::new(Document::from_bytes(lines.join("\n")));
        let branches = Branches::of(&session, "s").branches;
        let total: u32 = branches.iter().map(|b| b.entries).sum();
        assert_eq!((branches.len(), total), (2, 3));
    }
}
