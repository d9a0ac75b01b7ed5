//! Counts the instructions that commands take, and compares them with those in `benches/instructions.toml`:
//! `cargo bench --profile profiling --bench instructions`.
//!
//! Counts hardly vary from run to run, however busy the machine is, so a change that makes a command slower is seen
//! before it is merged. With `-- --update` the file is written anew.

#![allow(missing_docs, clippy::print_stdout, clippy::disallowed_methods)]

#[allow(dead_code)]
mod session;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use session::{ID, Shape};

/// How many times the recorded instructions a command may take.
const TOLERANCE: f64 = 1.05;

/// Counts are rounded to 0.1 million: a small one may be rounded up today and down tomorrow.
const ROUNDING: f64 = 0.15;

/// How to write the file anew.
const UPDATE: &str = "cargo bench --profile profiling --bench instructions -- --update";

const HEAD: &str = "\
# The instructions that commands take, in millions, counted by valgrind with one thread.
# `.ci/run` fails if a command takes 5 % more. A change that is worth more instructions writes this file anew with
#   cargo bench --profile profiling --bench instructions -- --update
# and gives the reason in its commit message.
";

/// A command, and the session that it is run on.
struct Case {
    args: &'static [&'static str],
    shape: Shape,
    /// The size of the session in MB.
    size: u64,
}

const fn case(args: &'static [&'static str], shape: Shape, size: u64) -> Case {
    Case { args, shape, size }
}

const CASES: [Case; 33] = [
    case(&["clone", "-q"], Shape::Mixed, 2),
    case(&["clone", "-n"], Shape::Mixed, 2),
    case(&["inspect"], Shape::Mixed, 2),
    case(&["doctor"], Shape::Mixed, 2),
    case(&["show"], Shape::Mixed, 2),
    case(&["show", "--full"], Shape::Mixed, 2),
    case(&["payload"], Shape::Mixed, 2),
    case(&["strip-thinking", "-q"], Shape::Mixed, 2),
    case(
        &["strip-thinking", "-q", "--in-place", "--yes"],
        Shape::Mixed,
        2,
    ),
    case(&["drop-tools", "-q"], Shape::Mixed, 2),
    case(&["drop-tools", "-q", "--stub"], Shape::Mixed, 2),
    case(&["drop-images", "-q"], Shape::LongLines, 8),
    case(&["drop-hidden", "-q"], Shape::Mixed, 2),
    case(&["truncate", "-q", "--at", "-3"], Shape::Mixed, 2),
    case(&["delete", "-q", "--turns", "2..3"], Shape::Mixed, 2),
    case(&["extract", "-q", "--turns", "2.."], Shape::Mixed, 2),
    case(&["compact", "-q", "--keep-last", "3"], Shape::Mixed, 2),
    case(&["trim", "-q", "--to", "60k"], Shape::Mixed, 2),
    case(&["repair", "-q"], Shape::Mixed, 2),
    case(&["diff", "{f}"], Shape::Mixed, 2),
    case(&["drop-tools", "-q"], Shape::OneCall, 2),
    case(&["drop-tools", "-q"], Shape::OneCall, 8),
    case(&["inspect"], Shape::OneCall, 2),
    case(&["clone", "-q"], Shape::OldChain, 2),
    case(&["drop-tools", "-q"], Shape::Parallel, 2),
    case(&["strip-thinking", "-q"], Shape::Cjk, 2),
    case(&["payload"], Shape::Cjk, 2),
    case(&["inspect"], Shape::Compactions, 2),
    case(&["uncompact", "-q"], Shape::Compactions, 2),
    case(&["drop-tools", "-q"], Shape::Branches, 2),
    case(&["drop-hidden", "-q"], Shape::Progress, 2),
    case(&["clone", "-q"], Shape::HandEdited, 2),
    case(&["--version"], Shape::Mixed, 2),
];

impl Case {
    fn name(&self) -> String {
        format!(
            "{} of {}M {}",
            self.args.join(" "),
            self.size,
            self.shape.name()
        )
    }
}

/// The file with the counts.
#[derive(Serialize, Deserialize, Default)]
struct Baseline {
    rustc: String,
    cpu: String,
    millions: BTreeMap<String, f64>,
}

impl Baseline {
    /// This machine, with nothing counted yet.
    fn here() -> io::Result<Self> {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let version = Command::new(rustc).arg("--version").output()?;
        Ok(Self {
            rustc: String::from_utf8_lossy(&version.stdout).trim().to_owned(),
            cpu: cpu(),
            millions: BTreeMap::new(),
        })
    }

    fn path() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions.toml")
    }

    fn read() -> io::Result<Self> {
        let text = fs_err::read_to_string(Self::path())?;
        toml::from_str(&text).map_err(io::Error::other)
    }

    fn write(&self) -> io::Result<()> {
        let text = toml::to_string(self).map_err(io::Error::other)?;
        fs_err::write(Self::path(), format!("{HEAD}{text}"))
    }
}

/// What the instructions depend on beside the compiler: libraries choose their code by it.
fn cpu() -> String {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        return "x86_64 with avx2".to_owned();
    }
    std::env::consts::ARCH.to_owned()
}

fn main() -> io::Result<()> {
    let update = std::env::args().any(|arg| arg == "--update");
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIPPED: instructions: valgrind is not installed");
        return Ok(());
    }
    let mut counted = Baseline::here()?;
    if !update {
        let known = Baseline::read()?;
        if (&known.rustc, &known.cpu) != (&counted.rustc, &counted.cpu) {
            println!(
                "SKIPPED: instructions: the counts are of {} on {}, and this is {} on {}. Counts of different compilers \
                 cannot be compared; to write them anew, run `{UPDATE}` before the change.",
                known.rustc, known.cpu, counted.rustc, counted.cpu
            );
            return Ok(());
        }
    }
    counted.millions = count_all()?;
    if update {
        counted.write()?;
        println!("{} counts written", counted.millions.len());
        return Ok(());
    }
    let heavier = compare(&Baseline::read()?.millions, &counted.millions);
    if heavier > 0 {
        println!(
            "\n{heavier} commands take over 5 % more instructions. If that is worth it, run `{UPDATE}`."
        );
        std::process::exit(1);
    }
    Ok(())
}

/// Prints the counts, and returns how many are too high.
fn compare(known: &BTreeMap<String, f64>, counted: &BTreeMap<String, f64>) -> usize {
    let mut heavier = 0;
    for (name, count) in counted {
        let Some(was) = known.get(name) else {
            println!("{name:<60} {count:>8.1}   NEW: not in the file");
            heavier += 1;
            continue;
        };
        let ratio = count / was;
        let remark = match ratio {
            r if r > TOLERANCE && count - was > ROUNDING => {
                heavier += 1;
                "  HEAVIER"
            }
            r if r < 1.0 / TOLERANCE => "  lighter: write the file anew to keep it so",
            _ => "",
        };
        println!(
            "{name:<60} {count:>8.1} {:>+7.1} %{remark}",
            (ratio - 1.0) * 100.0
        );
    }
    heavier
}

/// Counts the instructions of all cases, some at a time.
fn count_all() -> io::Result<BTreeMap<String, f64>> {
    let root = tempfile::tempdir()?;
    let next = AtomicUsize::new(0);
    let counts = Mutex::new(BTreeMap::new());
    let work = || -> io::Result<()> {
        while let Some(case) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
            let home = tempfile::tempdir_in(root.path())?;
            let count = count(case, home.path())?;
            let mut counts = counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.insert(case.name(), (count as f64 / 1e5).round() / 10.0);
        }
        Ok(())
    };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get().min(4));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("no worker panics"))
    })?;
    Ok(counts.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Counts the instructions of one run.
fn count(case: &Case, home: &Path) -> io::Result<u64> {
    let folder = home.join("projects/-home-you-project");
    let transcript = session::write(&folder, case.shape, case.size << 20)?;
    let hours_ago = SystemTime::now() - Duration::from_secs(2 * 3600);
    fs_err::OpenOptions::new()
        .append(true)
        .open(&transcript)?
        .file()
        .set_modified(hours_ago)?;
    let out = home.join("counts");
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "-q"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(env!("CARGO_BIN_EXE_ccsurgery"));
    for arg in case.args {
        match *arg {
            "{f}" => command.arg(&transcript),
            arg => command.arg(arg),
        };
    }
    if case.args != ["--version"] {
        command.arg(&transcript);
    }
    // Nothing of the surroundings may change the count.
    let ended = command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("CLAUDE_CONFIG_DIR", home)
        .env("CCSURGERY_STATE_DIR", home.join("state"))
        .env("RAYON_NUM_THREADS", "1")
        .env("TZ", "UTC")
        .env("LC_ALL", "C")
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()?;
    let counted = fs_err::read_to_string(&out)?;
    let total = counted.lines().find_map(|line| {
        line.strip_prefix("totals: ")
            .or_else(|| line.strip_prefix("summary: "))
    });
    let total = total.and_then(|n| n.split_whitespace().next()?.parse().ok());
    let fine = ended.status.code().is_some_and(|code| code <= 1);
    match total {
        Some(total) if fine => Ok(total),
        _ => Err(io::Error::other(format!(
            "{} (session {ID}) failed: {}",
            case.name(),
            String::from_utf8_lossy(&ended.stderr)
        ))),
    }
}
