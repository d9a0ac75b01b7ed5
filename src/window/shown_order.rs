//! Which entries the client shows to the model, and in which order.

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::session::{Session, Standing, turn_end};
use crate::transcript::{BlockKind, EntryColumn, EntryIx, Id, Kind, PromptKind, hash};

/// Returns the entries of which the payload is made, in order: the live path from its last boundary on, with preserved
/// messages after the summary, and entries beside the path where the client inserts them.
pub(crate) fn shown_order(session: &Session, upto: Option<u32>) -> Vec<EntryIx> {
    let (entries, graph) = (session.entries(), session.graph());
    let path = graph.path();
    let end = match upto {
        Some(turn) => session
            .turns()
            .get(turn)
            .map_or(path.len(), |t| turn_end(session, t) as usize),
        None => path.len(),
    };
    let path = &path[..end];
    let of_any = session.flags_of_any();
    let boundary = if of_any.boundary() {
        path.iter().rposition(|&i| session.heads()[i].is_boundary())
    } else {
        None
    };
    let first = boundary.unwrap_or(0);
    let mut rows: Vec<EntryIx> = path[first..].to_vec();
    if upto.is_none() {
        rows.extend(tail_of_conversation(session));
    }
    if of_any.sidechain() {
        rows.retain(|&r| !entries[r].flags.sidechain());
    }
    gather(session, &rows, first as u32, end as u32)
}

/// Returns the entries that the model is shown when a client resumes the session, in their order.
pub(crate) fn shown_entries(session: &Session) -> Vec<EntryIx> {
    shown_order(session, None)
}

/// Returns the entry that the next prompt follows: the leaf, or the last entry after it that is not a message.
pub(crate) fn end_of_conversation(session: &Session) -> Option<EntryIx> {
    let last = tail_of_conversation(session).last().copied();
    last.or_else(|| session.graph().leaf())
}

/// Returns the entries that follow the leaf and are not messages. The client shows them with the next prompt.
pub(crate) fn tail_of_conversation(session: &Session) -> Vec<EntryIx> {
    let (entries, graph) = (session.entries(), session.graph());
    let mut out = Vec::new();
    let mut at = graph.leaf();
    while let Some(i) = at {
        at = graph
            .children(i)
            .filter(|&c| {
                !entries[c].is_message()
                    && !entries[c].is_boundary()
                    && matches!(graph.place(c), Standing::Beside(_))
            })
            .last();
        out.extend(at);
        if out.len() > entries.len() {
            break;
        }
    }
    // Entries of other kinds are never shown.
    let is_shown = |i: &EntryIx| {
        matches!(
            entries[*i].kind,
            Kind::Attachment | Kind::System | Kind::Progress
        )
    };
    out.retain(is_shown);
    out
}

/// The lines of all answers. The lines of one answer mostly follow each other, as one run.
struct Answers<'a, F> {
    runs: Vec<&'a [EntryIx]>,
    /// The first run of each answer.
    firsts: HashTable<u32>,
    /// For an answer with more than one run: the run after each, and all runs but the first.
    next: FxHashMap<u32, u32>,
    later: FxHashSet<u32>,
    message: F,
}

impl<'a, F: Fn(&EntryIx) -> Id> Answers<'a, F> {
    /// Takes the lines, run by run; `message` returns the answer that a line belongs to.
    fn new(runs: impl Iterator<Item = &'a [EntryIx]>, message: F) -> Self {
        let runs: Vec<&[EntryIx]> = runs.collect();
        let of = |run: u32| message(&runs[run as usize][0]);
        let mut firsts = HashTable::with_capacity(runs.len());
        let (mut next, mut lasts) = (FxHashMap::default(), FxHashMap::default());
        let mut later = FxHashSet::default();
        for run in 0..runs.len() as u32 {
            let known = firsts.entry(
                hash(of(run)),
                |&first| of(first) == of(run),
                |&run| hash(of(run)),
            );
            let first = *known.or_insert(run).get();
            if first != run {
                let last = lasts.insert(first, run).unwrap_or(first);
                next.insert(last, run);
                later.insert(run);
            }
        }
        Self {
            runs,
            firsts,
            next,
            later,
            message,
        }
    }

    /// Returns the lines of an answer in file order. Answers are mostly requested in the order of their runs, so `expected`
    /// is tried first.
    fn lines(&self, answer: Id, expected: &mut u32) -> impl Iterator<Item = EntryIx> + '_ {
        let is_it = |&run: &u32| (self.message)(&self.runs[run as usize][0]) == answer;
        let is_next = |run: &u32| {
            (*run as usize) < self.runs.len() && is_it(run) && !self.later.contains(run)
        };
        let next = Some(*expected).filter(is_next);
        let first = next.or_else(|| self.firsts.find(hash(answer), is_it).copied());
        *expected = first.map_or(*expected, |run| run + 1);
        let runs = std::iter::successors(first, |run| self.next.get(run).copied());
        runs.flat_map(|run| self.runs[run as usize].iter().copied())
    }
}

/// Numbers the parts of the path between prompts, by entry. Clients put the lines of an answer together, but not across
/// a prompt that arrived between them (seen in 2.1.45 and 2.1.325).
fn parts(session: &Session, rows: &[EntryIx]) -> EntryColumn<u32> {
    let heads = session.heads();
    let mut parts = EntryColumn::filled(0, heads.len());
    let mut part = 0;
    for &row in rows {
        let head = heads[row];
        part += u32::from(head.kind == Kind::User && head.prompt != PromptKind::None);
        parts[row] = part;
    }
    parts
}

/// Puts the lines of each answer together, followed by the results of its calls. Both are in file order, whatever their
/// parents are.
fn gather(session: &Session, rows: &[EntryIx], from: u32, to: u32) -> Vec<EntryIx> {
    let (entries, heads, graph) = (session.entries(), session.heads(), session.graph());
    let mut on_path = EntryColumn::filled(false, entries.len());
    for &r in rows {
        on_path[r] = true;
    }
    let beside = |i: EntryIx| {
        matches!(graph.place(i), Standing::Beside(p) if (from..to).contains(&p))
            && !heads[i].flags.sidechain()
            // If several entries have the same uuid, clients only know the last.
            && graph.known_as(entries, i) == i
    };
    let message = |i: &EntryIx| entries[*i].message_id;
    let is_line = |i: &EntryIx| {
        heads[*i].kind == Kind::Assistant && message(i).is_some() && (on_path[*i] || beside(*i))
    };
    let shown: Vec<EntryIx> = session.numbers().filter(is_line).collect();
    let answers = Answers::new(shown.chunk_by(|a, b| message(a) == message(b)), message);
    let parts = parts(session, rows);
    let part = |i: EntryIx| match graph.place(i) {
        Standing::Beside(p) if !on_path[i] => parts[graph.path()[p as usize]],
        _ => parts[i],
    };
    let mut out = Vec::with_capacity(rows.len());
    let mut done = EntryColumn::filled(false, entries.len());
    let mut expected = 0;
    for &row in rows {
        if done[row] {
            continue;
        }
        if heads[row].kind != Kind::Assistant {
            out.push(row);
            done[row] = true;
            continue;
        }
        let first = out.len();
        let lines = answers.lines(message(&row), &mut expected);
        out.extend(lines.filter(|&line| part(line) == part(row)));
        if out.len() == first {
            out.push(row);
        }
        for &g in &out[first..] {
            done[g] = true;
        }
        let calls = out[first..]
            .iter()
            .flat_map(|&g| session.blocks(&entries[g]))
            .filter(|b| b.kind == BlockKind::ToolUse);
        let mut results: SmallVec<[EntryIx; 8]> = calls
            .filter_map(|b| session.calls().of(b))
            .flat_map(|c| c.results.iter().map(|at| at.entry))
            .filter(|&r| !done[r] && (on_path[r] || beside(r)))
            .collect();
        results.sort_unstable();
        results.dedup();
        for &r in &results {
            done[r] = true;
        }
        out.extend(results);
    }
    out
}
