//! Files that appear whole or not at all: temp files, atomic renames, write leases, checksums and fault points.
//!
//! Knows nothing of sessions or of the journal. Every call that only some systems have is behind a function here,
//! which states what the other systems do instead.

pub(crate) mod atomic;
pub(crate) mod disk;
mod fault;
mod file_state;
mod lease;
pub(crate) mod path_text;
mod plain_path;
pub(crate) mod private;
mod process;
mod regular;
mod stamp;
mod sum;
pub(crate) mod swap;
pub(crate) mod sys;
mod verifying_writer;

pub use atomic::{
    Candidate, PublishError, copy_private, create_private_dirs, link_or_copy, sync_folder,
    write_private,
};
pub use file_state::{FileState, file_mode};
pub use plain_path::{lexical_path, plain_path, real_path};
pub use process::process_start;
pub use regular::{check_readable, kind_of_file, read_followed};
pub(crate) use regular::{is_regular, open_followed, open_regular, require_regular};
pub use stamp::Stamp;
pub use sum::Sum;
pub(crate) use verifying_writer::VerifyingWriter;
