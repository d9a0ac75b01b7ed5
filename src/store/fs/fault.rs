//! Points at which tests kill, stop or fail a run. They do nothing in a normal build.
//!
//! `CCSURGERY_FAULT=ACTION@WHERE` acts at the point of that number (from 1, in the order in which they are
//! passed), or at every point of that name. `kill` ends the process as `kill -9` does, `stop` halts it until it is
//! continued (on Windows, until the file exists that `CCSURGERY_FAULT_CONTINUE` names), `fail` makes the step fail, and `dead` makes it and every later step fail, as a broken disk would.
//! `CCSURGERY_FAULT_TRACE` names a file to which the name of each point is appended.

/// Marks a step that is about to change the disk.
#[cfg(not(feature = "fault-points"))]
#[inline]
#[allow(
    clippy::inline_always,
    reason = "nothing is left of it in a normal build"
)]
pub(crate) fn point(_name: &str) -> std::io::Result<()> {
    Ok(())
}

#[cfg(feature = "fault-points")]
pub(crate) use armed::point;

#[cfg(feature = "fault-points")]
mod armed {
    use std::io::{self, Write as _};
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use crate::store::fs::sys;

    /// The action and where it is taken.
    static FAULT: LazyLock<Option<(String, String)>> = LazyLock::new(|| {
        let fault = std::env::var("CCSURGERY_FAULT").ok()?;
        let (action, place) = fault.split_once('@')?;
        Some((action.to_owned(), place.to_owned()))
    });

    static PASSED: AtomicUsize = AtomicUsize::new(0);

    /// Marks a step that is about to change the disk.
    pub(crate) fn point(name: &str) -> io::Result<()> {
        let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
        trace(name)?;
        let Some((action, place)) = &*FAULT else {
            return Ok(());
        };
        let here = match place.parse::<usize>() {
            Ok(wanted) if action == "dead" => number >= wanted,
            Ok(wanted) => number == wanted,
            Err(_) => place == name,
        };
        match (here, action.as_str()) {
            (true, "kill") => sys::kill_self(),
            (true, "stop") => sys::stop_self()?,
            (true, "fail" | "dead") => return Err(io::Error::from_raw_os_error(5)),
            _ => {}
        }
        Ok(())
    }

    fn trace(name: &str) -> io::Result<()> {
        let Some(path) = std::env::var_os("CCSURGERY_FAULT_TRACE") else {
            return Ok(());
        };
        let mut file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path)?;
        writeln!(file, "{name}")
    }
}
