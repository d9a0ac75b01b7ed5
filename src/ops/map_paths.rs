//! Leads the paths in a transcript to those of another machine.

use crate::session::Session;
use crate::surgery::{Detail, PathMap, Plan, Refusal, Transform, map_paths};

/// Changes paths wherever the client recorded them: the working folder of each entry, the environment, worktrees, files that
/// can be rewound, and everywhere the paths of the session's own files. What was said stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapPaths {
    /// The session's id, after which its files are named.
    pub id: String,
    /// The name of the folder of transcripts before and after.
    pub folders: (String, String),
    /// What the folders of the other machine are called here.
    pub map: PathMap,
    /// What the session's own folders are called here; they are led there in the conversation as well.
    pub own: PathMap,
}

impl Transform for MapPaths {
    fn name(&self) -> &'static str {
        "import"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        let folders = (&*self.folders.0, &*self.folders.1);
        map_paths(session, &self.id, folders, &self.map, &self.own, &mut plan);
        Ok(plan)
    }
}
