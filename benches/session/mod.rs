//! Sessions of any size, made up with the proportions of real ones.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::Value;

/// The session's id.
pub(crate) const ID: &str = "be9c0000-1111-4222-8333-444455556666";

/// Where the session's turns were held.
pub(crate) const PROJECT: &str = "/home/you/project";

const WORDS: [&str; 24] = [
    "the", "session", "parser", "returns", "a", "span", "for", "every", "field", "and", "keeps",
    "what", "it", "does", "not", "know", "so", "that", "nothing", "is", "lost", "on", "write",
    "größe",
];

/// Writes entries until a session has so many bytes.
pub(crate) struct Maker<W> {
    out: W,
    written: u64,
    random: fastrand::Rng,
    /// How many entries there are, and which was the last.
    entries: u64,
    parent: Option<String>,
    window: u64,
}

impl<W: Write> Maker<W> {
    pub(crate) fn new(out: W) -> Self {
        Self {
            out,
            written: 0,
            random: fastrand::Rng::with_seed(7),
            entries: 0,
            parent: None,
            window: 18_000,
        }
    }

    /// Turns as people hold them: a prompt, thinking, a few calls at a time with their results, an answer.
    pub(crate) fn turns(mut self, size: u64) -> io::Result<W> {
        while self.written < size {
            self.turn()?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    /// A prompt, and nothing but the progress of a call behind it, as clients of one time wrote by the million.
    pub(crate) fn progress(mut self, size: u64) -> io::Result<W> {
        let words = quoted("watch the build");
        self.entry(
            "user",
            &format!(r#""message":{{"role":"user","content":{words}}}"#),
        )?;
        while self.written < size {
            let line = self.prose(700);
            let body = format!(
                r#""data":{{"type":"bash_progress","output":{line},"elapsedTimeSeconds":{},"totalLines":9}},"toolUseID":"bash-progress-1","parentToolUseID":"toolu_00000001""#,
                self.entries
            );
            self.entry("progress", &body)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn turn(&mut self) -> io::Result<()> {
        let prompt = self.prose(240);
        self.line(&format!(
            r#"{{"type":"mode","mode":"normal","sessionId":"{ID}"}}"#
        ))?;
        let uuid = self.entry(
            "user",
            &format!(
                r#""message":{{"role":"user","content":{prompt}}},"permissionMode":"default""#
            ),
        )?;
        self.line(&format!(
            r#"{{"type":"file-history-snapshot","messageId":"{uuid}","snapshot":{{"messageId":"{uuid}","trackedFileBackups":{{}},"timestamp":"2026-03-04T05:06:07.000Z"}},"isSnapshotUpdate":false}}"#
        ))?;
        for _ in 0..2 {
            let reminder = self.prose(900);
            self.entry(
                "attachment",
                &format!(r#""attachment":{{"type":"note","content":{reminder},"itemCount":3}}"#),
            )?;
        }
        for _ in 0..self.random.u32(2..6) {
            self.calls()?;
        }
        let answer = self.prose(800);
        let message = self.entries;
        self.answer(message, &format!(r#"{{"type":"text","text":{answer}}}"#))?;
        self.line(&format!(
            r#"{{"type":"last-prompt","lastPrompt":{prompt},"leafUuid":"{}","sessionId":"{ID}"}}"#,
            self.parent.clone().unwrap_or_default()
        ))
    }

    /// One message with thinking and one to three calls, and the results of these.
    fn calls(&mut self) -> io::Result<()> {
        let message = self.entries;
        let (thinking, signature) = (self.prose(700), "Qm".repeat(180));
        self.answer(
            message,
            &format!(r#"{{"type":"thinking","thinking":{thinking},"signature":"{signature}"}}"#),
        )?;
        let calls: Vec<String> = (0..self.random.u64(1..4))
            .map(|n| format!("toolu_{message:010}{n:02}"))
            .collect();
        let mut made = Vec::new();
        for id in &calls {
            let command = self.prose(120);
            let call = format!(
                r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":{command},"description":"runs it"}}}}"#
            );
            made.push(self.answer(message, &call)?);
        }
        for (id, made) in calls.iter().zip(made) {
            let size = if self.random.u32(0..20) == 0 {
                24_000
            } else {
                1_400
            };
            let output = self.prose(size);
            self.entry(
                "user",
                &format!(
                    r#""message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":{output},"is_error":false}}]}},"toolUseResult":{{"stdout":{output},"stderr":"","interrupted":false,"isImage":false}},"sourceToolAssistantUUID":"{made}""#
                ),
            )?;
        }
        Ok(())
    }

    fn answer(&mut self, message: u64, block: &str) -> io::Result<String> {
        self.window += block.len() as u64 / 4;
        let window = self.window;
        self.entry(
            "assistant",
            &format!(
                r#""message":{{"model":"claude-sonnet-4-5","id":"msg_{message:010}","type":"message","role":"assistant","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":4,"cache_creation_input_tokens":300,"cache_read_input_tokens":{window},"cache_creation":{{"ephemeral_5m_input_tokens":300,"ephemeral_1h_input_tokens":0}},"output_tokens":90,"service_tier":"standard"}}}},"requestId":"req_{message:010}""#
            ),
        )
    }

    /// An entry that follows the last; its uuid.
    fn entry(&mut self, kind: &str, body: &str) -> io::Result<String> {
        let uuid = uuid::Builder::from_random_bytes(self.random.u128(..).to_be_bytes())
            .into_uuid()
            .to_string();
        let parent = self
            .parent
            .as_ref()
            .map_or("null".to_owned(), |p| format!("\"{p}\""));
        let ms = 1_772_600_000_000 + self.entries as i64 * 1500;
        let time = jiff::Timestamp::from_millisecond(ms).map_err(io::Error::other)?;
        self.line(&format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"userType":"external","cwd":"{PROJECT}","sessionId":"{ID}","version":"2.1.325","gitBranch":"main","type":"{kind}",{body},"uuid":"{uuid}","timestamp":"{time:.3}"}}"#
        ))?;
        self.entries += 1;
        self.parent = Some(uuid.clone());
        Ok(uuid)
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.out.write_all(text.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.written += text.len() as u64 + 1;
        Ok(())
    }

    /// Words with line breaks and quotes as code has them, as a JSON string of about so many bytes.
    fn prose(&mut self, size: usize) -> String {
        let size = self.random.usize(size / 2..size * 3 / 2);
        let mut words = String::with_capacity(size + 16);
        while words.len() < size {
            match self.random.u32(0..12) {
                0 => words.push('\n'),
                1 => drop(write!(words, "\"{}\" ", self.random.u16(..))),
                _ => {
                    words.push_str(WORDS[self.random.usize(..WORDS.len())]);
                    words.push(' ');
                }
            }
        }
        quoted(&words)
    }
}

fn quoted(words: &str) -> String {
    Value::from(words).to_string()
}
