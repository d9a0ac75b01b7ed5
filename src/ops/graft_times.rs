//! Times of inserted turns.
//!
//! Clients up to 2.1.45 take the newest entry for the end of the conversation, so inserted entries must not be newer than
//! what follows them, nor older than what they follow.

use crate::session::Session;
use crate::transcript::EntryIx;

/// The times between which inserted entries must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    /// The newest time before them; `i64::MIN` if there is none.
    pub(super) after: i64,
    /// The oldest time after them, if something follows.
    pub(super) before: Option<i64>,
}

impl Gap {
    /// Returns a new time for each entry of `donor` that has one, or nothing if all of them fit as they are.
    ///
    /// The distances between them stay as they are if the gap is wide enough.
    pub(super) fn times(self, donor: &Session) -> Vec<(EntryIx, i64)> {
        let entries = donor.numbered();
        let dated = entries.filter(|(_, e)| e.is_chained() && e.time > i64::MIN);
        let dated: Vec<(EntryIx, i64)> = dated.map(|(i, e)| (i, e.time)).collect();
        let mut sorted: Vec<i64> = dated.iter().map(|(_, time)| *time).collect();
        sorted.sort_unstable();
        sorted.dedup();
        let (Some(&first), Some(&last)) = (sorted.first(), sorted.last()) else {
            return Vec::new();
        };
        let fits = |last: i64| self.before.is_none_or(|before| last < before);
        if first > self.after && fits(last) {
            return Vec::new();
        }
        let start = self.after.saturating_add(1);
        let shift = start.saturating_sub(first);
        let is_wide = fits(last.saturating_add(shift));
        let moved = |time: i64| {
            if is_wide {
                return time.saturating_add(shift);
            }
            let rank = sorted.partition_point(|&other| other < time) as i64;
            let latest = self.before.unwrap_or(i64::MAX).saturating_sub(1);
            start.saturating_add(rank).min(latest).max(self.after)
        };
        dated
            .into_iter()
            .map(|(i, time)| (i, moved(time)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn donor(seconds: &[u32]) -> Session {
        let line = |second: &u32| {
            format!(
                r#"{{"type":"user","message":{{"role":"user","content":"x"}},"uuid":"u{second}","parentUuid":null,"timestamp":"2026-01-01T00:00:{second:02}.000Z"}}"#
            )
        };
        let lines: Vec<String> = seconds.iter().map(line).collect();
        Session::from_bytes(lines.join("\n"))
    }

    fn at(second: i64) -> i64 {
        donor(&[0]).entries()[0].time + 1000 * second
    }

    #[test]
    fn graft_keeps_times_that_fit() {
        let gap = Gap {
            after: at(1),
            before: Some(at(9)),
        };
        assert!(gap.times(&donor(&[2, 8])).is_empty());
        let open = Gap {
            before: None,
            ..gap
        };
        assert!(open.times(&donor(&[2, 40])).is_empty());
    }

    #[test]
    fn graft_moves_older_turns_without_changing_their_distances() {
        let gap = Gap {
            after: at(20),
            before: None,
        };
        let times = gap.times(&donor(&[2, 8]));
        let expected = [(0, at(20) + 1), (1, at(26) + 1)];
        assert_eq!(times, expected.map(|(i, time)| (EntryIx::new(i), time)));
    }

    #[test]
    fn graft_squeezes_times_into_a_narrow_gap() {
        let gap = Gap {
            after: at(20),
            before: Some(at(20) + 3),
        };
        let times = gap.times(&donor(&[2, 8, 9, 40]));
        let after: Vec<i64> = times.iter().map(|(_, time)| time - at(20)).collect();
        assert_eq!(after, [1, 2, 2, 2]);
    }
}
