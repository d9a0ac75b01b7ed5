//! The model's list of tasks, by either of the tools that keep one.

use indexmap::IndexMap;

use crate::json::{decode, elements, lookup};
use crate::view::words_of;

use super::account::Account;
use super::layout::{Item, Section};
use super::text::one_line;

/// One task.
#[derive(Default)]
struct Task {
    subject: String,
    description: String,
    status: String,
}

/// The tasks by their ids.
#[derive(Default)]
pub(super) struct Tasks {
    all: IndexMap<String, Task>,
}

impl Tasks {
    /// Takes a call of a tool for tasks; `raw` is its block.
    pub(super) fn take(&mut self, tool: &str, raw: &[u8], result: &str) {
        let Some(input) = lookup(raw, &["input"]).map(|s| s.of(raw)) else {
            return;
        };
        match tool {
            "TodoWrite" => self.replace(input),
            "TaskCreate" => self.create(input, result),
            _ => self.update(input),
        }
    }

    fn replace(&mut self, input: &[u8]) {
        let Some(list) = lookup(input, &["todos"]).map(|s| s.of(input)) else {
            return;
        };
        self.all.clear();
        for (i, todo) in elements(list).unwrap_or_default().iter().enumerate() {
            let todo = todo.of(list);
            let task = Task {
                subject: words_of(todo, "content"),
                description: String::new(),
                status: words_of(todo, "status"),
            };
            self.all.insert((i + 1).to_string(), task);
        }
    }

    fn create(&mut self, input: &[u8], result: &str) {
        // The result says which number the task got: "Task #3 created successfully".
        let number = result.split_once('#').map(|(_, rest)| rest);
        let number = number.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        let number = number.filter(|n| !n.is_empty()).map(str::to_owned);
        let task = Task {
            subject: words_of(input, "subject"),
            description: words_of(input, "description"),
            status: "pending".to_owned(),
        };
        let next = || (self.all.len() + 1).to_string();
        self.all.insert(number.unwrap_or_else(next), task);
    }

    fn update(&mut self, input: &[u8]) {
        let id = lookup(input, &["taskId"]).map(|s| decode(s.of(input)).into_owned());
        let task = self.all.entry(id.unwrap_or_default()).or_default();
        for (field, value) in [
            (&mut task.status, words_of(input, "status")),
            (&mut task.subject, words_of(input, "subject")),
            (&mut task.description, words_of(input, "description")),
        ] {
            if !value.is_empty() {
                *field = value;
            }
        }
    }

    /// The subjects of the tasks that are in progress, then of the pending ones.
    pub(super) fn open(&self) -> (Vec<&str>, Vec<&str>) {
        let of = |status: &str| {
            let tasks = self.all.values().filter(|t| t.status == status);
            tasks
                .map(|t| t.subject.as_str())
                .filter(|s| !s.is_empty())
                .collect()
        };
        (of("in_progress"), of("pending"))
    }
}

/// All tasks with their status; what is still to be done comes with its description.
pub(super) fn section(account: &Account) -> Section {
    let item = |(i, (id, task)): (usize, (&String, &Task))| {
        let (status, open) = match task.status.as_str() {
            "completed" => ("done", false),
            "in_progress" => ("in progress", true),
            "deleted" => ("dropped", false),
            _ => ("open", true),
        };
        let more = if open && !task.description.is_empty() {
            format!(": {}", one_line(&task.description, 300))
        } else {
            String::new()
        };
        let text = format!(
            "#{id} [{status}] {}{}",
            task.subject,
            account.relative(&more)
        );
        Item::new(
            text,
            1 + usize::from(open),
            i64::from(open) * 1000 + i as i64,
        )
    };
    let known = account
        .tasks
        .all
        .iter()
        .filter(|(_, t)| !t.subject.is_empty());
    Section {
        heading: "Tasks",
        share: 9,
        floor: 70,
        cut_ends: true,
        items: known.enumerate().map(item).collect(),
        ..Section::default()
    }
}
