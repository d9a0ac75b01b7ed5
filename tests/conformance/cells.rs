//! One cell of the matrix: operate on a recorded session, ask the client what it makes of it, compare.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::case::{Case, Seen};
use crate::operations::{Operation, TITLE, plan, takes, turns_for_sdk};
use crate::view::{self, PayloadBlock};
use crate::{agents, expect, folders, joins, sdk, travels};

/// In which form an operation is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Into a new session.
    New,
    /// Into the session itself.
    InPlace,
    /// Into the session itself and back.
    Undo,
}

#[derive(Clone)]
pub(crate) enum Verdict {
    Passed,
    /// With the reason.
    Failed(String),
    /// With the reason.
    Skipped(String),
}

/// The forms that an operation has.
pub(crate) fn forms(operation: &Operation) -> &'static [Form] {
    if operation.name == "title" {
        // It only ever changes the session itself.
        &[Form::InPlace, Form::Undo]
    } else if operation.in_place {
        Form::ALL
    } else {
        &[Form::New]
    }
}

impl Form {
    pub(crate) const ALL: &[Self] = &[Self::New, Self::InPlace, Self::Undo];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::InPlace => "in-place",
            Self::Undo => "undo",
        }
    }

    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::New => "",
            Self::InPlace => ":in-place",
            Self::Undo => ":undo",
        }
    }
}

/// Judges one cell; `show` prints what the model is shown.
pub(crate) fn judge(case: &Case, operation: &Operation, form: Form, show: bool) -> Verdict {
    let Some(args) = (operation.args)(case) else {
        return Verdict::Skipped("the session gives no occasion".to_owned());
    };
    if turns_for_sdk(operation.name, case).is_some()
        && let Err(why) = sdk::ready()
    {
        return Verdict::Skipped(why);
    }
    match attempt(case, operation, form, args, show) {
        Ok(()) => Verdict::Passed,
        Err(error) => Verdict::Failed(format!("{error:#}")),
    }
}

fn attempt(
    case: &Case,
    operation: &Operation,
    form: Form,
    mut args: Vec<String>,
    show: bool,
) -> Result<()> {
    let recording = &case.recording;
    recording.restore()?;
    let other = recording.file("other");
    fs_err::create_dir_all(&other)?;
    let mut session = recording.session.clone();
    if operation.name == "payload" {
        args.push(session);
        return compare(case, operation, foretold(case, &args, show)?);
    }
    if travels::is_travel(operation.name) {
        let work = travels::make(case, operation.name)?;
        let mut seen = case.look(&session, &work)?;
        if operation.name == "move-from-windows" {
            travels::without_windows(&mut seen.shown)?;
        }
        if show {
            print(&seen);
        }
        return compare(case, operation, seen);
    }
    if !args.is_empty() {
        fs_err::write(case.plan_path(), plan(case))?;
        let (ready, target) = joins::prepare(case, operation.name, args)?;
        args = ready;
        args.push(target);
        if form != Form::New && operation.name != "title" {
            args.extend(["--in-place", "--yes"].map(str::to_owned));
        }
        let report = ccsurgery(case, &args)?;
        if let Some(id) = report["target"]["session_id"].as_str() {
            id.clone_into(&mut session);
        }
        ensure!(
            (session == recording.session) == (form != Form::New),
            "the result is session {session}"
        );
    }
    match form {
        Form::New => intact(case, 1 + joins::made_before(operation.name))?,
        Form::InPlace => {}
        Form::Undo => {
            ccsurgery(case, &["undo", "--yes"])?;
            return intact(case, 0);
        }
    }
    if let Some(turns) = turns_for_sdk(operation.name, case) {
        agents::put_back(recording, &session)?;
        let by = format!(" by the SDK to turn {turns}");
        return case.remembered(&by, &session, &recording.work(), || {
            sdk::judge(case, &session, TITLE, turns)
        });
    }
    let work = if operation.name == "clone-to-project" {
        other
    } else {
        recording.work()
    };
    let seen = if operation.name == "untouched" {
        // Its view is what all is measured by: it must come out the same a second time.
        case.look_again(&session, &work)?
    } else {
        case.look(&session, &work)?
    };
    if show {
        print(&seen);
    }
    compare(case, operation, seen)
}

/// Prints what the model is shown.
fn print(seen: &Seen) {
    for shown in &seen.shown {
        println!("{}", shown.line());
    }
    for fault in &seen.faults {
        println!("refused: {fault}");
    }
}

/// What the program says that the model will be shown, with the probe behind it.
fn foretold(case: &Case, args: &[String], show: bool) -> Result<Seen> {
    let recording = &case.recording;
    let names = view::names(recording, &recording.session, &recording.work());
    let mut shown = view::of(&ccsurgery(case, args)?, &names);
    let work = recording.work();
    agents::rename(recording, &recording.session, &work, &mut shown)?;
    if show {
        for shown in &shown {
            println!("{}", shown.line());
        }
    }
    let untouched = &case.untouched;
    shown.extend_from_slice(&untouched.shown[Case::probe_at(&untouched.shown)..]);
    Ok(Seen {
        shown,
        faults: untouched.faults.clone(),
    })
}

/// The program under test; `CCSURGERY_BIN` names another than the one just built.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("CCSURGERY_BIN")
        .map_or_else(|| env!("CARGO_BIN_EXE_ccsurgery").into(), PathBuf::from)
}

/// Runs the program under test in the recording's home, and reads its report.
pub(crate) fn ccsurgery<S: AsRef<str>>(case: &Case, args: &[S]) -> Result<Value> {
    let (output, told) = run(case, args)?;
    ensure!(output.status.success(), "{}", failure(args, &output));
    told
}

/// The same where 1 is no failure, but the doctor's word that something is wrong.
pub(crate) fn told<S: AsRef<str>>(case: &Case, args: &[S]) -> Result<Value> {
    let (output, told) = run(case, args)?;
    ensure!(
        matches!(output.status.code(), Some(0 | 1)),
        "{}",
        failure(args, &output)
    );
    told
}

fn run<S: AsRef<str>>(case: &Case, args: &[S]) -> Result<(Output, Result<Value>)> {
    let output = Command::new(program())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", case.recording.home())
        .current_dir(case.recording.work())
        .arg("--config-dir")
        .arg(case.recording.config())
        .arg("--json")
        .args(args.iter().map(AsRef::as_ref))
        .output()?;
    let told = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("no JSON: {}", failure(args, &output)));
    Ok((output, told))
}

fn failure<S: AsRef<str>>(args: &[S], output: &Output) -> String {
    let words: Vec<&str> = args.iter().map(AsRef::as_ref).collect();
    format!(
        "ccsurgery {}: {} {} {}",
        words.join(" "),
        output.status,
        String::from_utf8_lossy(&output.stdout).trim(),
        String::from_utf8_lossy(&output.stderr).trim()
    )
}

/// Whether everything that the recording has is still there, byte for byte; a list of sessions may have grown by those that
/// were made.
fn intact(case: &Case, made: usize) -> Result<()> {
    let (was, is) = (
        case.recording.pristine().join("home"),
        case.recording.home(),
    );
    for file in folders::files(&was)? {
        let now = is.join(file.strip_prefix(&was)?);
        ensure!(now.exists(), "{} is gone", now.display());
        let same = if made > 0 && file.ends_with("sessions-index.json") {
            lists_all(&file, &now, made)?
        } else {
            fs_err::read(&file)? == fs_err::read(&now)?
        };
        ensure!(same, "{} has changed", now.display());
    }
    Ok(())
}

/// Whether a list of sessions still has every entry that it had, and at most `made` others.
fn lists_all(was: &Path, is: &Path, made: usize) -> Result<bool> {
    let entries = |path: &Path| -> Result<Vec<Value>> {
        let list: Value = serde_json::from_slice(&fs_err::read(path)?)?;
        Ok(list["entries"].as_array().cloned().unwrap_or_default())
    };
    let (was, is) = (entries(was)?, entries(is)?);
    Ok(is.len() <= was.len() + made && was.iter().all(|entry| is.contains(entry)))
}

/// Whether the stand-in refused nothing but what it refuses of the untouched session.
pub(crate) fn accepted(case: &Case, seen: &Seen) -> Result<()> {
    let known: Vec<_> = case
        .untouched
        .faults
        .iter()
        .map(|f| without_place(f))
        .collect();
    let new = seen
        .faults
        .iter()
        .find(|f| !known.contains(&without_place(f)));
    if let Some(fault) = new {
        bail!("refused: {fault}");
    }
    Ok(())
}

fn compare(case: &Case, operation: &Operation, mut seen: Seen) -> Result<()> {
    accepted(case, &seen)?;
    let mut expected = (operation.expect)(case)?;
    if operation.name == "payload" {
        seen.shown.retain(|s| !is_reminded(s, &expected));
    }
    // What ends an unfinished turn may be the very call that was named, and is made up where it has no result.
    let ends_otherwise = !case.awaited.is_empty()
        && (operation.name.starts_with("drop-tools-") || operation.name == "payload");
    for shown in [&mut expected, &mut seen.shown] {
        shown.retain(|s| !(ends_otherwise && case.is_filler(s)));
        operation.reminders.forget(shown);
    }
    match operation.name {
        "graft-again" | "graft-at" => joins::unify(case, &mut seen.shown)?,
        "uncompact" => {
            joins::without_answer(case, &mut seen.shown)?;
            let back = may_come_back(case, operation.name);
            seen.shown
                .retain(|s| s.call().is_none_or(|id| !back.contains(&id)));
            forget_untold(case, &expected, &mut seen.shown);
        }
        "restore-branch" => seen.shown.truncate(expected.len()),
        "drop-tools-stub" => expect::notes(&mut seen.shown),
        "compact" | "compact-drop-history" | "compact-in-turn" => {
            expect::summaries(&mut seen.shown);
        }
        "payload" => expected.retain(|s| !case.is_awaited(s) || seen.shown.contains(s)),
        "truncate-early" => forget_untold(case, &expected, &mut seen.shown),
        name if name.starts_with("drop-tools") || name == "run" => {
            let back = may_come_back(case, name);
            seen.shown
                .retain(|s| s.call().is_none_or(|id| !back.contains(&id)));
        }
        _ => {}
    }
    // A client that leaves out the end of an answer by itself shows it when the thinking before it goes, or when a cut
    // makes it the newest.
    if matches!(
        operation.name,
        "strip-thinking" | "run" | "truncate" | "clone-at"
    ) {
        let lost: Vec<&str> = case.lost_words().collect();
        let is_lost = |s: &PayloadBlock| s.text().is_some_and(|t| lost.contains(&t));
        seen.shown.retain(|s| s.role != "assistant" || !is_lost(s));
    }
    if expected == seen.shown {
        return Ok(());
    }
    bail!(
        "the model is shown something else:\n{}",
        difference(&expected, &seen.shown)
    )
}

/// Leaves out calls that the recording does not show: its own client may have lost some, and another finds them.
fn forget_untold(case: &Case, expected: &[PayloadBlock], shown: &mut Vec<PayloadBlock>) {
    if case.by != case.recording.version {
        let told: Vec<_> = expected.iter().filter_map(PayloadBlock::call).collect();
        shown.retain(|s| s.call().is_none_or(|id| told.contains(&id)));
    }
}

/// Whether a text is told by a reminder: of what older clients attached, the phrases around it are the client's affair.
fn is_reminded(shown: &PayloadBlock, promised: &[PayloadBlock]) -> bool {
    let within = |text: &str| {
        let mut reminders = promised.iter().filter(|s| s.is_reminder());
        reminders.any(|s| s.text().is_some_and(|t| t.contains(text.trim())))
    };
    shown.role == "user" && shown.text().is_some_and(within)
}

/// Where a client loses parallel results, one that it lost may show again when the one that it showed is gone.
fn may_come_back<'a>(case: &'a Case, operation: &str) -> Vec<&'a str> {
    let left = case
        .lost()
        .filter(|(id, tool)| !takes(operation, case, id, tool));
    left.map(|(id, _)| id.as_str()).collect()
}

/// A fault without the place in the request that it names.
fn without_place(fault: &str) -> &str {
    fault.split_once(": ").map_or(fault, |(_, what)| what)
}

fn difference(expected: &[PayloadBlock], actual: &[PayloadBlock]) -> String {
    let lines = |shown: &[PayloadBlock]| shown.iter().map(|s| s.line() + "\n").collect::<String>();
    let (expected, actual) = (lines(expected), lines(actual));
    let diff = similar::TextDiff::from_lines(&expected, &actual);
    diff.unified_diff()
        .context_radius(1)
        .header("promised", "shown")
        .to_string()
}
