//! What goes into the bundle of a session.

use std::io;
use std::path::PathBuf;

use crate::session::Session;
use crate::store::publish::slugs;
use crate::store::sessions::{Config, Located, SessionPlaces, memory, project_of};

use super::manifest::{BundleKind, BundledSession};
use super::pack::PackItem;

/// What goes into the bundle of a session.
#[derive(Debug)]
pub struct Contents {
    /// What the manifest says of it. The title is empty.
    pub session: BundledSession,
    /// Its files, the transcript first.
    pub items: Vec<PackItem>,
    /// Links, pipes and devices at the places of its files. They stay out.
    pub skipped: Vec<PathBuf>,
}

/// Finds what goes into the bundle of a session: all of its files for an archive, and otherwise those that it takes along
/// to another machine.
pub fn contents_of(config: &Config, found: &Located, kind: BundleKind) -> io::Result<Contents> {
    let session = Session::open(&found.path)?;
    let places = SessionPlaces {
        config,
        folder: found.folder(),
        id: &found.id,
    };
    let files = places.files(&slugs(&session))?;
    let mut items = vec![PackItem {
        path: found.path.clone(),
        is_transcript: true,
    }];
    let wanted = files
        .files
        .into_iter()
        .filter(|f| kind == BundleKind::Archive || f.travels(config));
    items.extend(wanted.map(|f| PackItem {
        is_transcript: f.kind.is_transcript(),
        path: f.path,
    }));
    let folder = found.folder().file_name().unwrap_or_default();
    let folder = folder.to_string_lossy().into_owned();
    let project = project_of(&session, found.folder());
    Ok(Contents {
        session: BundledSession {
            id: found.id.clone(),
            title: String::new(),
            project: project.map(|p| p.to_string_lossy().into_owned()),
            folder,
            client_versions: session.distinct("version"),
        },
        items,
        skipped: files.skipped,
    })
}

/// Returns the files of the memory of a session's project.
pub fn memory_of(found: &Located) -> io::Result<Vec<PackItem>> {
    let files = crate::store::publish::files_below(&memory(found.folder()))?;
    let items = files.into_iter().map(|path| PackItem {
        path,
        is_transcript: false,
    });
    Ok(items.collect())
}
