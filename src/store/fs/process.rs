//! Whether a process runs, and since when.

/// Returns when a process started, in the system's own units; `None` if it does not run.
///
/// Systems other than Linux only tell whether it runs.
pub fn process_start(pid: u32) -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the name in parentheses, which may hold anything.
        let rest = &stat[stat.rfind(')')? + 1..];
        rest.split_ascii_whitespace().nth(19).map(str::to_owned)
    }
    #[cfg(all(unix, not(target_os = "linux")))]
    {
        let pid = rustix::process::Pid::from_raw(pid as i32)?;
        rustix::process::test_kill_process(pid)
            .ok()
            .map(|()| String::new())
    }
    #[cfg(not(unix))]
    {
        // There is nothing safe to ask, so an operation under way counts as running.
        let _ = pid;
        Some(String::new())
    }
}
