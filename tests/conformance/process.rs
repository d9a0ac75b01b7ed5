//! Programs and processes, as Unix has them. Clients are asked on Linux only; elsewhere this compiles, and does what it can.

use std::path::Path;
use std::process::{Child, Command};

use anyhow::Result;

/// Lets a file be run.
pub(crate) fn make_executable(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs_err::set_permissions(path, mode)?;
    }
    let _ = path;
    Ok(())
}

/// Makes a link to a program.
pub(crate) fn link(to: &Path, link: &Path) -> Result<()> {
    #[cfg(unix)]
    std::os::unix::fs::symlink(to, link)?;
    #[cfg(not(unix))]
    fs_err::hard_link(to, link)?;
    Ok(())
}

/// Gives a process a group of its own, so that it can be ended with everything that it starts.
pub(crate) fn in_own_group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// Interrupts a process, as Ctrl-C does.
pub(crate) fn interrupt(child: &mut Child) -> Result<()> {
    #[cfg(unix)]
    {
        let client = rustix::process::Pid::from_child(child);
        rustix::process::kill_process(client, rustix::process::Signal::INT)?;
    }
    #[cfg(not(unix))]
    child.kill()?;
    Ok(())
}

/// Ends a process and what it started, without a chance to tidy up.
pub(crate) fn kill(child: &mut Child) -> Result<()> {
    #[cfg(unix)]
    {
        let group = rustix::process::Pid::from_child(child);
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL)?;
    }
    #[cfg(not(unix))]
    child.kill()?;
    child.wait()?;
    Ok(())
}
