//! The program's clock and time zone.

use std::time::SystemTime;

use jiff::tz::TimeZone;

/// Returns the time. In builds for tests, `CCSURGERY_NOW` sets it, so that what people see is the same in every run.
pub(super) fn now() -> SystemTime {
    set_by_test().unwrap_or_else(SystemTime::now)
}

/// Returns the zone of this machine. Where `TZ` does not name another, its rules are in one file; to find that zone by its
/// name in the database would take 3.4 million instructions, a quarter of what `show` needs.
pub(super) fn local_zone() -> TimeZone {
    let rules = match std::env::var_os("TZ") {
        None => fs_err::read("/etc/localtime").ok(),
        Some(_) => None,
    };
    let zone = rules.and_then(|rules| TimeZone::tzif("Local", &rules).ok());
    zone.unwrap_or_else(TimeZone::system)
}

#[cfg(feature = "fault-points")]
fn set_by_test() -> Option<SystemTime> {
    let time = std::env::var("CCSURGERY_NOW").ok()?;
    let time: jiff::Timestamp = time.parse().ok()?;
    Some(time.into())
}

#[cfg(not(feature = "fault-points"))]
fn set_by_test() -> Option<SystemTime> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_zone_is_that_of_the_system() {
        let time = jiff::Timestamp::from_second(1_780_000_000).expect("a time");
        let offset = |zone: TimeZone| zone.to_offset(time);
        assert_eq!(offset(local_zone()), offset(TimeZone::system()));
    }
}
