//! Writes the entries of a session.

use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::Value;

use super::{ID, PROJECT, Shape};

const WORDS: [&str; 24] = [
    "the", "session", "parser", "returns", "a", "span", "for", "every", "field", "and", "keeps",
    "what", "it", "does", "not", "know", "so", "that", "nothing", "is", "lost", "on", "write",
    "größe",
];

const CJK_WORDS: [&str; 16] = [
    "会话",
    "解析器",
    "返回",
    "字段",
    "保留",
    "不知道",
    "什么",
    "丢失",
    "セッション",
    "ファイル",
    "書き込み",
    "エラー",
    "が発生しました",
    "🙂",
    "🚀",
    "👩‍💻",
];

/// The first bytes of an image, as base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAABAAAAAMACAIAAAA12IJaAAAA";

/// Writes entries until a session has so many bytes.
pub(crate) struct Maker<W> {
    out: W,
    shape: Shape,
    /// The subagent whose file this is, if it is one.
    agent: Option<u64>,
    written: u64,
    random: fastrand::Rng,
    /// How many entries and turns there are.
    entries: u64,
    turns: u64,
    parent: Option<String>,
    /// The last entries of the latest turns, where a person goes back to.
    ends: Vec<String>,
    /// The latest entries, which a compaction preserves.
    latest: Vec<String>,
    window: u64,
}

impl<W: Write> Maker<W> {
    pub(crate) fn new(out: W, shape: Shape) -> Self {
        Self {
            out,
            shape,
            agent: None,
            written: 0,
            random: fastrand::Rng::with_seed(7),
            entries: 0,
            turns: 0,
            parent: None,
            ends: Vec::new(),
            latest: Vec::new(),
            window: 18_000,
        }
    }

    /// Writes the file of a subagent.
    pub(crate) fn of_subagent(out: W, number: u64) -> Self {
        Self {
            agent: Some(number),
            random: fastrand::Rng::with_seed(1000 + number),
            ..Self::new(out, Shape::Subagents)
        }
    }

    /// Writes turns until the session has `size` bytes.
    pub(crate) fn fill(mut self, size: u64) -> io::Result<W> {
        while self.written < size {
            self.turn()?;
        }
        self.out.flush()?;
        Ok(self.out)
    }

    fn turn(&mut self) -> io::Result<()> {
        self.turns += 1;
        match self.shape {
            Shape::Branches if self.turns.is_multiple_of(3) => self.go_back(),
            Shape::Compactions if self.turns.is_multiple_of(12) => self.compaction()?,
            _ => {}
        }
        let prompt = self.prompt()?;
        match self.shape {
            Shape::OneCall => {
                let calls = self.random.u64(1..3);
                self.calls(calls)?;
            }
            Shape::LongTurns => {
                for _ in 0..200 {
                    self.calls(1)?;
                }
            }
            Shape::Parallel => {
                for _ in 0..2 {
                    self.calls(8)?;
                }
            }
            _ => {
                for _ in 0..self.random.u32(2..6) {
                    let calls = self.random.u64(1..4);
                    self.calls(calls)?;
                }
            }
        }
        let answer = self.prose(800);
        let message = self.entries;
        self.answer(message, &format!(r#"{{"type":"text","text":{answer}}}"#))?;
        self.ends.extend(self.parent.clone());
        if self.ends.len() > 8 {
            self.ends.remove(0);
        }
        if self.agent.is_some() || self.shape == Shape::OldChain {
            return Ok(());
        }
        self.line(&format!(
            r#"{{"type":"last-prompt","lastPrompt":{prompt},"leafUuid":"{}","sessionId":"{ID}"}}"#,
            self.parent.clone().unwrap_or_default()
        ))
    }

    /// A prompt with what clients write around it; its words.
    fn prompt(&mut self) -> io::Result<String> {
        let prompt = self.prose(240);
        let old = self.shape == Shape::OldChain;
        if self.agent.is_none() && !old {
            self.line(&format!(
                r#"{{"type":"mode","mode":"normal","sessionId":"{ID}"}}"#
            ))?;
        }
        let uuid = self.entry(
            "user",
            &format!(
                r#""message":{{"role":"user","content":{prompt}}},"permissionMode":"default""#
            ),
        )?;
        if self.agent.is_none() {
            self.line(&format!(
                r#"{{"type":"file-history-snapshot","messageId":"{uuid}","snapshot":{{"messageId":"{uuid}","trackedFileBackups":{{}},"timestamp":"2026-03-04T05:06:07.000Z"}},"isSnapshotUpdate":false}}"#
            ))?;
        }
        for _ in 0..if old { 0 } else { 2 } {
            let reminder = self.prose(900);
            self.entry(
                "attachment",
                &format!(r#""attachment":{{"type":"note","content":{reminder},"itemCount":3}}"#),
            )?;
        }
        Ok(prompt)
    }

    /// One message with thinking and some calls, and their results.
    fn calls(&mut self, count: u64) -> io::Result<()> {
        let message = self.entries;
        let (thinking, signature) = (self.prose(700), "Qm".repeat(180));
        self.answer(
            message,
            &format!(r#"{{"type":"thinking","thinking":{thinking},"signature":"{signature}"}}"#),
        )?;
        let ids: Vec<String> = (0..count)
            .map(|n| format!("toolu_{message:010}{n:02}"))
            .collect();
        let mut made = Vec::new();
        for id in &ids {
            let command = self.prose(120);
            let call = format!(
                r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{"command":{command},"description":"runs it"}}}}"#
            );
            made.push(self.answer(message, &call)?);
        }
        for (id, made) in ids.iter().zip(made) {
            if self.shape == Shape::Progress {
                self.progress(id)?;
            }
            let below_own_call = matches!(
                self.shape,
                Shape::OneCall
                    | Shape::Parallel
                    | Shape::LongTurns
                    | Shape::Compactions
                    | Shape::Branches
                    | Shape::Cjk
            );
            if below_own_call {
                self.parent = Some(made.clone());
            }
            self.result(id, &made)?;
        }
        Ok(())
    }

    fn result(&mut self, id: &str, call: &str) -> io::Result<()> {
        if self.shape == Shape::LongLines && self.random.u32(0..600) == 0 {
            return self.long_result(id, call);
        }
        let size = if self.random.u32(0..20) == 0 {
            24_000
        } else {
            1_400
        };
        let output = self.prose(size);
        let named = if self.shape == Shape::OldChain {
            String::new()
        } else {
            format!(r#","sourceToolAssistantUUID":"{call}""#)
        };
        self.entry(
            "user",
            &format!(
                r#""message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":{output},"is_error":false}}]}},"toolUseResult":{{"stdout":{output},"stderr":"","interrupted":false,"isImage":false}}{named}"#
            ),
        )?;
        Ok(())
    }

    /// A result of 10 MB, an image or an output, and the client's second copy of it.
    fn long_result(&mut self, id: &str, call: &str) -> io::Result<()> {
        let (content, copy) = if self.random.bool() {
            let data = "Zm9vYmFyIGJheiBxdXV4".repeat(250_000);
            let image =
                format!(r#"{{"type":"base64","media_type":"image/png","data":"{PNG}{data}"}}"#);
            let content = format!(r#"[{{"type":"image","source":{image}}}]"#);
            (content, format!(r#"{{"type":"image","file":{image}}}"#))
        } else {
            let output = self.prose(5_000_000);
            (output.clone(), format!(r#"{{"stdout":{output}}}"#))
        };
        self.entry(
            "user",
            &format!(
                r#""message":{{"role":"user","content":[{{"tool_use_id":"{id}","type":"tool_result","content":{content},"is_error":false}}]}},"toolUseResult":{copy},"sourceToolAssistantUUID":"{call}""#
            ),
        )?;
        Ok(())
    }

    /// What a call reports while it runs.
    fn progress(&mut self, id: &str) -> io::Result<()> {
        for second in 0..60 {
            let output = self.prose(300);
            self.entry(
                "progress",
                &format!(
                    r#""data":{{"type":"bash_progress","output":{output},"elapsedTimeSeconds":{second},"totalLines":9}},"toolUseID":"bash-progress-{second}","parentToolUseID":"{id}""#
                ),
            )?;
        }
        Ok(())
    }

    /// Continues at the end of an earlier turn.
    fn go_back(&mut self) {
        if !self.ends.is_empty() {
            let to = self
                .random
                .usize(self.ends.len().saturating_sub(3)..self.ends.len());
            self.parent = Some(self.ends[to].clone());
            self.ends.truncate(to + 1);
        }
    }

    /// A boundary that preserves the last turn, and the summary.
    fn compaction(&mut self) -> io::Result<()> {
        let (Some(head), Some(tail)) = (self.latest.first().cloned(), self.parent.take()) else {
            return Ok(());
        };
        let listed = |ids: &[String]| serde_json::to_string(ids).map_err(io::Error::other);
        let all = listed(&self.latest)?;
        let anchor = self.next_uuid();
        self.entry(
            "system",
            &format!(
                r#""subtype":"compact_boundary","content":"Conversation compacted","logicalParentUuid":"{tail}","isMeta":false,"level":"info","compactMetadata":{{"trigger":"auto","preTokens":{},"preservedSegment":{{"headUuid":"{head}","anchorUuid":"{anchor}","tailUuid":"{tail}"}},"preservedMessages":{{"anchorUuid":"{anchor}","uuids":{all},"allUuids":{all}}}}}"#,
                self.window
            ),
        )?;
        self.window = 24_000;
        let summary = self.prose(6000);
        self.entry_as(
            anchor,
            "user",
            &format!(
                r#""message":{{"role":"user","content":{summary}}},"isCompactSummary":true,"isVisibleInTranscriptOnly":true"#
            ),
        )
    }

    fn answer(&mut self, message: u64, block: &str) -> io::Result<String> {
        self.window += block.len() as u64 / 4;
        let (window, agent) = (self.window, self.agent.unwrap_or_default());
        self.entry(
            "assistant",
            &format!(
                r#""message":{{"model":"claude-sonnet-4-5","id":"msg_{agent}{message:010}","type":"message","role":"assistant","content":[{block}],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":4,"cache_creation_input_tokens":300,"cache_read_input_tokens":{window},"cache_creation":{{"ephemeral_5m_input_tokens":300,"ephemeral_1h_input_tokens":0}},"output_tokens":90,"service_tier":"standard"}}}},"requestId":"req_{message:010}""#
            ),
        )
    }

    fn next_uuid(&mut self) -> String {
        uuid::Builder::from_random_bytes(self.random.u128(..).to_be_bytes())
            .into_uuid()
            .to_string()
    }

    /// An entry that follows the last; its uuid.
    fn entry(&mut self, kind: &str, body: &str) -> io::Result<String> {
        let uuid = self.next_uuid();
        self.entry_as(uuid.clone(), kind, body)?;
        Ok(uuid)
    }

    fn entry_as(&mut self, uuid: String, kind: &str, body: &str) -> io::Result<()> {
        let parent = self
            .parent
            .as_ref()
            .map_or("null".to_owned(), |p| format!("\"{p}\""));
        let ms = 1_772_600_000_000 + self.entries as i64 * 1500;
        let time = jiff::Timestamp::from_millisecond(ms).map_err(io::Error::other)?;
        let version = self.shape.version();
        let place = match self.agent {
            Some(n) => format!(r#""isSidechain":true,"agentId":"a{n:07x}""#),
            None => r#""isSidechain":false"#.to_owned(),
        };
        let line = if self.shape == Shape::HandEdited {
            format!(
                r#"{{"uuid":"{uuid}","timestamp":"{time:.3}",{body},"type":"{kind}","gitBranch":"main","version":"{version}","sessionId":"{ID}","cwd":"{PROJECT}","userType":"external",{place},"parentUuid":{parent}}}"#
            )
        } else {
            format!(
                r#"{{"parentUuid":{parent},{place},"userType":"external","cwd":"{PROJECT}","sessionId":"{ID}","version":"{version}","gitBranch":"main","type":"{kind}",{body},"uuid":"{uuid}","timestamp":"{time:.3}"}}"#
            )
        };
        self.line(&line)?;
        self.entries += 1;
        if self.shape == Shape::Compactions && matches!(kind, "user" | "assistant") {
            if self.latest.len() == 8 {
                self.latest.remove(0);
            }
            self.latest.push(uuid.clone());
        }
        self.parent = Some(uuid);
        Ok(())
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        let spaced;
        let text = if self.shape == Shape::HandEdited {
            spaced = with_spaces(text);
            &spaced
        } else {
            text
        };
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
                2 | 3 if self.shape == Shape::Cjk => words.push_str("\u{1b}[1m\t"),
                _ if self.shape == Shape::Cjk => {
                    words.push_str(CJK_WORDS[self.random.usize(..CJK_WORDS.len())]);
                }
                _ => {
                    words.push_str(WORDS[self.random.usize(..WORDS.len())]);
                    words.push(' ');
                }
            }
        }
        Value::from(words).to_string()
    }
}

/// Puts a space after every colon and comma outside strings, as Python writes JSON.
fn with_spaces(line: &str) -> String {
    let mut out = String::with_capacity(line.len() + line.len() / 16);
    let (mut in_string, mut escaped) = (false, false);
    for c in line.chars() {
        out.push(c);
        match c {
            '"' if !escaped => in_string = !in_string,
            ':' | ',' if !in_string => out.push(' '),
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    out
}
