//! Turns recordings into fixtures that can be published: scrubbed, under one made-up home, with made-up ids and times.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::record::{self, Recording, made_up_id, slug};
use crate::scenarios::{SUMMARY, Scenario, scenario};
use crate::scrub::{Scrub, foreign};
use crate::{folders, rules};

const VERSIONS: &[&str] = &["2.0.36", "2.0.76", "2.1.45", "2.1.156", "2.1.325"];
const NAMES: &[&str] = &[
    "basic",
    "edits",
    "big",
    "failing",
    "compacted",
    "killed",
    "rewound",
    "subagent",
];
const HOME: &str = "/home/user";
const WORK: &str = "/home/user/project";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded")
}

/// Writes all fixtures anew.
pub(crate) fn write() -> Result<()> {
    for version in VERSIONS {
        for name in NAMES {
            let target = root().join(version).join(name);
            folders::clear(&target)?;
            let scenario = scenario(name).context("an unknown scenario")?;
            match record::recording(version, scenario) {
                Ok(recording) => {
                    write_one(&recording, scenario, &target)?;
                    println!("{version} {name}");
                }
                Err(error) => println!("{version} {name} left out: {error:#}"),
            }
        }
    }
    check()
}

fn write_one(recording: &Recording, scenario: &Scenario, target: &Path) -> Result<()> {
    recording.restore()?;
    let files = belongings(recording)?;
    let mut texts = Vec::new();
    for file in &files {
        texts.push(fs_err::read(file)?);
    }
    let ours = ours(scenario)?;
    let renames = renames(recording, scenario, &files, &texts);
    let scrub = Scrub::new(ours, renames);
    for (file, bytes) in files.iter().zip(texts) {
        let path =
            target.join(scrub.rename(&file.strip_prefix(recording.config())?.to_string_lossy()));
        fs_err::create_dir_all(path.parent().context("a file without a folder")?)?;
        let scrubbed = match file.extension().and_then(|e| e.to_str()) {
            Some("jsonl") => String::from_utf8(bytes)?
                .lines()
                .map(|l| line(&scrub, l))
                .collect::<Result<String>>()?,
            Some("json") => line(&scrub, &String::from_utf8(bytes)?)?,
            _ => scrub.text(&scrub.rename(&String::from_utf8(bytes)?)),
        };
        fs_err::write(path, scrubbed)?;
    }
    Ok(())
}

fn line(scrub: &Scrub, line: &str) -> Result<String> {
    Ok(format!(
        "{}\n",
        scrub.value("", &serde_json::from_str(line)?)
    ))
}

/// The files of the session: its transcript, what lies beside it, and what the config folder keeps under its id.
fn belongings(recording: &Recording) -> Result<Vec<PathBuf>> {
    let project = recording
        .transcript()
        .parent()
        .context("a transcript without a folder")?
        .to_owned();
    let mut found = Vec::new();
    for file in folders::files(&recording.config())? {
        let inside = file
            .strip_prefix(recording.config())?
            .to_string_lossy()
            .into_owned();
        let helper = file.parent() == Some(&project)
            && file
                .file_name()
                .is_some_and(|n| n.to_string_lossy().starts_with("agent-"))
            && fs_err::read_to_string(&file)?.contains(&recording.session);
        let kept = [
            "projects/",
            "file-history/",
            "todos/",
            "tasks/",
            "session-env/",
            "plans/",
        ];
        let own = kept.iter().any(|k| inside.starts_with(k)) && inside.contains(&recording.session);
        if helper || own || file.ends_with("sessions-index.json") {
            found.push(file);
        }
    }
    Ok(found)
}

/// All that our script says in a scenario.
fn ours(scenario: &Scenario) -> Result<Vec<String>> {
    let folder = tempfile::tempdir()?;
    let mut found = vec![SUMMARY.to_owned(), "ok, done.".to_owned()];
    for step in scenario.steps(folder.path())? {
        for turn in step.turns.iter().chain(&step.helpers) {
            found.push(turn.prompt.clone());
            rules::strings(&serde_json::to_value(&turn.answers)?, &mut |s| {
                found.push(s.to_owned());
            });
        }
    }
    let lines: Vec<String> = found
        .iter()
        .flat_map(|s| s.lines().map(str::to_owned))
        .collect();
    found.extend(lines);
    Ok(found)
}

/// Paths of the machine, ids and times, each to its made-up one. Order matters: longer paths go first.
fn renames(
    recording: &Recording,
    scenario: &Scenario,
    files: &[PathBuf],
    texts: &[Vec<u8>],
) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = [(recording.work(), WORK), (recording.home(), HOME)]
        .map(|(from, to)| (from.to_string_lossy().into_owned(), to.to_owned()))
        .to_vec();
    out.push((slug(&recording.work()), slug(Path::new(WORK))));
    let all: String = texts.iter().map(|t| String::from_utf8_lossy(t)).collect();
    let seed = format!("{}/{}", recording.version, scenario.name);
    for (n, id) in ids(&all)
        .into_iter()
        .filter(|id| *id != recording.session)
        .enumerate()
    {
        out.push((id, made_up_id(&format!("{seed}/{n}"))));
    }
    for (n, id) in short_ids(files).into_iter().enumerate() {
        let made_up = made_up_id(&format!("{seed}/short/{n}")).replace('-', "");
        out.push((id.clone(), id[..1].to_owned() + &made_up[1..id.len()]));
    }
    for (n, time) in times(&all).into_iter().enumerate() {
        let first = jiff::civil::datetime(2026, 1, 2, 3, 4, 5, 0);
        let made_up = first + jiff::Span::new().milliseconds(n as i64 * 100);
        out.push((
            time,
            format!("{}Z", made_up.strftime("%Y-%m-%dT%H:%M:%S%.3f")),
        ));
    }
    for day in times(&all)
        .into_iter()
        .map(|t| t[..10].to_owned())
        .collect::<BTreeSet<_>>()
    {
        out.push((day, "2026-01-02".to_owned()));
    }
    for slug in all
        .split(r#""slug":""#)
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect::<BTreeSet<_>>()
    {
        out.push((slug.to_owned(), "calm-mapping-river".to_owned()));
    }
    for name in ["notes.txt", "other.txt"] {
        let hash = |folder: &Path| path_hash(&folder.join(name));
        out.push((hash(&recording.work()), hash(Path::new(WORK))));
    }
    out
}

/// The name under which earlier states of a file are kept.
fn path_hash(path: &Path) -> String {
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    let first = digest
        .iter()
        .take(8)
        .fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
    format!("{first:016x}")
}

/// Everything in the form of a uuid, in order of appearance.
fn ids(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in text
        .match_indices('-')
        .map(|(at, _)| at)
        .filter(|at| *at >= 8)
    {
        let Some(candidate) = text.get(start - 8..start + 28) else {
            continue;
        };
        if uuid::Uuid::try_parse(candidate).is_ok() && seen.insert(candidate.to_owned()) {
            found.push(candidate.to_owned());
        }
    }
    found
}

/// The random names of subagents and of stored outputs.
fn short_ids(files: &[PathBuf]) -> BTreeSet<String> {
    let stems = files
        .iter()
        .filter_map(|f| Some((f.file_name()?.to_str()?, f.to_str()?)));
    stems
        .filter_map(|(name, path)| {
            let stem = name.split('.').next()?;
            let id = stem
                .strip_prefix("agent-")
                .or_else(|| path.contains("/tool-results/").then_some(stem))?;
            (!id.starts_with("toolu_") && (7..=32).contains(&id.len())).then(|| id.to_owned())
        })
        .collect()
}

/// Every moment that is named, in order of time.
fn times(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for at in text
        .match_indices('T')
        .map(|(at, _)| at)
        .filter(|at| *at >= 10)
    {
        if let Some(candidate) = text.get(at - 10..at + 14)
            && candidate.ends_with('Z')
            && candidate.parse::<jiff::Timestamp>().is_ok()
        {
            found.insert(candidate.to_owned());
        }
    }
    found
}

/// Fails if a fixture has prose that no script of ours said, a path that is not made up, or is too large.
pub(crate) fn check() -> Result<()> {
    let mut problems = BTreeSet::new();
    let files = folders::files(&root())?;
    let mut total = 0;
    for file in &files {
        let inside = file.strip_prefix(root())?;
        let name = inside
            .components()
            .nth(1)
            .context("a fixture outside of a scenario")?;
        let ours = ours(
            scenario(&name.as_os_str().to_string_lossy()).context("a fixture of no scenario")?,
        )?;
        let text = fs_err::read_to_string(file)?;
        total += text.len();
        let mut judge = |piece: &str| {
            if let Some(prose) = foreign(piece, &ours) {
                problems.insert(format!("{}: {prose}", inside.display()));
            }
            for path in ["/tmp/", "/opt/", "/root", "/usr/", "/var/", "/home/"] {
                if piece.replace(HOME, "").contains(path) {
                    problems.insert(format!("{}: a path: {piece:.80}", inside.display()));
                }
            }
        };
        for line in text.lines() {
            match serde_json::from_str::<Value>(line) {
                Ok(value) => rules::strings(&value, &mut judge),
                Err(_) => judge(line),
            }
        }
    }
    let problems: Vec<String> = problems.into_iter().collect();
    if !problems.is_empty() {
        bail!("fixtures are not clean:\n{}", problems.join("\n"));
    }
    ensure!(
        total < 3 << 20,
        "fixtures have {total} bytes, more than 3 MiB"
    );
    println!("{} fixture files, {total} bytes, clean", files.len());
    Ok(())
}
