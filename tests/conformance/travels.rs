//! Sessions that move to another folder, to another machine and back, from Windows, or into an archive and back.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::case::Case;
use crate::cells::{ccsurgery, program};
use crate::folders;
use crate::record::{Recording, slug};
use crate::view::PayloadBlock;

/// The home and the project of a made-up machine with Windows.
const WINDOWS_HOME: &str = r"C:\Users\Ada";
const WINDOWS_WORK: &str = r"C:\Users\Ada\code\my app";

/// Whether an operation is one of these.
pub(crate) fn is_travel(name: &str) -> bool {
    ["move", "move-from-windows", "import", "restore"].contains(&name)
}

/// Makes the journey. Returns the folder in which the session is resumed then; it keeps its id.
pub(crate) fn make(case: &Case, name: &str) -> Result<PathBuf> {
    let recording = &case.recording;
    let session = recording.session.as_str();
    let work = recording.work();
    match name {
        "move" => {
            let other = recording.file("other");
            ccsurgery(case, &["move", &text(&work), &text(&other), "--yes"])?;
            Ok(other)
        }
        "move-from-windows" => {
            copy_from_windows(recording)?;
            ccsurgery(case, &["move", WINDOWS_WORK, &text(&work), "--yes"])?;
            Ok(work)
        }
        "restore" => {
            ccsurgery(case, &["archive", session, "--yes"])?;
            ccsurgery(case, &["restore", session])?;
            Ok(work)
        }
        _ => {
            let (there, back) = (
                recording.file("there.ccbundle"),
                recording.file("back.ccbundle"),
            );
            ccsurgery(case, &["bundle", session, "-f", "-o", &text(&there)])?;
            let machine = Machine::new(&recording.file("machine"))?;
            let project = text(&machine.project);
            machine.run(&["import", &text(&there), "--to-project", &project])?;
            machine.run(&["bundle", session, "-f", "-o", &text(&back)])?;
            ccsurgery(case, &["rm", session, "--yes"])?;
            let report = ccsurgery(
                case,
                &["import", &text(&back), "--to-project", &text(&work)],
            )?;
            let id = report["sessions"][0]["session_id"].as_str();
            ensure!(id == Some(session), "the id is not kept: {report}");
            Ok(work)
        }
    }
}

/// Makes the home as if it had been copied from a machine with Windows, where the project was in another folder.
fn copy_from_windows(recording: &Recording) -> Result<()> {
    let config = recording.config();
    for file in folders::files(&config)? {
        // What was kept to rewind files is their content.
        if file
            .components()
            .any(|part| part.as_os_str() == "file-history")
        {
            continue;
        }
        let Ok(old) = String::from_utf8(fs_err::read(&file)?) else {
            continue;
        };
        let is_json = matches!(
            file.extension().and_then(|x| x.to_str()),
            Some("json" | "jsonl")
        );
        let new = on_windows(&old, &text(&recording.work()), WINDOWS_WORK, is_json);
        let new = on_windows(&new, &text(&recording.home()), WINDOWS_HOME, is_json);
        fs_err::write(&file, new)?;
    }
    let projects = config.join("projects");
    let (old, new) = (slug(&recording.work()), slug(Path::new(WINDOWS_WORK)));
    for file in folders::files(&config)? {
        let Ok(mut text) = String::from_utf8(fs_err::read(&file)?) else {
            continue;
        };
        // Outputs in the folder for temporary files are named like the project, too; they stay where they were.
        for separator in [r"\\", r"\"] {
            let inside = |name: &str| format!("projects{separator}{name}");
            text = text.replace(&inside(&old), &inside(&new));
        }
        fs_err::write(&file, text)?;
    }
    Ok(fs_err::rename(projects.join(old), projects.join(new))?)
}

/// Replaces a folder by one of Windows, with the separators of the paths inside of it.
fn on_windows(text: &str, from: &str, to: &str, is_json: bool) -> String {
    let backslash = if is_json { r"\\" } else { r"\" };
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-/@".contains(c);
    let mut parts = text.split(from);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c| !is_name(c)).unwrap_or(part.len());
        out.push_str(&to.replace('\\', backslash));
        out.push_str(&part[..end].replace('/', backslash));
        out.push_str(&part[end..]);
    }
    out
}

/// Takes paths of Windows in words of the conversation for those of the recording: words stay as they were.
pub(crate) fn without_windows(shown: &mut [PayloadBlock]) -> Result<()> {
    for block in shown {
        let text = block.block.to_string();
        let text = from_windows(&text, WINDOWS_WORK, "WORK");
        // The client's summary names the transcript, in the home that it had.
        let text = from_windows(&text, WINDOWS_HOME, "HOME");
        block.block = serde_json::from_str(&text)?;
    }
    Ok(())
}

/// Replaces a folder of Windows in JSON by another one, with the separators of the paths inside of it.
fn from_windows(json: &str, from: &str, to: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
    let from = from.replace('\\', r"\\");
    let mut parts = json.split(from.as_str());
    let mut out = parts.next().unwrap_or_default().to_owned();
    for mut part in parts {
        out.push_str(to);
        while let Some(inside) = part.strip_prefix(r"\\") {
            let end = inside.find(|c| !is_name(c)).unwrap_or(inside.len());
            out.push('/');
            out.push_str(&inside[..end]);
            part = &inside[end..];
        }
        out.push_str(part);
    }
    out
}

/// A machine with another user and another root.
struct Machine {
    home: PathBuf,
    project: PathBuf,
}

impl Machine {
    fn new(root: &Path) -> Result<Self> {
        if root.exists() {
            fs_err::remove_dir_all(root)?;
        }
        let home = root.join("Users/Ada Lovelace");
        let project = home.join("Documents/my code/app");
        fs_err::create_dir_all(&project)?;
        fs_err::create_dir_all(home.join(".claude"))?;
        Ok(Self { home, project })
    }

    fn run(&self, args: &[&str]) -> Result<Value> {
        let output = Command::new(program())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.home)
            .current_dir(&self.project)
            .arg("--json")
            .args(args)
            .output()?;
        ensure!(
            output.status.success(),
            "ccsurgery {}: {}",
            args.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
        serde_json::from_slice(&output.stdout).context("no JSON")
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
