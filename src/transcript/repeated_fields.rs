//! A cache of the fields that most lines of a session repeat, so that they are read once.

use crate::json::{Cursor, Span};

use super::entry::Entry;
use super::id::Id;
use super::reader::Repeated;

/// Caches consecutive fields that most lines repeat byte for byte (`userType` … `slug`), and the current date.
#[derive(Debug, Default)]
pub(crate) struct RepeatedFields {
    fields: CachedFields,
    day: Day,
}

/// Consecutive fields of an earlier line, and what they mean.
#[derive(Debug, Default)]
struct CachedFields {
    /// From the quote before the first key to the one after the last value. Empty while nothing is cached.
    bytes: Vec<u8>,
    is_ascii: bool,
    /// The values; spans are relative to `bytes`.
    session: Option<Id>,
    repeated: Repeated,
    /// Where strings of the length of an id are in `bytes`.
    recorded: Vec<usize>,
}

/// The repeated fields of a line that is being read, because they are not as cached.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewFields {
    span: Span,
    /// How many strings were recorded before the first field.
    recorded_before: usize,
    session: Option<Id>,
    repeated: Repeated,
}

/// The fields that are cached. Clients of all versions write the first of them before the others.
const KEYS: [&[u8]; 7] = [
    b"userType",
    b"entrypoint",
    b"cwd",
    b"sessionId",
    b"version",
    b"gitBranch",
    b"slug",
];

impl NewFields {
    /// Whether the repeated fields begin with this key.
    pub(crate) fn begin_with(key: &[u8]) -> bool {
        key == KEYS[0]
    }

    /// Begins with the field whose key was just read.
    pub(crate) fn new(key: Span, cursor: &Cursor<'_>) -> Self {
        Self {
            span: Span {
                start: key.start - 1,
                end: key.start - 1,
            },
            recorded_before: cursor.recorded().count(),
            session: None,
            repeated: Repeated::default(),
        }
    }

    /// Takes the field that was just read; false where it is not one of the repeated fields, which end before it then.
    pub(crate) fn take(
        &mut self,
        line: &[u8],
        key: Span,
        cursor: &Cursor<'_>,
        (entry, repeated): (&Entry, &Repeated),
    ) -> bool {
        let (name, end) = (key.of(line), cursor.position());
        // Only strings: other values may have nested fields that matter.
        if !KEYS.contains(&name) || line[end - 1] != b'"' {
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
    /// Skips the cached fields, if the line has them from `key` on, and gives their values to the entry.
    pub(crate) fn skip(
        &self,
        key: Span,
        cursor: &mut Cursor<'_>,
        entry: &mut Entry,
        repeated: &mut Repeated,
    ) -> bool {
        let cached = &self.fields;
        let start = key.start - 1;
        let (bytes, recorded) = (&cached.bytes, &cached.recorded);
        let is_cached = !bytes.is_empty()
            && cursor.skip_equal_fields(start as usize, bytes, recorded, cached.is_ascii);
        if !is_cached {
            return false;
        }
        if let Some(session) = cached.session {
            entry.session = session;
        }
        let set = |cached: Span, now: &mut Span| {
            if !cached.is_empty() {
                *now = cached.shift(start);
            }
        };
        set(cached.repeated.cwd, &mut repeated.cwd);
        set(cached.repeated.slug, &mut repeated.slug);
        set(cached.repeated.version, &mut repeated.version);
        true
    }

    /// Caches the fields that were read.
    pub(crate) fn learn(&mut self, line: &[u8], fields: NewFields, cursor: &Cursor<'_>) {
        let span = fields.span;
        let bytes = span.of(line);
        // Skipped fields do not set the flag for such escapes.
        let numbered = memchr::memmem::find(bytes, b"\\u").is_some();
        let Some(recorded) = cursor.recorded().all() else {
            return;
        };
        if bytes.is_empty() || numbered {
            return;
        }
        let relative = |found: Span| Span {
            start: found.start.saturating_sub(span.start),
            end: found.end.saturating_sub(span.start),
        };
        let recorded = recorded[fields.recorded_before..].iter();
        let recorded = recorded.filter(|at| **at < span.end);
        self.fields = CachedFields {
            bytes: bytes.to_vec(),
            is_ascii: bytes.is_ascii(),
            session: fields.session,
            repeated: Repeated {
                cwd: relative(fields.repeated.cwd),
                slug: relative(fields.repeated.slug),
                version: relative(fields.repeated.version),
                model: Span::default(),
            },
            recorded: recorded.map(|at| (at - span.start) as usize).collect(),
        };
    }

    /// Returns the time of a timestamp in milliseconds since the epoch, if it has the form that clients write and its day is
    /// the cached one.
    pub(crate) fn time(&self, text: &[u8]) -> Option<i64> {
        self.day.time(text)
    }

    /// Caches the day of a timestamp whose time is `moment`.
    pub(crate) fn learn_day(&mut self, text: &[u8], moment: i64) {
        self.day = Day::of(text, moment).unwrap_or_default();
    }
}

/// A day as timestamps begin with it, and when it began.
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
        // The last days that can be represented end early.
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

/// Returns the milliseconds since midnight of `03:04:05.678Z`; `None` for any other form.
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
    // Leap seconds and impossible times are left to the parser.
    let plain = hours < 24 && minutes < 60 && seconds < 60;
    plain.then(|| ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn repeated_fields_read_times_of_the_cached_day(ms in -9_000_000_000_000..9_000_000_000_000_i64, later in 0..172_800_000_i64) {
            let written = |ms| {
                let time = jiff::Timestamp::from_millisecond(ms).expect("a moment");
                format!("{time:.3}").into_bytes()
            };
            let mut cache = RepeatedFields::default();
            cache.learn_day(&written(ms), ms);
            prop_assert_eq!(cache.time(&written(ms)), Some(ms));
            let same_day = written(ms)[..DATE] == written(ms + later)[..DATE];
            prop_assert_eq!(cache.time(&written(ms + later)), same_day.then_some(ms + later));
        }
    }

    #[test]
    fn repeated_fields_leave_other_time_formats_to_the_parser() {
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
