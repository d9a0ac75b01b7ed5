//! Whether a process runs, and since when.

/// Returns when a process started, as the client writes it down on this system; `None` if it does not run.
///
/// The text is empty if the process runs and the system does not tell since when.
pub fn process_start(pid: u32) -> Option<String> {
    super::sys::process_start(pid)
}
