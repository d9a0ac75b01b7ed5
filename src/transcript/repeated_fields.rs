//! What most lines of a session have in common, so that it is read once and known again.

use crate::json::{Cursor, Span};

use super::entry::Entry;
use super::id::Id;
use super::reader::Repeated;

/// What lines had that were read before.
#[derive(Debug, Default)]
pub(crate) struct RepeatedFields {
    run: Run,
    day: Day,
}

/// Fields that follow each other, the same in nearly every line: who it was, where, in which session and by which client.
#[derive(Debug, Default)]
struct Run {
    /// From the quote before the first key to the one behind the last value. Empty while none is known.
    bytes: Vec<u8>,
    is_ascii: bool,
    /// What they say; the spans are counted from the first of the bytes.
    session: Option<Id>,
    repeated: Repeated,
    /// Where among them strings stand that were watched for.
    watched: Vec<usize>,
}

/// A run of fields that is being read. Nobody knows yet where it ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    span: Span,
    watched: usize,
    session: Option<Id>,
    repeated: Repeated,
}

/// The fields of which a run is made. It begins with the first of them, which clients of all times write before the others.
const USUAL: [&[u8]; 7] = [
    b"userType",
    b"entrypoint",
    b"cwd",
    b"sessionId",
    b"version",
    b"gitBranch",
    b"slug",
];

impl Reading {
    /// Whether a run begins with this key.
    pub(crate) fn begins(key: &[u8]) -> bool {
        key == USUAL[0]
    }

    /// Begins with the field whose key was just read.
    pub(crate) fn new(key: Span, cursor: &Cursor<'_>) -> Self {
        Self {
            span: Span {
                start: key.start - 1,
                end: key.start - 1,
            },
            watched: cursor.watched().count(),
            session: None,
            repeated: Repeated::default(),
        }
    }

    /// Takes the field that was just read, with what the line has said up to it; false where it is none of those, and the
    /// run is over.
    pub(crate) fn take(
        &mut self,
        line: &[u8],
        key: Span,
        cursor: &Cursor<'_>,
        (entry, repeated): (&Entry, &Repeated),
    ) -> bool {
        let (name, end) = (key.of(line), cursor.position());
        // What is no string may have more in it than is noted here.
        if !USUAL.contains(&name) || line[end - 1] != b'"' {
            return false;
        }
        self.span.end = end as u32;
        match name {
            b"sessionId" => self.session = Some(entry.session),
            b"cwd" => self.repeated.cwd = repeated.cwd,
            b"slug" => self.repeated.slug = repeated.slug,
            b"version" => self.repeated.version = repeated.version,
            _ => {}
        }
        true
    }
}

impl RepeatedFields {
    /// Passes over the usual fields, if they are what comes next, and tells the entry what they say. `key` is the one before
    /// the cursor.
    pub(crate) fn pass(
        &self,
        key: Span,
        cursor: &mut Cursor<'_>,
        entry: &mut Entry,
        repeated: &mut Repeated,
    ) -> bool {
        let run = &self.run;
        let start = key.start - 1;
        if run.bytes.is_empty() || !cursor.pass_from(start as usize, &run.bytes, &run.watched) {
            return false;
        }
        if !run.is_ascii {
            cursor.see_high_bytes();
        }
        if let Some(session) = run.session {
            entry.session = session;
        }
        let moved = |known: Span, now: &mut Span| {
            if !known.is_empty() {
                *now = known.shift(start);
            }
        };
        moved(run.repeated.cwd, &mut repeated.cwd);
        moved(run.repeated.slug, &mut repeated.slug);
        moved(run.repeated.version, &mut repeated.version);
        true
    }

    /// Learns what was read.
    pub(crate) fn learn(&mut self, line: &[u8], reading: Reading, cursor: &Cursor<'_>) {
        let span = reading.span;
        let bytes = span.of(line);
        // What is spelt by number is noted elsewhere.
        let spelt = memchr::memmem::find(bytes, b"\\u").is_some();
        let Some(watched) = cursor.watched().all() else {
            return;
        };
        if bytes.is_empty() || spelt {
            return;
        }
        let from_start = |found: Span| Span {
            start: found.start.saturating_sub(span.start),
            end: found.end.saturating_sub(span.start),
        };
        let watched = watched[reading.watched..].iter();
        let watched = watched.filter(|at| **at < span.end);
        self.run = Run {
            bytes: bytes.to_vec(),
            is_ascii: bytes.is_ascii(),
            session: reading.session,
            repeated: Repeated {
                cwd: from_start(reading.repeated.cwd),
                slug: from_start(reading.repeated.slug),
                version: from_start(reading.repeated.version),
                model: Span::default(),
            },
            watched: watched.map(|at| (at - span.start) as usize).collect(),
        };
    }

    /// The moment that a timestamp tells, in milliseconds of the epoch, if it is written as clients do and of the day that
    /// was last learnt.
    pub(crate) fn time(&self, text: &[u8]) -> Option<i64> {
        self.day.time(text)
    }

    /// Learns the day of a timestamp, and the moment that it tells.
    pub(crate) fn learn_day(&mut self, text: &[u8], moment: i64) {
        self.day = Day::of(text, moment).unwrap_or_default();
    }
}

/// A day, as it is written at the beginning of a timestamp, and the moment at which it began.
#[derive(Debug, Default)]
struct Day {
    date: [u8; DATE],
    begins: i64,
}

/// How many bytes of a timestamp are its date, the `T` included.
const DATE: usize = "2026-01-02T".len();

impl Day {
    fn of(text: &[u8], moment: i64) -> Option<Self> {
        let date: [u8; DATE] = *text.first_chunk()?;
        // The last days that can be told end early.
        if date.starts_with(b"9999") {
            return None;
        }
        Some(Self {
            date,
            begins: moment - clock(&text[DATE..])?,
        })
    }

    fn time(&self, text: &[u8]) -> Option<i64> {
        let (date, rest) = text.split_first_chunk()?;
        (*date == self.date)
            .then(|| clock(rest))?
            .map(|ms| self.begins + ms)
    }
}

/// The milliseconds of a day at `03:04:05.678Z`, and of no other form.
fn clock(text: &[u8]) -> Option<i64> {
    let &[h0, h1, b':', m0, m1, b':', s0, s1, b'.', f0, f1, f2, b'Z'] = text else {
        return None;
    };
    let number = |digits: &[u8]| {
        let mut all = digits.iter();
        all.try_fold(0, |n, d| {
            d.is_ascii_digit().then(|| n * 10 + i64::from(d - b'0'))
        })
    };
    let (hours, minutes) = (number(&[h0, h1])?, number(&[m0, m1])?);
    let (seconds, ms) = (number(&[s0, s1])?, number(&[f0, f1, f2])?);
    // A leap second, or no such time: for those who know more.
    let plain = hours < 24 && minutes < 60 && seconds < 60;
    plain.then(|| ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_known_day_tells_the_same_time(ms in -9_000_000_000_000..9_000_000_000_000_i64, later in 0..172_800_000_i64) {
            let written = |ms| {
                let time = jiff::Timestamp::from_millisecond(ms).expect("a moment");
                format!("{time:.3}").into_bytes()
            };
            let mut usual = RepeatedFields::default();
            usual.learn_day(&written(ms), ms);
            prop_assert_eq!(usual.time(&written(ms)), Some(ms));
            let same_day = written(ms)[..DATE] == written(ms + later)[..DATE];
            prop_assert_eq!(usual.time(&written(ms + later)), same_day.then_some(ms + later));
        }
    }

    #[test]
    fn other_forms_are_left_to_others() {
        for odd in [
            "03:04:05Z",
            "03:04:60.000Z",
            "24:00:00.000Z",
            "03:04:05.6789Z",
            "03:04:05.678",
            "0a:04:05.678Z",
        ] {
            assert_eq!(clock(odd.as_bytes()), None, "{odd}");
        }
    }
}
