//! Sessions of many shapes and any size, made up with the proportions of real ones. The same shape and size always give
//! the same bytes.

mod maker;
mod repeated;
mod shape;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

pub(crate) use maker::Maker;
pub(crate) use shape::Shape;

/// The session's id.
pub(crate) const ID: &str = "be9c0000-1111-4222-8333-444455556666";

/// The folder in which the session was held.
pub(crate) const PROJECT: &str = "/home/you/project";

/// The most files of subagents.
const SUBAGENTS: u64 = 5000;

/// Writes a session of a shape and size into a project's folder; returns the path of its transcript.
pub(crate) fn write(folder: &Path, shape: Shape, size: u64) -> io::Result<PathBuf> {
    fs_err::create_dir_all(folder)?;
    let path = folder.join(format!("{ID}.jsonl"));
    let out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
    let out = match shape {
        Shape::Repeated => repeated::write(out, size)?,
        Shape::Subagents => Maker::new(out, shape).fill(size / 2)?,
        _ => Maker::new(out, shape).fill(size)?,
    };
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    if shape == Shape::Subagents {
        subagents(&folder.join(ID).join("subagents"), size / 2)?;
    }
    Ok(path)
}

/// Writes the files of subagents: 5,000 of them, or as many of 7 KB as have room.
fn subagents(folder: &Path, size: u64) -> io::Result<()> {
    fs_err::create_dir_all(folder)?;
    let count = (size / 7000).clamp(1, SUBAGENTS);
    for n in 0..count {
        let out = BufWriter::new(File::create(folder.join(format!("agent-a{n:07x}.jsonl")))?);
        Maker::of_subagent(out, n).fill(size / count)?.flush()?;
        let meta = r#"{"agentType":"Explore","description":"looks around"}"#;
        fs_err::write(folder.join(format!("agent-a{n:07x}.meta.json")), meta)?;
    }
    Ok(())
}
