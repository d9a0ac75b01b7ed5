//! The disk: finding sessions and everything that belongs to one, publishing results atomically, and undoing them.
//!
//! - `fs` writes files so that they appear whole or not at all. It does not know what is in them.
//! - `sessions` knows where Claude Code keeps sessions, and reads them. It changes nothing but the session list.
//! - `journal` keeps what each operation replaced and created, undoes it, redoes it, and cleans up after interrupted runs.
//! - `redact` replaces secrets in all files of sessions, without keeping the old bytes.
//! - `bundle` packs sessions into one file, and unpacks such a file into a folder of its own.
//! - `publish` writes results: the only part that creates or replaces transcripts.

#[cfg(feature = "bundle")]
mod bundle;
mod fs;
mod journal;
mod publish;
mod redact;
mod sessions;

#[cfg(feature = "bundle")]
pub use bundle::{
    ArchiveList, Archived, Archives, BundleError, BundleKind, BundledFile, BundledSession,
    Contents, Limits, Manifest, Masking, PackItem, Packed, Packer, Passphrase, SourceMachine,
    Staging, contents_of, memory_of, read_manifest, unpack, verify,
};
#[cfg(all(windows, feature = "cli"))]
pub(crate) use fs::sys::ignore_interrupts;
pub use fs::{
    Candidate, FileState, PublishError, Stamp, Sum, check_readable, copy_private,
    create_private_dirs, file_mode, kind_of_file, lexical_path, link_or_copy, plain_path,
    process_start, read_followed, real_path, sync_folder, write_private,
};
pub use journal::{
    Journal, JournalError, LineChange, Operation, RecordFault, Records, Removed, Replaced,
    SharedEdit, State, Step, UndoError, UnusableRecord, check_redo, check_undo, redo, undo,
};
#[cfg(feature = "bundle")]
pub use publish::{Arrival, Arrivals, Restoration, RestoredSession, Travel};
pub use publish::{
    BroughtFile, ChangeSet, ChangedSubagent, CommitError, Content, CopyPlan, CopySource,
    CopyTarget, Creation, GraftPair, GraftSource, KeepList, MakeTranscript, MovedSession,
    PlannedAction, PlannedFile, Provenance, Published, Relocation, Removal, RemovedSession,
    RewriteFile, Sessions, SidecarChanges, SubagentError, SubagentStep, SubagentWork,
    changed_subagents, is_same_folder, kept_time, kept_times, removal_of, removal_of_files,
    removal_without_prompts, touch, unneeded_files, write_file, write_stream,
};
pub use redact::{
    FilePlace, Found, HeldRecord, RedactTarget, Redaction, Searched, Sweep, all_targets,
    clean_records, finish_redactions, held_records, search, search_all, session_targets,
};
pub use sessions::{
    Batch, Config, CopyRule, Depth, Duplicates, IndexEntry, Listed, Listing, Live, LocateError,
    Located, Locator, Orphan, ProjectUsage, Retention, SessionFiles, SessionPlaces, SessionUsage,
    Sidecar, SidecarKind, Sizes, SubagentFinder, SubagentTranscript, Usage, UsageKind,
    add_to_index, glance, index_file, list, list_all, live, memory, project_of, remove_from_index,
    running, session_folders, sidecars, slug, usage,
};
