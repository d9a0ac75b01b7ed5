//! Runs an operation with the real program and judges what it made.

use serde_json::{Value, json};

use super::compare::{Verdict, api, lines, listing, shown, sorted_messages};
use super::conversation::{Block, Conversation};
use super::operation::Operation;
use crate::harness::{Home, SESSION};

/// A home with one session, in which operations are tried.
pub(crate) struct Judge {
    home: Home,
}

impl Judge {
    pub(crate) fn new() -> Self {
        let home = Home::in_memory();
        fs_err::write(home.project().join("plan.toml"), Operation::PLAN).expect("a plan");
        Self { home }
    }

    /// A session as one that was held in this home.
    fn at_home(&self, text: &str) -> String {
        text.replace(
            "\"cwd\":\"/work\"",
            &format!("\"cwd\":{}", json!(self.home.project())),
        )
    }

    fn place(&self, text: &str) {
        self.home.write(self.home.transcript(SESSION), text);
    }

    fn run(&self, arguments: &[String]) -> (i32, String, String) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let run = self.home.run(&arguments);
        (run.code, run.stdout, run.stderr)
    }

    /// Judges a session by itself: the doctor finds nothing fatal, and `payload` shows what the model of this test does.
    pub(crate) fn session(&self, text: &str) -> Verdict {
        let text = &self.at_home(text);
        self.place(text);
        self.healthy("before")?;
        let (code, stdout, stderr) = self.run(&["payload".to_owned(), SESSION.to_owned()]);
        if code != 0 {
            return Err(format!("payload: exit code {code}: {stderr}"));
        }
        let conversation = Conversation::new(text);
        if conversation.has_open_call() {
            return Ok(());
        }
        let payload: Vec<Value> =
            serde_json::from_str(&stdout).map_err(|e| format!("payload: {e}"))?;
        let found = payload
            .iter()
            .filter(|m| m["role"] != "system")
            .flat_map(|m| {
                let role = if m["role"] == "assistant" {
                    "assistant"
                } else {
                    "user"
                };
                let blocks = m["content"].as_array().cloned().unwrap_or_default();
                blocks.into_iter().map(move |json| Block {
                    role,
                    json,
                    message: String::new(),
                    turn: 0,
                    entry: 0,
                })
            });
        let wanted = conversation
            .blocks()
            .into_iter()
            .filter(|b| b.role != "system");
        let (found, wanted): (Vec<Block>, Vec<Block>) = (found.collect(), wanted.collect());
        if sorted_messages(&found) != sorted_messages(&wanted) {
            return Err(format!(
                "payload: shows\n{}instead of\n{}",
                listing(&found),
                listing(&wanted)
            ));
        }
        Ok(())
    }

    /// The doctor finds nothing that stops resume, loses history or is refused.
    fn healthy(&self, when: &str) -> Verdict {
        let (code, stdout, stderr) = self.run(&["doctor", SESSION, "--json"].map(str::to_owned));
        let document: Value =
            serde_json::from_str(&stdout).map_err(|e| format!("doctor {when}: {e} {stderr}"))?;
        let findings = document["sessions"][0]["findings"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let fatal = findings.iter().find(|f| {
            let suffers = f["severity"].as_str().unwrap_or_default();
            ["stops-resume", "loses-history", "refused-by-the-api"].contains(&suffers)
        });
        match fatal {
            Some(found) => Err(format!(
                "doctor {when}: {} ({}) on line {}",
                found["check"], found["severity"], found["line"]
            )),
            None if code != 0 => Err(format!("doctor {when}: exit code {code}")),
            None => Ok(()),
        }
    }

    /// Judges one operation on a session.
    pub(crate) fn operation(&self, text: &str, operation: &Operation) -> Verdict {
        let text = &self.at_home(text);
        let before = Conversation::new(text);
        // A title is written into the session itself, and a graft needs another session.
        let is_here = !matches!(operation, Operation::Title | Operation::Graft { .. });
        if !operation.applies(&before) || !is_here {
            return Ok(());
        }
        self.place(text);
        let mut arguments = operation.arguments(&before);
        arguments.push(SESSION.to_owned());
        let written: Vec<String> = arguments
            .iter()
            .cloned()
            .chain(["-o", "-"].map(str::to_owned))
            .collect();
        let (code, result, stderr) = self.run(&written);
        let promise = operation.promise(&before);
        let unclear = operation.is_unclear(&before);
        match code {
            0 => {}
            3 if promise.may_refuse || unclear => return Ok(()),
            _ => return Err(format!("exit code {code}: {}", stderr.trim())),
        }
        let after = Conversation::new(&result);
        if !unclear {
            shown(&before, &after, &promise)?;
        }
        api(&before, &after)?;
        if operation.keeps_ids() && !unclear {
            lines(text, &result, after.last_message(), &promise)?;
        }
        if let Some(left) = promise.gone.iter().find(|g| result.contains(g.as_str())) {
            return Err(format!("copies: {left} is still in the file"));
        }
        self.place(&result);
        if let Err(worse) = self.healthy("after") {
            self.place(text);
            return self.healthy("before").map_or(Ok(()), |()| Err(worse));
        }
        if operation.settles() {
            let (code, again, stderr) = self.run(&written);
            if code != 0
                && !(code == 3
                    && matches!(
                        operation,
                        Operation::Compact { .. } | Operation::CompactInTurn { .. }
                    ))
            {
                return Err(format!("again: exit code {code}: {}", stderr.trim()));
            }
            if code == 0 && again != result {
                return Err(format!(
                    "again: the second run changes something: {}",
                    stderr.trim()
                ));
            }
        }
        Ok(())
    }

    /// Judges that an operation in place can be undone.
    pub(crate) fn undo(&self, text: &str, operation: &Operation) -> Verdict {
        let text = &self.at_home(text);
        let before = Conversation::new(text);
        // A title is written into the session itself, and an extract always into a new one.
        let in_place = !matches!(
            operation,
            Operation::Title | Operation::Extract(..) | Operation::Graft { .. }
        );
        if !operation.applies(&before) || !in_place {
            return Ok(());
        }
        self.place(text);
        let mut arguments = operation.arguments(&before);
        arguments.extend([SESSION, "--in-place", "--yes"].map(str::to_owned));
        let (code, _, stderr) = self.run(&arguments);
        let now = fs_err::read_to_string(self.home.transcript(SESSION)).unwrap_or_default();
        match code {
            3 if now == *text => return Ok(()),
            0 => {}
            _ => return Err(format!("in place: exit code {code}: {}", stderr.trim())),
        }
        if now == *text {
            return Ok(());
        }
        let (code, _, stderr) = self.run(&["undo", "--yes"].map(str::to_owned));
        let back = fs_err::read_to_string(self.home.transcript(SESSION)).unwrap_or_default();
        if code != 0 || back != *text {
            return Err(format!(
                "undo: exit code {code}, the same bytes: {}: {}",
                back == *text,
                stderr.trim()
            ));
        }
        Ok(())
    }
}
