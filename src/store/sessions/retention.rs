//! When Claude Code deletes sessions by itself: once a transcript was not written for the number of days in its settings.

use std::io::Read as _;
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use super::config::Config;
use crate::store::fs::open_followed;

/// How long clients keep sessions if their settings name no other time.
const DEFAULT_DAYS: u64 = 30;

const DAY: Duration = Duration::from_secs(86_400);

/// How long a client keeps sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The time after the last write; `None` if sessions are never deleted.
    pub period: Option<Duration>,
    /// Whether the settings name it.
    pub is_set: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    cleanup_period_days: Option<u64>,
}

impl Retention {
    /// Reads `cleanupPeriodDays` of the user's settings. A file that cannot be read counts as empty.
    pub fn of(config: &Config) -> Self {
        let mut text = Vec::new();
        let read = open_followed(&config.join("settings.json"))
            .and_then(|file| file.take(1 << 20).read_to_end(&mut text));
        let settings = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
        let days = settings.and_then(|s: Settings| s.cleanup_period_days);
        Self {
            // Zero switches the clean-up off in older clients; newer ones refuse it.
            period: match days {
                Some(0) => None,
                days => Some(DAY * u32::try_from(days.unwrap_or(DEFAULT_DAYS)).unwrap_or(u32::MAX)),
            },
            is_set: days.is_some(),
        }
    }

    /// Returns when a session that was last written at `modified` is deleted.
    pub fn end_of(&self, modified: SystemTime) -> Option<SystemTime> {
        modified.checked_add(self.period?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retention_is_read_from_the_settings() {
        let root = tempfile::tempdir().expect("a folder");
        let config = Config::new(root.path());
        let thirty = Retention {
            period: Some(30 * DAY),
            is_set: false,
        };
        assert_eq!(Retention::of(&config), thirty);
        let with = |text: &str| {
            fs_err::write(root.path().join("settings.json"), text).expect("a file");
            Retention::of(&config)
        };
        assert_eq!(with("not json"), thirty);
        assert_eq!(with(r#"{"cleanupPeriodDays": 90}"#).period, Some(90 * DAY));
        assert_eq!(with(r#"{"cleanupPeriodDays": 0}"#).period, None);
    }
}
