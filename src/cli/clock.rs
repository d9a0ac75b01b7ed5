//! The program's clock.

use std::time::SystemTime;

/// Returns the time. In builds for tests, `CCSURGERY_NOW` sets it, so that what people see is the same in every run.
pub(super) fn now() -> SystemTime {
    set_by_test().unwrap_or_else(SystemTime::now)
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
