//! A run that halts at a point, until it is let go on.

use std::process::{Child, Stdio};

use crate::harness::Home;

/// A run that has halted.
pub(crate) struct Halted {
    child: Child,
    /// Where the run shows that it halted, and looks for the sign to go on.
    #[cfg(windows)]
    signs: tempfile::TempDir,
}

#[cfg(unix)]
mod unix {
    use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};

    use super::*;

    impl Halted {
        pub(crate) fn at(home: &Home, arguments: &[&str], point: &str) -> Self {
            let command = home
                .command(arguments)
                .env("CCSURGERY_FAULT", format!("stop@{point}"));
            let mut process = command.process();
            process.stdout(Stdio::null()).stderr(Stdio::piped());
            let child = process.spawn().expect("the program starts");
            let status = wait(&child);
            assert!(status.stopped(), "{point} is not passed: {status:?}");
            Self { child }
        }

        /// Lets it go on, and on again wherever it halts; its exit code.
        pub(crate) fn go_on(mut self) -> i32 {
            loop {
                kill_process(Pid::from_child(&self.child), Signal::CONT).expect("continued");
                let status = wait(&self.child);
                if !status.stopped() {
                    let _ = self.child.stderr.take();
                    return status.exit_status().unwrap_or(-1);
                }
            }
        }
    }

    fn wait(child: &Child) -> WaitStatus {
        let waited = waitpid(Some(Pid::from_child(child)), WaitOptions::UNTRACED);
        let (_, status) = waited.expect("it can be waited for").expect("it changed");
        status
    }
}

#[cfg(windows)]
mod windows {
    use super::*;

    impl Halted {
        pub(crate) fn at(home: &Home, arguments: &[&str], point: &str) -> Self {
            let signs = tempfile::tempdir().expect("a folder");
            let command = home
                .command(arguments)
                .env("CCSURGERY_FAULT", format!("stop@{point}"))
                .env("CCSURGERY_FAULT_CONTINUE", signs.path().join("go"));
            let mut process = command.process();
            process.stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = process.spawn().expect("the program starts");
            while !signs.path().join("go.halted").exists() {
                let ended = child.try_wait().expect("it can be waited for");
                assert!(ended.is_none(), "{point} is not passed: {ended:?}");
                std::thread::yield_now();
            }
            Self { child, signs }
        }

        /// Lets it go on; its exit code.
        pub(crate) fn go_on(mut self) -> i32 {
            fs_err::write(self.signs.path().join("go"), "").expect("a sign");
            let status = self.child.wait().expect("it ends");
            status.code().unwrap_or(-1)
        }
    }
}
