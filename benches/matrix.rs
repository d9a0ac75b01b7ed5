//! Every command on sessions of every shape: `cargo bench --bench matrix`.
//!
//! Commands that write are compared with `cp` and a flush of the copy, commands that only read with `cat >/dev/null`,
//! in the same run. Cells over their goal are marked, and the worst ones are listed.

#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

mod measure;
#[allow(dead_code)]
mod session;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use measure::{median, peak_memory, size, wait};
use session::{ID, Shape};

const USAGE: &str = "cargo bench --bench matrix -- [OPTIONS]

  --shapes LIST    shapes of the sessions                       [default: all]
  --sizes LIST     their sizes                                  [default: 1M,70M,1G]
  --commands LIST  commands by their names in the table         [default: all]
  --rounds N       how often each is run; the median counts     [default: 3]
  --write FOLDER   write the sessions there, and measure nothing";

/// The context window's budget for `trim`, and the operations of `run`.
const PLAN: &str = "[[step]]\nop = \"strip-thinking\"\n\n[[step]]\nop = \"drop-tools\"\nstub = true\n\n[[step]]\nop = \"drop-hidden\"\n";

/// What a command is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Against {
    /// A copy by `cp`, and a flush of the copy.
    Copy,
    /// `cat` of what is read to nowhere.
    Read,
}

/// A command of the table.
struct Row {
    name: &'static str,
    /// `{f}` is the session, `{g}` a clone of it, `{plan}` a plan file.
    args: &'static [&'static str],
    against: Against,
    /// How often the time of what it is compared with it may take.
    goal: f64,
}

const fn row(
    name: &'static str,
    args: &'static [&'static str],
    against: Against,
    goal: f64,
) -> Row {
    Row {
        name,
        args,
        against,
        goal,
    }
}

const IN_PLACE: &[&str] = &["strip-thinking", "-q", "--in-place", "--yes", "{f}"];

const ROWS: [Row; 26] = [
    row("inspect", &["inspect", "{f}"], Against::Read, 1.0),
    row("doctor", &["doctor", "{f}"], Against::Read, 1.0),
    row("show", &["show", "{f}"], Against::Read, 1.0),
    row("show-full", &["show", "--full", "{f}"], Against::Read, 2.0),
    row("payload", &["payload", "{f}"], Against::Read, 2.0),
    row("clone-preview", &["clone", "-n", "{f}"], Against::Read, 1.0),
    row("diff", &["diff", "{f}", "{g}"], Against::Read, 3.0),
    row("clone", &["clone", "-q", "{f}"], Against::Copy, 2.0),
    row(
        "extract",
        &["extract", "-q", "--turns", "2..", "{f}"],
        Against::Copy,
        2.0,
    ),
    row(
        "title",
        &["title", "-q", "A title", "{f}"],
        Against::Copy,
        2.0,
    ),
    row(
        "strip-thinking",
        &["strip-thinking", "-q", "{f}"],
        Against::Copy,
        2.0,
    ),
    row("in-place", IN_PLACE, Against::Copy, 2.0),
    row("undo", &["undo", "-q", "--yes"], Against::Copy, 0.5),
    row(
        "drop-tools",
        &["drop-tools", "-q", "{f}"],
        Against::Copy,
        2.0,
    ),
    row(
        "stub",
        &["drop-tools", "--stub", "-q", "{f}"],
        Against::Copy,
        2.0,
    ),
    row(
        "drop-images",
        &["drop-images", "-q", "{f}"],
        Against::Copy,
        2.0,
    ),
    row(
        "drop-hidden",
        &["drop-hidden", "-q", "{f}"],
        Against::Copy,
        2.0,
    ),
    row(
        "truncate",
        &["truncate", "-q", "--at", "-3", "{f}"],
        Against::Copy,
        2.0,
    ),
    row(
        "delete",
        &["delete", "-q", "--turns", "2..3", "{f}"],
        Against::Copy,
        2.0,
    ),
    row(
        "compact",
        &["compact", "-q", "--keep-last", "3", "{f}"],
        Against::Copy,
        2.0,
    ),
    row("uncompact", &["uncompact", "-q", "{f}"], Against::Copy, 2.0),
    row(
        "restore-branch",
        &["restore-branch", "-q", "1", "{f}"],
        Against::Copy,
        2.0,
    ),
    row("repair", &["repair", "-q", "{f}"], Against::Copy, 2.0),
    row(
        "trim",
        &["trim", "-q", "--to", "100k", "{f}"],
        Against::Copy,
        3.0,
    ),
    row("run", &["run", "-q", "{plan}", "{f}"], Against::Copy, 3.0),
    row("start", &["--version"], Against::Read, f64::INFINITY),
];

/// The goal for every command on a session of 1 MB.
const SMALL: (u64, Duration) = (1 << 20, Duration::from_millis(10));

/// The memory that a command may hold, and what it may hold for each line.
const MEMORY: (u64, u64) = (64 << 20, 200);

/// By how much the time for a byte may grow from one size to the next.
const GROWTH: f64 = 1.2;

fn main() -> io::Result<()> {
    let options = Options::read()?;
    if let Some(folder) = &options.write {
        return options.write_sessions(folder);
    }
    let mut before: Option<Table> = None;
    for (name, size) in &options.sizes {
        let mut table = Table::new(name, *size);
        for shape in &options.shapes {
            // The table comes when all is measured, which can take an hour.
            eprintln!("measuring {} of {name}", shape.name());
            let world = World::new(*shape, *size)?;
            table.columns.push(world.measure(&options)?);
        }
        table.print(&options);
        if let Some(before) = before {
            table.print_growth(&before, &options);
        }
        before = Some(table);
    }
    Ok(())
}

struct Options {
    shapes: Vec<Shape>,
    sizes: Vec<(String, u64)>,
    rows: Vec<&'static Row>,
    rounds: usize,
    write: Option<PathBuf>,
}

impl Options {
    fn read() -> io::Result<Self> {
        let mut out = Self {
            shapes: Shape::ALL.to_vec(),
            sizes: Vec::new(),
            rows: ROWS.iter().collect(),
            rounds: 3,
            write: None,
        };
        let mut sizes = "1M,70M,1G".to_owned();
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().unwrap_or_default();
            match arg.as_str() {
                "--shapes" => {
                    let known = |name: &str| Shape::named(name).ok_or_else(|| unknown(name));
                    out.shapes = value().split(',').map(known).collect::<io::Result<_>>()?;
                }
                "--commands" => {
                    let rows = |name: &str| ROWS.iter().find(|r| r.name == name);
                    let known = |name: &str| rows(name).ok_or_else(|| unknown(name));
                    out.rows = value().split(',').map(known).collect::<io::Result<_>>()?;
                }
                "--sizes" => sizes = value(),
                "--rounds" => out.rounds = value().parse().map_err(io::Error::other)?,
                "--write" => out.write = Some(value().into()),
                // What cargo adds.
                "--bench" => {}
                _ => {
                    println!("{USAGE}");
                    std::process::exit(2);
                }
            }
        }
        for text in sizes.split(',') {
            out.sizes.push((text.to_owned(), size(text)?));
        }
        Ok(out)
    }

    fn write_sessions(&self, folder: &Path) -> io::Result<()> {
        for (name, size) in &self.sizes {
            for shape in &self.shapes {
                let folder = folder.join(format!("{}-{name}", shape.name()));
                println!("{}", session::write(&folder, *shape, *size)?.display());
            }
        }
        Ok(())
    }
}

/// Flushes all files below a folder.
fn flush(folder: &Path) -> io::Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            flush(&path)?;
        } else {
            File::open(&path)?.sync_all()?;
        }
    }
    Ok(())
}

fn unknown(name: &str) -> io::Error {
    io::Error::other(format!("{name} is not known\n\n{USAGE}"))
}

/// A home with one session, and the same session elsewhere, to put it back.
struct World {
    root: tempfile::TempDir,
    shape: Shape,
    transcript: PathBuf,
    lines: u64,
}

impl World {
    fn new(shape: Shape, size: u64) -> io::Result<Self> {
        let root = tempfile::tempdir()?;
        let transcript = session::write(&root.path().join("kept"), shape, size)?;
        let lines = ccsurgery::document::Document::open(&transcript)?
            .lines()
            .len() as u64;
        let world = Self {
            transcript: root
                .path()
                .join("home/projects/-home-you-project")
                .join(format!("{ID}.jsonl")),
            root,
            shape,
            lines,
        };
        fs_err::write(world.path("plan.toml"), PLAN)?;
        world.reset()?;
        world.run(&["clone", "-q", "{f}"])?;
        for path in world.beside()? {
            if path.extension().is_some_and(|e| e == "jsonl") {
                fs_err::rename(&path, world.path("clone.jsonl"))?;
            }
        }
        Ok(world)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// What is in the project's folder and not of this session.
    fn beside(&self) -> io::Result<Vec<PathBuf>> {
        let folder = self.transcript.parent().unwrap_or(Path::new("."));
        let paths = fs_err::read_dir(folder)?.map(|e| Ok(e?.path()));
        let paths: io::Result<Vec<PathBuf>> = paths.collect();
        let own = |p: &PathBuf| p.file_stem().is_some_and(|stem| stem == ID);
        Ok(paths?.into_iter().filter(|p| !own(p)).collect())
    }

    /// Puts the session back, and removes what the last run made.
    fn reset(&self) -> io::Result<()> {
        let folder = self.transcript.parent().unwrap_or(Path::new("."));
        for path in [self.path("state"), folder.to_owned(), self.path("out")] {
            let _ = fs_err::remove_dir_all(path);
        }
        fs_err::create_dir_all(folder)?;
        fs_err::create_dir_all(self.path("out"))?;
        let copied = Command::new("cp")
            .arg("-r")
            .arg(self.path("kept/."))
            .arg(folder)
            .status()?;
        if !copied.success() {
            return Err(io::Error::other("the session could not be copied"));
        }
        let hours_ago = SystemTime::now() - Duration::from_secs(2 * 3600);
        File::options()
            .append(true)
            .open(&self.transcript)?
            .set_modified(hours_ago)?;
        // What was written to prepare a run must not be flushed during it.
        Command::new("sync").status().map(|_| ())
    }

    fn own(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ccsurgery"));
        let fill = |arg: &&str| match *arg {
            "{f}" => self.transcript.clone(),
            "{g}" => self.path("clone.jsonl"),
            "{plan}" => self.path("plan.toml"),
            arg => PathBuf::from(arg),
        };
        command
            .args(args.iter().map(fill))
            .env("HOME", self.path("home"))
            .env("CLAUDE_CONFIG_DIR", self.path("home"))
            .env("CCSURGERY_STATE_DIR", self.path("state"));
        quiet(command)
    }

    fn run(&self, args: &[&str]) -> io::Result<Option<Duration>> {
        let start = Instant::now();
        let status = wait(self.own(args).spawn()?)?;
        let time = start.elapsed();
        // `doctor` and `diff` end with 1 where they find something.
        let fine = status.and_then(|s| s.code()).is_some_and(|code| code <= 1);
        Ok(fine.then_some(time))
    }

    /// How long `cp` with a flush takes.
    fn copy(&self) -> io::Result<Duration> {
        let start = Instant::now();
        let mut command = Command::new("cp");
        command
            .arg("-r")
            .arg(self.path("kept/."))
            .arg(self.path("out"));
        quiet(command).status()?;
        flush(&self.path("out"))?;
        Ok(start.elapsed())
    }

    /// How long reading the transcript takes.
    fn read(&self) -> io::Result<Duration> {
        let start = Instant::now();
        let mut command = Command::new("cat");
        command.arg(self.transcript.as_path());
        quiet(command).status()?;
        Ok(start.elapsed())
    }

    fn measure(&self, options: &Options) -> io::Result<Column> {
        let mut column = Column::new(self.shape, self.lines, options.rows.len());
        // Round by round, so that whatever else the machine does affects all of them.
        for _ in 0..options.rounds {
            self.reset()?;
            column.copy.push(self.copy()?);
            column.read.push(self.read()?);
            for (row, cell) in options.rows.iter().zip(&mut column.cells) {
                self.prepare(row)?;
                cell.times.extend(self.run(row.args)?);
            }
        }
        // Separately, because watching takes time.
        for (row, cell) in options.rows.iter().zip(&mut column.cells) {
            if !cell.times.is_empty() {
                self.prepare(row)?;
                cell.memory = peak_memory(self.own(row.args))?;
            }
        }
        Ok(column)
    }

    fn prepare(&self, row: &Row) -> io::Result<()> {
        if row.against == Against::Copy {
            self.reset()?;
        }
        if row.name == "undo" {
            self.run(IN_PLACE)?;
        }
        Ok(())
    }
}

fn quiet(mut command: Command) -> Command {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// What was measured on one session.
struct Column {
    shape: Shape,
    lines: u64,
    copy: Vec<Duration>,
    read: Vec<Duration>,
    cells: Vec<Cell>,
}

#[derive(Default, Clone)]
struct Cell {
    /// Empty if the command has nothing to do there.
    times: Vec<Duration>,
    memory: Option<u64>,
}

impl Column {
    fn new(shape: Shape, lines: u64, rows: usize) -> Self {
        Self {
            shape,
            lines,
            copy: Vec::new(),
            read: Vec::new(),
            cells: vec![Cell::default(); rows],
        }
    }

    /// How often the time of what a command is compared with it takes.
    fn ratio(&self, number: usize, row: &Row) -> Option<f64> {
        let base = match row.against {
            Against::Copy => median(&self.copy)?,
            Against::Read => median(&self.read)?,
        };
        let time = median(&self.cells[number].times)?;
        Some(time.as_secs_f64() / base.as_secs_f64().max(1e-9))
    }

    fn memory_goal(&self) -> u64 {
        MEMORY.0 + MEMORY.1 * self.lines
    }
}

/// What was measured on sessions of one size.
struct Table {
    name: String,
    size: u64,
    columns: Vec<Column>,
}

impl Table {
    fn new(name: &str, size: u64) -> Self {
        Self {
            name: name.to_owned(),
            size,
            columns: Vec::new(),
        }
    }

    fn is_small(&self) -> bool {
        self.size <= SMALL.0
    }

    /// What is shown in a cell, and how much of its goal that is.
    fn cell(&self, column: &Column, number: usize, row: &Row) -> Option<(f64, f64)> {
        if self.is_small() {
            let ms = median(&column.cells[number].times)?.as_secs_f64() * 1e3;
            return Some((ms, ms / (SMALL.1.as_secs_f64() * 1e3)));
        }
        let ratio = column.ratio(number, row)?;
        Some((ratio, ratio / row.goal))
    }

    fn print(&self, options: &Options) {
        let what = if self.is_small() {
            "milliseconds; the goal is 10"
        } else {
            "multiples of `cp` with a flush, or of `cat` for commands that only read"
        };
        println!(
            "\nSessions of {}: {what}. `!` marks what is over its goal.\n",
            self.name
        );
        self.heading("goal");
        let mut worst = Vec::new();
        for (number, row) in options.rows.iter().enumerate() {
            let goal = if self.is_small() { 10.0 } else { row.goal };
            print!("{:<16}{goal:>6.1}", row.name);
            for column in &self.columns {
                let cell = self.cell(column, number, row);
                print!(
                    "{}",
                    cell.map_or_else(|| format!("{:>12}", "-"), |(n, share)| mark(n, share))
                );
                worst.extend(cell.map(|(n, share)| (share, row.name, column.shape.name(), n)));
            }
            println!();
        }
        self.print_bases();
        let over = worst.iter().filter(|w| w.0 > 1.0).count();
        println!(
            "\n{} of {} cells are within their goals.",
            worst.len() - over,
            worst.len()
        );
        worst.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (share, row, shape, n) in worst.iter().take(12).filter(|w| w.0 > 1.0) {
            println!("  {row} on {shape}: {n:.1}, {share:.1} times its goal");
        }
        self.print_memory(options);
        if !self.is_small() {
            self.print_summary(options);
        }
    }

    /// Shows the table of the README: for each command the median and the worst of all shapes, as multiples of `cp` with a
    /// flush.
    fn print_summary(&self, options: &Options) {
        println!("\n| | median | worst | on | most memory |\n|---|---:|---:|---|---:|");
        for (number, row) in options.rows.iter().enumerate() {
            let ratio = |column: &Column| {
                let time = median(&column.cells[number].times)?.as_secs_f64();
                Some((time / median(&column.copy)?.as_secs_f64(), column.shape))
            };
            let mut ratios: Vec<(f64, Shape)> = self.columns.iter().filter_map(ratio).collect();
            ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
            let Some((worst, shape)) = ratios.last() else {
                continue;
            };
            let memory = self.columns.iter().filter_map(|c| c.cells[number].memory);
            println!(
                "| `{}` | {:.1} | {worst:.1} | {} | {:.0} MB |",
                row.name,
                ratios[ratios.len() / 2].0,
                shape.name(),
                memory.max().unwrap_or_default() as f64 / 1e6,
            );
        }
    }

    fn heading(&self, first: &str) {
        print!("{:<16}{first:>6}", "");
        for column in &self.columns {
            print!("{:>12}", column.shape.name());
        }
        println!();
    }

    fn print_bases(&self) {
        type Times = fn(&Column) -> &Vec<Duration>;
        let bases: [(&str, Times); 2] = [("cp, flushed", |c| &c.copy), ("cat", |c| &c.read)];
        for (name, times) in bases {
            print!("{name:<16}{:>6}", "ms");
            for column in &self.columns {
                let ms = median(times(column)).unwrap_or_default().as_secs_f64() * 1e3;
                print!("{ms:>11.1} ");
            }
            println!();
        }
    }

    fn print_memory(&self, options: &Options) {
        println!("\nPeak anonymous memory in MB; the goal is 64 and 200 bytes for each line.\n");
        self.heading("");
        for (number, row) in options.rows.iter().enumerate() {
            print!("{:<16}{:>6}", row.name, "");
            for column in &self.columns {
                let memory = column.cells[number].memory;
                let share = |m: u64| m as f64 / column.memory_goal() as f64;
                print!(
                    "{}",
                    memory.map_or_else(
                        || format!("{:>12}", "-"),
                        |m| mark(m as f64 / 1e6, share(m))
                    )
                );
            }
            println!();
        }
    }

    /// Shows by how much the time for a byte grew from a smaller size.
    fn print_growth(&self, before: &Table, options: &Options) {
        if before.is_small() {
            return;
        }
        println!(
            "\nTime for a byte at {} by that at {}; the goal is {GROWTH}.\n",
            self.name, before.name
        );
        self.heading("");
        let bytes = self.size as f64 / before.size as f64;
        for (number, row) in options.rows.iter().enumerate() {
            print!("{:<16}{:>6}", row.name, "");
            for (now, was) in self.columns.iter().zip(&before.columns) {
                let time = |c: &Column| median(&c.cells[number].times).map(|t| t.as_secs_f64());
                let growth = time(now).zip(time(was)).map(|(now, was)| now / was / bytes);
                print!(
                    "{}",
                    growth.map_or_else(|| format!("{:>12}", "-"), |g| mark(g, g / GROWTH))
                );
            }
            println!();
        }
    }
}

/// A number, marked if it is more than its goal.
fn mark(number: f64, share: f64) -> String {
    let over = if share > 1.0 { '!' } else { ' ' };
    format!("{number:>11.1}{over}")
}
