//! The disk: finding sessions and everything that belongs to one, publishing results atomically, and undoing them.
//!
//! - `fs` writes files so that they appear whole or not at all. It does not know what is in them.
//! - `sessions` knows where Claude Code keeps sessions, and reads them. It changes nothing but the session list.
//! - `journal` keeps what each operation replaced and created, undoes it, redoes it, and cleans up after interrupted runs.
//! - `redact` replaces secrets in all files of sessions, without keeping the old bytes.
//! - `publish` writes results: the only part that creates or replaces transcripts.

mod fs;
mod journal;
mod publish;
mod redact;
mod sessions;

pub use fs::{
    Candidate, FileState, PublishError, Stamp, Sum, check_readable, copy_private,
    create_private_dirs, kind_of_file, lexical_path, link_or_copy, plain_path, process_start,
    read_followed, sync_folder, write_private,
};
pub use journal::{
    Journal, JournalError, LineChange, Operation, RecordFault, Records, Removed, Replaced,
    SharedEdit, State, Step, UndoError, UnusableRecord, check_redo, check_undo, redo, undo,
};
pub use publish::{
    BroughtFile, ChangeSet, ChangedSubagent, CommitError, Content, CopyPlan, CopySource,
    CopyTarget, Creation, GraftPair, GraftSource, MakeTranscript, MovedSession, PlannedAction,
    PlannedFile, Provenance, Published, Relocation, Removal, RemovedSession, Sessions,
    SidecarChanges, SubagentError, SubagentWork, changed_subagents, kept_time, moved_path,
    removal_of, removal_of_files, unneeded_files, write_file, write_stream,
};
pub use redact::{
    FilePlace, Found, HeldRecord, RedactTarget, Redaction, Searched, Sweep, all_targets,
    clean_records, finish_redactions, held_records, search, search_all, session_targets,
};
pub use sessions::{
    Config, CopyRule, Depth, IndexEntry, Listed, Live, LocateError, Located, Locator, Orphan,
    ProjectUsage, Retention, SessionFiles, SessionPlaces, SessionUsage, Sidecar, SidecarKind,
    Sizes, SubagentFinder, SubagentTranscript, Usage, UsageKind, add_to_index, glance, index_file,
    list, live, memory, remove_from_index, running, session_folders, sidecars, slug, usage,
};
