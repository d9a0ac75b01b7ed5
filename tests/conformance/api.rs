//! A strict stand-in for the messages API, on loopback: streams scripted answers, refuses what the API refuses.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use serde_json::{Value, json};

use crate::ledger::EntryWeights;
use crate::script::{Place, Script};
use crate::{rules, signature};

/// Between blocks of an answer, so that the client's entries differ in time, as they do with the real API.
const PACE: Duration = Duration::from_millis(6);

/// The most bytes that the API takes in one request.
const LARGEST: usize = 32 << 20;

pub(crate) struct Api {
    pub(crate) script: Script,
    pub(crate) ledger: Mutex<EntryWeights>,
    pub(crate) ledger_path: PathBuf,
    /// Where each request is kept, as `NNN.json`.
    pub(crate) log: PathBuf,
    /// The most tokens that a request may have.
    pub(crate) limit: usize,
    /// Whether earlier messages are held to the rules of the latest.
    pub(crate) strict: bool,
    /// Makes message ids differ between the runs of a session.
    pub(crate) run: String,
    pub(crate) count: AtomicUsize,
}

struct Request {
    path: String,
    body: Vec<u8>,
}

impl Api {
    /// Serves until the process ends.
    pub(crate) fn start(self) -> Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let api = Arc::new(self);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let api = Arc::clone(&api);
                // A client that hangs up in the middle is no fault of ours.
                std::thread::spawn(move || api.serve(stream).ok());
            }
        });
        Ok(address)
    }

    fn serve(&self, mut stream: TcpStream) -> Result<()> {
        let request = read(&stream)?;
        let messages = request.path.starts_with("/v1/messages");
        if !messages || request.body.is_empty() {
            return reply(&mut stream, 200, &json!({"data": []}));
        }
        let number = self.count.fetch_add(1, Ordering::SeqCst);
        let (body, faults) = self.judge(&request);
        let log = json!({"path": request.path, "faults": faults, "body": body});
        fs_err::write(
            self.log.join(format!("{number:03}.json")),
            serde_json::to_vec(&log)?,
        )?;
        if let Some(fault) = faults.first() {
            let error = json!({"type": "invalid_request_error", "message": fault});
            return reply(&mut stream, 400, &json!({"type": "error", "error": error}));
        }
        if request.path.contains("count_tokens") {
            return reply(
                &mut stream,
                200,
                &json!({"input_tokens": rules::tokens(&body)}),
            );
        }
        self.answer(&mut stream, &body, number)
    }

    fn judge(&self, request: &Request) -> (Value, Vec<String>) {
        if request.body.len() > LARGEST {
            let fault = "Request exceeds the maximum size";
            return (Value::Null, vec![fault.to_owned()]);
        }
        if rules::lone_surrogate(&request.body) {
            let fault = "The request body is not valid JSON: no low surrogate in string";
            return (
                json!({"raw": String::from_utf8_lossy(&request.body)}),
                vec![fault.to_owned()],
            );
        }
        match serde_json::from_slice(&request.body) {
            Ok(body) if request.path.contains("count_tokens") => (body, Vec::new()),
            Ok(body) => {
                let faults =
                    rules::faults(&body, &self.ledger.lock().unwrap(), self.limit, self.strict);
                (body, faults)
            }
            Err(error) => (
                Value::Null,
                vec![format!("The request body is not valid JSON: {error}")],
            ),
        }
    }

    fn answer(&self, stream: &mut TcpStream, body: &Value, number: usize) -> Result<()> {
        let place = self.script.place(body);
        let blocks = self.dress(self.script.blocks(&place), body)?;
        let id = match place {
            Place::Scripted { turn, answer } => format!("{}t{turn:03}a{answer:02}", self.run),
            Place::Summary | Place::Unknown => format!("{}x{number:06}", self.run),
        };
        let calls = blocks.iter().any(|b| b["type"] == "tool_use");
        let stop = if calls { "tool_use" } else { "end_turn" };
        let tokens = rules::tokens(body);
        let cached = tokens * 9 / 10;
        let usage = json!({"input_tokens": 4, "cache_creation_input_tokens": tokens - cached, "cache_read_input_tokens": cached,
            "output_tokens": 1, "service_tier": "standard"});
        let mut message = json!({"id": format!("msg_01{id:0>22}"), "type": "message", "role": "assistant", "model": body["model"],
            "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
        let written = json!(blocks).to_string().len() / 4 + 1;
        if body["stream"] != true {
            message["content"] = json!(blocks);
            message["stop_reason"] = json!(stop);
            message["usage"]["output_tokens"] = json!(written);
            return reply(stream, 200, &message);
        }
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_01{id:0>22}\r\nconnection: close\r\n\r\n"
        )?;
        event(stream, "message_start", json!({"message": message}))?;
        for (index, block) in blocks.iter().enumerate() {
            std::thread::sleep(PACE);
            stream_block(stream, index, block)?;
        }
        let delta = json!({"stop_reason": stop, "stop_sequence": null});
        event(
            stream,
            "message_delta",
            json!({"delta": delta, "usage": {"output_tokens": written}}),
        )?;
        event(stream, "message_stop", json!({}))
    }

    /// Fits scripted blocks to what this client offers and asks for: tools' names and parameters, hidden thinking; signs.
    fn dress(&self, mut blocks: Vec<Value>, body: &Value) -> Result<Vec<Value>> {
        let hidden = body["thinking"]["display"] == "omitted";
        let offered: Vec<&Value> = body["tools"].as_array().into_iter().flatten().collect();
        let mut marks = Vec::new();
        let mut calls = Vec::new();
        for block in &mut blocks {
            match block["type"].as_str() {
                Some("thinking") => {
                    let thought = block["thinking"].as_str().unwrap_or_default().to_owned();
                    let shown = if hidden { "" } else { &thought };
                    let mark = signature::sign(shown, &thought);
                    block["thinking"] = json!(shown);
                    block["signature"] = json!(mark);
                    marks.push(mark);
                }
                Some("redacted_thinking") => {
                    let mark = signature::seal(block["data"].as_str().unwrap_or_default());
                    block["data"] = json!(mark);
                    marks.push(mark);
                }
                Some("tool_use") => {
                    fit(block, &offered);
                    calls.push(block["id"].as_str().unwrap_or_default().to_owned());
                }
                _ => {}
            }
        }
        let mut ledger = self.ledger.lock().unwrap();
        ledger.note(&marks, &calls);
        ledger.save(&self.ledger_path)?;
        Ok(blocks)
    }
}

/// Takes the first of the call's names that is offered, and leaves out parameters that the tool does not know.
fn fit(block: &mut Value, offered: &[&Value]) {
    let names = block["name"].as_str().unwrap_or_default().to_owned();
    let mut tools = names
        .split('|')
        .filter_map(|name| offered.iter().find(|tool| tool["name"] == name));
    let Some(tool) = tools.next() else { return };
    block["name"] = tool["name"].clone();
    if let (Some(input), Some(known)) = (
        block["input"].as_object_mut(),
        tool["input_schema"]["properties"].as_object(),
    ) {
        input.retain(|name, _| known.contains_key(name));
    }
}

fn stream_block(stream: &mut TcpStream, index: usize, block: &Value) -> Result<()> {
    let (start, deltas) = match block["type"].as_str() {
        Some("text") => (
            json!({"type": "text", "text": ""}),
            vec![json!({"type": "text_delta", "text": block["text"]})],
        ),
        Some("thinking") => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            vec![
                json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                json!({"type": "signature_delta", "signature": block["signature"]}),
            ],
        ),
        Some("tool_use") => (
            json!({"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}),
            vec![json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})],
        ),
        _ => (block.clone(), Vec::new()),
    };
    event(
        stream,
        "content_block_start",
        json!({"index": index, "content_block": start}),
    )?;
    for delta in deltas {
        event(
            stream,
            "content_block_delta",
            json!({"index": index, "delta": delta}),
        )?;
    }
    event(stream, "content_block_stop", json!({"index": index}))
}

fn event(stream: &mut TcpStream, kind: &str, mut data: Value) -> Result<()> {
    data["type"] = json!(kind);
    write!(stream, "event: {kind}\ndata: {data}\n\n")?;
    Ok(stream.flush()?)
}

fn reply(stream: &mut TcpStream, status: u16, body: &Value) -> Result<()> {
    let body = body.to_string();
    write!(
        stream,
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nx-should-retry: false\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )?;
    Ok(stream.flush()?)
}

fn read(stream: &TcpStream) -> Result<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Request { path, body })
}
