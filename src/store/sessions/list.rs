//! Lists many sessions without reading all of them completely.

use std::io;

use rayon::prelude::*;

use crate::session::Session;
use crate::transcript::{Kind, PromptKind};
use crate::view::{Overview, Status, prompt_text};
use crate::window::Calibration;

use super::ends::Ends;
use super::locate::Located;

/// How many bytes are read completely for one listing, newest sessions first. Of the other sessions only the first and
/// last bytes are read, because reading thousands of sessions takes minutes.
const BUDGET: u64 = 32 << 20;

/// How much of each session is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The newest completely, the first and last bytes of the others.
    Quick,
    /// Every prompt of every session.
    Prompts,
}

/// One session of a listing.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Where it is.
    pub found: Located,
    /// Its title, first prompt and project.
    pub glance: Overview,
    /// Its status.
    pub outlook: Status,
    /// Turns of the live path; `None` if only the first and last bytes were read.
    pub turns: Option<u64>,
    /// Compactions of the live path; `None` if only the first and last bytes were read.
    pub compactions: Option<u64>,
    /// Tokens in the context window.
    pub tokens: u64,
    /// Whether the session records that number; otherwise it is an estimate.
    pub recorded: bool,
    /// Every prompt, for [`Depth::Prompts`].
    pub prompts: Vec<String>,
    /// When its first and last entries were made, in milliseconds since the epoch.
    pub times: Option<(i64, i64)>,
}

/// Lists sessions, which are given newest first. Those that cannot be read or hold no conversation are left out.
pub fn list(found: Vec<Located>, depth: Depth) -> Vec<Listed> {
    let mut left = BUDGET;
    let planned: Vec<(Located, bool)> = found
        .into_iter()
        .map(|f| {
            let whole = depth == Depth::Prompts || f.len <= left;
            // A session that is not read completely leaves the budget to those after it.
            if whole {
                left = left.saturating_sub(f.len);
            }
            (f, whole)
        })
        .collect();
    planned
        .into_par_iter()
        .filter_map(|(found, whole)| look(found, whole, depth).ok().flatten())
        .collect()
}

/// A session, or its first and last lines, and what they show.
struct Seen {
    session: Session,
    whole: bool,
    glance: Overview,
    /// The tokens in the context window, if recorded.
    recorded: Option<u64>,
}

impl Seen {
    fn of(session: Session, whole: bool) -> Self {
        Self {
            glance: Overview::of(&session),
            recorded: Calibration::recorded_at_a_glance(&session),
            session,
            whole,
        }
    }

    /// Reads as few lines of the ends as show the session's name, project and context size.
    fn ends(ends: Ends) -> Self {
        if !ends.whole && !ends.is_summarised() {
            let few = Self::of(ends.outermost(), false);
            let named = few.glance.title.is_some() || few.glance.first_prompt.is_some();
            if named && few.glance.cwd.is_some() && few.recorded.is_some() {
                return few;
            }
        }
        let whole = ends.whole;
        Self::of(ends.session(), whole)
    }
}

fn look(found: Located, whole: bool, depth: Depth) -> io::Result<Option<Listed>> {
    let Seen {
        session,
        whole,
        glance,
        recorded,
    } = if whole {
        Seen::of(Session::open(&found.path)?, true)
    } else {
        Seen::ends(Ends::read(&found.path)?)
    };
    if !glance.has_messages {
        return Ok(None);
    }
    let path = session.graph().path();
    let boundaries = path.iter().filter(|&&i| session.entry(i).is_boundary());
    let times = session
        .entries()
        .iter()
        .map(|e| e.time)
        .filter(|&t| t != i64::MIN);
    let prompts = match depth {
        Depth::Quick => Vec::new(),
        Depth::Prompts => session
            .entries()
            .iter()
            .filter(|e| {
                e.kind == Kind::User && matches!(e.prompt, PromptKind::Words | PromptKind::Command)
            })
            .filter_map(|e| prompt_text(&session, e))
            .collect(),
    };
    // A session that was read completely is measured as all other commands measure it, so that the numbers agree.
    let measured = || {
        let calibration = Calibration::of(&session);
        (calibration.window(), calibration.recorded.is_some())
    };
    let (tokens, recorded) = match recorded {
        Some(tokens) if !whole => (tokens, true),
        _ => measured(),
    };
    Ok(Some(Listed {
        outlook: Status::of(&session),
        turns: whole.then(|| session.turns().len() as u64),
        compactions: whole.then(|| boundaries.count() as u64),
        tokens,
        recorded,
        prompts,
        times: times.clone().min().zip(times.max()),
        glance,
        found,
    }))
}
