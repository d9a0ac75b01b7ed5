//! Writes exported files, and opens them.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::export::{IndexRow, Redactor, index_page};
use crate::store::{Candidate, Located, PublishError, create_private_dirs};

use super::super::super::context::Context;
use super::super::super::error::{CliError, ErrorKind};
use super::ExportArgs;
use super::formats::{Format, exported};

/// The document that `--json` prints.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) schema: u32,
    pub(super) operation: &'static str,
    pub(super) files: Vec<FileReport>,
    pub(super) masked: u64,
}

#[derive(Serialize)]
pub(super) struct FileReport {
    pub(super) path: String,
    pub(super) action: &'static str,
    pub(super) bytes: u64,
}

/// Writes each session into a folder, and a list of them. Returns the list, or the folder.
pub(super) fn export_folder(
    args: &ExportArgs,
    context: &mut Context,
    found: &[Located],
    redactor: &Redactor,
    report: &mut Report,
) -> Result<PathBuf, CliError> {
    let folder = args
        .output
        .clone()
        .unwrap_or_else(|| context.working_folder.join("sessions"));
    create_private_dirs(&folder).map_err(publish_error)?;
    let mut rows = Vec::new();
    for session in found {
        let (text, conversation) = match exported(args, context, session, redactor) {
            Ok(done) => done,
            Err(error) if args.all => {
                let id = context.words(&session.id);
                context.tell(&format!("{id} was left out: {}", error.message));
                continue;
            }
            Err(error) => return Err(error),
        };
        let file = format!("{}.{}", safe_name(&session.id), args.to.ending());
        write(&folder.join(&file), &text, args.force, report)?;
        rows.push(IndexRow {
            file,
            title: conversation.title,
            time: conversation
                .turn_contents
                .iter()
                .find_map(|c| c.time.clone()),
            turns: conversation.turns,
            tokens: conversation.tokens,
        });
    }
    if args.to != Format::Html {
        return Ok(folder);
    }
    let list = folder.join("index.html");
    write(&list, &index_page(&rows, redactor), args.force, report)?;
    Ok(list)
}

pub(super) fn write(
    path: &Path,
    text: &str,
    force: bool,
    report: &mut Report,
) -> Result<(), CliError> {
    let candidate = Candidate::write(path, |out, _| out.write_all(text.as_bytes()));
    let candidate = candidate.map_err(publish_error)?;
    let exists = path.exists();
    let written = if force && exists {
        candidate.replace()
    } else {
        candidate.create()
    };
    written.map_err(publish_error)?;
    report.files.push(FileReport {
        path: path.to_string_lossy().into_owned(),
        action: "write",
        bytes: text.len() as u64,
    });
    Ok(())
}

fn publish_error(error: PublishError) -> CliError {
    match &error {
        PublishError::Exists { path } => CliError::refused(
            ErrorKind::Exists,
            format!("`{}` exists already", path.display()),
            "give --force to replace it, or another name with -o",
        ),
        _ => CliError::from(error),
    }
}

/// Returns an id as the name of a file.
fn safe_name(id: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.chars()
        .map(|c| if safe(c) { c } else { '_' })
        .take(80)
        .collect()
}

/// Opens a file with the system's browser.
pub(super) fn open_in_browser(path: &Path) -> Result<(), CliError> {
    let path = std::path::absolute(path)?;
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let started = std::process::Command::new(program)
        .arg(&path)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    started.map(drop).map_err(|error| {
        CliError::failed(
            ErrorKind::Io,
            format!("the browser cannot be started with `{program}`: {error}"),
            format!("open the file yourself: {}", path.display()),
        )
    })
}
