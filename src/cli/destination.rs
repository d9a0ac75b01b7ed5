//! Decides where a result is written, and with which command it is resumed there.

use std::path::Path;

use uuid::Uuid;

use crate::render::clean;
use crate::store::{CopyTarget, is_same_folder, real_path};

use super::commit_flow::{Destination, Job};
use super::context::Context;
use super::error::{CliError, ErrorKind};
use super::names;
use super::shell::Shell;

/// Decides where the result of a job is written.
///
/// A transcript from outside the config folder becomes a session of the current project: the job then has
/// that project as its target, so that `cwd` is rewritten.
pub(super) fn choose(context: &Context, job: &mut Job<'_>) -> Result<Destination, CliError> {
    if let Some(path) = &job.write.output {
        return Ok(if path.as_os_str() == "-" {
            Destination::Stdout
        } else {
            Destination::File(path.clone())
        });
    }
    if job.in_place.in_place {
        return match context.stream_copy {
            Some(_) => Err(CliError::usage(
                ErrorKind::Usage,
                "--in-place needs a session file, and standard input is not one",
                "leave out --in-place to write a new session, or write to a file with -o FILE",
            )),
            None => Ok(Destination::InPlace),
        };
    }
    if job.to_project.is_none() && !is_in_projects(context, &job.found.path) {
        job.to_project = Some(context.project.clone());
    }
    let folder = match &job.to_project {
        Some(project) => context.config.project(project),
        None => job.found.folder().to_owned(),
    };
    let held_in = names::project_of(&job.session, job.found.folder());
    Ok(Destination::New(CopyTarget {
        id: Uuid::new_v4(),
        folder,
        project: held_in.zip(job.to_project.clone()),
    }))
}

/// Whether a transcript is one of the config folder's projects, where Claude Code finds it.
fn is_in_projects(context: &Context, path: &Path) -> bool {
    let projects = context.config.projects();
    let real = |path: &Path| real_path(path).ok();
    path.starts_with(&projects)
        || real(&projects).is_some_and(|to| real(path).is_some_and(|p| p.starts_with(to)))
}

/// How a result is resumed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Resume {
    /// The command, where Claude Code can find the result.
    pub(super) command: Option<String>,
    /// What stands in the way, safe to print.
    pub(super) note: Option<String>,
}

impl Resume {
    /// Returns how the session `id` in the file `path` is resumed, which belongs to the folder `project`.
    pub(super) fn of(
        context: &Context,
        destination: &Destination,
        path: &Path,
        id: &str,
        project: Option<&Path>,
    ) -> Self {
        let nothing = Self {
            command: None,
            note: None,
        };
        match destination {
            Destination::File(_) | Destination::Stdout => nothing,
            // Claude Code does not look for sessions outside its own folder.
            Destination::InPlace if !is_in_projects(context, path) => nothing,
            Destination::New(_) | Destination::InPlace => {
                Self::in_project(id, project, &context.working_folder, Shell::current())
            }
        }
    }

    /// Returns how a session of the config folder is resumed, which belongs to the folder `project`.
    pub(super) fn in_project(
        id: &str,
        project: Option<&Path>,
        working_folder: &Path,
        shell: Shell,
    ) -> Self {
        let resume = format!("claude --resume {}", shell.quoted(id));
        let Some(project) = project.filter(|dir| !is_same_folder(dir, working_folder)) else {
            return Self {
                command: Some(resume),
                note: None,
            };
        };
        let shown = project.to_string_lossy();
        if project.is_dir() {
            return Self {
                command: Some(shell.in_folder(&shown, &resume)),
                note: None,
            };
        }
        Self {
            command: Some(resume),
            note: Some(format!(
                "the session's folder `{}` does not exist here. Create it and resume there, or make a copy for this folder: ccsurgery clone {} --to-project .",
                clean(&shown),
                clean(&shell.quoted(id))
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "5e551000-aaaa-4bbb-8ccc-0123456789ab";

    #[test]
    fn resume_changes_to_the_project_only_where_needed() {
        let dir = tempfile::tempdir().expect("a folder");
        let sh = Shell::Posix;
        let here = Resume::in_project(ID, Some(dir.path()), dir.path(), sh);
        assert_eq!(here.command, Some(format!("claude --resume {ID}")));
        let elsewhere = Resume::in_project(ID, Some(dir.path()), Path::new("/"), sh);
        let folder = sh.quoted(&dir.path().to_string_lossy());
        let command = format!("cd {folder} && claude --resume {ID}");
        assert_eq!(elsewhere.command, Some(command));
        assert_eq!((here.note, elsewhere.note), (None, None));
    }

    #[test]
    fn resume_never_changes_to_a_folder_that_does_not_exist() {
        let gone = Path::new("/no/such\x1b[2J/folder");
        let resume = Resume::in_project(ID, Some(gone), Path::new("/"), Shell::Posix);
        assert_eq!(resume.command, Some(format!("claude --resume {ID}")));
        let note = resume.note.expect("a note");
        assert!(
            note.contains("does not exist") && !note.contains('\x1b'),
            "{note}"
        );
    }
}
