//! The report as a JSON document.

use serde::Serialize;

use super::super::super::super::report::SCHEMA;
use super::super::in_place::Elsewhere;
use super::{Done, Report, Secret, Suggestion, lossy};

#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    searched: Extent,
    secrets: &'a [Secret],
    suggestions: &'a [Suggestion],
    /// Files outside of what was searched that have one of the secrets.
    elsewhere: Vec<Held>,
    /// Earlier operations whose saved bytes or command lines have one.
    operations: Vec<HeldOperation>,
    unreadable: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<DoneDocument>,
}

#[derive(Serialize)]
struct DoneDocument {
    files: usize,
    operations_cleaned: usize,
    sessions_left_out: Vec<String>,
    can_be_undone: bool,
    searched_again: Extent,
}

#[derive(Serialize, Clone, Copy)]
pub(super) struct Extent {
    pub(super) files: usize,
    pub(super) bytes: u64,
}

#[derive(Serialize)]
struct Held {
    path: String,
    count: usize,
}

#[derive(Serialize)]
struct HeldOperation {
    id: String,
    operation: String,
    session_id: String,
}

impl Report {
    pub(super) fn document(&self, elsewhere: &Elsewhere, done: Option<&Done>) -> Document<'_> {
        let held = self.held_files(elsewhere, done.is_some());
        Document {
            schema: SCHEMA,
            operation: "redact",
            dry_run: self.dry_run,
            searched: self.extent,
            secrets: &self.secrets,
            suggestions: &self.suggestions,
            elsewhere: held
                .into_iter()
                .map(|(path, count)| Held {
                    path: lossy(path),
                    count,
                })
                .collect(),
            operations: elsewhere
                .records
                .iter()
                .map(|r| HeldOperation {
                    id: r.operation.id.clone(),
                    operation: r.operation.operation.clone(),
                    session_id: r.operation.target_id.clone(),
                })
                .collect(),
            unreadable: self.unreadable.clone(),
            done: done.map(|done| DoneDocument {
                files: done.files,
                operations_cleaned: done.forgotten,
                sessions_left_out: done.live.clone(),
                can_be_undone: done.is_kept,
                searched_again: Extent {
                    files: elsewhere.sweep.files,
                    bytes: elsewhere.sweep.bytes,
                },
            }),
        }
    }
}
