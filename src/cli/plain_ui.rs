//! The interface for screen readers and simple terminals: questions and answers, line by line.

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use crate::human::{bytes, tokens};
use crate::ui::{
    Compaction, Effect, Event, Host, Look, Marks, Node, NodeKind, Stub, Table, Tree, carry_out,
    content,
};
use crate::view::SessionRow;

use super::commands::ui::look;
use super::context::Context;
use super::error::CliError;

const HELP: &str = "\
turns               list the turns
read N              read turn N
delete N or N..M    delete turns
thinking N..M       strip the thinking of turns; `thinking all` of all
stub N..M           replace the outputs of tools in turns by notes
images N..M         drop the images and documents of turns
cut N               remove everything after turn N
compact N           replace the turns up to N by a digest
budget 100k         mark what brings the session under a budget
back                take back the last mark
marks               what is marked, and the command that does the same
preview             what the marks would do
apply               write a new session
apply in place      rewrite the session
undo                undo the last operation
quit                leave
";

/// Runs the interface until the person leaves or the input ends.
pub(super) fn run(
    context: &mut Context,
    host: &dyn Host,
    path: Option<PathBuf>,
    all: bool,
) -> Result<ExitCode, CliError> {
    let look = look(context);
    let mut plain = Plain {
        context,
        host,
        look,
    };
    let path = match path {
        Some(path) => Some(path),
        None => plain.choose(all)?,
    };
    if let Some(path) = path {
        plain.operate(path)?;
    }
    Ok(ExitCode::SUCCESS)
}

struct Plain<'a> {
    context: &'a mut Context,
    host: &'a dyn Host,
    look: Look,
}

impl Plain<'_> {
    fn say(&mut self, text: &str) -> Result<(), CliError> {
        writeln!(self.context.out, "{text}")?;
        Ok(())
    }

    /// Asks a question; returns `None` if the input ended.
    fn ask(&mut self, question: &str) -> Result<Option<String>, CliError> {
        write!(self.context.out, "{question} ")?;
        self.context.out.flush()?;
        let mut answer = String::new();
        let read = std::io::stdin().lock().read_line(&mut answer)?;
        Ok((read > 0).then(|| answer.trim().to_owned()))
    }

    /// Lets the person choose a session.
    fn choose(&mut self, all: bool) -> Result<Option<PathBuf>, CliError> {
        let rows = match self.host.list(all) {
            Ok(rows) => rows,
            Err(why) => {
                self.say(&why)?;
                return Ok(None);
            }
        };
        if rows.is_empty() {
            self.say("There are no sessions.")?;
            return Ok(None);
        }
        for (number, row) in rows.iter().enumerate() {
            let line = self.session_line(number + 1, row);
            self.say(&line)?;
        }
        loop {
            let Some(answer) = self.ask("Which session? Its number, or q to leave:")? else {
                return Ok(None);
            };
            if answer == "q" || answer == "quit" {
                return Ok(None);
            }
            let number = answer.parse::<usize>().ok();
            match number.and_then(|n| rows.get(n.checked_sub(1)?)) {
                Some(row) => return Ok(Some(row.path.clone())),
                None => self.say(&format!("Please type a number from 1 to {}.", rows.len()))?,
            }
        }
    }

    fn session_line(&self, number: usize, row: &SessionRow) -> String {
        let name = self.look.presenter.line(row.name());
        let age = crate::human::age(row.modified_at, self.look.now);
        let full = crate::human::percent(row.tokens, row.tokens_limit);
        format!(
            "{number}. {name}: {} tokens, {full} full, written {age} ago",
            tokens(row.tokens)
        )
    }

    fn operate(&mut self, path: PathBuf) -> Result<(), CliError> {
        let mut table = match self.host.open(&path) {
            Ok(tree) => Table::new(Arc::new(tree)),
            Err(why) => return self.say(&why),
        };
        let title = self.look.presenter.line(&table.tree.title);
        let size = bytes(table.tree.bytes);
        self.say(&format!("“{title}”, {} turns, {size}.", table.tree.turns()))?;
        self.totals(&table)?;
        loop {
            let Some(answer) = self.ask("What now? (help lists what can be typed)")? else {
                return Ok(());
            };
            let (word, rest) = answer.split_once(' ').unwrap_or((&answer, ""));
            match (word, rest.trim()) {
                ("", _) => {}
                ("quit" | "q", _) => return Ok(()),
                ("help" | "?", _) => self.say(HELP.trim_end())?,
                ("turns", _) => self.turns(&table)?,
                ("read", turn) => self.read(&table, turn)?,
                ("marks", _) => self.totals(&table)?,
                ("preview", _) => self.preview(&table)?,
                ("apply", way) => {
                    if self.apply(&table, way == "in place")? {
                        match self.host.open(&path) {
                            Ok(tree) => table = Table::new(Arc::new(tree)),
                            Err(why) => return self.say(&why),
                        }
                    }
                }
                ("undo", _) => {
                    let done = self.host.undo("").unwrap_or_else(|why| why);
                    self.say(&done)?;
                    if let Ok(tree) = self.host.open(&path) {
                        table = Table::new(Arc::new(tree));
                    }
                }
                (word, rest) => match self.mark(&mut table, word, rest) {
                    Ok(()) => self.totals(&table)?,
                    Err(why) => self.say(&why)?,
                },
            }
        }
    }

    fn totals(&mut self, table: &Table) -> Result<(), CliError> {
        let now = tokens(table.before.tokens);
        let limit = crate::human::round_tokens(table.tree.limit);
        if table.plan.is_empty() {
            return self.say(&format!("{now} of {limit} tokens. Nothing is marked."));
        }
        let after = tokens(table.after.tokens);
        self.say(&format!("{now} of {limit} tokens become {after}."))?;
        if let Some(why) = &table.refusal {
            let why = self.look.presenter.line(why);
            self.say(&format!("But this is refused: {why}"))?;
        }
        let command = self.look.presenter.line(table.command());
        self.say(&format!("The same as a command: {command}"))?;
        if table.plan.operation() == "run" {
            self.say(&format!(
                "with this plan.toml:\n{}",
                table.plan.toml().trim_end()
            ))?;
        }
        Ok(())
    }

    fn turns(&mut self, table: &Table) -> Result<(), CliError> {
        let nodes = table.tree.nodes.iter().enumerate();
        let turns = nodes.filter(|(_, n)| n.kind == NodeKind::Turn && n.turn > 0);
        for (row, node) in turns {
            let prompt = &table.tree.prompts[node.turn as usize];
            let prompt = crate::render::fit(&self.look.presenter.line(prompt), 100);
            let fate = match table.marks.fate(&table.tree, row).word() {
                "" => String::new(),
                word => format!(" ({word})"),
            };
            let size = tokens(node.tokens as u64);
            self.say(&format!("{}. {size} tokens{fate}: {prompt}", node.turn))?;
        }
        Ok(())
    }

    fn read(&mut self, table: &Table, turn: &str) -> Result<(), CliError> {
        let number = turn.parse::<u32>().unwrap_or(0);
        let mut nodes = table.tree.nodes.iter();
        let node = nodes.find(|n| n.kind == NodeKind::Turn && n.turn == number);
        let Some(node) = node else {
            return self.say("Please name a turn by its number.");
        };
        let columns = self.context.columns;
        let agent = |_: &str| Err(String::new());
        for line in content(&table.tree, node, columns, &self.look, agent) {
            let text: String = line.spans.iter().map(|s| s.content.as_ref()).collect();
            self.say(&text)?;
        }
        Ok(())
    }

    fn preview(&mut self, table: &Table) -> Result<(), CliError> {
        if table.plan.is_empty() {
            return self.say("Nothing is marked.");
        }
        let columns = self.context.columns;
        let shown = self.host.preview(&table.tree, &table.plan, columns);
        let text = shown.map_or_else(|why| why, |(text, _)| text);
        self.say(text.trim_end())
    }

    /// Carries the plan out; returns whether something was written.
    fn apply(&mut self, table: &Table, in_place: bool) -> Result<bool, CliError> {
        if table.plan.is_empty() {
            self.say("Nothing is marked.")?;
            return Ok(false);
        }
        self.preview(table)?;
        let question = if in_place {
            "Rewrite the session in place? The old bytes are kept for undo. (y/n)"
        } else {
            "Write a new session? (y/n)"
        };
        let answer = self.ask(question)?.unwrap_or_default();
        if !matches!(answer.to_lowercase().as_str(), "y" | "yes") {
            self.say("Nothing was written.")?;
            return Ok(false);
        }
        match self.host.apply(&table.tree, &table.plan, in_place) {
            Ok(made) => {
                self.say(&made.sentence)?;
                if let Some(resume) = &made.resume {
                    self.say(&format!("Resume it with: {resume}"))?;
                }
                Ok(true)
            }
            Err(why) => {
                self.say(&why)?;
                Ok(false)
            }
        }
    }

    /// Marks what was typed, and tries the plan.
    fn mark(&mut self, table: &mut Table, word: &str, rest: &str) -> Result<(), String> {
        let effects = match word {
            "back" => table.undo().ok_or("There is nothing to take back.")?,
            "budget" => {
                let trimmed = Effect::Trim(rest.to_owned());
                let Some(Event::Trimmed(found)) =
                    carry_out(trimmed, Some(&table.tree), self.host, &self.look)
                else {
                    return Ok(());
                };
                let found = found?;
                table.mark(|marks, tree| marks.propose(tree, &found.steps))
            }
            word => {
                let turns = turns_of(&table.tree, rest)?;
                let mut problem = None;
                let effects = table.mark(|marks, tree| {
                    problem = mark_turns(marks, tree, word, &turns).err();
                });
                match problem {
                    Some(why) => return Err(why),
                    None => effects,
                }
            }
        };
        for effect in effects {
            let answer = carry_out(effect, Some(&table.tree), self.host, &self.look);
            if let Some(Event::Forecast(version, tried)) = answer {
                table.take_forecast(version, tried);
            }
        }
        Ok(())
    }
}

fn mark_turns(marks: &mut Marks, tree: &Tree, word: &str, turns: &[u32]) -> Result<(), String> {
    match word {
        "delete" => marks.turns.extend(turns),
        "thinking" => {
            let nodes = tree.nodes.iter();
            let thinking = nodes.filter(|n| n.kind == NodeKind::Thinking);
            let meant = thinking.filter(|n| turns.contains(&n.turn));
            marks.thinking.extend(meant.map(Node::entry));
        }
        "images" => marks.images.extend(turns),
        "stub" => {
            let calls = tree.nodes.iter().filter(|n| n.kind == NodeKind::Call);
            for node in calls.filter(|n| turns.contains(&n.turn)) {
                marks.stub(node.call, Some(Stub::default()));
            }
        }
        "cut" => marks.cut = turns.last().copied(),
        "compact" => {
            let at = turns.last().copied().unwrap_or(0);
            marks.compaction = Some(Compaction {
                at,
                before: None,
                summary: None,
                max_tokens: None,
            });
        }
        _ => {
            return Err(format!(
                "`{word}` is not known; help lists what can be typed"
            ));
        }
    }
    Ok(())
}

/// Returns the turns that were typed: `3`, `3..5` or `all`.
fn turns_of(tree: &Tree, typed: &str) -> Result<Vec<u32>, String> {
    if typed == "all" {
        return Ok((1..=tree.turns()).collect());
    }
    let range: crate::session::TurnRange = typed.parse().unwrap_or_else(|never| match never {});
    let (first, last) = range.resolve(&tree.session).map_err(|e| e.to_string())?;
    Ok((first..=last).collect())
}
