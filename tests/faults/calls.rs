//! Calls of the program to the system that fail as those of a broken disk or a used-up quota do.
//!
//! The system itself halts each call in question (seccomp), whoever makes it and however, and asks a thread
//! here whether it may go on. What is refused is not done, and the program gets the error from the system.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::mpsc::channel;

/// Where a call says which file it is about.
#[derive(Clone, Copy)]
enum About {
    /// An open file, by the number of the argument.
    File(usize),
    /// A name in the working folder.
    Name,
    /// A name in the folder that is the first argument.
    NameIn,
}

/// What a call does to the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Does {
    /// Reads files, folders or what is known of them.
    Look,
    /// Writes, makes and syncs.
    Change,
    /// Removes.
    Remove,
}

type Kind = (&'static str, libc::c_long, About, Does);

/// The calls that are halted.
const KINDS: &[Kind] = &[
    ("write", libc::SYS_write, About::File(0), Does::Change),
    ("writev", libc::SYS_writev, About::File(0), Does::Change),
    ("pwrite64", libc::SYS_pwrite64, About::File(0), Does::Change),
    ("pwritev", libc::SYS_pwritev, About::File(0), Does::Change),
    (
        "copy_file_range",
        libc::SYS_copy_file_range,
        About::File(2),
        Does::Change,
    ),
    ("sendfile", libc::SYS_sendfile, About::File(0), Does::Change),
    (
        "ftruncate",
        libc::SYS_ftruncate,
        About::File(0),
        Does::Change,
    ),
    (
        "fallocate",
        libc::SYS_fallocate,
        About::File(0),
        Does::Change,
    ),
    ("fsync", libc::SYS_fsync, About::File(0), Does::Change),
    (
        "fdatasync",
        libc::SYS_fdatasync,
        About::File(0),
        Does::Change,
    ),
    ("fchmod", libc::SYS_fchmod, About::File(0), Does::Change),
    ("fchown", libc::SYS_fchown, About::File(0), Does::Change),
    ("fchmodat", libc::SYS_fchmodat, About::NameIn, Does::Change),
    (
        "utimensat",
        libc::SYS_utimensat,
        About::NameIn,
        Does::Change,
    ),
    ("renameat", libc::SYS_renameat, About::NameIn, Does::Change),
    (
        "renameat2",
        libc::SYS_renameat2,
        About::NameIn,
        Does::Change,
    ),
    ("linkat", libc::SYS_linkat, About::NameIn, Does::Change),
    ("mkdirat", libc::SYS_mkdirat, About::NameIn, Does::Change),
    ("unlinkat", libc::SYS_unlinkat, About::NameIn, Does::Remove),
    ("flock", libc::SYS_flock, About::File(0), Does::Look),
    ("read", libc::SYS_read, About::File(0), Does::Look),
    ("readv", libc::SYS_readv, About::File(0), Does::Look),
    ("pread64", libc::SYS_pread64, About::File(0), Does::Look),
    (
        "getdents64",
        libc::SYS_getdents64,
        About::File(0),
        Does::Look,
    ),
    ("statx", libc::SYS_statx, About::NameIn, Does::Look),
    (
        "newfstatat",
        libc::SYS_newfstatat,
        About::NameIn,
        Does::Look,
    ),
    (
        "readlinkat",
        libc::SYS_readlinkat,
        About::NameIn,
        Does::Look,
    ),
    // With what is to be done with the file: see `Call::does`.
    ("openat", libc::SYS_openat, About::NameIn, Does::Look),
    #[cfg(target_arch = "x86_64")]
    ("open", libc::SYS_open, About::Name, Does::Look),
    #[cfg(target_arch = "x86_64")]
    ("chmod", libc::SYS_chmod, About::Name, Does::Change),
    #[cfg(target_arch = "x86_64")]
    ("rename", libc::SYS_rename, About::Name, Does::Change),
    #[cfg(target_arch = "x86_64")]
    ("link", libc::SYS_link, About::Name, Does::Change),
    #[cfg(target_arch = "x86_64")]
    ("mkdir", libc::SYS_mkdir, About::Name, Does::Change),
    #[cfg(target_arch = "x86_64")]
    ("unlink", libc::SYS_unlink, About::Name, Does::Remove),
    #[cfg(target_arch = "x86_64")]
    ("rmdir", libc::SYS_rmdir, About::Name, Does::Remove),
    #[cfg(target_arch = "x86_64")]
    ("readlink", libc::SYS_readlink, About::Name, Does::Look),
];

/// A call that is about a file below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) name: &'static str,
    pub(crate) does: Does,
    pub(crate) path: PathBuf,
}

/// Runs a program. Each of its calls about a file below `root` is refused with the number that `judge` names,
/// or goes on. `None` where the system does not let calls be judged.
pub(crate) fn judged(
    mut program: Command,
    root: &Path,
    mut judge: impl FnMut(&Call) -> Option<i32>,
) -> Option<Output> {
    std::thread::scope(|scope| {
        let (tell, told) = channel();
        // The filter is of the thread that sets it, and of what that thread starts.
        let runner = scope.spawn(move || {
            let asked = halt();
            let set = asked.is_ok();
            tell.send(asked).expect("somebody waits");
            set.then(|| program.output().expect("the program starts"))
        });
        match told.recv().expect("the thread says") {
            Ok(asked) => {
                while let Some(question) = next(&asked) {
                    let call = call_of(&question).filter(|c| c.path.starts_with(root));
                    answer(&asked, question.id, call.and_then(|c| judge(&c)));
                }
            }
            Err(error) => crate::harness::skipped("seccomp", &error),
        }
        runner.join().expect("the thread ends")
    })
}

/// What a halted call is about.
fn call_of(question: &libc::seccomp_notif) -> Option<Call> {
    let data = &question.data;
    let kind = KINDS.iter().find(|k| k.1 == i64::from(data.nr))?;
    let &(name, _, about, mut does) = kind;
    let process = Path::new("/proc").join(question.pid.to_string());
    let open = |fd: u64| fs_err::read_link(process.join(format!("fd/{}", fd as i32))).ok();
    let folder = || fs_err::read_link(process.join("cwd")).ok();
    let path = match about {
        About::File(n) => open(data.args[n])?,
        About::Name => folder()?.join(string_at(&process, data.args[0])?),
        About::NameIn => {
            let base = match data.args[0] as i32 {
                libc::AT_FDCWD => folder()?,
                _ => open(data.args[0])?,
            };
            match string_at(&process, data.args[1])? {
                // The open file itself.
                name if name.as_os_str().is_empty() => base,
                name => base.join(name),
            }
        }
    };
    let flags = match name {
        "openat" => data.args[2] as i32,
        "open" => data.args[1] as i32,
        _ => 0,
    };
    if flags & (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT) != 0 {
        does = Does::Change;
    }
    Some(Call { name, does, path })
}

/// The string at an address of a process; none at all is empty.
fn string_at(process: &Path, address: u64) -> Option<PathBuf> {
    if address == 0 {
        return Some(PathBuf::new());
    }
    let mut bytes = [0; libc::PATH_MAX as usize];
    let len = File::open(process.join("mem"))
        .ok()?
        .read_at(&mut bytes, address)
        .ok()?;
    let end = bytes[..len].iter().position(|&b| b == 0)?;
    Some(OsString::from_vec(bytes[..end].to_vec()).into())
}

/// Has the system halt the calls of this thread, and of all that it starts; where it asks about them.
#[allow(unsafe_code)]
fn halt() -> io::Result<OwnedFd> {
    let step = |code: u32, jt: usize, k: u32| libc::sock_filter {
        code: code as u16,
        jt: jt as u8,
        jf: 0,
        k,
    };
    // The number of the call is the first thing that a filter is shown.
    let mut steps = vec![step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0)];
    for (n, kind) in KINDS.iter().enumerate() {
        let to_the_last = KINDS.len() - n;
        steps.push(step(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            to_the_last,
            kind.1 as u32,
        ));
    }
    steps.push(step(
        libc::BPF_RET | libc::BPF_K,
        0,
        libc::SECCOMP_RET_ALLOW,
    ));
    steps.push(step(
        libc::BPF_RET | libc::BPF_K,
        0,
        libc::SECCOMP_RET_USER_NOTIF,
    ));
    let filter = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: plain numbers.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system copies the filter, which lives until then.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const filter,
        )
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: it was just opened for us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// The next halted call; nothing once all that could make one have ended.
#[allow(unsafe_code)]
fn next(asked: &OwnedFd) -> Option<libc::seccomp_notif> {
    loop {
        let mut ready = libc::pollfd {
            fd: asked.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one entry, which lives during the call.
        unsafe { libc::poll(&raw mut ready, 1, -1) };
        if ready.revents & libc::POLLIN == 0 {
            if ready.revents != 0 {
                return None;
            }
            continue;
        }
        // SAFETY: numbers only, for which zero is a value; the system wants them to be zero.
        let mut question: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the system fills in the struct that belongs to this request.
        let got = unsafe {
            libc::ioctl(
                asked.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_RECV,
                &raw mut question,
            )
        };
        // Else whoever made the call was ended meanwhile.
        if got == 0 {
            return Some(question);
        }
    }
}

/// Refuses a halted call, or lets it go on.
#[allow(unsafe_code)]
fn answer(asked: &OwnedFd, id: u64, refused: Option<i32>) {
    let mut answer = libc::seccomp_notif_resp {
        id,
        val: 0,
        error: -refused.unwrap_or_default(),
        flags: match refused {
            Some(_) => 0,
            None => libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
        },
    };
    // SAFETY: the struct that belongs to this request. Where nobody waits any more, nothing happens.
    unsafe {
        libc::ioctl(
            asked.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SEND,
            &raw mut answer,
        );
    }
}
