//! One run of the program, and what a person sees of it.

use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;

use super::Home;

/// A run that is about to happen.
pub(crate) struct Command<'a> {
    home: &'a Home,
    arguments: Vec<String>,
    folder: PathBuf,
    columns: Option<usize>,
    environment: Vec<(String, String)>,
}

impl<'a> Command<'a> {
    pub(super) fn new(home: &'a Home, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|&a| a.to_owned()).collect();
        Self {
            home,
            arguments,
            folder: home.project(),
            columns: Some(200),
            environment: Vec::new(),
        }
    }

    /// Runs it in another folder.
    pub(crate) fn within(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Runs it on a narrower page; the default is wide enough to cut no path.
    pub(crate) fn columns(mut self, columns: usize) -> Self {
        self.columns = Some(columns);
        self
    }

    /// Runs it without telling it how wide the page is.
    pub(crate) fn without_columns(mut self) -> Self {
        self.columns = None;
        self
    }

    /// Runs it at this time.
    pub(crate) fn at(self, time: &str) -> Self {
        self.env("CCSURGERY_NOW", time)
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<Path>) -> Self {
        let value = value.as_ref().to_string_lossy().into_owned();
        self.environment.push((name.to_owned(), value));
        self
    }

    /// The process, ready to be started with other streams.
    pub(crate) fn process(&self) -> std::process::Command {
        self.process_under(&[])
    }

    /// The process with another program in front of it.
    pub(crate) fn process_under(&self, front: &[&str]) -> std::process::Command {
        let own = env!("CARGO_BIN_EXE_ccsurgery");
        let words: Vec<&str> = front.iter().copied().chain([own]).collect();
        let mut process = std::process::Command::new(words[0]);
        process
            .args(&words[1..])
            .args(&self.arguments)
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path(""))
            .envs(needed_by_the_system(self.home))
            .env("CLAUDE_CONFIG_DIR", self.home.config())
            .env("CCSURGERY_STATE_DIR", self.home.state())
            .envs(self.columns.map(|columns| ("COLUMNS", columns.to_string())))
            .env("TZ", "UTC")
            .env("NO_COLOR", "1")
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null());
        process
    }

    pub(crate) fn run(&self) -> Run {
        let output = self.process().output().expect("the program starts");
        Run::new(self.home, &output)
    }

    /// Runs it as a user for whom modes of files count.
    pub(crate) fn run_unprivileged(&self) -> Run {
        let front = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ];
        let output = self.process_under(&front).output();
        Run::new(self.home, &output.expect("the program starts"))
    }
}

/// What came of a run.
pub(crate) struct Run {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: i32,
    names: Vec<(String, &'static str)>,
}

impl Run {
    pub(crate) fn new(home: &Home, output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        let slug = |path: &Path| {
            let folder = home.folder_of(path);
            let name = folder.file_name().expect("a slug");
            name.to_string_lossy().into_owned()
        };
        let root = home.path("").display().to_string();
        let root = root.trim_end_matches(MAIN_SEPARATOR);
        let names = vec![
            (slug(&home.project()), "[slug]"),
            (slug(&home.path("elsewhere")), "[slug-elsewhere]"),
            (root.replace('\\', r"\\"), "[home]"),
            (root.to_owned(), "[home]"),
        ];
        Self {
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
            // A fault that kills gives this code on Windows, which has no signals.
            code: output
                .status
                .code()
                .filter(|code| !(cfg!(windows) && *code == 137))
                .unwrap_or(-1),
            names,
        }
    }

    /// What a person sees besides the result, with what differs from run to run replaced.
    pub(crate) fn stderr_seen(&self) -> String {
        self.named(self.stderr.clone())
    }

    /// Whether these words are among the messages, wherever those are wrapped: that depends on the length of paths.
    pub(crate) fn tells(&self, words: &str) -> bool {
        let message: Vec<&str> = self.stderr.split_whitespace().collect();
        message.join(" ").contains(words)
    }

    /// All that a person sees, with what differs from run to run replaced.
    pub(crate) fn seen(&self) -> String {
        let mut out = String::new();
        for (name, text) in [("", &self.stdout), ("--- stderr\n", &self.stderr)] {
            if !text.is_empty() {
                let _ = write!(out, "{name}{text}");
            }
        }
        let _ = write!(out, "--- exit code {}", self.code);
        self.named(out)
    }

    /// The exit code, and all that a person sees of a command that makes no ids.
    pub(crate) fn page(&self) -> String {
        let text = format!("exit {}\n{}{}", self.code, self.stdout, self.stderr);
        self.with_places(text)
    }

    /// The document that it printed.
    pub(crate) fn json(&self) -> Value {
        let document = serde_json::from_str(&self.stdout);
        document.unwrap_or_else(|e| panic!("{e}: {}", self.seen()))
    }

    fn named(&self, text: String) -> String {
        without_fresh_ids(&self.with_places(text))
    }

    fn with_places(&self, mut text: String) -> String {
        for (from, to) in &self.names {
            text = text.replace(from, to);
        }
        if cfg!(windows) {
            text = with_slashes(&text);
        }
        text
    }

    pub(crate) fn last_line(&self) -> &str {
        self.stdout.lines().last().unwrap_or_default()
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.seen())
    }
}

/// What a program on Windows needs, and cannot do without: the system's folders, and its own name for the home.
fn needed_by_the_system(home: &Home) -> Vec<(String, OsString)> {
    if !cfg!(windows) {
        return Vec::new();
    }
    let names = [
        "SystemRoot",
        "SystemDrive",
        "windir",
        "ComSpec",
        "PATHEXT",
        "TEMP",
        "TMP",
    ];
    let set = |name: &str| Some((name.to_owned(), std::env::var_os(name)?));
    let profile = ("USERPROFILE".to_owned(), home.path("").into_os_string());
    names.into_iter().filter_map(set).chain([profile]).collect()
}

/// Paths below the home with the separators of other systems, so that one expectation fits all.
fn with_slashes(text: &str) -> String {
    let text = text.replace("~\\", "[home]~\\");
    let mut pieces = text.split("[home]");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let ends = |c: char| c.is_whitespace() || "`'\"<>|,;)".contains(c);
        let (path, rest) = piece.split_at(piece.find(ends).unwrap_or(piece.len()));
        let path = path.replace(r"\\", "/").replace('\\', "/");
        if !path.starts_with('~') {
            out.push_str("[home]");
        }
        out.push_str(&path);
        out.push_str(rest);
    }
    out
}

/// Ids that the program minted, told from those of the tests by their last group, become `[fresh]`.
fn without_fresh_ids(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = (0..rest.len()).find(|&at| is_uuid(&rest.as_bytes()[at..])) {
        let id = &rest[at..at + 36];
        out.push_str(&rest[..at]);
        out.push_str(if id.contains("-4bbb-8ccc-") {
            id
        } else {
            "[fresh]"
        });
        rest = &rest[at + 36..];
    }
    out + rest
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() >= 36
        && bytes[..36].iter().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => *b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}
