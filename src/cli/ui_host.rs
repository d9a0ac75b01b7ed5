//! What the terminal interface needs of the program: lists, previews, writing, undo.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::render::clean_lines;
use crate::store::{Depth, Locator, Stamp, list};
use crate::surgery::{Detail, Surgery};
use crate::ui::{Host, Made, OptionValue, Plan, Step, Totals, Tree, shell_line};
use crate::view::{Conversation, SessionRow};
use anstream::adapter::strip_str;

use super::args::{DiffForm, Global, InPlaceArgs, SessionArg, WriteArgs};
use super::commands::{edit, ls, show, undo};
use super::commit_flow::{self, Job};
use super::context::Context;
use super::error::CliError;
use super::names;
use super::plan_file::{self, PlanStep};
use super::settings::Settings;

/// Does what the terminal interface asks for. Each call has a context of its own, because calls run on threads.
pub(super) struct UiHost {
    global: Global,
    /// How many bytes of the session that is being read are read already.
    read: AtomicU64,
}

/// The operations that the journal and titles name.
const OPERATIONS: [&str; 14] = [
    "run",
    "redact",
    "strip-thinking",
    "drop-tools",
    "drop-images",
    "drop-hidden",
    "truncate",
    "compact",
    "delete",
    "edit",
    "extract",
    "uncompact",
    "restore-branch",
    "title",
];

impl UiHost {
    /// Makes a host for commands with these options.
    pub(super) fn new(global: Global) -> Self {
        Self {
            global,
            read: AtomicU64::new(0),
        }
    }

    fn context(&self) -> Result<Context, CliError> {
        let mut context = Context::new(&self.global, Settings::of_user()?)?;
        context.progress = false;
        context.interactive = false;
        context.json = false;
        Ok(context)
    }

    /// Runs a plan as a job, after checking that the session is still the one that was looked at.
    fn with_job<T>(
        context: &mut Context,
        tree: &Tree,
        plan: &Plan,
        write: WriteArgs,
        in_place: InPlaceArgs,
        then: impl FnOnce(&mut Context, Job<'_>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let then = |context: &mut Context, job: Job<'_>| {
            if tree.stamp.is_some_and(|stamp| stamp != job.stamp()) {
                return Err(CliError::refused(
                    "changed",
                    "the session was written since it was read",
                    "press R to read it again; the marks stay",
                ));
            }
            then(context, job)
        };
        let session = SessionArg {
            session: Some(tree.path.to_string_lossy().into_owned()),
        };
        let known = OPERATIONS.into_iter().find(|o| *o == plan.operation());
        let operation = known.unwrap_or("run");
        let steps = plan_file::parse("the plan", &plan.toml())?;
        plan_file::with_job(context, session, operation, (write, in_place), steps, then)
    }
}

/// Returns a note without colours, and without the word that announces it.
fn plain_note(note: &str) -> String {
    let plain = strip_str(note).to_string();
    plain.trim_start_matches("note: ").to_owned()
}

/// Returns an error as one text.
fn words(error: CliError) -> String {
    let hints: Vec<String> = error.hints.iter().map(|hint| clean_lines(hint)).collect();
    match &hints[..] {
        [] => error.message,
        hints => format!("{}; {}", error.message, hints.join("; ")),
    }
}

impl Host for UiHost {
    fn list(&self, all: bool) -> Result<Vec<SessionRow>, String> {
        let context = self.context().map_err(words)?;
        names::require_data(&context).map_err(words)?;
        let locator = Locator::new(&context.config, &context.project);
        let found = if all { locator.all() } else { locator.here() };
        let found = found.map_err(|e| words(names::explain(&context, e)))?;
        Ok(ls::rows(&context, list(found, Depth::Quick)))
    }

    fn open(&self, path: &Path) -> Result<Tree, String> {
        let open = || {
            let mut context = self.context()?;
            let session = Some(path.to_string_lossy().into_owned());
            let found = names::find(&mut context, &SessionArg { session })?;
            let stamp = Stamp::of(&found.path)?;
            self.read.store(0, Ordering::Relaxed);
            let session = names::open_one(&found, &self.read)?;
            let agents = show::subagents(&context, &found, &session)?.subagents;
            let name = names::command_name(&context, &found);
            let mut tree = Tree::of(Arc::new(session), path.to_owned(), found.id, agents);
            tree.name = name;
            tree.stamp = Some(stamp);
            Ok(tree)
        };
        open().map_err(words)
    }

    fn progress(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    fn agent(&self, tree: &Tree, id: &str) -> Result<Conversation, String> {
        let read = || {
            let mut context = self.context()?;
            let session = Some(tree.path.to_string_lossy().into_owned());
            let found = names::find(&mut context, &SessionArg { session })?;
            show::subagent_conversation(&context, &found, &tree.session, id)
        };
        read().map_err(words)
    }

    fn forecast(&self, tree: &Tree, plan: &Plan) -> Result<Totals, String> {
        let steps = plan_file::parse("the plan", &plan.toml()).map_err(words)?;
        // A graft needs another session and cannot be typed here. Placeholders are about as long as secrets.
        let transforms = steps.into_iter().filter_map(|step| match step {
            PlanStep::Change { transform, .. } => Some(transform),
            PlanStep::Graft(_) | PlanStep::Redact(_) => None,
        });
        let session = (*tree.session).clone();
        let operated = Surgery::on(session)
            .then_all(transforms)
            .recording(Detail::None)
            .operate();
        let operated = operated.map_err(|e| words(e.into()))?;
        let (_, after) = operated.figures();
        Ok(Totals {
            tokens: after.tokens,
            bytes: after.bytes,
            turns: after.turns,
        })
    }

    fn parse(&self, line: &str) -> Result<Step, String> {
        let mut step = Step::new("");
        for (key, value) in plan_file::typed_step(line)? {
            let value = match value {
                toml::Value::Boolean(_) => OptionValue::Given,
                toml::Value::Integer(number) => OptionValue::Number(number.unsigned_abs()),
                toml::Value::Array(all) => {
                    let text = |v: toml::Value| v.as_str().map(str::to_owned);
                    OptionValue::List(all.into_iter().filter_map(text).collect())
                }
                toml::Value::String(text) if key == "op" => {
                    step.operation = text;
                    continue;
                }
                other => OptionValue::Text(other.as_str().unwrap_or_default().to_owned()),
            };
            step = step.with(&key, value);
        }
        plan_file::parse("the command", &step.toml()).map_err(words)?;
        Ok(step)
    }

    fn save(&self, file: &str, text: &str) -> Result<String, String> {
        let path = Path::new(file);
        if path.exists() {
            return Err(format!("`{file}` exists already; choose another name"));
        }
        crate::store::write_private(path, text.as_bytes()).map_err(|e| e.to_string())?;
        Ok(file.to_owned())
    }

    fn preview(&self, tree: &Tree, plan: &Plan, columns: usize) -> Result<(String, bool), String> {
        let preview = || {
            let mut context = self.context()?;
            context.columns = columns;
            context.table_columns = columns;
            let write = WriteArgs {
                dry_run: true,
                diff: Some(DiffForm::Words),
                ..WriteArgs::default()
            };
            let in_place = InPlaceArgs::default();
            Self::with_job(
                &mut context,
                tree,
                plan,
                write,
                in_place,
                commit_flow::preview,
            )
        };
        preview().map_err(words)
    }

    fn apply(&self, tree: &Tree, plan: &Plan, in_place: bool) -> Result<Made, String> {
        let apply = || {
            let mut context = self.context()?;
            context.quiet = true;
            let mut command = plan.command(&tree.name, "plan.toml");
            if in_place {
                command.push("--in-place".to_owned());
            }
            context.command_line.clone_from(&command);
            let in_place = InPlaceArgs {
                in_place,
                yes: true,
                allow_live: false,
            };
            let write = WriteArgs::default();
            let apply = commit_flow::apply;
            let applied = Self::with_job(&mut context, tree, plan, write, in_place, apply)?;
            let applied = applied
                .ok_or_else(|| CliError::refused("nothing", "there is nothing to do", ""))?;
            Ok(Made {
                sentence: applied.sentence,
                path: applied.path,
                resume: applied.resume,
                target: (applied.id, applied.project),
                operation: applied.operation,
                command: shell_line(&command),
                notes: applied.notes.iter().map(|note| plain_note(note)).collect(),
                undone: false,
            })
        };
        apply().map_err(words)
    }

    fn undo(&self, operation: &str) -> Result<String, String> {
        let undo = || {
            let mut context = self.context()?;
            context.quiet = true;
            let name = Some(operation).filter(|name| !name.is_empty());
            undo::undo_now(&mut context, name)
        };
        undo().map_err(words)
    }

    fn edit(&self, text: &str) -> Result<String, String> {
        edit::in_editor(text).map_err(words)
    }
}
