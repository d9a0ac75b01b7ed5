//! Start times of processes, as macOS tells them.

/// Returns when a process started, as `ps -o lstart=` prints it in UTC, which is what Claude Code writes down; `None` if it
/// does not run.
pub(crate) fn process_start(pid: u32) -> Option<String> {
    let started = start_of(pid)?;
    let time = jiff::Timestamp::from_second(i64::try_from(started).ok()?).ok()?;
    Some(time.strftime("%a %b %e %H:%M:%S %Y").to_string())
}

/// Returns the second in which a process started.
fn start_of(pid: u32) -> Option<u64> {
    let size = libc::c_int::try_from(size_of::<libc::proc_bsdinfo>()).ok()?;
    let pid = libc::c_int::try_from(pid).ok()?;
    let mut info = std::mem::MaybeUninit::<libc::proc_bsdinfo>::zeroed();
    let room = info.as_mut_ptr().cast();
    // SAFETY: the system writes at most `size` bytes to `info`, which is as large, and all of its fields are numbers, for
    // which zero is a value.
    #[allow(unsafe_code)]
    let (written, info) = unsafe {
        let written = libc::proc_pidinfo(pid, libc::PROC_PIDTBSDINFO, 0, room, size);
        (written, info.assume_init())
    };
    (written == size).then_some(info.pbi_start_tvsec)
}
