//! Recorded sessions, again and again with fresh ids, as one long conversation.
//!
//! They are those below the folder that `CCSURGERY_CORPUS` names, else the recorded ones among the fixtures.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::ID;

/// How many characters a uuid has.
const UUID: usize = 36;

/// Writes repetitions until there are `size` bytes.
pub(super) fn write<W: Write>(mut out: W, size: u64) -> io::Result<W> {
    let root = std::env::var_os("CCSURGERY_CORPUS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded"),
        PathBuf::from,
    );
    let mut paths = Vec::new();
    transcripts(&root, &mut paths)?;
    paths.sort();
    let texts: Vec<String> = paths
        .iter()
        .map(|path| Ok(String::from_utf8_lossy(&fs_err::read(path)?).into_owned()))
        .collect::<io::Result<_>>()?;
    if texts.is_empty() {
        return Err(io::Error::other("there are no recorded sessions"));
    }
    let (mut written, mut last) = (0, None);
    for round in 0.. {
        for text in &texts {
            for line in text
                .lines()
                .filter(|line| line.starts_with('{') && line.ends_with('}'))
            {
                let line = renewed(line, round, &mut last);
                writeln!(out, "{line}")?;
                written += line.len() as u64 + 1;
                if written >= size {
                    out.flush()?;
                    return Ok(out);
                }
            }
        }
    }
    Ok(out)
}

/// Lists the transcripts below a folder, without those of subagents.
fn transcripts(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && name != "subagents" {
            transcripts(&path, found)?;
        } else if name.ends_with(".jsonl") && !name.starts_with("agent-") {
            found.push(path);
        }
    }
    Ok(())
}

/// Gives a line the ids of its repetition; a root follows the entry that was `last`.
fn renewed(line: &str, round: u64, last: &mut Option<String>) -> String {
    let mut line = line.to_owned();
    for prefix in ["toolu_", "msg_", "req_"] {
        line = line.replace(prefix, &format!("{prefix}{round}x"));
    }
    let line = with_fresh_uuids(&line, round);
    let line = in_this_session(line);
    let uuid = field(&line, "\"uuid\":\"").map(str::to_owned);
    let is_root = line.contains("\"parentUuid\":null") && !line.contains("compact_boundary");
    let line = match last {
        Some(last) if is_root => line.replacen(
            "\"parentUuid\":null",
            &format!("\"parentUuid\":\"{last}\""),
            1,
        ),
        _ => line,
    };
    if uuid.is_some() && line.contains("\"parentUuid\":") {
        *last = uuid;
    }
    line
}

/// Makes every entry one of this session's.
fn in_this_session(mut line: String) -> String {
    let key = "\"sessionId\":\"";
    let mut from = 0;
    while let Some(at) = line[from..].find(key) {
        let start = from + at + key.len();
        if line
            .as_bytes()
            .get(start..start + UUID)
            .is_some_and(is_uuid)
        {
            line.replace_range(start..start + UUID, ID);
        }
        from = start;
    }
    line
}

fn field<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    // The entry's own key is the last of this name, whatever its content quotes.
    let at = line.rfind(key)? + key.len();
    line.get(at..at + UUID)
}

/// Changes the first eight digits of every uuid but the session's.
fn with_fresh_uuids(line: &str, round: u64) -> String {
    let mut bytes = line.as_bytes().to_vec();
    let mut at = 0;
    while at + UUID <= bytes.len() {
        let text = &bytes[at..at + UUID];
        if is_uuid(text) {
            if text != ID.as_bytes() {
                let digits = String::from_utf8_lossy(&text[..8]).into_owned();
                let number = u32::from_str_radix(&digits, 16).unwrap_or_default();
                let fresh = number ^ (round as u32).wrapping_mul(0x9e37_79b1);
                bytes[at..at + 8].copy_from_slice(format!("{fresh:08x}").as_bytes());
            }
            at += UUID;
        } else {
            at += 1;
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

fn is_uuid(text: &[u8]) -> bool {
    text[8] == b'-'
        && text.iter().enumerate().all(|(i, c)| match i {
            8 | 13 | 18 | 23 => *c == b'-',
            _ => c.is_ascii_hexdigit(),
        })
}
