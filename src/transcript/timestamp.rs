//! Timestamps in the form that Claude Code writes.

/// Formats milliseconds since 1970 as Claude Code does: `2026-01-03T10:00:00.000Z`.
pub(crate) fn format_timestamp(milliseconds: i64) -> String {
    let time =
        jiff::Timestamp::from_millisecond(milliseconds).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
