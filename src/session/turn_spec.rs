//! Turns as people name them.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use super::session::Session;

/// A turn's name that fits no turn of a session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TurnError {
    /// What is wrong with it.
    pub message: String,
    /// What would be right.
    pub hint: String,
}

impl TurnError {
    fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

/// One turn: `7`, `-1` for the last, or the uuid of an entry in it (or a unique prefix).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnSpec(String);

impl TurnSpec {
    /// The number of the turn in this session.
    pub fn resolve(&self, session: &Session) -> Result<u32, TurnError> {
        one(session, &self.0)
    }
}

impl From<u32> for TurnSpec {
    fn from(number: u32) -> Self {
        Self(number.to_string())
    }
}

impl FromStr for TurnSpec {
    type Err = std::convert::Infallible;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Ok(Self(s.to_owned()))
    }
}

impl fmt::Display for TurnSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A range of turns, both ends included: one turn, `3..7`, `..7`, `7..`, `-3..`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnRange(String);

impl TurnRange {
    /// The first and last turn of the range in this session.
    pub fn resolve(&self, session: &Session) -> Result<(u32, u32), TurnError> {
        let spec = &self.0;
        let Some((from, to)) = spec.split_once("..") else {
            return one(session, spec).map(|n| (n, n));
        };
        let from = if from.is_empty() {
            1
        } else {
            one(session, from)?
        };
        let to = if to.is_empty() {
            session.turns().len() as u32
        } else {
            one(session, to)?
        };
        if from > to {
            return Err(TurnError::new(
                format!("`{spec}` ends before it begins"),
                "write the smaller turn first: 3..7",
            ));
        }
        Ok((from, to))
    }
}

impl TurnRange {
    /// All turns from this one on.
    pub fn from_first(first: u32) -> Self {
        Self(format!("{first}.."))
    }
}

impl From<(u32, u32)> for TurnRange {
    fn from((first, last): (u32, u32)) -> Self {
        Self(format!("{first}..{last}"))
    }
}

impl FromStr for TurnRange {
    type Err = std::convert::Infallible;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Ok(Self(s.to_owned()))
    }
}

/// In a plan's file a turn may be written as a number or as text.
#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(i64),
    Text(String),
}

impl NumberOrText {
    fn into_text(self) -> String {
        match self {
            NumberOrText::Number(n) => n.to_string(),
            NumberOrText::Text(s) => s,
        }
    }
}

impl<'de> Deserialize<'de> for TurnSpec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        NumberOrText::deserialize(deserializer).map(|w| Self(w.into_text()))
    }
}

impl<'de> Deserialize<'de> for TurnRange {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        NumberOrText::deserialize(deserializer).map(|w| Self(w.into_text()))
    }
}

fn one(session: &Session, spec: &str) -> Result<u32, TurnError> {
    let count = session.turns().len() as u32;
    if let Ok(n) = spec.parse::<i64>() {
        return number(n, count)
            .ok_or_else(|| TurnError::new(format!("there is no turn {spec}"), has(count)));
    }
    by_uuid(session, spec)
}

/// A number counted from the front, or from the back if negative.
fn number(n: i64, count: u32) -> Option<u32> {
    let n = if n < 0 { i64::from(count) + 1 + n } else { n };
    u32::try_from(n).ok().filter(|n| (1..=count).contains(n))
}

fn by_uuid(session: &Session, spec: &str) -> Result<u32, TurnError> {
    let short = spec.chars().count() < 4;
    let mut turns: Vec<Option<u32>> = session
        .numbered()
        .filter(|(_, e)| {
            !short && e.is_chained() && session.uuid(e).is_some_and(|u| u.starts_with(spec))
        })
        .map(|(i, _)| session.turns().of(session.graph(), i))
        .collect();
    turns.sort_unstable();
    turns.dedup();
    match turns[..] {
        [Some(turn)] if turn > 0 => Ok(turn),
        [Some(_)] => Err(TurnError::new(
            format!("entry `{spec}` comes before the first turn"),
            "turns are numbered from 1",
        )),
        [None] => Err(TurnError::new(
            format!("entry `{spec}` is not on the live path"),
            "only turns of the live path have numbers",
        )),
        [] => Err(TurnError::new(
            format!("`{spec}` is not a turn number or the uuid of an entry"),
            has(session.turns().len() as u32),
        )),
        _ => Err(TurnError::new(
            format!("`{spec}` could be entries of several turns"),
            "give more of the uuid",
        )),
    }
}

/// Which turns there are.
fn has(count: u32) -> String {
    match count {
        0 => "the session has no turns".to_owned(),
        1 => "the session has one turn".to_owned(),
        n => format!("the session has turns 1 to {n}; -1 is the last"),
    }
}
