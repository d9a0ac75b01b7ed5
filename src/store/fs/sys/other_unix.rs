//! Unix systems that are neither Linux nor macOS.

/// Returns an empty text if a process runs: these systems are not asked since when.
pub(crate) fn process_start(pid: u32) -> Option<String> {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed())?;
    let runs = match rustix::process::test_kill_process(pid) {
        Ok(()) | Err(rustix::io::Errno::PERM) => true,
        Err(_) => false,
    };
    runs.then(String::new)
}
