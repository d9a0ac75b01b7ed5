//! Leads the paths in a transcript to another folder of the project.

use crate::session::Session;
use crate::surgery::{Detail, Plan, Refusal, Transform, move_project};

/// Changes the project's path wherever the client recorded it: the working folder of each entry, the environment, worktrees,
/// the folders of files that can be rewound, and the paths of the session's own files. What was said stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveProject {
    /// The session's id, after which its files are named.
    pub id: String,
    /// The name of the folder of transcripts before and after.
    pub folders: (String, String),
    /// The project's path before and after.
    pub project: (String, String),
}

impl Transform for MoveProject {
    fn name(&self) -> &'static str {
        "move"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        let folders = (&*self.folders.0, &*self.folders.1);
        let project = (&*self.project.0, &*self.project.1);
        move_project(session, &self.id, folders, project, &mut plan);
        Ok(plan)
    }
}
