//! Files in which Claude Code keeps something of many sessions or projects. They are edited, never removed with a session.
//!
//! | file | what belongs to a session or project |
//! |---|---|
//! | `C/history.jsonl` | lines with its `sessionId`, or its `project`: what a person typed, for the up key |
//! | `C/paste-cache/HASH.txt` | long pasted texts; the `contentHash` in a line of `history.jsonl` names them |
//! | `.claude.json` | `projects[PATH]`: trust, permissions, servers and figures of the project |
//! | `P/sessions-index.json` | the list of a project's sessions, about 2.1.9 to 2.1.30 |
//! | `P/memory/` | what the client remembers of a project |

use std::path::{Path, PathBuf};

use crate::session::Session;
use crate::store::fs::lexical_path;

use super::config::{Config, slug};
use super::index_file::INDEX;

/// The folder of pasted texts.
const PASTES: &str = "paste-cache";

impl Config {
    /// Returns the file of all prompts that were typed.
    pub fn prompt_history(&self) -> PathBuf {
        self.join("history.jsonl")
    }

    /// Returns the folder of long pasted texts.
    pub fn pastes(&self) -> PathBuf {
        self.join(PASTES)
    }

    /// Returns where the client's own state can be: in the config folder if that is named by `CLAUDE_CONFIG_DIR`, and
    /// beside `~/.claude` otherwise. More than one of them can exist, and any of them can have a project's entry.
    pub fn client_state(&self) -> Vec<PathBuf> {
        let mut files = vec![self.join(".claude.json"), self.join(".config.json")];
        let beside = self.root().parent();
        if self
            .root()
            .file_name()
            .is_some_and(|name| name == ".claude")
        {
            files.extend(beside.map(|home| home.join(".claude.json")));
        }
        files
    }
}

/// Returns the memory of the project whose transcripts are in `folder`.
pub fn memory(folder: &Path) -> PathBuf {
    folder.join("memory")
}

/// Returns the folder that a session was held in: the `cwd` after which its folder of transcripts is named, else the first.
pub fn project_of(session: &Session, folder: &Path) -> Option<PathBuf> {
    let name = folder.file_name()?.to_string_lossy().into_owned();
    let all = session.distinct("cwd");
    all.iter()
        .find(|cwd| slug(cwd) == name)
        .or(all.first())
        .map(PathBuf::from)
}

/// Returns whether a path is a file that sessions share.
pub(crate) fn is_shared(config: &Config, path: &Path) -> bool {
    let path = std::path::absolute(path).map_or_else(|_| path.to_owned(), |p| lexical_path(&p));
    let is_list = path.file_name().is_some_and(|name| name == INDEX)
        && path.parent().and_then(Path::parent) == Some(&config.projects());
    is_list
        || path == config.prompt_history()
        || path.starts_with(config.pastes())
        || config.client_state().contains(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn client_state_is_in_the_config_folder_or_beside_it() {
        let at = |root: &str| Config::new(root).client_state();
        let home = PathBuf::from("/home/u/.claude.json");
        assert!(at("/home/u/.claude").contains(&home));
        assert!(!at("/home/u/app").contains(&home));
        assert!(at("/home/u/app").contains(&PathBuf::from("/home/u/app/.claude.json")));
    }

    #[test]
    fn shared_files_are_recognised() {
        let absolute = |path: &str| std::path::absolute(path).expect("a path");
        let config = Config::new(absolute("/home/u/.claude"));
        let is = |path: &str| is_shared(&config, &absolute(path));
        assert!(is("/home/u/.claude/history.jsonl"));
        assert!(is("/home/u/.claude/paste-cache/0123.txt"));
        assert!(is("/home/u/.claude.json"));
        assert!(is("/home/u/.claude/projects/-p/sessions-index.json"));
        assert!(!is("/home/u/.claude/projects/sessions-index.json"));
        assert!(!is("/home/u/.claude/settings.json"));
        assert!(!is("/home/v/.claude.json"));
        assert!(!is("/home/u/.claude/paste-cache/../settings.json"));
    }
}
