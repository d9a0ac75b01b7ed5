//! The program beside `cp`, `jq` and its peers, on made-up sessions: `cargo bench --bench compare`.
//!
//! Every figure is a ratio to `cp` with a flush in the same run, because that is what a session costs at least.
//! Peers are run where they are installed: in `PATH`, or below the folder that `CCSURGERY_PEERS` names
//! (`bin`, `node_modules/.bin`).

#![allow(missing_docs, clippy::print_stdout, clippy::disallowed_methods)]

mod measure;
#[allow(dead_code)]
mod session;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use measure::{median, peak_memory, size, wait};
use session::{ID, PROJECT, Shape};

const USAGE: &str = "cargo bench --bench compare -- [OPTIONS]

  --sizes LIST   sizes of the sessions          [default: 1M,70M,1G]
  --huge         also a session of 5 GiB that is mostly progress entries
  --rounds N     how often each is run; the median counts   [default: 5; from 1G on, 3]";

/// Something that is measured.
struct Contender {
    name: &'static str,
    run: Run,
}

/// How it is run.
enum Run {
    /// A copy by `cp`, and a flush of the copy.
    Copy,
    /// `ccsurgery` with these arguments; `{out}` is filled in.
    Own(&'static [&'static str]),
    /// Another program, if it is there; `{file}`, `{id}`, `{home}` and `{out}` are filled in.
    Other(&'static str, &'static [&'static str]),
    /// A script for Node that needs a package, if both are there.
    Node(&'static str, &'static str),
}

const FORK: &str = "import('file://' + process.argv[1]).then(sdk => sdk.forkSession(process.argv[2], {dir: process.argv[3]}))";

const CONTENDERS: [Contender; 18] = [
    Contender {
        name: "cp, flushed",
        run: Run::Copy,
    },
    Contender {
        name: "ccsurgery clone",
        run: Run::Own(&["clone", "-q"]),
    },
    Contender {
        name: "ccsurgery strip-thinking",
        run: Run::Own(&["strip-thinking", "-q"]),
    },
    Contender {
        name: "ccsurgery drop-tools",
        run: Run::Own(&["drop-tools", "-q"]),
    },
    Contender {
        name: "ccsurgery clone -n",
        run: Run::Own(&["clone", "-n"]),
    },
    Contender {
        name: "ccsurgery doctor",
        run: Run::Own(&["doctor"]),
    },
    Contender {
        name: "ccsurgery inspect",
        run: Run::Own(&["inspect"]),
    },
    Contender {
        name: "ccsurgery export",
        run: Run::Own(&["export", "-q", "-f", "-o", "{out}/page.html"]),
    },
    Contender {
        name: "claude-code-log",
        run: Run::Other(
            "claude-code-log",
            &[
                "{file}",
                "-o",
                "{out}/page.html",
                "--no-individual-sessions",
            ],
        ),
    },
    Contender {
        name: "claude-code-transcripts",
        run: Run::Other(
            "claude-code-transcripts",
            &["json", "{file}", "-o", "{out}"],
        ),
    },
    Contender {
        name: "jq -c .",
        run: Run::Other("jq", &["-c", ".", "{file}"]),
    },
    Contender {
        name: "ccs-cloner clone",
        run: Run::Other(
            "ccs-cloner",
            &["clone", "{id}", "--claude-dir", "{home}/.claude"],
        ),
    },
    Contender {
        name: "claude-agent-sdk forkSession",
        run: Run::Node("@anthropic-ai/claude-agent-sdk", FORK),
    },
    Contender {
        name: "cozempic diagnose",
        run: Run::Other("cozempic", &["diagnose", "{file}"]),
    },
    Contender {
        name: "cozempic treat -rx gentle",
        run: Run::Other("cozempic", &["treat", "{file}", "-rx", "gentle"]),
    },
    Contender {
        name: "aichat trim",
        run: Run::Other("aichat", &["trim", "{file}", "--simple-ui", "-o", "{out}"]),
    },
    Contender {
        name: "cc-session delete",
        run: Run::Other(
            "cc-session",
            &[
                "--projects-dir",
                "{home}/.claude/projects",
                "delete",
                "{id}",
                "--from-top",
                "1",
            ],
        ),
    },
    Contender {
        name: "cc-session info",
        run: Run::Other(
            "cc-session",
            &["--projects-dir", "{home}/.claude/projects", "info", "{id}"],
        ),
    },
];

fn main() -> io::Result<()> {
    let options = Options::read()?;
    for (name, size, shape) in &options.sessions {
        let world = World::new(*size, *shape)?;
        let lines = world.lines;
        println!("\nsession of {name}: {lines} lines");
        let rounds = options
            .rounds
            .unwrap_or(if *size >= 1 << 30 { 3 } else { 5 });
        let rows = measure(&world, rounds)?;
        print_table(&rows, lines);
    }
    println!(
        "\nTimes are medians; memory is the peak of anonymous memory, what a process holds beyond the files that it maps."
    );
    start_up()
}

struct Options {
    sessions: Vec<(String, u64, Shape)>,
    rounds: Option<usize>,
}

impl Options {
    fn read() -> io::Result<Self> {
        let mut sizes = "1M,70M,1G".to_owned();
        let (mut rounds, mut huge) = (None, false);
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--sizes" => sizes = args.next().unwrap_or_default(),
                "--rounds" => rounds = args.next().and_then(|n| n.parse().ok()),
                "--huge" => huge = true,
                // What cargo adds.
                "--bench" => {}
                _ => {
                    println!("{USAGE}");
                    std::process::exit(2);
                }
            }
        }
        let mut sessions = Vec::new();
        for text in sizes.split(',').filter(|s| !s.is_empty()) {
            sessions.push((text.to_owned(), size(text)?, Shape::Mixed));
        }
        if huge {
            sessions.push(("5G, mostly progress".to_owned(), 5 << 30, Shape::Progress));
        }
        Ok(Self { sessions, rounds })
    }
}

/// A home with one session, made anew for every size.
struct World {
    root: tempfile::TempDir,
    session: PathBuf,
    lines: u64,
}

impl World {
    fn new(size: u64, shape: Shape) -> io::Result<Self> {
        let root = tempfile::tempdir()?;
        let folder = root.path().join("home/.claude/projects/-home-you-project");
        let session = session::write(&folder, shape, size)?;
        let bytes = ccsurgery::document::Document::open(&session)?;
        Ok(Self {
            lines: bytes.lines().len() as u64,
            root,
            session,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// Removes what the last run made.
    fn tidy(&self) -> io::Result<()> {
        for folder in [&self.path("out"), &self.path("state")] {
            let _ = fs_err::remove_dir_all(folder);
        }
        fs_err::create_dir_all(self.path("out"))?;
        let folder = self.session.parent().unwrap_or(Path::new("."));
        for entry in fs_err::read_dir(folder)? {
            let path = entry?.path();
            if path != self.session && path.is_file() {
                fs_err::remove_file(path)?;
            }
        }
        Ok(())
    }

    fn command(&self, run: &Run) -> Option<Command> {
        let fill = |arg: &str| {
            arg.replace("{file}", &self.session.to_string_lossy())
                .replace("{id}", ID)
                .replace("{home}", &self.path("home").to_string_lossy())
                .replace("{out}", &self.path("out").to_string_lossy())
        };
        let mut command = match run {
            Run::Copy => {
                let mut command = Command::new(installed("cp")?);
                command.arg(&self.session).arg(self.path("out/copy"));
                command
            }
            Run::Own(args) => {
                let mut command = Command::new(env!("CARGO_BIN_EXE_ccsurgery"));
                command.args(args.iter().map(|a| fill(a)));
                command.arg(ID).args(["--project", PROJECT]);
                command
            }
            Run::Other(program, args) => {
                let mut command = Command::new(installed(program)?);
                command.args(args.iter().map(|a| fill(a)));
                command
            }
            Run::Node(package, script) => {
                let module = peers()?.join("node_modules").join(package).join("sdk.mjs");
                let mut command = Command::new(installed("node")?);
                command
                    .args(["-e", script])
                    .arg(module.exists().then_some(module)?);
                command.args([ID, PROJECT]);
                command
            }
        };
        command
            .env("HOME", self.path("home"))
            .env("CLAUDE_CONFIG_DIR", self.path("home/.claude"))
            .env("CCSURGERY_STATE_DIR", self.path("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        Some(command)
    }
}

/// Below which peers may be installed.
fn peers() -> Option<PathBuf> {
    std::env::var_os("CCSURGERY_PEERS").map(PathBuf::from)
}

fn installed(program: &str) -> Option<PathBuf> {
    let below = peers()
        .into_iter()
        .flat_map(|p| [p.join("bin"), p.join("node_modules/.bin")]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = below.chain(std::env::split_paths(&path));
    folders.map(|f| f.join(program)).find(|p| p.is_file())
}

/// What was measured of one contender.
struct Row {
    name: &'static str,
    /// Every run, or why there is none.
    times: Result<Vec<Duration>, &'static str>,
    anonymous: Option<u64>,
}

fn measure(world: &World, rounds: usize) -> io::Result<Vec<Row>> {
    let mut rows: Vec<Row> = CONTENDERS
        .iter()
        .map(|c| Row {
            name: c.name,
            times: Ok(Vec::new()),
            anonymous: None,
        })
        .collect();
    // Round by round, so that whatever else the machine does meets all of them.
    for _ in 0..rounds {
        for (contender, row) in CONTENDERS.iter().zip(&mut rows) {
            let Ok(times) = &mut row.times else { continue };
            world.tidy()?;
            match once(world, &contender.run)? {
                Ok(time) => times.push(time),
                Err(why) => row.times = Err(why),
            }
        }
    }
    // By itself, because watching disturbs.
    for (contender, row) in CONTENDERS.iter().zip(&mut rows) {
        if row.times.is_ok() {
            world.tidy()?;
            let command = world.command(&contender.run);
            row.anonymous = command.map(peak_memory).transpose()?.flatten();
        }
    }
    Ok(rows)
}

/// Runs it once; why not, if it cannot be run.
fn once(world: &World, run: &Run) -> io::Result<Result<Duration, &'static str>> {
    let Some(mut command) = world.command(run) else {
        return Ok(Err("not installed"));
    };
    let start = Instant::now();
    let Some(status) = wait(command.spawn()?)? else {
        return Ok(Err("took more than two minutes"));
    };
    if matches!(run, Run::Copy) {
        File::open(world.path("out/copy"))?.sync_all()?;
    }
    let time = start.elapsed();
    // Findings are no failure.
    let fine = status.success() || matches!(run, Run::Own(_)) && status.code() == Some(1);
    Ok(if fine { Ok(time) } else { Err("failed") })
}

fn print_table(rows: &[Row], lines: u64) {
    let base = rows[0].times.as_ref().ok().and_then(|t| median(t));
    println!(
        "{:<30} {:>10} {:>9} {:>10} {:>8}",
        "", "ms", "× cp", "memory MB", "B/line"
    );
    for row in rows {
        let time = match &row.times {
            Ok(times) => median(times),
            Err(why) => {
                println!("{:<30} {why:>10}", row.name);
                continue;
            }
        };
        let (Some(time), Some(base)) = (time, base) else {
            continue;
        };
        let anonymous = row.anonymous.unwrap_or_default();
        println!(
            "{:<30} {:>10.1} {:>9.2} {:>10.1} {:>8}",
            row.name,
            time.as_secs_f64() * 1e3,
            time.as_secs_f64() / base.as_secs_f64(),
            anonymous as f64 / 1e6,
            anonymous / lines.max(1)
        );
    }
}

/// How long the program takes to say who it is.
fn start_up() -> io::Result<()> {
    let mut times = Vec::new();
    for _ in 0..20 {
        let start = Instant::now();
        Command::new(env!("CARGO_BIN_EXE_ccsurgery"))
            .arg("--version")
            .stdout(Stdio::null())
            .status()?;
        times.push(start.elapsed());
    }
    let time = median(&times).unwrap_or_default();
    println!("start to --version: {:.1} ms", time.as_secs_f64() * 1e3);
    Ok(())
}
