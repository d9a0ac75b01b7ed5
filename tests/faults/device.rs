//! File systems of their own on a loop device: one that is shut down in the middle of a run, so that the
//! system answers every call with EIO and forgets what was not synced, and one with a quota.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::calls::{Call, Does, judged};
use super::cases::{CLEAN_UP, TORN, fill};
use super::kernel::one_of;
use super::world::assert_tidy;
use crate::harness::{Home, Run, SESSION};

const STRIP: &[&str] = &["strip-thinking", SESSION, "--in-place", "--yes"];
const CLONE: &[&str] = &["clone", SESSION];
const UNDO: &[&str] = &["undo", "--yes"];
const REPAIR: &[&str] = &["repair", TORN, "--in-place", "--yes"];

/// Runs a test in a thread that sees mounts of its own, which go with it.
fn apart(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let ran = scope.spawn(|| match set_apart() {
            Ok(()) => test(),
            Err(error) => crate::harness::skipped("mount", &error),
        });
        if let Err(panic) = ran.join() {
            std::panic::resume_unwind(panic);
        }
    });
}

fn set_apart() -> io::Result<()> {
    // SAFETY: concerns this thread alone, and takes plain numbers.
    #[allow(unsafe_code)]
    let done = unsafe { libc::unshare(libc::CLONE_FS | libc::CLONE_NEWNS) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    tool("mount", &["--make-rprivate".as_ref(), "/".as_ref()])
}

/// Runs one of the system's tools.
fn tool(name: &str, arguments: &[&Path]) -> io::Result<()> {
    let mut command = Command::new(name);
    let output = command.args(arguments).stdin(Stdio::null()).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{name}: {}", said.trim())))
}

/// A home that is all on a disk of its own.
struct Disk {
    home: Home,
    /// Holds the disk, and what it was.
    images: Home,
}

impl Disk {
    /// Makes the file system with a tool, and what is in it with `make`.
    fn new(mkfs: &str, options: &[&str], size: u64, make: impl FnOnce(&Home)) -> io::Result<Self> {
        let disk = Self {
            home: Home::new(),
            images: Home::in_memory(),
        };
        fs_err::File::create(disk.image())?.set_len(size)?;
        let image = disk.image();
        let options = options.iter().map(Path::new).chain([&*image]);
        tool(mkfs, &options.collect::<Vec<_>>())?;
        disk.mount()?;
        for folder in [
            disk.home.project(),
            disk.home.config(),
            disk.home.path("elsewhere"),
        ] {
            fs_err::create_dir_all(folder)?;
        }
        make(&disk.home);
        disk.unmount()?;
        fs_err::copy(disk.image(), disk.images.path("old"))?;
        Ok(disk)
    }

    fn image(&self) -> PathBuf {
        self.images.path("image")
    }

    fn mount(&self) -> io::Result<()> {
        let options = [Path::new("-o"), Path::new("loop")];
        tool(
            "mount",
            &[options[0], options[1], &self.image(), &self.home.path("")],
        )
    }

    fn unmount(&self) -> io::Result<()> {
        let root = self.home.path("");
        // A process that another test starts has our open files for a moment.
        for _ in 0..500 {
            match tool("umount", &[&root]) {
                Err(error) if error.to_string().contains("busy") => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                outcome => return outcome,
            }
        }
        tool("umount", &[&root])
    }

    /// Mounts it as it was.
    fn reset(&self) {
        fs_err::copy(self.images.path("old"), self.image()).expect("copied");
        self.mount().expect("mounted as before");
    }

    /// Ends the file system at once, without a word to the disk.
    fn shut_down(root: &File) {
        /// `EXT4_IOC_SHUTDOWN`, and that not even the log is written.
        const SHUTDOWN: libc::c_ulong = 0x8004_587d;
        const AT_ONCE: u32 = 2;
        // SAFETY: reads one number.
        #[allow(unsafe_code)]
        let done = unsafe { libc::ioctl(root.as_raw_fd(), SHUTDOWN as _, &AT_ONCE) };
        assert_eq!(done, 0, "{}", io::Error::last_os_error());
    }

    /// Runs a command, and shuts the file system down as it makes the `n`th call that changes it. How many it
    /// made.
    fn run_until(&self, command: &[&str], n: usize) -> Option<(Run, usize)> {
        let root = File::open(self.home.path("")).expect("the root");
        let mut passed = 0;
        let process = self.home.command(command).process();
        let output = judged(process, &self.home.path(""), |call: &Call| {
            passed += usize::from(call.does != Does::Look);
            if call.does != Does::Look && passed == n {
                Self::shut_down(&root);
            }
            None
        })?;
        Some((Run::new(&self.home, &output), passed))
    }

    fn transcripts(&self) -> [Vec<u8>; 2] {
        [SESSION, TORN].map(|id| fs_err::read(self.home.transcript(id)).expect("a session"))
    }

    /// The sessions that were there from the start, and how much there is.
    fn state(&self) -> ([Vec<u8>; 2], usize) {
        (self.transcripts(), self.home.names().len())
    }
}

impl Drop for Disk {
    /// What is mounted cannot be removed.
    fn drop(&mut self) {
        let _ = tool("umount", &["-l".as_ref(), &self.home.path("")]);
    }
}

#[test]
fn file_system_shut_down_at_any_step_loses_nothing() {
    let size = 16 << 20;
    apart(|| {
        for (before, command) in [
            (None, STRIP),
            (None, CLONE),
            (None, REPAIR),
            (Some(STRIP), UNDO),
        ] {
            let made = Disk::new("mkfs.ext4", &["-q"], size, |home| {
                fill(home);
                if let Some(before) = before {
                    assert_eq!(home.run(before).code, 0);
                }
            });
            let disk = match made {
                Ok(disk) => disk,
                Err(error) => return crate::harness::skipped("ext4", &error),
            };
            disk.reset();
            let old = disk.state();
            let Some((run, calls)) = disk.run_until(command, 0) else {
                return;
            };
            assert_eq!(run.code, 0, "{run:?}");
            let new = disk.state();
            disk.unmount().expect("unmounted");
            let step = one_of(calls / 8 + 1);
            let (mut refused, mut undone) = (0, 0);
            for n in (1..=calls).filter(|n| n % step == 0 || *n == calls) {
                let what = format!("{command:?}, shut down at change {n} of {calls}");
                disk.reset();
                let (run, _) = disk.run_until(command, n).expect("as before");
                if run.code != 0 {
                    refused += 1;
                    assert_eq!(run.code, 1, "{what}: {run:?}");
                    assert!(run.tells("os error 5"), "{what}: {run:?}");
                }
                disk.unmount().expect("unmounted");
                // What is there now is what was synced.
                disk.mount().expect("mounted again");
                disk.home.run(CLEAN_UP);
                assert_tidy(&disk.home, &what);
                let now = disk.state();
                assert!(now == old || now == new, "{what}");
                assert!(
                    run.code == 1 || now == new,
                    "{what}: no error, but not done"
                );
                if now == old {
                    undone += 1;
                    let run = disk.home.run(command);
                    assert_eq!(run.code, 0, "{what}: {run:?}");
                    assert!(disk.state() == new, "{what}");
                    assert_tidy(&disk.home, &what);
                }
                disk.unmount().expect("unmounted");
            }
            assert!(refused > 2, "{command:?}: {refused} errors");
            eprintln!(
                "{command:?}: {refused} errors of a file system that was shut down, {undone} times all was as before"
            );
        }
    });
}

/// A quota of the file system's own, which is used up while the session is written.
#[test]
fn used_up_quota_changes_nothing() {
    apart(|| {
        let made = Disk::new("mkfs.btrfs", &["-q"], 128 << 20, |home| {
            fill(home);
            let mut session = home.start(SESSION);
            for n in 0..400 {
                session = session
                    .prompt(&format!("{n} {}", "words ".repeat(200)))
                    .thinking("hm")
                    .answer("so");
            }
            home.add(&session);
        });
        let disk = match made {
            Ok(disk) => disk,
            Err(error) => return crate::harness::skipped("btrfs", &error),
        };
        disk.reset();
        let home = &disk.home;
        let old = disk.transcripts();
        let root = home.path("");
        let btrfs = |words: &[&str]| {
            let words = words.iter().map(Path::new).chain([&*root]);
            tool("btrfs", &words.collect::<Vec<_>>())
        };
        let limited = btrfs(&["quota", "enable"])
            .and_then(|()| btrfs(&["quota", "rescan", "-w"]))
            .and_then(|()| btrfs(&["qgroup", "limit", "900k"]));
        if let Err(error) = limited {
            return crate::harness::skipped("btrfs-quota", &error);
        }
        let before = home.names();
        for command in [STRIP, CLONE] {
            let run = home.run(command);
            assert_eq!(run.code, 1, "{run:?}");
            assert!(run.tells("os error 122"), "{run:?}");
            assert!(run.tells("your quota on this disk"), "{run:?}");
            assert!(disk.transcripts() == old, "{command:?}");
            assert_eq!(home.names(), before, "{command:?}");
            assert_tidy(home, "a quota that is used up");
        }
        btrfs(&["quota", "disable"]).expect("no limit");
        for command in [STRIP, UNDO, CLONE] {
            let run = home.run(command);
            assert_eq!(run.code, 0, "{command:?}: {run:?}");
        }
        assert!(disk.transcripts() == old);
    });
}
