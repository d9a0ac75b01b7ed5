//! Turns as people name them.

use crate::session::Session;

use super::error::CliError;

/// One turn: `7`, `-1` for the last, or the uuid of an entry in it (or a unique prefix).
pub(super) fn one(session: &Session, spec: &str) -> Result<u32, CliError> {
    let count = session.turns().len() as u32;
    if let Ok(n) = spec.parse::<i64>() {
        return number(n, count).ok_or_else(|| no_such(spec, count));
    }
    by_uuid(session, spec)
}

/// A range of turns: one turn, `3..7`, `..7`, `7..`, `-3..`. Both ends count.
pub(super) fn range(session: &Session, spec: &str) -> Result<(u32, u32), CliError> {
    let count = session.turns().len() as u32;
    let Some((from, to)) = spec.split_once("..") else {
        return one(session, spec).map(|n| (n, n));
    };
    let from = if from.is_empty() {
        1
    } else {
        one(session, from)?
    };
    let to = if to.is_empty() {
        count
    } else {
        one(session, to)?
    };
    if from > to {
        return Err(CliError::usage(
            "bad-turns",
            format!("`{spec}` ends before it begins"),
            "write the smaller turn first: 3..7",
        ));
    }
    Ok((from, to))
}

/// A number counted from the front, or from the back if negative.
fn number(n: i64, count: u32) -> Option<u32> {
    let n = if n < 0 { i64::from(count) + 1 + n } else { n };
    u32::try_from(n).ok().filter(|n| (1..=count).contains(n))
}

fn by_uuid(session: &Session, spec: &str) -> Result<u32, CliError> {
    let short = spec.chars().count() < 4;
    let matches: Vec<usize> = session
        .entries()
        .iter()
        .enumerate()
        .filter(|(_, e)| {
            !short
                && e.is_chained()
                && session
                    .string(e, &["uuid"])
                    .is_some_and(|u| u.starts_with(spec))
        })
        .map(|(i, _)| i)
        .collect();
    let mut turns: Vec<Option<u32>> = matches
        .iter()
        .map(|&i| session.turns().of(session.graph(), i))
        .collect();
    turns.sort_unstable();
    turns.dedup();
    match turns[..] {
        [Some(turn)] if turn > 0 => Ok(turn),
        [Some(_)] => Err(CliError::usage(
            "bad-turn",
            format!("entry `{spec}` comes before the first turn"),
            "turns are numbered from 1",
        )),
        [None] => Err(CliError::usage(
            "bad-turn",
            format!("entry `{spec}` is not on the live path"),
            "only turns of the live path have numbers",
        )),
        [] => Err(CliError::usage(
            "bad-turn",
            format!("`{spec}` is no turn: neither a number nor the uuid of an entry"),
            format!(
                "the session has turns 1 to {}; -1 is the last",
                session.turns().len()
            ),
        )),
        _ => Err(CliError::usage(
            "bad-turn",
            format!("`{spec}` could be entries of several turns"),
            "give more of the uuid",
        )),
    }
}

fn no_such(spec: &str, count: u32) -> CliError {
    let hint = match count {
        0 => "the session has no turns".to_owned(),
        1 => "the session has one turn".to_owned(),
        n => format!("the session has turns 1 to {n}; -1 is the last"),
    };
    CliError::usage("no-such-turn", format!("there is no turn {spec}"), hint)
}
