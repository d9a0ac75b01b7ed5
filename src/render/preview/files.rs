//! The files that an operation makes or removes, one row for each kind.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use crate::human::{bytes, count};

use super::super::style::{DIM, paint};
use super::super::text::{pad, short_path, width};
use super::{FileAction, Preview};

impl Preview<'_> {
    pub(super) fn file_rows(&self, out: &mut String) {
        if self.files.is_empty() {
            return;
        }
        out.push('\n');
        let mut groups: BTreeMap<(FileAction, &str), (usize, u64, &PathBuf)> = BTreeMap::new();
        for file in self.files {
            let slot = groups
                .entry((file.action, file.what))
                .or_insert((0, 0, &file.path));
            slot.0 += 1;
            slot.1 += file.len;
        }
        let named = |n: usize, what: &str| {
            if n == 1 {
                what.to_owned()
            } else {
                format!("{} × {what}", count(n as u64))
            }
        };
        let what_width = groups
            .iter()
            .map(|((_, what), (n, ..))| width(&named(*n, what)))
            .max()
            .unwrap_or(0) as i32;
        let removes = groups
            .keys()
            .any(|(action, _)| *action == FileAction::Remove);
        let verb_width = if removes { 6 } else { 5 };
        for ((action, what), (n, len, path)) in groups {
            let verb = match action {
                FileAction::Write => "write",
                FileAction::Copy => "copy",
                FileAction::Link => "link",
                FileAction::Remove => "remove",
            };
            let shown = if n == 1 {
                path.clone()
            } else {
                path.parent().map(PathBuf::from).unwrap_or_default()
            };
            let head = format!(
                "{} {} {}",
                pad(verb, verb_width),
                pad(&named(n, what), what_width),
                pad(&bytes(len), -9)
            );
            let beside = self.columns.saturating_sub(width(&head) + 4);
            let (gap, room) = match beside {
                0..24 => ("\n    ", self.columns.saturating_sub(4)),
                _ => ("  ", beside),
            };
            let path = paint(DIM, short_path(&shown, self.home, room));
            let _ = writeln!(out, "  {head}{gap}{path}");
        }
    }
}
