//! The screen that a text is laid out for.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use jiff::tz::TimeZone;

use crate::human::age;

use super::presenter::{Presenter, Untrusted};
use super::style::{BOLD, paint};
use super::text::{fit, short_id};

/// How wide the screen is, and how text of a session is presented on it.
#[derive(Debug, Clone, Copy)]
pub struct Screen<'a> {
    /// Makes text of a session safe to show.
    pub presenter: Presenter,
    /// The width at which text is wrapped.
    pub columns: usize,
    /// The width to which tables are cut. In a pipe it has no limit.
    pub table_columns: usize,
    /// The home folder, to shorten paths.
    pub home: Option<&'a Path>,
    /// The time to which ages refer.
    pub now: SystemTime,
    /// The zone in which times are shown.
    pub zone: Option<&'a LocalZone>,
    /// Whether colours are shown.
    pub colours: bool,
    /// Whether the terminal makes links of addresses.
    pub links: bool,
    /// Whether nobody looks at it: in a pipe text is neither wrapped nor shortened.
    pub is_pipe: bool,
}

/// The zone in which a person reads times. It is looked up when the first time is shown: that takes 3.6 million instructions,
/// a third of what the smallest command needs.
#[derive(Debug, Clone)]
pub struct LocalZone {
    look_up: fn() -> TimeZone,
    zone: OnceLock<TimeZone>,
}

impl LocalZone {
    /// Makes a zone that `look_up` returns when it is needed.
    pub fn new(look_up: fn() -> TimeZone) -> Self {
        Self {
            look_up,
            zone: OnceLock::new(),
        }
    }

    fn get(&self) -> TimeZone {
        self.zone.get_or_init(self.look_up).clone()
    }
}

impl Screen<'_> {
    /// Makes a screen without colours, on which tables are as wide as text.
    pub fn plain(presenter: Presenter, columns: usize) -> Self {
        Self {
            presenter,
            columns,
            table_columns: columns,
            home: None,
            now: SystemTime::UNIX_EPOCH,
            zone: None,
            colours: false,
            links: false,
            is_pipe: false,
        }
    }

    /// Returns a time that is given in milliseconds since 1970, to the minute.
    pub fn time_of(&self, milliseconds: i64) -> Option<String> {
        let time = jiff::Timestamp::from_millisecond(milliseconds).ok()?;
        let zone = self.zone.map_or(TimeZone::UTC, LocalZone::get);
        Some(time.to_zoned(zone).strftime("%Y-%m-%d %H:%M").to_string())
    }

    /// Returns text of a session on one line.
    pub fn line(&self, text: impl Untrusted) -> String {
        self.presenter.line(text)
    }

    /// Returns the line that names a session: the beginning of its id, and its title.
    pub fn session_heading(&self, session_id: &str, title: impl Untrusted) -> String {
        let id = short_id(session_id);
        let room = self.table_columns.saturating_sub(12);
        format!("{}  “{}”\n", paint(BOLD, id), fit(&self.line(title), room))
    }

    /// Returns how long ago a time is that is given in milliseconds since 1970.
    pub fn age_of(&self, milliseconds: i64) -> String {
        let since = Duration::from_millis(milliseconds.max(0) as u64);
        age(SystemTime::UNIX_EPOCH + since, self.now)
    }
}
